// What is left of factorisations of real matrices when products have done the rest: triangles of a few rows,
// and LU factors of a few columns, for each instruction set.
#pragma once

#include <cstdint>

namespace weft::lapack {

constexpr int64_t kLeafSide = 16;  // of a triangle
template <class T>
constexpr int64_t kLeafColumns = 64 / sizeof(T);  // of LU factors: a vector of them

enum class Diagonal { kOnes, kFactors, kDivisors };

// A triangle whose columns lie apart kLeafSide elements, padded by those of the identity, and its
// diagonal or the reciprocals of that.
template <class T>
struct TriangleLeaf {
    T columns[kLeafSide * kLeafSide];
    T diagonal[kLeafSide];
    Diagonal kind;
    bool forward;
};

template <class T>
struct LeafKernels {
    // In place of `rows` (at most kLeafSide) rows of b.
    void (*solve)(const TriangleLeaf<T>& triangle, int64_t rows, int64_t columns, T* b, int64_t ldb);
    // As getrf, of at most kLeafColumns columns and as many rows or more.
    int64_t (*lu)(int64_t rows, int64_t columns, T* a, int64_t lda, int64_t* pivots);
};

// Null where the processor has no fused multiply-adds.
template <class T>
const LeafKernels<T>* leaf_kernels();

template <class T>
const LeafKernels<T>* leaf_kernels_avx512();
template <class T>
const LeafKernels<T>* leaf_kernels_avx2();

}  // namespace weft::lapack
