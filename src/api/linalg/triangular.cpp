// LU factors, triangular and banded equations, Schur and Hessenberg forms: what scipy.linalg has beyond
// NumPy.
#include <string>

#include "api/linalg/inputs.h"
#include "core/shape.h"
#include "library/linalg/lu.h"
#include "library/linalg/schur.h"
#include "library/linalg/triangular.h"

namespace weft::linalg {

namespace {

struct Equation {
    bool vector;
    int64_t n, columns;
    Dims batch;
};

// Of `n` rows, in the batch of `a`; a vector is a column.
Equation equation_of(const array& a, int64_t n, const array& b) {
    const bool vector = b.ndim() == 1;
    if (b.ndim() == 0 || b.shape()[vector ? 0 : b.shape().size() - 2] != n)
        throw ValueError("shapes of a " + shape_text(a.shape()) + " and b " + shape_text(b.shape()) +
                         " are incompatible");
    Dims batch = batch_of(a);
    if (!vector) {
        const Dims own = batch, other = batch_of(b);
        const Dims* const both[2] = {&own, &other};
        batch = broadcast_shapes(both);
    }
    return {vector, n, vector ? 1 : b.shape().back(), batch};
}

Output output_of(const Equation& equation, const Types& types) {
    if (equation.vector) return Output(types, equation.batch, {equation.n});
    return Output(types, equation.batch, {equation.n, equation.columns});
}

bool is_empty(const Equation& equation) {
    return equation.n * equation.columns == 0 || element_count(equation.batch) == 0;
}

}  // namespace

LUResult lu_factor(const array& a) {
    const LibraryCall call("linalg.lu_factor", a);
    check_stacked(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        LUResult result = on_host("lu_factor", "", [](const array& there) { return lu_factor(there); }, a);
        back(a, {&result.factors, &result.pivots});
        return result;
    }
    const Input input(a, types);
    const Dims batch = batch_of(a);
    const int64_t m = input.matrices().rows, n = input.matrices().columns;
    Output factors(types, batch, {m, n}),
        pivots({ScalarType::kInt64, ScalarType::kInt64}, batch, {std::min(m, n)});
    if (batch.empty()) factors.lay_by_columns();  // as SciPy's
    std::vector<int64_t> singular(static_cast<size_t>(element_count(batch)), -1);
    if (a.size() != 0)
        lapack::factor_lu(types.scalar_type(), input.matrices(), factors.matrices(),
                          reinterpret_cast<int64_t*>(pivots.data()), singular.data());
    const auto found = std::find_if(singular.begin(), singular.end(), [](int64_t at) { return at >= 0; });
    return {factors.finish(), pivots.finish(), found == singular.end() ? -1 : *found};
}

array solve_triangular(const array& a, const array& b, const TriangularOptions& options) {
    const LibraryCall call("linalg.solve_triangular", a);
    check_square(a);
    const Types types = common_type(a, b);
    const Equation equation = equation_of(a, a.shape().back(), b);
    if (is_on_gpu(a, b)) {
        array result = on_host(
            "solve_triangular", "",
            [&](const array& left, const array& right) { return solve_triangular(left, right, options); }, a,
            b);
        back(a, {&result});
        return result;
    }
    const Input left(a, types), right(b, types);
    Output x = output_of(equation, types);
    if (is_empty(equation)) return x.finish();
    const int64_t zero = lapack::solve_triangular(
        types.scalar_type(), left.over(equation.batch), right.over(equation.batch),
        {options.lower, options.unit_diagonal, options.form, options.divides_by_zero},
        equation.vector ? x.columns() : x.matrices());
    if (zero >= 0)
        throw LinAlgError("singular matrix: resolution failed at diagonal " + std::to_string(zero));
    return x.finish();
}

array solve_banded(int64_t below, int64_t above, const array& bands, const array& b) {
    const LibraryCall call("linalg.solve_banded", bands);
    check_stacked(bands);
    const Types types = common_type(bands, b);
    if (below < 0 || above < 0 || bands.shape()[bands.shape().size() - 2] != below + above + 1)
        throw ValueError("invalid values for the number of lower and upper diagonals: l+u+1 (" +
                         std::to_string(below + above + 1) + ") does not equal ab.shape[0] (" +
                         std::to_string(bands.shape()[bands.shape().size() - 2]) + ")");
    const Equation equation = equation_of(bands, bands.shape().back(), b);
    if (is_on_gpu(bands, b)) {
        array result = on_host(
            "solve_banded", "",
            [&](const array& left, const array& right) { return solve_banded(below, above, left, right); },
            bands, b);
        back(bands, {&result});
        return result;
    }
    const Input left(bands, types), right(b, types);
    Output x = output_of(equation, types);
    if (is_empty(equation)) return x.finish();
    if (!lapack::solve_banded(types.scalar_type(), below, above, left.over(equation.batch),
                              right.over(equation.batch), equation.vector ? x.columns() : x.matrices()))
        throw LinAlgError("singular matrix");
    return x.finish();
}

SchurResult schur(const array& a) {
    const LibraryCall call("linalg.schur", a);
    check_square(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        SchurResult result = on_host("schur", "", [](const array& there) { return schur(there); }, a);
        back(a, {&result.T, &result.Z});
        return result;
    }
    const Input input(a, types);
    const int64_t n = a.shape().back();
    Output t(types, batch_of(a), {n, n}), z(types, batch_of(a), {n, n});
    if (a.size() != 0 && !lapack::schur(types.scalar_type(), input.matrices(), t.matrices(), z.matrices()))
        throw LinAlgError("Schur form not found. Possibly ill-conditioned.");
    return {t.finish(), z.finish()};
}

HessenbergResult hessenberg(const array& a) {
    const LibraryCall call("linalg.hessenberg", a);
    check_square(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        HessenbergResult result =
            on_host("hessenberg", "", [](const array& there) { return hessenberg(there); }, a);
        back(a, {&result.H, &result.Q});
        return result;
    }
    const Input input(a, types);
    const int64_t n = a.shape().back();
    Output h(types, batch_of(a), {n, n}), q(types, batch_of(a), {n, n});
    if (a.size() != 0) lapack::hessenberg(types.scalar_type(), input.matrices(), h.matrices(), q.matrices());
    return {h.finish(), q.finish()};
}

array triangular_root(const array& a) {
    const LibraryCall call("linalg.triangular_root", a);
    check_square(a);
    const Types types = complex_types(common_type(a));
    if (is_on_gpu(a)) {
        array result =
            on_host("triangular_root", "", [](const array& there) { return triangular_root(there); }, a);
        back(a, {&result});
        return result;
    }
    const Input input(a, types);
    const int64_t n = a.shape().back();
    Output root(types, batch_of(a), {n, n});
    if (a.size() != 0) lapack::triangular_root(types.scalar_type(), input.matrices(), root.matrices());
    return root.finish();
}

}  // namespace weft::linalg
