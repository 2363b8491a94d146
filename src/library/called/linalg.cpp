#include <algorithm>
#include <cmath>

#include "core/shape.h"
#include "library/called/arrays.h"
#include "library/called/functions.h"
#include "library/linalg/cholesky.h"
#include "library/linalg/eigen.h"
#include "library/linalg/lu.h"
#include "library/linalg/qr.h"
#include "library/linalg/svd.h"

namespace weft::called {

namespace {

// As api/linalg computes: few small matrices of single precision in double precision, rounded once.
ScalarType compute_type(const EngineArray& a) {
    constexpr int64_t kSmallSide = 32, kFew = 64;
    const size_t batch = a.shape.size() - 2;
    int64_t count = 1;
    for (size_t d = 0; d < batch; ++d) count *= std::min(a.shape[d], kFew);
    const bool is_small = count < kFew && std::max(a.shape[batch], a.shape[batch + 1]) <= kSmallSide;
    if (!is_small) return a.type;
    return DType(a.type).is_complex() ? ScalarType::kComplex128 : ScalarType::kFloat64;
}

ScalarType real(ScalarType type) { return DType(type).real().scalar_type(); }

ScalarType complex(ScalarType type) {
    return DType(type).real().itemsize() == 4 ? ScalarType::kComplex64 : ScalarType::kComplex128;
}

bool is_empty(const EngineArray& a) { return element_count(a.shape) == 0; }

template <class T>
bool are_finite(const void* data, int64_t count) {
    const T* const values = static_cast<const T*>(data);
    return std::all_of(values, values + count, [](T value) { return std::isfinite(value); });
}

// Of a dense array of floats or complex numbers. LAPACK would print a line of its own.
bool is_finite(const EngineArray& a) {
    const int64_t count = element_count(a.shape) * (DType(a.type).is_complex() ? 2 : 1);
    return DType(a.type).real().itemsize() == 4 ? are_finite<float>(a.data, count)
                                                : are_finite<double>(a.data, count);
}

constexpr int64_t kNotFinite = 2;

int64_t solve_with(EngineArguments& arguments, size_t core) {
    const EngineArray to = arguments.array(), left = arguments.array(), right = arguments.array();
    const ScalarType type = compute_type(left);
    if (is_empty(to) || is_empty(left)) return 0;
    Made x(to, type);
    const Given a(left, type), b(right, type);
    const bool solved = lapack::solve(type, matrices_of(*a), matrices_of(*b, core), matrices_of(*x, core));
    x.finish();
    return solved ? 0 : 1;
}

}  // namespace

int64_t solve(EngineArguments arguments) { return solve_with(arguments, 2); }
int64_t solve_vectors(EngineArguments arguments) { return solve_with(arguments, 1); }

int64_t invert(EngineArguments arguments) {
    const EngineArray to = arguments.array(), from = arguments.array();
    const ScalarType type = compute_type(from);
    if (is_empty(from)) return 0;
    Made inverse(to, type);
    const Given a(from, type);
    const bool inverted = lapack::invert(type, matrices_of(*a), matrices_of(*inverse));
    inverse.finish();
    return inverted ? 0 : 1;
}

int64_t determinant(EngineArguments arguments) {
    const EngineArray to = arguments.array(), from = arguments.array();
    const ScalarType type = compute_type(from);
    Made result(to, type);
    const Given a(from, type);
    if (!is_empty(to)) lapack::determinants(type, matrices_of(*a), result->data);
    result.finish();
    return 0;
}

int64_t log_determinant(EngineArguments arguments) {
    const EngineArray signs = arguments.array(), logarithms = arguments.array(), from = arguments.array();
    const ScalarType type = compute_type(from);
    Made sign(signs, type), logarithm(logarithms, real(type));
    const Given a(from, type);
    if (!is_empty(signs)) lapack::log_determinants(type, matrices_of(*a), sign->data, logarithm->data);
    sign.finish();
    logarithm.finish();
    return 0;
}

int64_t cholesky(EngineArguments arguments) {
    const EngineArray to = arguments.array(), from = arguments.array();
    const bool upper = arguments.integer() != 0;
    const ScalarType type = compute_type(from);
    if (is_empty(from)) return 0;
    Made factor(to, type);
    const Given a(from, type);
    const bool factored = lapack::cholesky(type, matrices_of(*a), upper, matrices_of(*factor));
    factor.finish();
    return factored ? 0 : 1;
}

int64_t qr(EngineArguments arguments) {
    const EngineArray first = arguments.array(), second = arguments.array(), from = arguments.array();
    const ScalarType type = compute_type(from);
    Made q(first, type), r(second, type);
    const Given a(from, type);
    if (!is_empty(first) || !is_empty(second))
        lapack::qr(type, matrices_of(*a), matrices_of(*q), matrices_of(*r));
    q.finish();
    r.finish();
    return 0;
}

int64_t qr_r(EngineArguments arguments) {
    const EngineArray to = arguments.array(), from = arguments.array();
    const ScalarType type = compute_type(from);
    Made r(to, type);
    const Given a(from, type);
    if (!is_empty(to)) lapack::qr_r(type, matrices_of(*a), matrices_of(*r));
    r.finish();
    return 0;
}

int64_t svd(EngineArguments arguments) {
    const EngineArray left = arguments.array(), values = arguments.array(), right = arguments.array(),
                      from = arguments.array();
    const ScalarType type = compute_type(from);
    Made u(left, type), s(values, real(type)), vh(right, type);
    const Given a(from, type);
    const bool converged = (is_empty(left) && is_empty(right)) ||
                           lapack::svd(type, matrices_of(*a), matrices_of(*u), s->data, matrices_of(*vh));
    u.finish();
    s.finish();
    vh.finish();
    return converged ? 0 : 1;
}

int64_t singular_values(EngineArguments arguments) {
    const EngineArray to = arguments.array(), from = arguments.array();
    const ScalarType type = compute_type(from);
    if (is_empty(from)) return 0;
    Made s(to, real(type));
    const Given a(from, type);
    const bool converged = lapack::singular_values(type, matrices_of(*a), s->data);
    s.finish();
    return converged ? 0 : 1;
}

int64_t symmetric_eigen(EngineArguments arguments) {
    const EngineArray first = arguments.array(), second = arguments.array(), from = arguments.array();
    const bool upper = arguments.integer() != 0;
    const ScalarType type = compute_type(from);
    if (is_empty(from)) return 0;
    Made values(first, real(type)), vectors(second, type);
    const Given a(from, type);
    const bool converged =
        lapack::symmetric_eigen(type, matrices_of(*a), upper, values->data, matrices_of(*vectors));
    values.finish();
    vectors.finish();
    return converged ? 0 : 1;
}

int64_t symmetric_eigenvalues(EngineArguments arguments) {
    const EngineArray to = arguments.array(), from = arguments.array();
    const bool upper = arguments.integer() != 0;
    const ScalarType type = compute_type(from);
    if (is_empty(from)) return 0;
    Made values(to, real(type));
    const Given a(from, type);
    const bool converged = lapack::symmetric_eigenvalues(type, matrices_of(*a), upper, values->data);
    values.finish();
    return converged ? 0 : 1;
}

int64_t eigen(EngineArguments arguments) {
    const EngineArray first = arguments.array(), second = arguments.array(), from = arguments.array();
    const ScalarType type = compute_type(from);
    if (is_empty(from)) return 0;
    Made values(first, complex(type)), vectors(second, complex(type));
    const Given a(from, type, /*dense=*/true);
    if (!is_finite(*a)) return kNotFinite;
    const bool converged = lapack::eigen(type, matrices_of(*a), values->data, matrices_of(*vectors));
    values.finish();
    vectors.finish();
    return converged ? 0 : 1;
}

int64_t eigenvalues(EngineArguments arguments) {
    const EngineArray to = arguments.array(), from = arguments.array();
    const ScalarType type = compute_type(from);
    if (is_empty(from)) return 0;
    Made values(to, complex(type));
    const Given a(from, type, /*dense=*/true);
    if (!is_finite(*a)) return kNotFinite;
    const bool converged = lapack::eigenvalues(type, matrices_of(*a), values->data);
    values.finish();
    return converged ? 0 : 1;
}

int64_t least_squares(EngineArguments arguments) {
    const EngineArray to = arguments.array(), values = arguments.array(), ranks = arguments.array(),
                      left = arguments.array(), right = arguments.array();
    const double given = arguments.real();
    const ScalarType type = compute_type(left);
    const int64_t rows = left.shape[0], columns = left.shape[1];
    const double precision = DType(type).real().itemsize() == 4 ? 0x1p-23 : 0x1p-52;
    const double rcond = given >= 0 ? given : precision * static_cast<double>(std::max(rows, columns));
    int64_t& rank = *reinterpret_cast<int64_t*>(ranks.data);
    rank = 0;
    Made solved(to, type), s(values, real(type));
    const Given a(left, type), b(right, type);
    bool converged = true;
    if (std::min(rows, columns) != 0) {
        converged = lapack::least_squares(type, matrices_of(*a), matrices_of(*b), rcond, matrices_of(*solved),
                                          s->data, &rank);
    } else if (!is_empty(to)) {
        std::fill(solved->data, solved->data + element_count(to.shape) * DType(type).itemsize(), 0);
        const lapack::Matrices from = matrices_of(*b), into = matrices_of(*solved);
        lapack::copy_matrix(DType(type).itemsize(), from.rows, from.columns, from.data, from.row_stride,
                            from.column_stride, into.data, into.row_stride, into.column_stride);
    }
    solved.finish();
    s.finish();
    return converged ? 0 : 1;
}

}  // namespace weft::called
