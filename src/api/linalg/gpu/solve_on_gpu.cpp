#include <limits>

#include "api/linalg/gpu/device_matrices.h"
#include "api/linalg/gpu/on_gpu.h"
#include "api/linalg/gpu/small_factors_on_gpu.h"
#include "api/linalg/inputs.h"
#include "core/shape.h"
#include "execution/kernels/gpu_programs.h"
#include "library/linalg/cuda/permutation_arguments.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft::linalg::gpu {

namespace {

constexpr const char* kSingular = "Singular matrix";

/// The factors of the transposed matrices, whose addresses are known where they are taken together. With
/// `swapped` they are those of the matrices themselves.
struct Factors {
    Factors(const array& a, DType dtype, bool swapped = false)
        : matrices(swapped ? swap_last(a) : a, dtype),
          pivots(matrices.device(),
                 cusolver::takes_together(matrices.transposed()) ? ScalarType::kInt32 : ScalarType::kInt64,
                 batch_of(a), a.shape().back()),
          info(matrices.device(), batch_of(a), matrices.poison(),
               cusolver::takes_together(matrices.transposed())) {
        const cusolver::Matrices transposed = matrices.transposed_with_pointers();
        ProgramRecord record(matrices.device(), name_of("getrf", dtype, transposed), matrices.nbytes(),
                             matrices.nbytes(), a.size());
        cusolver::factor_lu(dtype.scalar_type(), matrices.device(), transposed, pivots.address(),
                            info.address());
        record.finish();
        pivots.set_poison(matrices.poison());
    }

    /// Of x, which is in place of b. `transposed`: of the transposed factored matrices. Of
    /// `is_triangular_solve` b is in the order of `permutation` before.
    void solve(DeviceMatrices& b, bool transposed) const {
        const cusolver::Matrices from = matrices.transposed(), to = b.transposed_with_pointers();
        const DType dtype = b.dtype();
        ProgramRecord record(b.device(), name_of("getrs", dtype, to), matrices.nbytes() + b.nbytes(),
                             b.nbytes(), b.nbytes() / dtype.itemsize());
        cusolver::solve_lu(dtype.scalar_type(), b.device(), from, pivots.address(), transposed, to);
        record.finish();
    }

    /// Which row the pivots bring to each place, of matrices that are not taken together.
    array permutation() const {
        DeviceBackend& device = matrices.device();
        const int64_t n = matrices.shape().back();
        Dims batch = matrices.shape();
        batch.resize(batch.size() - 2);
        const int64_t count = element_count(batch);
        const DType dtype(ScalarType::kInt64);
        DeviceNumbers order(device, dtype, batch, n);
        weft::gpu::PermutationArguments words{};
        words.pivots = pivots.address();
        words.output = order.address();
        words.rows = static_cast<uint64_t>(n);
        words.in_block_memory = words.rows <= weft::gpu::kMostRowsInBlockMemory ? 1 : 0;
        const int64_t bytes = count * n * dtype.itemsize();
        ProgramRecord record(device, "permutation", bytes, bytes, count * n);
        launch_program(device, "permutation", "weft_permutation", words,
                       {blocks_of(count), weft::gpu::kPermutationThreads, 1,
                        words.in_block_memory != 0 ? static_cast<uint32_t>(n * 4) : 0});
        record.finish();
        order.set_poison(matrices.poison());
        return order.finish();
    }

    /// The identity with its rows in that order, transposed.
    array permuted_identity() const {
        const DType dtype(ScalarType::kInt64);
        const array columns =
            arange(Integer(0), Integer(matrices.shape().back()), Integer(1), dtype)(ellipsis, newaxis);
        return equal(columns, expand_dims(permutation(), {-2}));
    }

    DeviceMatrices matrices;
    DeviceNumbers pivots;
    DeviceInfo info;
};

/// The sign that the exchange of rows gives a determinant, as bool: true for minus.
array is_odd(const Factors& factors) {
    const array pivots = factors.pivots.finish();
    const array moved =
        pivots != arange(Integer(1), Integer(pivots.shape().back() + 1), Integer(1), pivots.dtype());
    return (sum(moved, -1) & 1) == 1;
}

array diagonal_of(const Factors& factors) { return diagonal(factors.matrices.finish(), 0, -2, -1); }

}  // namespace

