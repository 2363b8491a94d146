// Products of two arrays as one operation: out[batch, m, n] = sum over k of left[batch, m, k] * right[batch,
// k, n], where each of batch, m, n and k may be several axes or none. matmul, dot, tensordot and each step of
// einsum are of this form. An axis is told by its strides: a reduced axis is k; of the others, one that only
// `left` walks is m, one that only `right` walks is n, one that both or neither walk is batch.
//
// float32 and float64 matrices are multiplied by kernels of weft's own
// (library/products/cpu/panel_product.h). Complex ones, and vectors, run through OpenBLAS
// (library/products/cpu/blas.h) where its matrices can express the strides; an operand that they cannot
// express is packed once. Integers and bool run on weft's own loops: integers wrap, bool is "or" of "and".
// 16-bit floats are converted to float32, and their products rounded once.
//
// How the work is cut into tasks may depend on the number of threads only where that changes no bit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "weft/dims.h"
#include "weft/dtype.h"

namespace weft {

// Part of a matrix product that is done, in memory of the task that computed it.
struct ProductTile {
    const char* data;
    int64_t row_stride;  // bytes; columns are dense
    int64_t row, column, rows, columns;
};
using TileWork = std::function<void(const ProductTile&)>;

struct Contraction {
    ScalarType type = ScalarType::kFloat64;
    Dims shape;                 // of the iteration: the axes of the result and the reduced ones
    std::vector<bool> reduced;  // one for each axis
    const char* left = nullptr;
    const char* right = nullptr;
    char* out = nullptr;  // overlaps neither operand
    // Bytes, one for each axis: 0 where the operand does not walk it, or walks it in place. The result does
    // not walk reduced axes, and its elements do not overlap.
    Dims left_strides, right_strides, out_strides;
    // With it, the result has two axes of more than one element in C order; `out` is not written, each of its
    // tiles is handed to the work instead, on the thread that computed it.
    const TileWork* tile_work = nullptr;
};

// What was done, for the history of kernels.
struct ContractionReport {
    std::string routine;  // "cgemm", "dgemv", "zdot", or "product_float32" for weft's own
    int64_t batch = 1, m = 1, n = 1, k = 1;
    int64_t tasks = 1;
    int packed_operands = 0;
    int64_t packed_bytes = 0;
};

ContractionReport contract(const Contraction& contraction);

// The strides of one matrix product, in bytes.
struct MatrixProduct {
    int64_t m, n, k;
    const char* left;
    int64_t left_row, left_step;
    const char* right;
    int64_t right_step, right_column;
    char* out;
    int64_t out_row, out_column;
};

// Whether matrices are so small that any call would cost more (and none is empty); only the extents are
// looked at. Such are multiplied plainly, by `contract` too.
bool is_tiny(ScalarType type, const MatrixProduct& product);
void multiply_tiny(ScalarType type, const MatrixProduct& product);

// The product of two vectors, of one element, as `contract` computes it, but without a plan, which costs more
// than short ones do. False, and nothing is written, for what takes a plan. Addresses and steps are aligned.
bool multiply_vectors(ScalarType type, const MatrixProduct& product);

}  // namespace weft
