// The fake driver's cuBLAS: what library/products/cuda calls of it, on the memory and the streams of the
// fake driver.
#include <complex>

#include "dense.h"
#include "fake_driver.h"
#include "product.h"

namespace weft::fake_driver {

namespace {

struct Handle {
    cuda::StreamHandle stream = nullptr;
};

constexpr int kInvalidValue = 7;

// Matrices of a batch, whose addresses are in an array.
template <class T>
Matrix<T> matrix_of(const void* pointers, int64_t index, int64_t rows, int64_t columns, int64_t leading) {
    return {static_cast<T* const*>(pointers)[index], rows, columns, leading};
}

template <class T>
int factor_batch(const char* name, void* handle, int n, void* matrices, int leading, int* pivots, int* info,
                 int batch) {
    if (const int status = enter_library(name)) return status;
    if (n < 0 || leading < n || batch < 0) return kInvalidValue;
    run_later(static_cast<Handle*>(handle)->stream, [=] {
        for (int64_t k = 0; k < batch; ++k)
            info[k] = factor_lu(matrix_of<T>(matrices, k, n, n, leading), pivots + k * n, true);
    });
    return 0;
}

template <class T>
int solve_batch(const char* name, void* handle, int operation, int n, int columns, const void* factors,
                int leading, const int* pivots, void* sides, int side_leading, int* status, int batch) {
    if (const int failed = enter_library(name)) return failed;
    *status = 0;
    if (n < 0 || leading < n || side_leading < n || operation > 1) return kInvalidValue;
    run_later(static_cast<Handle*>(handle)->stream, [=] {
        for (int64_t k = 0; k < batch; ++k)
            solve_lu(matrix_of<T>(factors, k, n, n, leading), pivots + k * n, operation == 1,
                     matrix_of<T>(sides, k, n, columns, side_leading));
    });
    return 0;
}

template <class T>
int solve_triangle(const char* name, void* handle, int side, int triangle, int operation, int unit, int rows,
                   int columns, const void* alpha, const void* a, int leading, void* b, int side_leading) {
    if (const int status = enter_library(name)) return status;
    if (side != 0 || operation != 0 || leading < rows || side_leading < rows ||
        *static_cast<const T*>(alpha) != T(1))
        return kInvalidValue;
    run_later(static_cast<Handle*>(handle)->stream, [=] {
        const Matrix<T> m{static_cast<T*>(const_cast<void*>(a)), rows, rows, leading};
        const Matrix<T> x{static_cast<T*>(b), rows, columns, side_leading};
        for (int64_t c = 0; c < columns; ++c) {
            for (int64_t k = 0; k < rows; ++k) {
                const int64_t i = triangle == 0 ? k : rows - 1 - k;
                for (int64_t j = triangle == 0 ? 0 : i + 1; j < (triangle == 0 ? i : rows); ++j)
                    x(i, c) -= m(i, j) * x(j, c);
                if (unit == 0) x(i, c) /= m(i, i);
            }
        }
    });
    return 0;
}

template <class T>
int invert_batch(const char* name, void* handle, int n, const void* factors, int leading, const int* pivots,
                 void* inverses, int inverse_leading, int* info, int batch) {
    if (const int status = enter_library(name)) return status;
    if (n < 0 || leading < n || inverse_leading < n) return kInvalidValue;
    run_later(static_cast<Handle*>(handle)->stream, [=] {
        for (int64_t k = 0; k < batch; ++k) {
            const Matrix<T> lu = matrix_of<T>(factors, k, n, n, leading),
                            inverse = matrix_of<T>(inverses, k, n, n, inverse_leading);
            info[k] = 0;
            for (int64_t j = 0; j < n; ++j) {
                if (lu(j, j) == T(0) && info[k] == 0) info[k] = static_cast<int>(j + 1);
                for (int64_t i = 0; i < n; ++i) inverse(i, j) = i == j ? 1 : 0;
            }
            solve_lu(lu, pivots + k * n, false, inverse);
        }
    });
    return 0;
}

}  // namespace

}  // namespace weft::fake_driver

