// Products of few elements of float32 and float64: columns that lie side by side are lanes, several rows at
// once. Each element is a chain over the steps from the first on: of fused multiply-adds where the processor
// has them, so that the bits are those of panel_product.h, else of plain products and sums. Included once by
// each file that compiles them for an instruction set, which sets the target before: so everything here has
// internal linkage, and takes nothing from other headers that could be shared.
#pragma once

#include <cstdint>

#include "library/products/cpu/tiny_product.h"

namespace weft {
namespace {

template <class T, int kBytes, bool kFused>
struct TinyKernels {
    typedef T Vector __attribute__((ext_vector_type(kBytes / sizeof(T))));
    static constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(T));

    template <class V>
    static V read(const char* from) {
        V value;
        __builtin_memcpy(&value, from, sizeof value);
        return value;
    }

    template <class V>
    static V add_product(V sum, V a, V b) {
        if constexpr (kFused) {
            return __builtin_elementwise_fma(a, b, sum);
        } else {
            return sum + a * b;
        }
    }

    // kRows rows of kVectors vectors of columns.
    template <int kRows, int kVectors>
    static inline void multiply_block(const MatrixProduct& p, int64_t row, int64_t column) {
        constexpr int64_t kItem = sizeof(T);
        const char* left = p.left + row * p.left_row;
        const char* right = p.right + column * kItem;
        Vector sums[kRows][kVectors] = {};
        for (int64_t k = 0; k < p.k; ++k, left += p.left_step, right += p.right_step) {
            Vector columns[kVectors];
#pragma clang loop unroll(full)
            for (int v = 0; v < kVectors; ++v) columns[v] = read<Vector>(right + v * kBytes);
#pragma clang loop unroll(full)
            for (int r = 0; r < kRows; ++r) {
                const Vector factor = read<T>(left + r * p.left_row);
#pragma clang loop unroll(full)
                for (int v = 0; v < kVectors; ++v) sums[r][v] = add_product(sums[r][v], factor, columns[v]);
            }
        }
#pragma clang loop unroll(full)
        for (int r = 0; r < kRows; ++r) {
            char* const out = p.out + (row + r) * p.out_row + column * kItem;
#pragma clang loop unroll(full)
            for (int v = 0; v < kVectors; ++v)
                __builtin_memcpy(out + v * kBytes, &sums[r][v], sizeof sums[r][v]);
        }
    }

    template <int kVectors>
    static inline void multiply_columns(const MatrixProduct& p, int64_t column) {
        int64_t row = 0;
        for (; row + 4 <= p.m; row += 4) multiply_block<4, kVectors>(p, row, column);
        switch (p.m - row) {
            case 3: return multiply_block<3, kVectors>(p, row, column);
            case 2: return multiply_block<2, kVectors>(p, row, column);
            case 1: return multiply_block<1, kVectors>(p, row, column);
            default: return;
        }
    }

    // From the column on.
    static inline void multiply(const MatrixProduct& p, int64_t column) {
        for (; column + 2 * kLanes <= p.n; column += 2 * kLanes) multiply_columns<2>(p, column);
        if (column + kLanes <= p.n) {
            multiply_columns<1>(p, column);
            column += kLanes;
        }
        if constexpr (kBytes > sizeof(T)) {
            if (column < p.n) TinyKernels<T, kBytes / 2, kFused>::multiply(p, column);
        }
    }

    // The columns of the right factor and of the result are adjacent.
    static void multiply_adjacent(const MatrixProduct& p) { multiply(p, 0); }

    // They lie anywhere.
    static void multiply_scattered(const MatrixProduct& p) {
        for (int64_t i = 0; i < p.m; ++i) {
            for (int64_t j = 0; j < p.n; ++j) {
                const char* left = p.left + i * p.left_row;
                const char* right = p.right + j * p.right_column;
                T sum = 0;
                for (int64_t k = 0; k < p.k; ++k, left += p.left_step, right += p.right_step)
                    sum = add_product(sum, read<T>(left), read<T>(right));
                __builtin_memcpy(p.out + i * p.out_row + j * p.out_column, &sum, sizeof sum);
            }
        }
    }

    static constexpr TinyKernel kKernel{multiply_adjacent, multiply_scattered};
};

}  // namespace
}  // namespace weft
