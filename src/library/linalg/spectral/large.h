// What eigenvalues and singular values of large matrices have in common: from which size on they are weft's
// own, which elements are left to LAPACK, and how a batch is shared.
#pragma once

#include <atomic>
#include <cmath>
#include <limits>

#include "library/linalg/matrices.h"

namespace weft::lapack {

// Rows and columns from which the threads share one matrix; smaller ones are LAPACK's.
constexpr int64_t kLeastSharedSpectrum = 256;

// As share_matrices, but where the threads share each matrix, and there are fewer matrices than threads, one
// after another.
template <class Work>
void share_spectra(int64_t count, int64_t least, double operations, const Work& work) {
    if (least < kLeastSharedSpectrum || count >= num_threads())
        return share_matrices(count, operations, work);
    const BlasThreads inside(library(), 1);
    work(int64_t{0}, count);
}

// Calls task(first, last) for pieces of `count` things on the threads of the pool.
template <class Task>
void for_pieces(int64_t count, int64_t each, const Task& task) {
    parallel_for((count + each - 1) / each,
                 [&](int64_t piece) { task(piece * each, std::min(count, (piece + 1) * each)); });
}

// Whether elements can be squared and summed without overflow, and without loss to denormal numbers.
// Of m x n elements in column-major order: the largest one is finite and neither far too large nor too small
// (the bounds are those beyond which LAPACK scales). A matrix of zeros is fine.
template <class T>
bool has_plain_magnitude(int64_t m, int64_t n, const T* a, int64_t lda) {
    using R = Real<T>;
    const R least = std::sqrt(std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon());
    constexpr int64_t kColumns = 64;
    std::atomic<bool> is_plain = true, is_zero = true, is_small = true;
    parallel_for((n + kColumns - 1) / kColumns, [&](int64_t piece) {
        R most = 0;
        bool finite = true;
        for (int64_t j = piece * kColumns; j < std::min(n, (piece + 1) * kColumns); ++j) {
            const R* const column = reinterpret_cast<const R*>(a + j * lda);
            for (int64_t i = 0; i < m * (is_complex<T> ? 2 : 1); ++i) {
                const R size = std::abs(column[i]);
                finite = finite && size <= std::numeric_limits<R>::max();
                most = std::max(most, size);
            }
        }
        if (!finite || most > 1 / least) is_plain = false;
        if (most != 0) is_zero = false;
        if (most >= least) is_small = false;
    });
    return is_plain && (is_zero || !is_small);
}

}  // namespace weft::lapack