using weft::fake_driver::count_objects;
using weft::fake_driver::enter_library;
using weft::fake_driver::Handle;
using weft::fake_driver::kInvalidValue;
using weft::fake_driver::Product;

extern "C" {

int cublasGetProperty(int type, int* value) {
    if (const int status = enter_library("cublasGetProperty")) return status;
    *value = type == 0 ? 13 : 0;
    return 0;
}
int cublasCreate_v2(void** handle) {
    if (const int status = enter_library("cublasCreate_v2")) return status;
    *handle = new Handle;
    count_objects(1);
    return 0;
}
int cublasDestroy_v2(void* handle) {
    delete static_cast<Handle*>(handle);
    count_objects(-1);
    return enter_library("cublasDestroy_v2");
}
int cublasSetStream_v2(void* handle, weft::cuda::StreamHandle stream) {
    if (const int status = enter_library("cublasSetStream_v2")) return status;
    static_cast<Handle*>(handle)->stream = stream;
    return 0;
}
int cublasSetMathMode(void*, int) { return enter_library("cublasSetMathMode"); }
int cublasGemmStridedBatchedEx(void* handle, int transpose_a, int transpose_b, int m, int n, int k,
                               const void*, const void* a, int a_type, int a_leading, long long a_stride,
                               const void* b, int, int b_leading, long long b_stride, const void*, void* c,
                               int, int c_leading, long long c_stride, int batch, int compute, int) {
    if (const int status = enter_library("cublasGemmStridedBatchedEx")) return status;
    const bool a_transposed = transpose_a != 0, b_transposed = transpose_b != 0;
    const bool narrow = a_type != weft::fake_driver::kReal64 && a_type != weft::fake_driver::kComplex64;
    if (narrow == (compute == weft::fake_driver::kCompute64)) return kInvalidValue;
    if (a_leading < (a_transposed ? k : m) || b_leading < (b_transposed ? n : k) || c_leading < m)
        return kInvalidValue;
    const Product product{m,
                          n,
                          k,
                          a,
                          b,
                          c,
                          a_leading,
                          b_leading,
                          c_leading,
                          a_stride,
                          b_stride,
                          c_stride,
                          a_transposed,
                          b_transposed,
                          batch,
                          compute == weft::fake_driver::kCompute32FastTf32};
    weft::fake_driver::run_later(static_cast<Handle*>(handle)->stream,
                                 [product, a_type] { multiply(product, a_type); });
    return 0;
}
int cublasSgetrfBatched(void* handle, int n, void* matrices, int leading, int* pivots, int* info, int batch) {
    return weft::fake_driver::factor_batch<float>("cublasSgetrfBatched", handle, n, matrices, leading, pivots,
                                                  info, batch);
}
int cublasSgetrsBatched(void* handle, int operation, int n, int columns, const void* factors, int leading,
                        const int* pivots, void* sides, int side_leading, int* status, int batch) {
    return weft::fake_driver::solve_batch<float>("cublasSgetrsBatched", handle, operation, n, columns,
                                                 factors, leading, pivots, sides, side_leading, status,
                                                 batch);
}
int cublasSgetriBatched(void* handle, int n, const void* factors, int leading, const int* pivots,
                        void* inverses, int inverse_leading, int* info, int batch) {
    return weft::fake_driver::invert_batch<float>("cublasSgetriBatched", handle, n, factors, leading, pivots,
                                                  inverses, inverse_leading, info, batch);
}
int cublasDgetrfBatched(void* handle, int n, void* matrices, int leading, int* pivots, int* info, int batch) {
    return weft::fake_driver::factor_batch<double>("cublasDgetrfBatched", handle, n, matrices, leading,
                                                   pivots, info, batch);
}
int cublasDgetrsBatched(void* handle, int operation, int n, int columns, const void* factors, int leading,
                        const int* pivots, void* sides, int side_leading, int* status, int batch) {
    return weft::fake_driver::solve_batch<double>("cublasDgetrsBatched", handle, operation, n, columns,
                                                  factors, leading, pivots, sides, side_leading, status,
                                                  batch);
}
int cublasDgetriBatched(void* handle, int n, const void* factors, int leading, const int* pivots,
                        void* inverses, int inverse_leading, int* info, int batch) {
    return weft::fake_driver::invert_batch<double>("cublasDgetriBatched", handle, n, factors, leading, pivots,
                                                   inverses, inverse_leading, info, batch);
}
int cublasCgetrfBatched(void* handle, int n, void* matrices, int leading, int* pivots, int* info, int batch) {
    return weft::fake_driver::factor_batch<std::complex<float>>("cublasCgetrfBatched", handle, n, matrices,
                                                                leading, pivots, info, batch);
}
int cublasCgetrsBatched(void* handle, int operation, int n, int columns, const void* factors, int leading,
                        const int* pivots, void* sides, int side_leading, int* status, int batch) {
    return weft::fake_driver::solve_batch<std::complex<float>>("cublasCgetrsBatched", handle, operation, n,
                                                               columns, factors, leading, pivots, sides,
                                                               side_leading, status, batch);
}
int cublasCgetriBatched(void* handle, int n, const void* factors, int leading, const int* pivots,
                        void* inverses, int inverse_leading, int* info, int batch) {
    return weft::fake_driver::invert_batch<std::complex<float>>(
        "cublasCgetriBatched", handle, n, factors, leading, pivots, inverses, inverse_leading, info, batch);
}
int cublasZgetrfBatched(void* handle, int n, void* matrices, int leading, int* pivots, int* info, int batch) {
    return weft::fake_driver::factor_batch<std::complex<double>>("cublasZgetrfBatched", handle, n, matrices,
                                                                 leading, pivots, info, batch);
}
int cublasZgetrsBatched(void* handle, int operation, int n, int columns, const void* factors, int leading,
                        const int* pivots, void* sides, int side_leading, int* status, int batch) {
    return weft::fake_driver::solve_batch<std::complex<double>>("cublasZgetrsBatched", handle, operation, n,
                                                                columns, factors, leading, pivots, sides,
                                                                side_leading, status, batch);
}
int cublasZgetriBatched(void* handle, int n, const void* factors, int leading, const int* pivots,
                        void* inverses, int inverse_leading, int* info, int batch) {
    return weft::fake_driver::invert_batch<std::complex<double>>(
        "cublasZgetriBatched", handle, n, factors, leading, pivots, inverses, inverse_leading, info, batch);
}
int cublasStrsm_v2(void* handle, int side, int triangle, int operation, int unit, int rows, int columns,
                   const void* alpha, const void* a, int leading, void* b, int side_leading) {
    return weft::fake_driver::solve_triangle<float>("cublasStrsm_v2", handle, side, triangle, operation, unit,
                                                    rows, columns, alpha, a, leading, b, side_leading);
}
int cublasDtrsm_v2(void* handle, int side, int triangle, int operation, int unit, int rows, int columns,
                   const void* alpha, const void* a, int leading, void* b, int side_leading) {
    return weft::fake_driver::solve_triangle<double>("cublasDtrsm_v2", handle, side, triangle, operation,
                                                     unit, rows, columns, alpha, a, leading, b, side_leading);
}
int cublasCtrsm_v2(void* handle, int side, int triangle, int operation, int unit, int rows, int columns,
                   const void* alpha, const void* a, int leading, void* b, int side_leading) {
    return weft::fake_driver::solve_triangle<std::complex<float>>("cublasCtrsm_v2", handle, side, triangle,
                                                                  operation, unit, rows, columns, alpha, a,
                                                                  leading, b, side_leading);
}
int cublasZtrsm_v2(void* handle, int side, int triangle, int operation, int unit, int rows, int columns,
                   const void* alpha, const void* a, int leading, void* b, int side_leading) {
    return weft::fake_driver::solve_triangle<std::complex<double>>("cublasZtrsm_v2", handle, side, triangle,
                                                                   operation, unit, rows, columns, alpha, a,
                                                                   leading, b, side_leading);
}

}  // extern "C"
