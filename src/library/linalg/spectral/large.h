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
    way_taken = {kLapack, nullptr, 1};  // unless `work` finds the threads free
    work(int64_t{0}, count);
}

// Calls task(first, last) for pieces of `count` things on the threads of the pool.
template <class Task>
void for_pieces(int64_t count, int64_t each, const Task& task) {
    parallel_for((count + each - 1) / each,
                 [&](int64_t piece) { task(piece * each, std::min(count, (piece + 1) * each)); });
}

// What became of a large matrix. Elements that are no numbers have no spectrum: with them LAPACK may end with
// an error, with other such numbers, as its workspace happens to be filled, or never.
enum class Spectrum { kFound, kNotFound, kLeftToLapack };

enum class Magnitude { kPlain, kExtreme, kInfinite, kNan };

// Of m x n elements in column-major order: extreme ones cannot be squared and summed without overflow, or
// without loss to denormal numbers (the bounds are those beyond which LAPACK scales). Zeros alone are fine.
template <class T>
Magnitude magnitude_of(int64_t m, int64_t n, const T* a, int64_t lda) {
    using R = Real<T>;
    const R least = std::sqrt(std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon());
    constexpr int64_t kColumns = 64;
    std::atomic<bool> is_nan = false, is_large = false, is_infinite = false, is_zero = true, is_small = true;
    for_pieces(n, kColumns, [&](int64_t first, int64_t last) {
        R most = 0;
        bool nan = false;
        for (int64_t j = first; j < last; ++j) {
            const R* const column = reinterpret_cast<const R*>(a + j * lda);
            for (int64_t i = 0; i < m * (is_complex<T> ? 2 : 1); ++i) {
                const R size = std::abs(column[i]);
                nan = nan || size != size;
                most = std::max(most, size);
            }
        }
        if (nan) is_nan = true;
        if (most == std::numeric_limits<R>::infinity()) is_infinite = true;
        if (most > 1 / least) is_large = true;
        if (most != 0) is_zero = false;
        if (most >= least) is_small = false;
    });
    if (is_nan) return Magnitude::kNan;
    if (is_infinite) return Magnitude::kInfinite;
    return is_large || (is_small && !is_zero) ? Magnitude::kExtreme : Magnitude::kPlain;
}

}  // namespace weft::lapack
