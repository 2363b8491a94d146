// Linear algebra of many small matrices: kernels of weft's own that work on as many matrices at a time as a
// vector has lanes, by algorithms without branches on values (batched_kernels.h).
//
// An element of a result depends on its own matrix alone: it has the same bits at every place of a batch, for
// any number of threads, and on every instruction set that has fused multiply-adds. Others have no kernels.
#pragma once

#include <cstdint>

#include "weft/dtype.h"

namespace weft::batched {

// Where matrices lie: the first element, and the bytes from one matrix, row and column to the next. A vector
// for each matrix has columns (or rows) only. Nothing where `data` is null.
struct Stack {
    char* data = nullptr;
    int64_t matrix = 0, row = 0, column = 0;
};

enum class Operation : uint8_t {
    kSolve,        // in: A (n×n), B (n×k); out: X
    kInverse,      // in: A; out: the inverse
    kDeterminant,  // in: A; out: a number for each matrix
    kSlogdet,      // in: A; out: sign, logarithm of the absolute value
    kCholesky,     // in: A, of which the lower triangle is read; out: L, zeros above
    kQr,           // in: A (m×n); out: R (min(m, n) rows, or m), Q (as many columns, or none)
    kRawQr,        // in: A (m×n); out: Householder vectors below R, their factors
    kEigh,  // in: A, of which the lower triangle is read; out: ascending eigenvalues, vectors (or none)
    kSvd,   // in: A (m×n); out: descending singular values, U, V transposed (or neither)
};

struct Batch {
    Operation operation = Operation::kSolve;
    ScalarType type = ScalarType::kFloat64;
    int64_t count = 0;          // of matrices
    int rows = 0, columns = 0;  // of each
    int right = 0;              // the columns of B, and of Q; for kSvd whether U and V are square
    Stack in[2], out[3];        // outputs do not overlap inputs, but one may be the very memory of the other
    // What is wrong with each matrix, when not null. Zero: nothing. Else one more than the index of the pivot
    // that is zero (kSolve to kSlogdet) or not positive (kCholesky), or of a value that did not converge.
    int32_t* info = nullptr;
};

constexpr int kMostRows = 32;  // and columns

// Whether run() takes such matrices, on this CPU.
bool has_kernels(Operation operation, ScalarType type, int64_t rows, int64_t columns);

// On all threads. Says with how many matrices something is wrong: their results are NaN, but determinants
// zero, with a logarithm of minus infinity.
int64_t run(const Batch& batch);

// A kernel works on the matrices from `begin` to `end`, in `scratch` memory aligned to a line.
using Kernel = int64_t (*)(const Batch& batch, int64_t begin, int64_t end, char* scratch);
struct KernelChoice {
    Kernel kernel = nullptr;
    int lanes = 0;
};

// For each instruction set: of LU and Cholesky factorisations, and of the others.
KernelChoice lu_kernel_avx2(const Batch& batch);
KernelChoice lu_kernel_avx512(const Batch& batch);
KernelChoice spectral_kernel_avx2(const Batch& batch);
KernelChoice spectral_kernel_avx512(const Batch& batch);

}  // namespace weft::batched
