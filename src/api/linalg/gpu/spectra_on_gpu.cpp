// Eigenvalues and singular values.
#include <algorithm>
#include <limits>

#include "api/linalg/gpu/device_matrices.h"
#include "api/linalg/gpu/on_gpu.h"
#include "api/linalg/gpu/small_spectra_on_gpu.h"
#include "api/linalg/inputs.h"
#include "api/linalg/linalg_device.h"
#include "execution/kernels/gpu_programs.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/products.h"

namespace weft::linalg::gpu {

namespace {

constexpr const char* kNoEigenvalues = "Eigenvalues did not converge";

DType wide_of(DType dtype) { return dtype.is_complex() ? ScalarType::kComplex128 : ScalarType::kFloat64; }

/// Whether a program of weft's own takes less than the way to the CPU and back.
bool are_tiny(const array& a) { return std::max(a.shape()[a.shape().size() - 2], a.shape().back()) <= 4; }

bool has_ordinary_numbers(const array& a, std::string& why) {
    if (!a.dtype().is_inexact() || truth_of(all(isfinite(a)))) return true;
    why = "infinities or nan among the elements";
    return false;
}

struct Symmetric {
    array values;
    array vectors;  // not where they are not wanted
};

Symmetric symmetric(const array& a, DType dtype, bool upper, bool with_vectors) {
    const DeviceScope scope(device_of(a));
    DeviceMatrices matrices(a, dtype);
    const DeviceInfo info(matrices.device(), batch_of(a), matrices.poison());
    DeviceNumbers values(matrices.device(), dtype.real(), batch_of(a), a.shape().back());
    const cusolver::Matrices from = matrices.transposed();
    ProgramRecord record(matrices.device(), name_of("syevd", dtype, from), matrices.nbytes(),
                         matrices.nbytes(), a.size());
    // Its triangles are the transposed ones; of the transposed matrix, which is the conjugate, the vectors
    // are so, too.
    cusolver::factor_symmetric(dtype.scalar_type(), matrices.device(), from, !upper, with_vectors,
                               values.address(), info.address());
    record.finish();
    const PoisonPtr poison = info.check(kNoEigenvalues);
    values.set_poison(poison);
    if (!with_vectors) return {values.finish(), array()};
    matrices.set_poison(poison);
    const array rows = matrices.finish();
    return {values.finish(), copy(swap_last(dtype.is_complex() ? conjugate(rows) : rows), 'C')};
}

/// The vectors of real matrices: where an eigenvalue's imaginary part is not zero, two columns are the parts
/// of one.
array joined(const array& values, const array& columns) {
    const array part = expand_dims(imag(values), {-2});  // beside each column
    const int64_t n = columns.shape().back();
    const array none_there = zeros_like(columns(ellipsis, slice(1)));
    const array next = concatenate({columns(ellipsis, slice(1, none)), none_there}, -1),
                before = concatenate({none_there, columns(ellipsis, slice(n - 1))}, -1);
    const array real_part = where(part < 0.0, before, columns),
                imaginary = where(part > 0.0, next, where(part < 0.0, -columns, 0.0));
    const array result = empty(Shape(columns.shape()), values.dtype());
    assign(real(result), real_part);
    assign(imag(result), imaginary);
    return result;
}

EigResult general(const array& a, DType dtype, bool with_vectors) {
    const DeviceScope scope(device_of(a));
    const int64_t n = a.shape().back();
    DeviceMatrices matrices(swap_last(a), dtype);
    const DeviceInfo info(matrices.device(), batch_of(a), matrices.poison());
    DeviceNumbers values(matrices.device(), complex_of(dtype), batch_of(a), n);
    DeviceMatrices vectors(matrices.device(), dtype, batch_of(a), with_vectors ? n : 1, with_vectors ? n : 1);
    const cusolver::Matrices from = matrices.transposed();
    ProgramRecord record(matrices.device(), name_of("geev", dtype, from), matrices.nbytes(),
                         matrices.nbytes(), a.size());
    cusolver::factor_general(dtype.scalar_type(), matrices.device(), from, values.address(),
                             with_vectors ? vectors.address() : 0, info.address());
    record.finish();
    const PoisonPtr poison = info.check(kNoEigenvalues);
    values.set_poison(poison);
    vectors.set_poison(poison);
    EigResult result{values.finish(), array()};
    if (with_vectors) result.eigenvectors = swap_last(vectors.finish());
    if (dtype.is_complex()) {
        if (with_vectors) result.eigenvectors = copy(result.eigenvectors, 'C');
        return result;
    }
    if (!truth_of(any(imag(result.eigenvalues) != 0.0))) {
        result.eigenvalues = copy(real(result.eigenvalues), 'C');
        if (with_vectors) result.eigenvectors = copy(result.eigenvectors, 'C');
    } else if (with_vectors) {
        result.eigenvectors = joined(result.eigenvalues, result.eigenvectors);
    }
    return result;
}

/// Many small matrices that are too large for the methods which take them together.
bool are_many(const array& a, std::string& why) {
    constexpr int64_t kMostOneByOne = 64, kSmall = 128;
    const int64_t rows = a.shape()[a.shape().size() - 2], columns = a.shape().back();
    const cusolver::Matrices shape{0, std::max(rows, columns), std::min(rows, columns),
                                   a.size() / (rows * columns)};
    if (shape.count <= kMostOneByOne || shape.rows > kSmall || cusolver::takes_singular_together(shape))
        return false;
    why = "many small matrices, which cuSOLVER takes one by one";
    return true;
}

struct Singular {
    array u, s, vh;
};

/// The matrices as they are, or transposed: with no more columns than rows, as the library wants them.
class SingularWork {
public:
    SingularWork(const array& a, DType dtype, bool full, bool with_vectors)
        : a_(a), dtype_(dtype), full_(full), with_vectors_(with_vectors) {
        const Dims& shape = a.shape();
        tall_ = shape[shape.size() - 2] >= shape.back();
        rows_ = std::max(shape[shape.size() - 2], shape.back());
        columns_ = std::min(shape[shape.size() - 2], shape.back());
    }

