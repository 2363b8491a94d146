#include "library/products/cpu/packed/packed_factor.h"

#include <cassert>

#include "library/products/cpu/product_tasks.h"
#include "library/products/cpu/tile_product.h"

namespace weft {

using namespace cpu_product;

PackedFactor::PackedFactor(const PanelKernels& kernels, int64_t rows, int64_t depth, const char* data,
                           int64_t row, int64_t step)
    : kernels_(kernels),
      rows_(rows),
      depth_(depth),
      data_(data),
      row_(row),
      step_(step),
      steps_(depth),
      width_(ceil_divide(rows, kernels.columns) * kernels.columns),
      parts_of_block_(ceil_divide(rows, kPanelsOfPart * kernels.columns)),
      buffer_(cpu_device().allocate(static_cast<size_t>(width_ * depth * kernels.itemsize + kLine))) {}

void PackedFactor::pack(int64_t part) {
    const int64_t block = part / parts_of_block_, most = kPanelsOfPart * kernels_.columns;
    const int64_t first = part % parts_of_block_ * most, begin = steps_.begin(block);
    const int64_t depth = steps_.depth(block);
    kernels_.pack_right({data_ + first * row_ + begin * step_, row_, step_, depth},
                        std::min(most, rows_ - first), panels_of(block) + first * depth * kernels_.itemsize);
}

void PackedFactor::multiply(Update update, int64_t first, int64_t rows, int64_t columns, const char* b,
                            int64_t b_column, char* c, int64_t c_column, int64_t first_step) const {
    if (rows <= 0 || columns <= 0) return;
    assert(first % granule() == 0 && (rows % granule() == 0 || first + rows == rows_));
    const int64_t item = kernels_.itemsize, chunk = kColumnPanels * kernels_.columns;
    MatrixProduct product{};
    product.m = columns;
    product.n = rows;
    product.k = depth_;
    product.left = b;
    product.left_row = b_column;
    product.left_step = item;
    const LeftReader left(kernels_, product, steps_.most());
    const int64_t left_panels = ceil_divide(columns, kernels_.rows);
    const std::vector<int64_t> starts = panel_starts(columns, left_panels);
    const TileScratch scratch(
        static_cast<size_t>(left.bytes(std::min(columns, kMostRowPanels * kernels_.rows))));
    int64_t first_block = 0;
    while (first_block + 1 < steps_.blocks() && steps_.begin(first_block + 1) <= first_step) ++first_block;
    for (int64_t row = 0; row < rows; row += chunk) {
        for (int64_t block = first_block; block < steps_.blocks(); ++block) {
            const int64_t begin = steps_.begin(block), depth = steps_.depth(block);
            for (int64_t panel = 0; panel < left_panels; panel += kMostRowPanels) {
                const int64_t* const own = starts.data() + panel;
                PanelProduct part{};
                part.depth = depth;
                part.starts = own;
                part.row_panels = std::min(kMostRowPanels, left_panels - panel);
                part.columns = std::min(chunk, rows - row);
                part.out = c + own[0] * c_column + row * item;
                part.out_row = c_column;
                part.out_column = item;
                part.adds = update != Update::kSet || block > first_block;
                part.subtracts = update == Update::kSubtract;
                left.copy(own, part.row_panels, begin, depth, scratch.data);
                left.give(part, own[0], begin, scratch.data, own[0]);
                part.right_in_panels = true;
                part.right = panels_of(block) + (first + row) * depth * item;
                kernels_.multiply(part);
            }
        }
    }
}

}  // namespace weft
