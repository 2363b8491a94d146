// The arguments of the kernels that factorise many small matrices on GPUs: read by the kernels as they are,
// made by who launches them (api/linalg/gpu/small_factors_on_gpu.cpp).
#pragma once

#include <cstdint>

namespace weft::gpu {

constexpr uint32_t kFactorsThreads = 64;  // of a block; a thread has a matrix

// Of `count` square matrices: elements from one row and from one column to the next; matrices follow each
// other without gaps. Right sides and solutions have `columns` of them, row by row.
struct FactorsArguments {
    uint64_t input, sides, output, info;  // addresses
    uint64_t count, rows, columns;
    uint64_t row, column, output_row, output_column;
};

}  // namespace weft::gpu
