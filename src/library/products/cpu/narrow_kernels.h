// The kernels of narrow_product.h. Included once by each file that compiles them for an instruction set; see
// panel_kernels.h.
#pragma once

#include <utility>

#include "library/products/cpu/narrow_product.h"
#include "library/products/cpu/panel_kernels.h"

namespace weft {
namespace {

// Neighbouring rows are lanes, which the compiler makes of this loop.
template <class T, int kDepth, int kColumns>
void multiply_narrow_rows(const MatrixProduct& product) {
    T right[kDepth][kColumns];
    for (int p = 0; p < kDepth; ++p) {
        for (int j = 0; j < kColumns; ++j)
            right[p][j] = load_from<T>(product.right + p * product.right_step + j * product.right_column);
    }
    const T* __restrict left = reinterpret_cast<const T*>(product.left);
    T* __restrict out = reinterpret_cast<T*>(product.out);
    const int64_t rows = product.m;
    for (int64_t i = 0; i < rows; ++i) {
#pragma clang loop unroll(full)
        for (int j = 0; j < kColumns; ++j) {
            T sum = 0;
#pragma clang loop unroll(full)
            for (int p = 0; p < kDepth; ++p)
                sum = __builtin_elementwise_fma(left[i * kDepth + p], right[p][j], sum);
            out[i * kColumns + j] = sum;
        }
    }
}

template <class T, int kBytes>
struct NarrowTable {
    using Vector = typename Lanes<T, kBytes>::Vector;
    static constexpr int64_t kItem = sizeof(T);
    using Rows = void (*)(const MatrixProduct&);

    template <size_t... kIndex>
    static void multiply_rows_of(const MatrixProduct& product, std::index_sequence<kIndex...>) {
        constexpr int kMost = static_cast<int>(kMostNarrow);
        static constexpr Rows kFunctions[] = {multiply_narrow_rows<T, static_cast<int>(kIndex) / kMost + 1,
                                                                   static_cast<int>(kIndex) % kMost + 1>...};
        kFunctions[(product.k - 1) * kMostNarrow + product.n - 1](product);
    }
    static void multiply_rows(const MatrixProduct& product) {
        multiply_rows_of(product, std::make_index_sequence<kMostNarrow * kMostNarrow>());
    }

    // Chains of `steps` multiply-adds of several blocks of k side by side, since each waits for its last sum.
    // A row of columns is read with what lies behind it.
    template <int kRows, int kBlocks>
    static void add_blocks(const MatrixProduct& product, int64_t begin, int64_t depth, int64_t steps,
                           Vector (&sums)[kBlocks][kRows]) {
        const char* left = product.left + begin * product.left_step;
        const char* right = product.right + begin * product.right_step;
        const int64_t left_block = depth * product.left_step, right_block = depth * product.right_step;
        const int64_t left_row = product.left_row, left_step = product.left_step;
        const int64_t right_step = product.right_step;
        for (int64_t p = 0; p < steps; ++p, left += left_step, right += right_step) {
#pragma clang loop unroll(full)
            for (int b = 0; b < kBlocks; ++b) {
                const Vector columns = load_from<Vector>(right + b * right_block);
#pragma clang loop unroll(full)
                for (int r = 0; r < kRows; ++r) {
                    const Vector factor = load_from<T>(left + b * left_block + r * left_row);
                    sums[b][r] = __builtin_elementwise_fma(factor, columns, sums[b][r]);
                }
            }
        }
    }

    template <int kRows>
    static void multiply_columns_of(const MatrixProduct& product, int64_t depth) {
        constexpr int kBlocks = kRows < 4 ? 4 : 3;
        Vector total[kRows] = {};
        bool first = true;
        const auto add = [&](const Vector(&sums)[kRows]) {
            for (int r = 0; r < kRows; ++r) total[r] = first ? sums[r] : total[r] + sums[r];
            first = false;
        };
        // Rows of columns behind which a vector lies within the factor.
        const int64_t behind = (kBytes - product.n * kItem + product.right_step - 1) / product.right_step;
        const int64_t inside = product.k > behind ? product.k - behind : 0;
        int64_t begin = 0;
        for (; begin + kBlocks * depth <= inside; begin += kBlocks * depth) {
            Vector sums[kBlocks][kRows] = {};
            add_blocks<kRows, kBlocks>(product, begin, depth, depth, sums);
            for (int b = 0; b < kBlocks; ++b) add(sums[b]);
        }
        for (; begin < product.k; begin += depth) {
            Vector sums[1][kRows] = {};
            const int64_t end = begin + depth < product.k ? begin + depth : product.k;
            const int64_t whole = end < inside ? end : inside > begin ? inside : begin;
            add_blocks<kRows, 1>(product, begin, depth, whole - begin, sums);
            for (int64_t p = whole; p < end; ++p) {
                alignas(kBytes) char row[kBytes] = {};
                __builtin_memcpy(row, product.right + p * product.right_step,
                                 static_cast<size_t>(product.n * kItem));
                MatrixProduct last = product;
                last.left = product.left + p * product.left_step;
                last.right = row;
                add_blocks<kRows, 1>(last, 0, 1, 1, sums);
            }
            add(sums[0]);
        }
        for (int r = 0; r < kRows; ++r) {
            for (int64_t j = 0; j < product.n; ++j)
                store_to(product.out + r * product.out_row + j * product.out_column, total[r][j]);
        }
    }

    static void multiply_columns(const MatrixProduct& product, int64_t depth) {
        switch (product.m) {
            case 1: return multiply_columns_of<1>(product, depth);
            case 2: return multiply_columns_of<2>(product, depth);
            case 3: return multiply_columns_of<3>(product, depth);
            default: return multiply_columns_of<4>(product, depth);
        }
    }

    static constexpr NarrowKernels kTable{kItem, Lanes<T, kBytes>::kCount, multiply_rows, multiply_columns};
};

template <int kBytes>
const NarrowKernels* choose_narrow_kernels(ScalarType type) {
    switch (type) {
        case ScalarType::kFloat32: return &NarrowTable<float, kBytes>::kTable;
        case ScalarType::kFloat64: return &NarrowTable<double, kBytes>::kTable;
        default: return nullptr;
    }
}

}  // namespace
}  // namespace weft
