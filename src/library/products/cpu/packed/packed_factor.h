// Products of float32 and float64 matrices in column-major order on the calling thread, by the kernels of
// panel_product.h: C = A B, C + A B or C - A B. A is packed once, by one thread or many, and then read by any
// number of threads for any B and any part of C. An element has the same bits however C is cut.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "library/products/cpu/packed/panel_factors.h"

namespace weft {

enum class Update { kSet, kAdd, kSubtract };

class PackedFactor {
public:
    // Element (i, p) of A is at data + i * row + p * step; strides in bytes.
    PackedFactor(const PanelKernels& kernels, int64_t rows, int64_t depth, const char* data, int64_t row,
                 int64_t step);

    int64_t rows() const { return rows_; }
    int64_t granule() const { return kernels_.columns; }  // rows of C are cut at multiples of it

    // What is to be packed before the first product, in parts that are independent.
    int64_t rows_of_part() const { return kPanelsOfPart * kernels_.columns; }
    int64_t parts() const { return steps_.blocks() * parts_of_block_; }
    void pack(int64_t part);

    // For the rows of C from `first` on, the first of which is at `c`: a multiple of granule(), as is their
    // number unless they are the last. The elements of columns are adjacent. What B has before row
    // `first_step` is zero.
    void multiply(Update update, int64_t first, int64_t rows, int64_t columns, const char* b,
                  int64_t b_column, char* c, int64_t c_column, int64_t first_step = 0) const;

private:
    static constexpr int64_t kPanelsOfPart = 4;

    char* panels_of(int64_t block) const {
        return buffer_->data() + cpu_product::whole_lines(steps_.begin(block) * width_ * kernels_.itemsize);
    }

    const PanelKernels& kernels_;
    int64_t rows_, depth_;
    const char* data_;
    int64_t row_, step_;
    cpu_product::Steps steps_;
    int64_t width_, parts_of_block_;
    BufferPtr buffer_;
};

}  // namespace weft