    Singular run() {
        const cusolver::Matrices shape{0, rows_, columns_, a_.size() / (rows_ * columns_)};
        if (cusolver::takes_singular_together(shape)) {
            Singular found = compute(dtype_, Way::kTogether);
            if (with_vectors_ && !full_) {
                if (tall_) found.u = copy(found.u(ellipsis, slice(columns_)), 'C');
                if (!tall_) found.vh = copy(found.vh(ellipsis, slice(columns_), Slice{}), 'C');
            }
            return found;
        }
        // In single precision the quick way is off by far beside a large singular value.
        Singular found = compute(wide_of(dtype_), Way::kQuick);
        if (!found.s.valid()) return compute(dtype_, Way::kSlow);
        const auto to = [](array& values, DType dtype) {
            if (values.valid() && values.dtype() != dtype) values = astype(values, dtype);
        };
        to(found.u, dtype_);
        to(found.vh, dtype_);
        to(found.s, dtype_.real());
        return found;
    }

private:
    enum class Way { kTogether, kQuick, kSlow };

    Singular compute(DType dtype, Way way) {
        const Dims batch = batch_of(a_);
        // The library reads columns.
        DeviceMatrices matrices(tall_ ? swap_last(a_) : a_, dtype);
        DeviceBackend& device = matrices.device();
        const DeviceInfo info(device, batch, matrices.poison());
        DeviceNumbers s(device, dtype.real(), batch, columns_);
        cusolver::SingularFactors factors;
        factors.s = s.address();
        factors.u_columns = full_ || way == Way::kTogether ? rows_ : columns_;
        DeviceMatrices u(device, dtype, batch, with_vectors_ ? factors.u_columns : 1,
                         with_vectors_ ? rows_ : 1),
            v(device, dtype, batch, with_vectors_ ? columns_ : 1, with_vectors_ ? columns_ : 1);
        if (with_vectors_) {
            factors.u = u.address();
            factors.v = v.address();
        }
        const cusolver::Matrices from = matrices.transposed();
        const char* const routine = way == Way::kTogether ? "gesvdj"
                                    : way == Way::kQuick  ? "gesvdp"
                                                          : "gesvd";
        ProgramRecord record(device, name_of(routine, dtype, from), matrices.nbytes(), matrices.nbytes(),
                             a_.size());
        bool sound = true;
        const ScalarType type = dtype.scalar_type();
        switch (way) {
            case Way::kTogether:
                cusolver::factor_singular_together(type, device, from, factors, info.address());
                break;
            case Way::kQuick:
                sound = cusolver::factor_singular_quickly(type, device, from, factors, info.address());
                break;
            case Way::kSlow: cusolver::factor_singular(type, device, from, factors, info.address()); break;
        }
        record.finish();
        if (!sound) return {};
        const PoisonPtr poison = info.check("SVD did not converge");
        s.set_poison(poison);
        u.set_poison(poison);
        v.set_poison(poison);
        Singular found{array(), s.finish(), array()};
        if (!with_vectors_) return found;
        // Rows of these are columns of u, and of v or of its adjoint.
        const array left = u.finish(), right = v.finish();
        const array right_vectors = way == Way::kSlow ? swap_last(right) : conjugate_of(right);  // vᴴ
        if (tall_) {
            found.u = copy(swap_last(left), 'C');
            found.vh = copy(right_vectors, 'C');
        } else {  // a is the transposed: conj(v) diag(s) uᵀ
            found.u = copy(swap_last(right_vectors), 'C');
            found.vh = left;
        }
        return found;
    }
    static array conjugate_of(const array& values) {
        return values.dtype().is_complex() ? conjugate(values) : values;
    }

