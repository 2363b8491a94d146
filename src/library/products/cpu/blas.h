// OpenBLAS, opened when the first product needs it: importing weft does not load it. Called with one thread a
// call, always; who wants more threads cuts the work into tiles (library/products/cpu/contraction.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft {

// Matrices are in row-major order; dimensions and strides count elements.
enum class BlasTranspose : int { kNo = 111, kYes = 112 };

// The functions of one element type. Scalars are passed as the library takes them: by value when real.
template <class T>
struct BlasFunctions {
    using Gemm = void (*)(int order, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                          T alpha, const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c,
                          int64_t ldc);
    using Gemv = void (*)(int order, int transpose, int64_t m, int64_t n, T alpha, const T* a, int64_t lda,
                          const T* x, int64_t incx, T beta, T* y, int64_t incy);
    using Dot = T (*)(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy);
    Gemm gemm = nullptr;
    Gemv gemv = nullptr;
    Dot dot = nullptr;
};

// Of complex types: scalars by address, the dot product (not conjugated) through its last argument.
struct ComplexBlasFunctions {
    using Gemm = void (*)(int order, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                          const void* alpha, const void* a, int64_t lda, const void* b, int64_t ldb,
                          const void* beta, void* c, int64_t ldc);
    using Gemv = void (*)(int order, int transpose, int64_t m, int64_t n, const void* alpha, const void* a,
                          int64_t lda, const void* x, int64_t incx, const void* beta, void* y, int64_t incy);
    using Dot = void (*)(int64_t n, const void* x, int64_t incx, const void* y, int64_t incy, void* result);
    Gemm gemm = nullptr;
    Gemv gemv = nullptr;
    Dot dot = nullptr;
};

struct Blas {
    size_t buffer_bytes = 0;  // what each of several calls at once takes of memory
    BlasFunctions<float> f32;
    BlasFunctions<double> f64;
    ComplexBlasFunctions c64, c128;
    std::string path, version;
    void* handle = nullptr;  // of the dynamic linker
};

// A further function, by its plain name ("dgetrf_" of LAPACK); null where the library has none.
void* blas_function(const Blas& library, const std::string& name);

// Null when there is none to be found: WEFT_OPENBLAS if set (nothing else then; empty: none), else beside the
// engine, else where the system looks. Thread safe; a library that was found stays open. Throws
// std::bad_alloc where the library is there, but memory to open it is not; a later call tries again.
const Blas* blas();

// While one lives, so many threads may be in OpenBLAS, besides those of other products. It ends the process
// where it cannot have memory for another thread; here that is std::bad_alloc, before the product begins.
class BlasThreads {
public:
    BlasThreads(const Blas& library, int64_t threads);
    ~BlasThreads();
    BlasThreads(const BlasThreads&) = delete;
    BlasThreads& operator=(const BlasThreads&) = delete;

private:
    int64_t threads_;
};

}  // namespace weft
