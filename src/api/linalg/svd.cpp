// Singular values, and least squares by them.
#include "library/linalg/svd.h"
#include "api/linalg/inputs.h"
#include "api/linalg/on_gpu.h"
#include "core/shape.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft::linalg {

namespace {

lapack::SvdDriver routine(SVDDriver driver) {
    return driver == SVDDriver::kGesdd ? lapack::SvdDriver::kGesdd : lapack::SvdDriver::kGesvd;
}

[[noreturn]] void throw_not_converged() { throw LinAlgError("SVD did not converge"); }

}  // namespace

SVDResult svd(const array& a, bool full_matrices, SVDDriver driver) {
    check_stacked(a);
    const DType dtype = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::svd(a, dtype, full_matrices, why)) return *std::move(found);
        SVDResult result =
            on_host("svd", why, [&](const array& there) { return svd(there, full_matrices, driver); }, a);
        back(a, {&result.U, &result.S, &result.Vh});
        return result;
    }
    const Input input(a, dtype);
    const Dims batch = batch_of(a);
    const int64_t m = input.matrices().rows, n = input.matrices().columns, least = std::min(m, n);
    Output u(dtype, batch, {m, full_matrices ? m : least}), s(dtype.real(), batch, {least}),
        vh(dtype, batch, {full_matrices ? n : least, n});
    if (element_count(batch) != 0 && !lapack::svd(dtype.scalar_type(), input.matrices(), u.matrices(),
                                                  s.data(), vh.matrices(), routine(driver)))
        throw_not_converged();
    return {u.finish(), s.finish(), vh.finish()};
}

array svdvals(const array& a, SVDDriver driver) {
    check_stacked(a);
    const DType dtype = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::svdvals(a, dtype, why)) return *std::move(found);
        array result = on_host("svdvals", why, [&](const array& there) { return svdvals(there, driver); }, a);
        back(a, {&result});
        return result;
    }
    const Input input(a, dtype);
    Output s(dtype.real(), batch_of(a), {std::min(input.matrices().rows, input.matrices().columns)});
    if (a.size() != 0 &&
        !lapack::singular_values(dtype.scalar_type(), input.matrices(), s.data(), routine(driver)))
        throw_not_converged();
    return s.finish();
}

LstsqResult lstsq(const array& a, const array& b, std::optional<double> rcond) {
    const bool vector = b.ndim() == 1;
    check_2d(a);
    if (!vector) check_2d(b);
    const int64_t m = a.shape()[0], n = a.shape()[1], columns = vector ? 1 : b.shape()[1];
    if (b.shape()[0] != m) throw LinAlgError("Incompatible dimensions");
    const DType dtype = common_type(a, b);
    const double precision = dtype.real().itemsize() == 4 ? 0x1p-23 : 0x1p-52;
    const double least_ratio = rcond.value_or(precision * static_cast<double>(std::max(m, n)));
    if (is_on_gpu(a, b)) {
        std::string why;
        if (auto found = gpu::lstsq(a, b, dtype, least_ratio, why)) return *std::move(found);
        LstsqResult result = on_host(
            "lstsq", why, [&](const array& left, const array& right) { return lstsq(left, right, rcond); }, a,
            b);
        back(a, {&result.x, &result.residuals, &result.singular_values});
        return result;
    }
    const Input left(a, dtype), right(b, dtype);
    const int64_t rows = std::max(m, n), least = std::min(m, n);
    int64_t rank = 0;
    Output solved(dtype, {}, {rows, columns}), s(dtype.real(), {}, {least});
    if (least != 0) {
        if (!lapack::least_squares(dtype.scalar_type(), left.matrices(), right.matrices(), least_ratio,
                                   solved.matrices(), s.data(), &rank))
            throw LinAlgError("SVD did not converge in Linear Least Squares");
    } else {
        std::fill(solved.data(), solved.data() + rows * columns * dtype.itemsize(), 0);
    }
    const array whole = solved.finish();
    const array x = copy(vector ? whole(slice(n), 0) : whole(slice(n)), 'C');
    array residuals = empty({0}, dtype.real());
    if (rank == n && m > n) {
        const array rest = whole(slice(n, none));
        residuals =
            sum(dtype.is_complex() ? real(rest) * real(rest) + imag(rest) * imag(rest) : rest * rest, 0);
    }
    return {x, residuals, rank, s.finish()};
}

}  // namespace weft::linalg
