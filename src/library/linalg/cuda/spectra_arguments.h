// The arguments of the kernels for the spectra of many small matrices on GPUs: read by the kernels as they
// are, made by who launches them (api/linalg/gpu/small_spectra_on_gpu.cpp).
#pragma once

#include <cstdint>

namespace weft::gpu {

constexpr uint32_t kSpectraThreads = 64;  // of a block; a thread has a matrix

// Of `count` matrices (`rows` × `columns`, no more columns than rows): elements from one row and from one
// column to the next; matrices follow each other without gaps.
struct SpectraArguments {
    uint64_t input, values, left, right, info;  // addresses
    uint64_t count, rows, columns;
    uint64_t width;  // columns of the left vectors
    uint64_t row, column;
    uint64_t left_row, left_column, right_row, right_column;
};

}  // namespace weft::gpu