    const array& a_;
    const DType dtype_;
    const bool full_, with_vectors_;
    bool tall_ = true;
    int64_t rows_ = 0, columns_ = 0;
};

}  // namespace

std::optional<EigResult> eig(const array& a, DType dtype, std::string& why) {
    if (goes_to_host(SpectralWork::kGeneral, a, why)) return {};
    if (!is_usable(a, why) || !cusolver::has_general(why)) return {};
    return general(a, dtype, true);
}

std::optional<array> eigvals(const array& a, DType dtype, std::string& why) {
    if (goes_to_host(SpectralWork::kGeneral, a, why)) return {};
    if (!is_usable(a, why) || !cusolver::has_general(why)) return {};
    return general(a, dtype, false).eigenvalues;
}

std::optional<EighResult> eigh(const array& a, DType dtype, bool upper, std::string& why) {
    const bool small = takes_small(SmallSpectrum::kEigh, a, dtype);
    if (!(small && are_tiny(a)) && goes_to_host(SpectralWork::kSymmetric, a, why)) return {};
    if (small) {
        SmallSpectra found = small_symmetric(a, dtype, upper, true);
        return EighResult{std::move(found.values), std::move(found.left)};
    }
    if (!is_usable(a, why) || !has_ordinary_numbers(a, why)) return {};
    Symmetric found = symmetric(a, dtype, upper, true);
    return EighResult{std::move(found.values), std::move(found.vectors)};
}

std::optional<array> eigvalsh(const array& a, DType dtype, bool upper, std::string& why) {
    const bool small = takes_small(SmallSpectrum::kEigvalsh, a, dtype);
    if (!(small && are_tiny(a)) && goes_to_host(SpectralWork::kSymmetric, a, why)) return {};
    if (small) return small_symmetric(a, dtype, upper, false).values;
    if (!is_usable(a, why) || !has_ordinary_numbers(a, why)) return {};
    return symmetric(a, dtype, upper, false).values;
}

std::optional<SVDResult> svd(const array& a, DType dtype, bool full_matrices, std::string& why) {
    const bool small = takes_small(SmallSpectrum::kSvd, a, dtype);
    if (!(small && are_tiny(a)) && goes_to_host(SpectralWork::kSingularValues, a, why)) return {};
    if (small) {
        SmallSpectra found = small_singular(a, dtype, full_matrices, true);
        return SVDResult{std::move(found.left), std::move(found.values), std::move(found.right)};
    }
    if (!is_usable(a, why) || are_many(a, why) || !has_ordinary_numbers(a, why)) return {};
    const DeviceScope scope(device_of(a));
    Singular found = SingularWork(a, dtype, full_matrices, true).run();
    return SVDResult{std::move(found.u), std::move(found.s), std::move(found.vh)};
}

std::optional<array> svdvals(const array& a, DType dtype, std::string& why) {
    const bool small = takes_small(SmallSpectrum::kSvdvals, a, dtype);
    if (!(small && are_tiny(a)) && goes_to_host(SpectralWork::kSingularValues, a, why)) return {};
    if (small) return small_singular(a, dtype, false, false).values;
    if (!is_usable(a, why) || are_many(a, why) || !has_ordinary_numbers(a, why)) return {};
    const DeviceScope scope(device_of(a));
    return SingularWork(a, dtype, false, false).run().s;
}

std::optional<LstsqResult> lstsq(const array& a, const array& b, DType dtype, double rcond,
                                 std::string& why) {
    if (!is_usable(a, why) || !has_ordinary_numbers(a, why) || !has_ordinary_numbers(b, why)) return {};
    const DeviceScope scope(device_of(a));
    const int64_t m = a.shape()[0], n = a.shape()[1];
    const Singular found = SingularWork(a, dtype, false, true).run();
    const array side = b.dtype() == dtype ? b : astype(b, dtype);
    const array counts = found.s > found.s(slice(1)) * rcond;
    const int64_t rank = integer_at(sum(counts));
    const array part = matmul(conjugate(swapaxes(found.u, 0, 1)), side);
    const array inverse = where(counts, 1.0 / where(counts, found.s, 1.0), 0.0);
    const array x = matmul(conjugate(swapaxes(found.vh, 0, 1)),
                           part * (b.ndim() == 1 ? inverse : expand_dims(inverse, {1})));
    array residuals = empty({0}, dtype.real());
    if (rank == n && m > n) {
        const array rest = side - matmul(a.dtype() == dtype ? a : astype(a, dtype), x);
        residuals =
            sum(dtype.is_complex() ? real(rest) * real(rest) + imag(rest) * imag(rest) : rest * rest, 0);
        if (b.ndim() == 1) residuals = reshape(residuals, {1});
    }
    return LstsqResult{x, residuals, rank, found.s};
}

}  // namespace weft::linalg::gpu
