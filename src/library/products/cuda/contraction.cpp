#include "library/products/cuda/contraction.h"

#include <array>
#include <climits>
#include <optional>

#include "core/config.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/libraries.h"
#include "library/products/cuda/cublas_handle.h"
#include "library/products/cuda/cublas_lt.h"
#include "library/products/cuda/cublas_status.h"
#include "weft/errors.h"

namespace weft {

namespace {

using cuda::CudaDevice;
using cuda::Libraries;

// cudaDataType, cublasComputeType_t, cublasOperation_t, cublasGemmAlgo_t
constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kComplex32 = 4, kComplex64 = 5, kRealB16 = 14;
constexpr int kCompute32 = 68, kCompute64 = 70, kCompute32FastTf32 = 77;
constexpr int kPlain = 0, kTransposed = 1;
constexpr int kDefaultAlgorithm = -1;

struct Types {
    int data, compute;
    const char* routine;  // after the library's name

    int scale() const { return data == kReal16 || data == kRealB16 ? kReal32 : data; }
};

std::optional<Types> types_of(ScalarType type) {
    const bool rounds = config().allow_tf32.load(std::memory_order_relaxed);
    switch (type) {
        case ScalarType::kFloat16: return Types{kReal16, kCompute32, "hgemm"};
        case ScalarType::kBFloat16: return Types{kRealB16, kCompute32, "bf16gemm"};
        case ScalarType::kFloat32:
            if (rounds) return Types{kReal32, kCompute32FastTf32, "sgemm tf32"};
            return Types{kReal32, kCompute32, "sgemm"};
        case ScalarType::kFloat64: return Types{kReal64, kCompute64, "dgemm"};
        case ScalarType::kComplex64:
            if (rounds) return Types{kComplex32, kCompute32FastTf32, "cgemm tf32"};
            return Types{kComplex32, kCompute32, "cgemm"};
        case ScalarType::kComplex128: return Types{kComplex64, kCompute64, "zgemm"};
        default: return std::nullopt;
    }
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

struct Matrices {
    std::optional<Matrix> left, right;
    std::optional<int64_t> out;
};

// cuBLAS stores column by column, so it is asked for the transposed product: the right operand first.
Matrices matrices_of(const ProductAxes& axes, int64_t itemsize) {
    const auto& [batch, m, n, k] = axes;
    Matrices matrices{matrix_of(m.left, m.extent, k.left, k.extent, itemsize),
                      matrix_of(k.right, k.extent, n.right, n.extent, itemsize),
                      leading_of(n.out, n.extent, m.out, m.extent, itemsize)};
    // Backwards from matrix to matrix, cuBLAS knows some types only, and names none.
    const auto is_step = [&](int64_t stride) { return stride >= 0 && stride % itemsize == 0; };
    if (matrices.left && (matrices.left->leading > INT_MAX || !is_step(batch.left))) matrices.left.reset();
    if (matrices.right && (matrices.right->leading > INT_MAX || !is_step(batch.right)))
        matrices.right.reset();
    if (matrices.out && (*matrices.out > INT_MAX || batch.out % itemsize != 0)) matrices.out.reset();
    return matrices;
}

}  // namespace

bool ProductAxis::take_outer(int64_t outer, int64_t outer_left, int64_t outer_right, int64_t outer_out) {
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

std::optional<ProductAxes> product_axes(const Contraction& contraction) {
    ProductAxes axes;
    for (size_t d = contraction.shape.size(); d-- > 0;) {
        const int64_t left = contraction.left_strides[d], right = contraction.right_strides[d];
        ProductAxis& axis = contraction.reduced[d]    ? axes.k
                            : left != 0 && right == 0 ? axes.m
                            : left == 0 && right != 0 ? axes.n
                                                      : axes.batch;
        if (!axis.take_outer(contraction.shape[d], left, right, contraction.out_strides[d]))
            return std::nullopt;
    }
    return axes;
}

bool has_cublas_type(ScalarType type) { return types_of(type).has_value(); }

CublasFit fit_cublas(const Contraction& contraction) {
    const std::optional<ProductAxes> axes = product_axes(contraction);
    if (!axes) return {};
    const Matrices matrices = matrices_of(*axes, DType::of(contraction.type).itemsize());
    return {matrices.left.has_value(), matrices.right.has_value(), matrices.out.has_value()};
}

bool has_epilogues(ScalarType type) {
    if (type != ScalarType::kFloat32 && !DType(type).is_half_float()) return false;
    static const bool found = [] {
        try {
            return cuda::library(cuda::LibraryId::kCublasLt).cublasLtMatmul != nullptr;
        } catch (const DeviceError&) {
            return false;
        }
    }();
    return found;
}

std::string contract_on_gpu(const Contraction& contraction, DeviceBackend& backend, ContractionReport& report,
                            const ProductEpilogue& epilogue) {
    const std::optional<Types> types = types_of(contraction.type);
    const DType dtype = DType::of(contraction.type);
    const std::string name(dtype.name());
    if (!types) return "cuBLAS has no products of " + name;
    const std::optional<ProductAxes> axes = product_axes(contraction);
    if (!axes) return "a product of several axes that cuBLAS cannot express without a copy";
    const auto& [batch, m, n, k] = *axes;
    for (const ProductAxis* axis : {&batch, &m, &n, &k}) {
        if (axis->extent == 0) return "a product over no elements";
        if (axis->extent > INT_MAX) return "a product of more than 2^31 rows";
    }
    const int64_t itemsize = dtype.itemsize();
    const auto [left, right, out] = matrices_of(*axes, itemsize);
    if (!left || !right || !out) return "a product whose strides cuBLAS cannot express without a copy";
    auto& device = static_cast<CudaDevice&>(backend);
    const cuda::Context::Scope scope(device.context());
    report.batch = batch.extent;
    report.m = m.extent;
    report.n = n.extent;
    report.k = k.extent;
    const auto address = [](const char* pointer) { return reinterpret_cast<uint64_t>(pointer); };
    const auto lt_matrix = [&](const char* data, int64_t leading, int64_t stride, int operation) {
        return LtMatrix{address(data), leading, stride / itemsize, operation == kTransposed};
    };
    std::string why;
    // Its heuristic knows more shapes than cuBLAS's, and it may use memory of its own.
    if (has_epilogues(contraction.type)) {
        const LtProduct product{types->data,
                                types->compute,
                                types->scale(),
                                n.extent,
                                m.extent,
                                k.extent,
                                batch.extent,
                                lt_matrix(contraction.right, right->leading, batch.right, right->operation),
                                lt_matrix(contraction.left, left->leading, batch.left, left->operation),
                                lt_matrix(contraction.out, *out, batch.out, kPlain),
                                address(epilogue.bias),
                                epilogue.relu};
        try {
            why = multiply_by_cublas_lt(product, device);
        } catch (const Error&) {
            device.synchronize();  // says so where a fault is to blame
            throw;
        }
        if (why.empty()) {
            report.routine = std::string("cublaslt ") + types->routine;
            if (epilogue.bias != nullptr) report.routine += " bias";
            if (epilogue.relu) report.routine += " relu";
            return "";
        }
    }
    if (epilogue) return why;
    const Libraries* functions = nullptr;
    try {
        functions = &cuda::library(cuda::LibraryId::kCublas);
    } catch (const DeviceError& error) {
        return error.what();
    }
    void* handle = cublas_handle_of(device, *functions, why);
    if (handle == nullptr) return why;
    const ProductScalar one(1), zero(0);
    const bool wide = types->compute == kCompute64;
    const cuda::MemoryPool::Queueing counted(device.pool());
    const int status = functions->cublasGemmStridedBatchedEx(
        handle, right->operation, left->operation, static_cast<int>(n.extent), static_cast<int>(m.extent),
        static_cast<int>(k.extent), one.read(wide), contraction.right, types->data,
        static_cast<int>(right->leading), batch.right / itemsize, contraction.left, types->data,
        static_cast<int>(left->leading), batch.left / itemsize, zero.read(wide), contraction.out, types->data,
        static_cast<int>(*out), batch.out / itemsize, static_cast<int>(batch.extent), types->compute,
        kDefaultAlgorithm);
    if (status != 0) {
        device.synchronize();  // says so where a fault is to blame
        throw_cublas_error("cuBLAS", status, "multiply on " + device.name());
    }
    report.routine = std::string("cublas ") + types->routine;
    return "";
}

}  // namespace weft
