#include "library/products/cpu/tiny_product.h"

#include <cstring>

#include "core/processor.h"
#include "library/products/cpu/tiny_kernels.h"

namespace weft {

namespace {

constexpr int64_t kMostPacked = 512;  // elements of a factor whose columns are made adjacent on the stack

TinyKernel choose(ScalarType type) {
    if (processor_level() != ProcessorLevel::kX86V2) return tiny_kernel_avx2(type);
    return type == ScalarType::kFloat64 ? TinyKernels<double, 16, false>::kKernel
                                        : TinyKernels<float, 16, false>::kKernel;
}

template <class T>
void multiply_packed(const MatrixProduct& product, const TinyKernel& kernel) {
    T packed[kMostPacked];
    for (int64_t k = 0; k < product.k; ++k) {
        const char* from = product.right + k * product.right_step;
        for (int64_t j = 0; j < product.n; ++j, from += product.right_column)
            std::memcpy(&packed[k * product.n + j], from, sizeof(T));
    }
    MatrixProduct dense = product;
    dense.right = reinterpret_cast<const char*>(packed);
    dense.right_column = sizeof(T);
    dense.right_step = product.n * static_cast<int64_t>(sizeof(T));
    kernel.multiply_adjacent(dense);
}

template <class T>
void multiply(const MatrixProduct& product, const TinyKernel& kernel) {
    constexpr int64_t kItem = sizeof(T);
    if (product.out_column != kItem) {
        kernel.multiply_scattered(product);
    } else if (product.right_column == kItem) {
        kernel.multiply_adjacent(product);
    } else if (product.k * product.n <= kMostPacked) {
        multiply_packed<T>(product, kernel);
    } else {
        kernel.multiply_scattered(product);
    }
}

}  // namespace

bool multiply_tiny_matrices(ScalarType type, const MatrixProduct& product) {
    static const TinyKernel of_double = choose(ScalarType::kFloat64), of_float = choose(ScalarType::kFloat32);
    if (product.m < 2 || product.n < 2) return false;
    if (type == ScalarType::kFloat64) {
        multiply<double>(product, of_double);
    } else if (type == ScalarType::kFloat32) {
        multiply<float>(product, of_float);
    } else {
        return false;
    }
    return true;
}

}  // namespace weft
