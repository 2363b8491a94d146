// The kernel of both_products.h. Included by files that set an instruction set before, as everything of these
// files: so it has internal linkage.
#pragma once

#include <cstdint>
#include <cstring>

namespace weft::lapack {
namespace {

template <class T, int kBytes>
struct BothKernel {
    static constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(T));
    static constexpr int64_t kColumns = kBytes == 64 ? 8 : 4;  // sums and factors stay in registers
    typedef T Vector __attribute__((vector_size(kBytes)));

    static Vector load(const T* from) {
        Vector value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    static void store(T* to, Vector value) { std::memcpy(to, &value, sizeof value); }

    // `count` columns; their part of y is added, or is the first.
    template <int64_t kCount>
    static void columns(int64_t rows, const T* a, int64_t lda, const T* x, const T* w, T* y, T* z,
                        bool first) {
        Vector sums[kCount] = {}, factors[kCount];
        for (int64_t j = 0; j < kCount; ++j) factors[j] = Vector{} + x[j];
        int64_t i = 0;
        for (; i + kLanes <= rows; i += kLanes) {
            const Vector weights = load(w + i);
            Vector total = first ? Vector{} : load(y + i);
            for (int64_t j = 0; j < kCount; ++j) {
                const Vector elements = load(a + i + j * lda);
                total = __builtin_elementwise_fma(elements, factors[j], total);
                sums[j] = __builtin_elementwise_fma(elements, weights, sums[j]);
            }
            store(y + i, total);
        }
        for (int64_t j = 0; j < kCount; ++j) {
            T sum = 0;
            for (int64_t lane = 0; lane < kLanes; ++lane) sum += sums[j][lane];
            for (int64_t k = i; k < rows; ++k) sum += a[k + j * lda] * w[k];
            z[j] = sum;
        }
        for (; i < rows; ++i) {
            T total = first ? T(0) : y[i];
            for (int64_t j = 0; j < kCount; ++j) total += a[i + j * lda] * x[j];
            y[i] = total;
        }
    }

    static void run(int64_t rows, int64_t count, const T* a, int64_t lda, const T* x, const T* w, T* y,
                    T* z) {
        int64_t j = 0;
        for (; j + kColumns <= count; j += kColumns)
            columns<kColumns>(rows, a + j * lda, lda, x + j, w, y, z + j, j == 0);
        for (; j < count; ++j) columns<1>(rows, a + j * lda, lda, x + j, w, y, z + j, j == 0);
    }
};

}  // namespace
}  // namespace weft::lapack
