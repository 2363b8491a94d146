#include "library/products/cpu/gram_product.h"

#include <algorithm>
#include <cstring>

#include "core/threads/thread_pool.h"

namespace weft::cpu_product {

namespace {

constexpr int64_t kLeastRows = 384;  // fewer strips than four save less than the mirror costs
constexpr int64_t kMostStrips = 8;   // which leave 9/16 of the multiplications
constexpr int64_t kLeastStripColumns = 96;
constexpr int64_t kSquare = 32;  // of the mirror: two of them fit into a first-level cache

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <class Word>
void mirror_square(const MatrixProduct& product, int64_t row, int64_t column) {
    const int64_t end_row = std::min(product.m, row + kSquare);
    for (int64_t i = row; i < end_row; ++i) {
        const int64_t end_column = std::min({product.n, column + kSquare, i});
        for (int64_t j = column; j < end_column; ++j) {
            std::memcpy(product.out + j * product.out_row + i * product.out_column,
                        product.out + i * product.out_row + j * product.out_column, sizeof(Word));
        }
    }
}

void mirror(const MatrixProduct& product, int64_t itemsize) {
    const int64_t squares = ceil_divide(product.m, kSquare);
    parallel_for(squares, [&](int64_t task) {
        for (int64_t other = 0; other <= task; ++other) {
            if (itemsize == 4) {
                mirror_square<uint32_t>(product, task * kSquare, other * kSquare);
            } else {
                mirror_square<uint64_t>(product, task * kSquare, other * kSquare);
            }
        }
    });
}

}  // namespace

bool is_gram(const MatrixProduct& product, int64_t itemsize) {
    return product.left == product.right && product.m == product.n && product.m >= kLeastRows &&
           product.left_row == product.right_column && product.left_step == product.right_step &&
           (itemsize == 4 || itemsize == 8);
}

int64_t multiply_gram(const MatrixProduct& product, int64_t itemsize, int64_t panel_columns,
                      const std::function<int64_t(const MatrixProduct&)>& multiply) {
    const int64_t wanted = std::max(kLeastStripColumns, ceil_divide(product.n, kMostStrips));
    const int64_t width = ceil_divide(wanted, panel_columns) * panel_columns;
    int64_t tasks = 0;
    for (int64_t first = 0; first < product.n; first += width) {
        MatrixProduct strip = product;
        strip.m = product.m - first;
        strip.n = std::min(width, product.n - first);
        strip.left += first * product.left_row;
        strip.right += first * product.right_column;
        strip.out += first * (product.out_row + product.out_column);
        tasks += multiply(strip);
    }
    mirror(product, itemsize);
    return tasks;
}

}  // namespace weft::cpu_product
