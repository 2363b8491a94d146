// One matrix product on one thread: by OpenBLAS, or plainly.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "library/products/contraction.h"
#include "library/products/cpu/blas.h"

namespace weft::cpu_product {

enum class Routine { kPlain, kTile, kGemm, kGemv, kDot };
std::string routine_name(ScalarType type, Routine routine);

struct Matrix {
    bool fits = false;
    BlasTranspose transpose = BlasTranspose::kNo;
    int64_t leading = 1;  // elements
};
// How BLAS can be told of a matrix of rows * columns elements.
Matrix as_matrix(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride, int64_t itemsize);
bool is_vector(int64_t extent, int64_t stride, int64_t itemsize);

// Strides have been checked: as_matrix fits, the result's columns are dense.
void call_gemm(const Blas& library, ScalarType type, int64_t itemsize, const MatrixProduct& p);
// n is 1.
void call_gemv(const Blas& library, ScalarType type, int64_t itemsize, const MatrixProduct& p);
// m and n are 1.
void call_dot(const Blas& library, ScalarType type, int64_t itemsize, const MatrixProduct& p);
void multiply_plainly(ScalarType type, const MatrixProduct& product);

// to += from
void add_rows(ScalarType type, char* to, const char* from, int64_t count);

template <class T>
T load(const char* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

}  // namespace weft::cpu_product
