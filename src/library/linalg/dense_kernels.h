// Products of matrices and vectors in column-major order, on the calling thread, for the blocked algorithms
// of this folder: thin names over the OpenBLAS that products use. Who calls holds BlasThreads.
#pragma once

#include "library/linalg/lapack.h"

namespace weft::lapack {

enum class Form : int { kPlain = 111, kTransposed = 112, kAdjoint = 113 };
constexpr int kColumnMajor = 102;

template <class T>
const auto& products() {
    if constexpr (std::is_same_v<T, float>) {
        return library().f32;
    } else if constexpr (std::is_same_v<T, double>) {
        return library().f64;
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
        return library().c64;
    } else {
        return library().c128;
    }
}

// c = alpha a b + beta c, with a of m rows and b of n columns in the forms that are said.
template <class T>
void multiply(Form form_a, Form form_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,
              const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
    if (m == 0 || n == 0) return;
    const int fa = static_cast<int>(form_a), fb = static_cast<int>(form_b);
    if constexpr (is_complex<T>) {
        products<T>().gemm(kColumnMajor, fa, fb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
    } else {
        products<T>().gemm(kColumnMajor, fa, fb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    }
}

// y = alpha a x + beta y, where a has m rows and n columns before it takes its form.
template <class T>
void multiply_vector(Form form, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* x, T beta,
                     T* y) {
    const int64_t length = form == Form::kPlain ? m : n;
    if (m == 0 || n == 0) {
        for (int64_t i = 0; i < length; ++i) y[i] = beta == T(0) ? T(0) : beta * y[i];
        return;
    }
    if constexpr (is_complex<T>) {
        products<T>().gemv(kColumnMajor, static_cast<int>(form), m, n, &alpha, a, lda, x, 1, &beta, y, 1);
    } else {
        products<T>().gemv(kColumnMajor, static_cast<int>(form), m, n, alpha, a, lda, x, 1, beta, y, 1);
    }
}

// The sum of conj(x[i]) * y[i].
template <class T>
T inner_product(int64_t n, const T* x, const T* y) {
    if constexpr (is_complex<T>) {
        Real<T> real(0), imaginary(0);  // by parts: a product of std::complex looks for NaN
        for (int64_t i = 0; i < n; ++i) {
            real += x[i].real() * y[i].real() + x[i].imag() * y[i].imag();
            imaginary += x[i].real() * y[i].imag() - x[i].imag() * y[i].real();
        }
        return {real, imaginary};
    } else {
        return products<T>().dot(n, x, 1, y, 1);
    }
}

template <class T>
T conjugate(T value) {
    if constexpr (is_complex<T>) {
        return std::conj(value);
    } else {
        return value;
    }
}

}  // namespace weft::lapack
