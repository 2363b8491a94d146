#include "library/linalg/matrices.h"

#include <cstring>

#include "library/products/cpu/panel_product.h"

namespace weft::lapack {

namespace {

constexpr int64_t kTile = 16;             // elements: two tiles of complex128 are 8 KB
constexpr int64_t kSharedCopy = 1 << 17;  // elements that are worth a thread's while

struct Plain16 {
    double parts[2];
};

template <class T>
void copy_tiled(int64_t rows, int64_t columns, const char* from, int64_t row_stride, int64_t column_stride,
                char* to, int64_t to_row, int64_t to_column) {
    for (int64_t i0 = 0; i0 < rows; i0 += kTile) {
        const int64_t i1 = std::min(rows, i0 + kTile);
        for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
            const int64_t j1 = std::min(columns, j0 + kTile);
            for (int64_t j = j0; j < j1; ++j) {
                const char* read = from + i0 * row_stride + j * column_stride;
                char* write = to + i0 * to_row + j * to_column;
                for (int64_t i = i0; i < i1; ++i, read += row_stride, write += to_row)
                    std::memcpy(write, read, sizeof(T));
            }
        }
    }
}

const PanelKernels* kernels_for(int64_t itemsize) {
    return itemsize > 8 ? nullptr
                        : panel_kernels(itemsize == 8 ? ScalarType::kFloat64 : ScalarType::kFloat32);
}

void copy_part(int64_t itemsize, int64_t rows, int64_t columns, const char* from, int64_t row_stride,
               int64_t column_stride, char* to, int64_t to_row, int64_t to_column) {
    if (row_stride == itemsize && to_row == itemsize) {
        for (int64_t j = 0; j < columns; ++j)
            std::memcpy(to + j * to_column, from + j * column_stride, static_cast<size_t>(rows * itemsize));
    } else if (const PanelKernels* const kernels = kernels_for(itemsize);
               kernels != nullptr && row_stride == itemsize && to_column == itemsize) {
        kernels->transpose(columns, rows, from, column_stride, to, to_row);
    } else if (kernels != nullptr && column_stride == itemsize && to_row == itemsize) {
        kernels->transpose(rows, columns, from, row_stride, to, to_column);
    } else if (itemsize == 4) {
        copy_tiled<float>(rows, columns, from, row_stride, column_stride, to, to_row, to_column);
    } else if (itemsize == 8) {
        copy_tiled<double>(rows, columns, from, row_stride, column_stride, to, to_row, to_column);
    } else {
        copy_tiled<Plain16>(rows, columns, from, row_stride, column_stride, to, to_row, to_column);
    }
}

}  // namespace

void copy_matrix(int64_t itemsize, int64_t rows, int64_t columns, const char* from, int64_t row_stride,
                 int64_t column_stride, char* to, int64_t to_row, int64_t to_column) {
    if (rows == 0 || columns == 0) return;
    if (to_column == itemsize && (to_row != itemsize || columns > rows)) {  // walks what it writes
        std::swap(rows, columns);
        std::swap(row_stride, column_stride);
        std::swap(to_row, to_column);
    }
    if (rows * columns < kSharedCopy || in_parallel_task())
        return copy_part(itemsize, rows, columns, from, row_stride, column_stride, to, to_row, to_column);
    const int64_t strip = std::max<int64_t>(kTile, (kSharedCopy / 2 / rows + kTile - 1) / kTile * kTile);
    parallel_for((columns + strip - 1) / strip, [&](int64_t task) {
        const int64_t first = task * strip;
        copy_part(itemsize, rows, std::min(strip, columns - first), from + first * column_stride, row_stride,
                  column_stride, to + first * to_column, to_row, to_column);
    });
}

}  // namespace weft::lapack
