// Products by cuBLASLt, which can do more with a result before it is in memory (epilogues) than cuBLAS:
// descriptions and the algorithm that its heuristic chose are made once for each shape and kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "device/cuda/cuda_device.h"

namespace weft {

// A factor of a product, as cuBLAS reads it: of float64 and complex128, or of what is narrower. A real number
// is the beginning of a complex one.
struct ProductScalar {
    explicit ProductScalar(float value) : f64{value, 0}, f32{value, 0} {}
    const void* read(bool wide) const { return wide ? static_cast<const void*>(&f64) : &f32; }
    alignas(16) std::array<double, 2> f64;
    alignas(16) std::array<float, 2> f32;
};

// One factor or the result as cuBLASLt sees it, column by column; strides in elements.
struct LtMatrix {
    uint64_t address = 0;
    int64_t leading = 1, batch_stride = 0;
    bool transposed = false;
};

// d[rows, columns] = left[rows, depth] · right[depth, columns], for each of a batch.
struct LtProduct {
    int data_type = 0, compute_type = 0, scale_type = 0;
    int64_t rows = 1, columns = 1, depth = 1, batch = 1;
    LtMatrix left, right, out;
    uint64_t bias = 0;  // address of one number a row, which is added to it; 0: none
    bool relu = false;  // then the larger of it and 0
};

// Queues the product. Empty; or, with nothing done, why cuBLASLt cannot.
std::string multiply_by_cublas_lt(const LtProduct& product, cuda::CudaDevice& device);

}  // namespace weft
