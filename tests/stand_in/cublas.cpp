// The stand-in's cuBLAS: what library/products/cuda calls of it, on the memory and the streams of the
// stand-in's driver.
#include "product.h"
#include "stand_in.h"

namespace weft::stand_in {

namespace {

struct Handle {
    cuda::StreamHandle stream = nullptr;
};

}  // namespace

}  // namespace weft::stand_in

using weft::stand_in::count_objects;
using weft::stand_in::enter_library;
using weft::stand_in::Handle;
using weft::stand_in::Product;

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
    const bool narrow = a_type != weft::stand_in::kReal64 && a_type != weft::stand_in::kComplex64;
    if (narrow == (compute == weft::stand_in::kCompute64)) return kInvalidValue;
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
                          compute == weft::stand_in::kCompute32FastTf32};
    weft::stand_in::run_later(static_cast<Handle*>(handle)->stream,
                              [product, a_type] { multiply(product, a_type); });
    return 0;
}

}  // extern "C"
