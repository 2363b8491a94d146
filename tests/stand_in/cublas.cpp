// The stand-in's cuBLAS: what library/cuda calls of it, on the memory and the streams of the stand-in's
// driver.
#include <complex>
#include <cstring>

#include "stand_in.h"

namespace weft::stand_in {

namespace {

struct Handle {
    cuda::StreamHandle stream = nullptr;
};

// cudaDataType
enum Type { kReal32 = 0, kReal64 = 1, kComplex32 = 4, kComplex64 = 5 };

struct Product {
    int m, n, k;
    const void *a, *b;
    void* c;
    int64_t a_leading, b_leading, c_leading, a_stride, b_stride, c_stride;
    bool a_transposed, b_transposed;
    int batch;
};

template <class T>
void multiply(const Product& product) {
    for (int64_t batch = 0; batch < product.batch; ++batch) {
        const T* a = static_cast<const T*>(product.a) + batch * product.a_stride;
        const T* b = static_cast<const T*>(product.b) + batch * product.b_stride;
        T* c = static_cast<T*>(product.c) + batch * product.c_stride;
        for (int64_t row = 0; row < product.m; ++row) {
            for (int64_t column = 0; column < product.n; ++column) {
                T sum = 0;
                for (int64_t i = 0; i < product.k; ++i) {
                    const T left = product.a_transposed ? a[i + row * product.a_leading]
                                                        : a[row + i * product.a_leading];
                    const T right = product.b_transposed ? b[column + i * product.b_leading]
                                                         : b[i + column * product.b_leading];
                    sum += left * right;
                }
                c[row + column * product.c_leading] = sum;
            }
        }
    }
}

}  // namespace

}  // namespace weft::stand_in

using weft::stand_in::Handle;
using weft::stand_in::Product;

extern "C" {

int cublasGetProperty(int type, int* value) {
    *value = type == 0 ? 13 : 0;
    return 0;
}
int cublasCreate_v2(void** handle) {
    *handle = new Handle;
    return 0;
}
int cublasDestroy_v2(void* handle) {
    delete static_cast<Handle*>(handle);
    return 0;
}
int cublasSetStream_v2(void* handle, weft::cuda::StreamHandle stream) {
    static_cast<Handle*>(handle)->stream = stream;
    return 0;
}
int cublasSetMathMode(void*, int) { return 0; }
int cublasGemmStridedBatchedEx(void* handle, int transpose_a, int transpose_b, int m, int n, int k,
                               const void*, const void* a, int a_type, int a_leading, long long a_stride,
                               const void* b, int, int b_leading, long long b_stride, const void*, void* c,
                               int, int c_leading, long long c_stride, int batch, int, int) {
    constexpr int kInvalidValue = 7;
    const bool a_transposed = transpose_a != 0, b_transposed = transpose_b != 0;
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
                          batch};
    weft::stand_in::run_later(static_cast<Handle*>(handle)->stream, [product, a_type] {
        using weft::stand_in::multiply;
        switch (a_type) {
            case weft::stand_in::kReal32: multiply<float>(product); break;
            case weft::stand_in::kReal64: multiply<double>(product); break;
            case weft::stand_in::kComplex32: multiply<std::complex<float>>(product); break;
            default: multiply<std::complex<double>>(product); break;
        }
    });
    return 0;
}

}  // extern "C"