std::optional<array> solve(const array& a, const array& b, DType dtype, const Dims& batch, std::string& why) {
    const DeviceScope scope(device_of(a));
    const int64_t n = a.shape().back();
    const bool vector = b.ndim() == 1;
    const int64_t columns = vector ? 1 : b.shape().back();
    const array left = batch_of(a) == batch ? a : broadcast_to(a, with_core(batch, {n, n}));
    if (b.size() != 0 && takes_small(SmallFactors::kSolve, left, dtype, columns)) {
        const array right = broadcast_to(vector ? reshape(b, {n, 1}) : b, with_core(batch, {n, columns}));
        const array solutions = small_solution(left, right, dtype);
        return vector ? reshape(solutions, with_core(batch, {n})) : solutions;
    }
    if (!is_usable(a, why) || !is_usable(b, why)) return {};
    const array sides = vector ? reshape(b, {1, n}) : swap_last(b);
    // Many right sides are solved sooner with the matrices themselves.
    const cusolver::Matrices shape{0, n, n, element_count(batch)}, given{0, n, columns, shape.count};
    const bool swapped = cusolver::is_triangular_solve(shape, false, given);
    const Factors factors(left, dtype, swapped);
    array right = broadcast_to(sides, with_core(batch, {columns, n}));
    if (swapped) right = take_along_axis(right, expand_dims(factors.permutation(), {-2}), -1);
    DeviceMatrices x(right, dtype);
    factors.solve(x, !swapped);
    const DeviceInfo::Outcome outcome = factors.info.check(kSingular, left);
    x.set_poison(join(x.poison(), outcome.poison));
    const array solutions = outcome.apply(x.finish());
    if (vector) return reshape(solutions, with_core(batch, {n}));
    return columns == 1 ? reshape(solutions, with_core(batch, {n, 1})) : copy(swap_last(solutions), 'C');
}

std::optional<array> inverse(const array& a, DType dtype, bool singular_is_nan, std::string& why) {
    if (takes_small(SmallFactors::kInverse, a, dtype)) return small_inverse(a, dtype, singular_is_nan);
    if (!is_usable(a, why)) return {};
    const DeviceScope scope(device_of(a));
    const int64_t n = a.shape().back();
    const Factors factors(a, dtype);
    const cusolver::Matrices from = factors.matrices.transposed();
    const bool together = cusolver::takes_together(from);
    DeviceMatrices result = together ? DeviceMatrices(factors.matrices.device(), dtype, batch_of(a), n, n)
                                     : DeviceMatrices(cusolver::is_triangular_solve(from, false, from)
                                                          ? factors.permuted_identity()
                                                          : broadcast_to(eye(n, dtype), a.shape()),
                                                      dtype);
    if (together) {
        const cusolver::Matrices to = result.transposed_with_pointers();
        ProgramRecord record(result.device(), name_of("getri", dtype, to), result.nbytes(), result.nbytes(),
                             a.size());
        cusolver::invert_lu(dtype.scalar_type(), result.device(), from, factors.pivots.address(), to,
                            factors.info.address());
        record.finish();
    } else {
        factors.solve(result, false);
    }
    if (singular_is_nan) {
        result.set_poison(factors.matrices.poison());
        const array failed = factors.info.failed_or_unknown(a);
        return where(expand_dims(failed, {-1, -2}), std::numeric_limits<double>::quiet_NaN(),
                     result.finish());
    }
    const DeviceInfo::Outcome outcome = factors.info.check(kSingular, a);
    result.set_poison(outcome.poison);
    return outcome.apply(result.finish());
}

std::optional<array> det(const array& a, DType dtype, std::string& why) {
    if (takes_small(SmallFactors::kDeterminant, a, dtype)) return small_determinant(a, dtype);
    if (!is_usable(a, why)) return {};
    const DeviceScope scope(device_of(a));
    const Factors factors(a, dtype);
    const array product = prod(diagonal_of(factors), -1);
    return factors.info.failed_as(0.0, a, where(is_odd(factors), -product, product));
}

std::optional<SlogdetResult> slogdet(const array& a, DType dtype, std::string& why) {
    if (!is_usable(a, why)) return {};
    const DeviceScope scope(device_of(a));
    const Factors factors(a, dtype);
    const array diagonal = diagonal_of(factors);
    const array size = abs(diagonal);
    const array signs = prod(sign(diagonal), -1), logarithm = sum(log(where(size == 0.0, 1.0, size)), -1);
    const DeviceInfo& info = factors.info;
    return SlogdetResult{info.failed_as(0.0, a, where(is_odd(factors), -signs, signs)),
                         info.failed_as(-std::numeric_limits<double>::infinity(), a, logarithm)};
}

}  // namespace weft::linalg::gpu
