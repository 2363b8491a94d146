// Cholesky and QR factorisations.
#include "api/linalg/gpu/on_gpu.h"
#include "api/linalg/inputs.h"
#include "library/linalg/cholesky.h"
#include "library/linalg/qr.h"

namespace weft::linalg {

namespace {

struct QRShape {
    Dims batch;
    int64_t m, n, least;
};

QRShape qr_shape(const array& a) {
    check_stacked(a);
    const Dims& shape = a.shape();
    const int64_t m = shape[shape.size() - 2], n = shape.back();
    return {batch_of(a), m, n, std::min(m, n)};
}

}  // namespace

array cholesky(const array& a, bool upper) {
    const LibraryCall call("linalg.cholesky", a);
    check_square(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::cholesky(a, types.result, upper, why)) return told(*std::move(found));
        array result =
            on_host("cholesky", why, [&](const array& there) { return cholesky(there, upper); }, a);
        back(a, {&result});
        return result;
    }
    const Input input(a, types);
    const int64_t n = a.shape().back();
    Output factor(types, batch_of(a), {n, n});
    if (a.size() != 0 && !lapack::cholesky(types.scalar_type(), input.matrices(), upper, factor.matrices()))
        throw LinAlgError("Matrix is not positive definite");
    return factor.finish();
}

QRResult qr(const array& a, QRMode mode) {
    const LibraryCall call("linalg.qr", a);
    const QRShape shape = qr_shape(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::qr(a, types.result, mode, why)) return told(*std::move(found));
        QRResult result = on_host("qr", why, [&](const array& there) { return qr(there, mode); }, a);
        back(a, {&result.Q, &result.R});
        return result;
    }
    const Input input(a, types);
    const int64_t columns = mode == QRMode::kComplete ? shape.m : shape.least;
    Output q(types, shape.batch, {shape.m, columns}), r(types, shape.batch, {columns, shape.n});
    lapack::qr(types.scalar_type(), input.matrices(), q.matrices(), r.matrices());
    return {q.finish(), r.finish()};
}

array qr_r(const array& a) {
    const LibraryCall call("linalg.qr_r", a);
    const QRShape shape = qr_shape(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::qr_r(a, types.result, why)) return told(*std::move(found));
        array result = on_host("qr", why, [](const array& there) { return qr_r(there); }, a);
        back(a, {&result});
        return result;
    }
    const Input input(a, types);
    Output r(types, shape.batch, {shape.least, shape.n});
    lapack::qr_r(types.scalar_type(), input.matrices(), r.matrices());
    return r.finish();
}

RawQR qr_raw(const array& a) {
    const LibraryCall call("linalg.qr_raw", a);
    const QRShape shape = qr_shape(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        std::string why;
        if (auto found = gpu::qr_raw(a, types.result, why)) return told(*std::move(found));
        RawQR result = on_host("qr", why, [](const array& there) { return qr_raw(there); }, a);
        back(a, {&result.factored, &result.tau});
        return result;
    }
    const Input input(a, types);
    Output factored(types, shape.batch, {shape.m, shape.n}), tau(types, shape.batch, {shape.least});
    lapack::reflectors(types.scalar_type(), input.matrices(), factored.matrices(), tau.data());
    return {factored.finish(), tau.finish()};
}

PivotedQR qr_pivoted(const array& a, QRMode mode) {
    const LibraryCall call("linalg.qr_pivoted", a);
    const QRShape shape = qr_shape(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        PivotedQR result = on_host(
            "qr", "cuSOLVER has none with pivots",
            [&](const array& there) { return qr_pivoted(there, mode); }, a);
        back(a, {&result.Q, &result.R, &result.P});
        return result;
    }
    const Input input(a, types);
    const int64_t columns = mode == QRMode::kComplete ? shape.m : shape.least;
    Output q(types, shape.batch, {shape.m, columns}), r(types, shape.batch, {columns, shape.n});
    Output pivots({ScalarType::kInt64, ScalarType::kInt64}, shape.batch, {shape.n});
    lapack::pivoted_qr(types.scalar_type(), input.matrices(), q.matrices(), r.matrices(),
                       reinterpret_cast<int64_t*>(pivots.data()));
    return {q.finish(), r.finish(), pivots.finish()};
}

RawPivotedQR qr_raw_pivoted(const array& a) {
    const LibraryCall call("linalg.qr_raw_pivoted", a);
    const QRShape shape = qr_shape(a);
    const Types types = common_type(a);
    if (is_on_gpu(a)) {
        RawPivotedQR result = on_host(
            "qr", "cuSOLVER has none with pivots", [](const array& there) { return qr_raw_pivoted(there); },
            a);
        back(a, {&result.factored, &result.tau, &result.P});
        return result;
    }
    const Input input(a, types);
    Output factored(types, shape.batch, {shape.m, shape.n}), tau(types, shape.batch, {shape.least});
    Output pivots({ScalarType::kInt64, ScalarType::kInt64}, shape.batch, {shape.n});
    lapack::pivoted_reflectors(types.scalar_type(), input.matrices(), factored.matrices(), tau.data(),
                               reinterpret_cast<int64_t*>(pivots.data()));
    return {factored.finish(), tau.finish(), pivots.finish()};
}

}  // namespace weft::linalg
