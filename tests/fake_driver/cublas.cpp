// The fake driver's cuBLAS: what library/products/cuda calls of it, on the memory and the streams of the
// fake driver.
#include "fake_driver.h"
#include "product.h"

namespace weft::fake_driver {

namespace {

struct Handle {
    cuda::StreamHandle stream = nullptr;
};

}  // namespace

}  // namespace weft::fake_driver

using weft::fake_driver::count_objects;
using weft::fake_driver::enter_library;
using weft::fake_driver::Handle;
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
    constexpr int kInvalidValue = 7;
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

}  // extern "C"
