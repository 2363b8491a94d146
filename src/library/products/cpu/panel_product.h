// Products of float32 and float64 by kernels of weft's own: factors are packed into panels once, and blocks
// of the result are kept in registers. Chosen at run time among instruction sets with fused multiply-adds.
//
// An element of the result is a chain of fused multiply-adds over each block of k's steps, and the blocks'
// sums are added in order. How k is cut follows from its length alone: so an element has the same bits on
// every one of these instruction sets, for any number of threads, and wherever in a product it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "library/products/contraction.h"
#include "library/products/cpu/product_axes.h"

namespace weft {

// Rows of the left factor or columns of the right one, over some steps of k. Strides in bytes.
struct PanelSource {
    const char* data;
    int64_t own, step;
    int64_t depth;
};

// Panels of rows times panels of columns, over one block of steps; strides in bytes. In panels, the rows of a
// step are adjacent, step behind step, and so are the columns, to which some are added until they fill
// vectors.
struct PanelProduct {
    int64_t depth;
    const int64_t* starts;  // the first row of each panel, and behind the last
    int64_t row_panels;
    int64_t columns;
    const char* left;
    bool left_in_panels;
    int64_t left_row, left_step;  // of one that is not
    const char* right;
    bool right_in_panels;  // else its columns are adjacent
    int64_t right_step;
    const char* last_right;  // the last panel's columns in a panel, when they do not fill vectors
    char* out;
    int64_t out_row, out_column;
    bool adds;        // to what `out` holds
    bool subtracts;   // from it: with `adds`
    bool rows_first;  // the order of blocks: all columns of a panel of rows, then the next
    // The left factor's next steps where they lie, of the same rows: asked for beforehand.
    const char* next_left;
    int64_t next_row, next_step, next_depth;
};

struct PanelKernels {
    int64_t rows, columns;  // most of a panel
    int64_t itemsize;
    int64_t lanes;  // of a vector
    void (*pack_left)(const PanelSource& source, const int64_t* starts, int64_t panels, char* to);
    void (*pack_right)(const PanelSource& source, int64_t columns, char* to);
    void (*multiply)(const PanelProduct& product);
    // Lines of adjacent elements, `from_step` bytes apart, become what crosses lines `to_step` apart.
    void (*transpose)(int64_t lines, int64_t length, const char* from, int64_t from_step, char* to,
                      int64_t to_step);
};

// Null for other types, and where the CPU (or the one that WEFT_CPU names) has no fused multiply-adds.
const PanelKernels* panel_kernels(ScalarType type);

// One for each instruction set, in panel_product_*.cpp.
const PanelKernels* panel_kernels_avx512(ScalarType type);
const PanelKernels* panel_kernels_avx2(ScalarType type);

// The whole batch, on all threads. Says how many tasks there were.
int64_t multiply_by_panels(const PanelKernels& kernels, ScalarType type, const MatrixProduct& product,
                           const cpu_product::Axes& batch, const TileWork* tile_work);

}  // namespace weft
