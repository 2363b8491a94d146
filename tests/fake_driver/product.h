// Matrix products of the fake driver's libraries, one element after the other.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#include "core/bfloat16.h"

namespace weft::fake_driver {

// cudaDataType
enum Type { kReal32 = 0, kReal64 = 1, kReal16 = 2, kComplex32 = 4, kComplex64 = 5, kRealB16 = 14 };
// cublasComputeType_t
enum Compute { kCompute32 = 68, kCompute64 = 70, kCompute32FastTf32 = 77 };

struct Product {
    int m, n, k;
    const void *a, *b;
    void* c;
    int64_t a_leading, b_leading, c_leading, a_stride, b_stride, c_stride;
    bool a_transposed, b_transposed;
    int batch;
    bool rounds;                 // to TF32
    const void* bias = nullptr;  // a number for each row, which is added to it
    bool relu = false;           // then the larger of it and 0
};

// To the 11 bits that TF32 has, as a factor is rounded.
template <class T>
T to_tf32(T value) {
    if constexpr (std::is_same_v<T, float>) {
        uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        bits = (bits + 0x0FFF + ((bits >> 13) & 1)) & ~0x1FFFU;
        std::memcpy(&value, &bits, sizeof bits);
    }
    return value;
}

// Elements are T in memory, and are added up as Sum.
template <class T, class Sum = T>
void multiply(const Product& product) {
    for (int64_t batch = 0; batch < product.batch; ++batch) {
        const T* a = static_cast<const T*>(product.a) + batch * product.a_stride;
        const T* b = static_cast<const T*>(product.b) + batch * product.b_stride;
        T* c = static_cast<T*>(product.c) + batch * product.c_stride;
        for (int64_t row = 0; row < product.m; ++row) {
            for (int64_t column = 0; column < product.n; ++column) {
                Sum sum = 0;
                for (int64_t i = 0; i < product.k; ++i) {
                    const auto left = static_cast<Sum>(product.a_transposed ? a[i + row * product.a_leading]
                                                                            : a[row + i * product.a_leading]);
                    const auto right =
                        static_cast<Sum>(product.b_transposed ? b[column + i * product.b_leading]
                                                              : b[i + column * product.b_leading]);
                    sum += product.rounds ? to_tf32(left) * to_tf32(right) : left * right;
                }
                if constexpr (!std::is_same_v<T, std::complex<float>> &&
                              !std::is_same_v<T, std::complex<double>>) {
                    if (product.bias != nullptr)
                        sum += static_cast<Sum>(static_cast<const T*>(product.bias)[row]);
                    if (product.relu && sum < 0) sum = 0;
                }
                c[row + column * product.c_leading] = static_cast<T>(sum);
            }
        }
    }
}

inline void multiply(const Product& product, int type) {
    switch (type) {
        case kReal32: multiply<float>(product); break;
        case kReal16: multiply<_Float16, float>(product); break;
        case kRealB16: multiply<BFloat16, float>(product); break;
        case kReal64: multiply<double>(product); break;
        case kComplex32: multiply<std::complex<float>>(product); break;
        default: multiply<std::complex<double>>(product); break;
    }
}

}  // namespace weft::fake_driver
