// The body of a kernel that multiplies matrices, for GPUs where no library does: products of integers and
// bool, and of strides that cuBLAS cannot express. A block of threads computes a tile of the result: it
// brings tiles of both factors to shared memory, and each thread keeps its elements of the result in
// registers.
#pragma once

#include <functional>
#include <span>

#include "ir/builder.h"
#include "lowering/lower.h"

namespace weft {

// Rows and columns of the tiles that the grid counts, (batch, row tiles, column tiles).
constexpr int64_t kProductTile = 64;

struct ProductOperands {
    ir::ValueId left, right, out;  // each over (batch, m, n, k)
    ir::ValueId m, n, k;
    // What is stored of an element's sum at a place, (batch, m, n, k).
    std::function<ir::ValueId(ir::ValueId sum, std::span<const ir::ValueId> place)> finish;
};

// What an element is added up in: wide enough for 16-bit floats, the machine's words for narrow integers,
// whose low bits are those of their own sums. A bool is whether any of the sums is not zero.
ScalarType product_accumulator(ScalarType element);

// Of the tile that `tile` (batch, row, column) says; the forms tell along which axes the factors run in
// memory.
void multiply_tile(ir::Builder& builder, const KernelForm& form, const ProductOperands& operands,
                   std::span<const ir::ValueId> tile, KernelTarget target);

}  // namespace weft
