#include "library/cuda/gpu_contraction.h"

#include <array>
#include <climits>
#include <map>
#include <mutex>
#include <optional>

#include "device/cuda/cuda_device.h"
#include "device/cuda/libraries.h"
#include "weft/errors.h"

namespace weft {

namespace {

using cuda::CudaDevice;
using cuda::Libraries;

// cudaDataType, cublasComputeType_t, cublasOperation_t, cublasGemmAlgo_t
constexpr int kReal32 = 0, kReal64 = 1, kComplex32 = 4, kComplex64 = 5;
constexpr int kCompute32 = 68, kCompute64 = 70;
constexpr int kPlain = 0, kTransposed = 1;
constexpr int kDefaultAlgorithm = -1;

struct Types {
    int data, compute;
    const char* routine;
};

std::optional<Types> types_of(ScalarType type) {
    switch (type) {
        case ScalarType::kFloat32: return Types{kReal32, kCompute32, "cublas sgemm"};
        case ScalarType::kFloat64: return Types{kReal64, kCompute64, "cublas dgemm"};
        case ScalarType::kComplex64: return Types{kComplex32, kCompute32, "cublas cgemm"};
        case ScalarType::kComplex128: return Types{kComplex64, kCompute64, "cublas zgemm"};
        default: return std::nullopt;
    }
}

// Axes that play one part in the product, as one; strides in bytes.
struct Axis {
    int64_t extent = 1;
    int64_t left = 0, right = 0, out = 0;

    // Whether another axis, outside of this one, can be counted on with it.
    bool take_outer(int64_t outer, int64_t outer_left, int64_t outer_right, int64_t outer_out) {
        if (outer == 1) return true;
        if (extent == 1) {
            *this = {outer, outer_left, outer_right, outer_out};
            return true;
        }
        if (outer_left != left * extent || outer_right != right * extent || outer_out != out * extent)
            return false;
        extent *= outer;
        return true;
    }
};

struct Parts {
    Axis batch, m, n, k;
};

std::optional<Parts> parts_of(const Contraction& contraction) {
    Parts parts;
    for (size_t d = contraction.shape.size(); d-- > 0;) {
        const int64_t left = contraction.left_strides[d], right = contraction.right_strides[d];
        Axis& axis = contraction.reduced[d]    ? parts.k
                     : left != 0 && right == 0 ? parts.m
                     : left == 0 && right != 0 ? parts.n
                                               : parts.batch;
        if (!axis.take_outer(contraction.shape[d], left, right, contraction.out_strides[d]))
            return std::nullopt;
    }
    return parts;
}

// A matrix as cuBLAS reads it, column by column: plain where its rows are what runs without gaps here.
struct Matrix {
    int operation = kPlain;
    int64_t leading = 1;
};

// `inner` is the stride that is to be an element's, of `columns` elements; `outer` leads over `rows`.
std::optional<int64_t> leading_of(int64_t inner, int64_t columns, int64_t outer, int64_t rows,
                                  int64_t itemsize) {
    if (columns != 1 && inner != itemsize) return std::nullopt;
    if (rows == 1) return std::max<int64_t>(columns, 1);
    if (outer % itemsize != 0 || outer / itemsize < std::max<int64_t>(columns, 1)) return std::nullopt;
    return outer / itemsize;
}

std::optional<Matrix> matrix_of(int64_t row_stride, int64_t rows, int64_t column_stride, int64_t columns,
                                int64_t itemsize) {
    if (const auto leading = leading_of(column_stride, columns, row_stride, rows, itemsize))
        return Matrix{kPlain, *leading};
    if (const auto leading = leading_of(row_stride, rows, column_stride, columns, itemsize))
        return Matrix{kTransposed, *leading};
    return std::nullopt;
}

// One for each device, made at first need and kept.
struct Handles {
    std::mutex mutex;
    std::map<const DeviceBackend*, void*> handles;
};

void* handle_of(CudaDevice& device, const Libraries& functions, std::string& why) {
    static auto* all = new Handles;
    const std::lock_guard lock(all->mutex);
    void*& handle = all->handles[&device];
    if (handle != nullptr) return handle;
    int status = functions.cublasCreate_v2(&handle);
    if (status == 0) status = functions.cublasSetStream_v2(handle, device.context().stream());
    if (status == 0) return handle;
    handle = nullptr;
    why = "cuBLAS does not start (status " + std::to_string(status) + ")";
    return nullptr;
}

}  // namespace

std::string contract_on_gpu(const Contraction& contraction, DeviceBackend& backend,
                            ContractionReport& report) {
    const std::optional<Types> types = types_of(contraction.type);
    const DType dtype = DType::of(contraction.type);
    const std::string name(dtype.name());
    if (!types) return "products of " + name + " do not run on GPUs yet";
    const std::optional<Parts> parts = parts_of(contraction);
    if (!parts) return "a product of several axes that cuBLAS cannot express without a copy";
    const auto& [batch, m, n, k] = *parts;
    for (const Axis* axis : {&batch, &m, &n, &k}) {
        if (axis->extent == 0) return "a product over no elements";
        if (axis->extent > INT_MAX) return "a product of more than 2^31 rows";
    }
    const int64_t itemsize = dtype.itemsize();
    // cuBLAS stores column by column, so it is asked for the transposed product: the right operand first.
    const auto left = matrix_of(m.left, m.extent, k.left, k.extent, itemsize);
    const auto right = matrix_of(k.right, k.extent, n.right, n.extent, itemsize);
    const auto out = leading_of(n.out, n.extent, m.out, m.extent, itemsize);
    if (!left || !right || !out || left->leading > INT_MAX || right->leading > INT_MAX || *out > INT_MAX ||
        batch.left % itemsize != 0 || batch.right % itemsize != 0 || batch.out % itemsize != 0)
        return "a product whose strides cuBLAS cannot express without a copy";
    const Libraries* functions = nullptr;
    try {
        functions = &cuda::library(cuda::LibraryId::kCublas);
    } catch (const DeviceError& error) {
        return error.what();
    }
    auto& device = static_cast<CudaDevice&>(backend);
    const cuda::Context::Scope scope(device.context());
    std::string why;
    void* handle = handle_of(device, *functions, why);
    if (handle == nullptr) return why;
    // Of the widest type, complex128; a real one is its beginning.
    struct Scalars {
        alignas(16) std::array<double, 2> f64{};
        alignas(16) std::array<float, 2> f32{};
    } one, zero;
    one.f64[0] = 1;
    one.f32[0] = 1;
    const bool narrow = types->compute == kCompute32;
    const void* const alpha = narrow ? static_cast<const void*>(&one.f32) : &one.f64;
    const void* const beta = narrow ? static_cast<const void*>(&zero.f32) : &zero.f64;
    const int status = functions->cublasGemmStridedBatchedEx(
        handle, right->operation, left->operation, static_cast<int>(n.extent), static_cast<int>(m.extent),
        static_cast<int>(k.extent), alpha, contraction.right, types->data, static_cast<int>(right->leading),
        batch.right / itemsize, contraction.left, types->data, static_cast<int>(left->leading),
        batch.left / itemsize, beta, contraction.out, types->data, static_cast<int>(*out),
        batch.out / itemsize, static_cast<int>(batch.extent), types->compute, kDefaultAlgorithm);
    if (status != 0)
        throw DeviceError("cuBLAS could not multiply on " + device.name() + " (status " +
                          std::to_string(status) + ")");
    device.pool().mark();
    report.routine = types->routine;
    report.batch = batch.extent;
    report.m = m.extent;
    report.n = n.extent;
    report.k = k.extent;
    return "";
}

}  // namespace weft
