// What is composed of Cholesky factors: equations, and the eigenvalues of a pair of matrices.
#include "api/linalg/inputs.h"
#include "core/shape.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/products.h"

namespace weft::linalg {

namespace {

array hermitian(const array& a, bool upper) {
    const array triangle = upper ? triu(a, 1) : tril(a, -1), diagonal = tril(triu(a));
    return add(add(triangle, adjoint(triangle)), a.dtype().is_complex() ? real(diagonal) : diagonal);
}

// An ordinary problem with the eigenvalues of the pair, and the factor that makes its vectors the pair's.
struct Reduced {
    array matrix, factor;
    PairProblem problem;

    array vectors_of(const array& vectors) const {
        if (problem == PairProblem::kBAv) return matmul(factor, vectors);
        return solve_triangular(factor, vectors, {.lower = true, .form = 'C'});
    }
};

Reduced reduced(const array& left, const array& right, const PairOptions& options) {
    check_square(left);
    check_square(right);
    if (left.shape().back() != right.shape().back())
        throw ValueError("wrong b dimensions " + shape_text(right.shape()) + ", should be " +
                         shape_text(left.shape()));
    const DType type = common_type(left, right).result;
    const array a = hermitian(astype(left, type), options.upper);
    const array triangle = cholesky(astype(right, type), options.upper);
    const array factor = options.upper ? adjoint(triangle) : triangle;
    if (options.problem != PairProblem::kAvBv)
        return {matmul(matmul(adjoint(factor), a), factor), factor, options.problem};
    const array half = solve_triangular(factor, a, {.lower = true});
    return {adjoint(solve_triangular(factor, adjoint(half), {.lower = true})), factor, options.problem};
}

}  // namespace

array cho_solve(const array& factor, const array& b, bool lower) {
    check_square(factor);
    const bool vector = b.ndim() == 1;
    if (b.ndim() == 0 || b.shape()[vector ? 0 : b.shape().size() - 2] != factor.shape().back())
        throw ValueError("incompatible dimensions (" + shape_text(factor.shape()) + " and " +
                         shape_text(b.shape()) + ")");
    array x = vector ? array(b(all, newaxis)) : b;
    for (const bool first : {true, false})
        x = solve_triangular(factor, x,
                             {.lower = lower, .form = lower == first ? 'N' : 'C', .divides_by_zero = true});
    return vector ? array(x(ellipsis, 0)) : x;
}

EighResult generalized_eigh(const array& a, const array& b, const PairOptions& options) {
    const Reduced pair = reduced(a, b, options);
    EighResult result = eigh(pair.matrix, false, options.subset);
    result.eigenvectors = pair.vectors_of(result.eigenvectors);
    return result;
}

array generalized_eigvalsh(const array& a, const array& b, const PairOptions& options) {
    return eigvalsh(reduced(a, b, options).matrix, false, options.subset);
}

}  // namespace weft::linalg
