// Singular values, and least squares by them.
#include "library/linalg/svd.h"

#include <limits>

#include "api/linalg/gpu/on_gpu.h"
#include "api/linalg/inputs.h"
#include "core/shape.h"
#include "device/devices.h"
#include "weft/creation.h"
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
    const LibraryCall call("linalg.svd", a);
    check_stacked(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::svd(a, types.result, full_matrices, why)) return told(*std::move(found));
        SVDResult result =
            on_host("svd", why, [&](const array& there) { return svd(there, full_matrices, driver); }, a);
        back(a, {&result.U, &result.S, &result.Vh});
        return result;
    }
    const Input input(a, types);
    const Dims batch = batch_of(a);
    const int64_t m = input.matrices().rows, n = input.matrices().columns, least = std::min(m, n);
    Output u(types, batch, {m, full_matrices ? m : least}), s(real_types(types), batch, {least}),
        vh(types, batch, {full_matrices ? n : least, n});
    if (element_count(batch) != 0 && !lapack::svd(types.scalar_type(), input.matrices(), u.matrices(),
                                                  s.data(), vh.matrices(), routine(driver)))
        throw_not_converged();
    return {u.finish(), s.finish(), vh.finish()};
}

array svdvals(const array& a, SVDDriver driver) {
    const LibraryCall call("linalg.svdvals", a);
    check_stacked(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::svdvals(a, types.result, why)) return told(*std::move(found));
        array result = on_host("svdvals", why, [&](const array& there) { return svdvals(there, driver); }, a);
        back(a, {&result});
        return result;
    }
    const Input input(a, types);
    Output s(real_types(types), batch_of(a), {std::min(input.matrices().rows, input.matrices().columns)});
    if (a.size() != 0 &&
        !lapack::singular_values(types.scalar_type(), input.matrices(), s.data(), routine(driver)))
        throw_not_converged();
    return s.finish();
}

LstsqResult lstsq(const array& a, const array& b, std::optional<double> rcond) {
    const LibraryCall call("linalg.lstsq", a);
    const DeviceScope scope(device_of(a));
    const bool vector = b.ndim() == 1;
    check_2d(a);
    if (!vector) check_2d(b);
    const int64_t m = a.shape()[0], n = a.shape()[1], columns = vector ? 1 : b.shape()[1];
    if (b.shape()[0] != m) throw LinAlgError("Incompatible dimensions");
    const Types types = common_type(a, b);
    const double precision = types.compute.real().itemsize() == 4 ? 0x1p-23 : 0x1p-52;
    const double least_ratio = rcond.value_or(precision * static_cast<double>(std::max(m, n)));
    if (is_on_gpu(a, b)) {
        std::string why;
        if (auto found = gpu::lstsq(a, b, types.result, least_ratio, why)) return told(*std::move(found));
        LstsqResult result = on_host(
            "lstsq", why, [&](const array& left, const array& right) { return lstsq(left, right, rcond); }, a,
            b);
        back(a, {&result.x, &result.residuals, &result.singular_values});
        return result;
    }
    if (columns == 0) {  // singular values and rank alone
        LstsqResult result = lstsq(a, zeros({m, 1}, b.dtype()), rcond);
        return {empty({n, 0}, result.x.dtype()), empty({0}, result.residuals.dtype()), result.rank,
                result.singular_values};
    }
    const Input left(a, types), right(b, types);
    const int64_t rows = std::max(m, n), least = std::min(m, n);
    int64_t rank = 0;
    Output solved(types, {}, {rows, columns}), s(real_types(types), {}, {least});
    const lapack::Matrices to = solved.matrices();
    if (least != 0) {
        if (!lapack::least_squares(types.scalar_type(), left.matrices(), right.matrices(), least_ratio, to,
                                   s.data(), &rank))
            throw LinAlgError("SVD did not converge in Linear Least Squares");
    } else if (m != 0) {
        lapack::copy_matrix(types.compute.itemsize(), m, columns, right.matrices().data,
                            right.matrices().row_stride, right.matrices().column_stride, to.data,
                            to.row_stride, to.column_stride);
    } else {
        std::fill(solved.data(), solved.data() + rows * columns * types.compute.itemsize(), 0);
    }
    const array whole = solved.finish();
    const array x = copy(vector ? whole(slice(n), 0) : whole(slice(n)), 'C');
    array residuals = empty({0}, types.result.real());
    if (rank == n && m > n) {
        const array rest = whole(slice(n, none));
        residuals =
            sum(types.is_complex() ? real(rest) * real(rest) + imag(rest) * imag(rest) : rest * rest, 0);
    }
    return told(LstsqResult{x, residuals, rank, s.finish()});
}

}  // namespace weft::linalg
