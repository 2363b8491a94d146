#include <algorithm>

#include "api/linalg/gpu/device_matrices.h"
#include "api/linalg/gpu/on_gpu.h"
#include "api/linalg/gpu/small_factors_on_gpu.h"
#include "api/linalg/inputs.h"
#include "execution/kernels/gpu_programs.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft::linalg::gpu {

namespace {

// So many matrices are factorised one by one: of more, small ones are done sooner by a CPU.
constexpr int64_t kMostOneByOne = 256;
constexpr int64_t kSmall = 64;

/// R and the reflectors of LAPACK's geqrf, in columns.
struct Reflectors {
    Reflectors(const array& a, DType dtype)
        : matrices(swap_last(a), dtype),
          least(std::min(a.shape()[a.shape().size() - 2], a.shape().back())),
          tau(matrices.device(), dtype, batch_of(a), least) {
        const cusolver::Matrices from = matrices.transposed();
        ProgramRecord record(matrices.device(), name_of("geqrf", dtype, from), matrices.nbytes(),
                             matrices.nbytes(), a.size());
        cusolver::factor_qr(dtype.scalar_type(), matrices.device(), from, tau.address());
        record.finish();
        tau.set_poison(matrices.poison());
    }

    array r() const {
        const array factored = swap_last(matrices.finish());
        return triu(factored(ellipsis, slice(least), all_of_it));
    }
    static constexpr Slice all_of_it{};

    DeviceMatrices matrices;
    int64_t least;
    DeviceNumbers tau;
};

bool takes_qr(const array& a, std::string& why) {
    if (!is_usable(a, why)) return false;
    const int64_t rows = a.shape()[a.shape().size() - 2], columns = a.shape().back();
    if (a.size() / (rows * columns) <= kMostOneByOne || std::max(rows, columns) > kSmall) return true;
    why = "many small matrices, which cuSOLVER takes one by one";
    return false;
}

}  // namespace

std::optional<array> cholesky(const array& a, DType dtype, bool upper, std::string& why) {
    if (takes_small(SmallFactors::kCholesky, a, dtype)) return small_cholesky(a, dtype, upper);
    if (!is_usable(a, why)) return {};
    const DeviceScope scope(device_of(a));
    // The library is twice as fast for the lower triangle.
    DeviceMatrices matrices(upper ? a : swap_last(a), dtype);
    const DeviceInfo info(matrices.device(), batch_of(a), matrices.poison());
    const cusolver::Matrices from = matrices.transposed_with_pointers();
    ProgramRecord record(matrices.device(), name_of("potrf", dtype, from), matrices.nbytes(),
                         matrices.nbytes(), a.size());
    cusolver::factor_cholesky(dtype.scalar_type(), matrices.device(), from, info.address());
    record.finish();
    const DeviceInfo::Outcome outcome =
        info.check("Matrix is not positive definite", upper ? triu(a) : tril(a));
    matrices.set_poison(outcome.poison);
    const array factors = outcome.apply(matrices.finish());
    return upper ? triu(factors) : copy(tril(swap_last(factors)), 'C');
}

std::optional<QRResult> qr(const array& a, DType dtype, QRMode mode, std::string& why) {
    if (!takes_qr(a, why)) return {};
    const DeviceScope scope(device_of(a));
    const int64_t m = a.shape()[a.shape().size() - 2];
    const Reflectors reflectors(a, dtype);
    const int64_t least = reflectors.least, columns = mode == QRMode::kComplete ? m : least;
    const array factored = reflectors.matrices.finish();  // columns as rows
    DeviceMatrices q = [&] {
        if (columns <= least) return DeviceMatrices(factored(ellipsis, slice(columns), Slice{}), dtype);
        const array more = zeros(with_core(batch_of(a), {columns - least, m}), dtype);
        return DeviceMatrices(concatenate({factored(ellipsis, slice(least), Slice{}), more}, -2), dtype);
    }();
    const cusolver::Matrices to = q.transposed();
    ProgramRecord record(q.device(), name_of("orgqr", dtype, to), q.nbytes(), q.nbytes(),
                         q.nbytes() / dtype.itemsize());
    cusolver::form_q(dtype.scalar_type(), q.device(), to, least, reflectors.tau.address());
    record.finish();
    q.set_poison(reflectors.matrices.poison());
    array r = reflectors.r();
    if (columns > least)
        r = concatenate({r, zeros(with_core(batch_of(a), {columns - least, a.shape().back()}), dtype)}, -2);
    return QRResult{copy(swap_last(q.finish()), 'C'), copy(r, 'C')};
}

std::optional<array> qr_r(const array& a, DType dtype, std::string& why) {
    if (!takes_qr(a, why)) return {};
    const DeviceScope scope(device_of(a));
    return copy(Reflectors(a, dtype).r(), 'C');
}

std::optional<RawQR> qr_raw(const array& a, DType dtype, std::string& why) {
    if (!takes_qr(a, why)) return {};
    const DeviceScope scope(device_of(a));
    const Reflectors reflectors(a, dtype);
    return RawQR{copy(swap_last(reflectors.matrices.finish()), 'C'), reflectors.tau.finish()};
}

}  // namespace weft::linalg::gpu
