// Eigenvalues of symmetric matrices and singular values of small ones, one matrix a thread: the algorithms of
// library/linalg/batched, with one number where a CPU has a vector.

// First, since what follows it is for the GPU.
#include "library/linalg/cuda/small_matrices.h"

#include "library/linalg/batched/jacobi_svd.h"
#include "library/linalg/batched/scaling.h"
#include "library/linalg/batched/singular_values.h"
#include "library/linalg/batched/symmetric_eigen.h"
#include "library/linalg/cuda/spectra_arguments.h"

namespace {

constexpr bool kKnown = kMost <= 4;
int size_of(uint64_t size) { return kKnown ? kMost : static_cast<int>(size); }

// Which matrix this thread has.
uint64_t own_matrix() { return uint64_t{block()} * kSpectraThreads + thread(); }

// Each value to its place, in the units of the input.
void put_values(const SpectraArguments& words, uint64_t k, T* values, int n, const Index* places, T inverse,
                bool bad) {
    T* const to = pointer<T>(words.values) + k * static_cast<uint64_t>(n);
    for (int i = 0; i < n; ++i) values[i] *= inverse;
    finish<L>(values, n, bad);
    for (int i = 0; i < n; ++i) to[places[i]] = values[i];
}

void report(const SpectraArguments& words, uint64_t k, Index info) {
    pointer<int32_t>(words.info)[k] = static_cast<int32_t>(info);
}

template <bool kWithVectors>
void eigen(const SpectraArguments& words) {
    const uint64_t k = own_matrix();
    if (k >= words.count) return;
    const int n = size_of(words.rows);
    T a[kMost * kMost], z[kWithVectors ? kMost * kMost : 1];
    T diagonal[kMost], beside[kMost], factors[kMost], work[kMost];
    Index places[kMost];
    const T* const from = pointer<const T>(words.input) + k * static_cast<uint64_t>(n * n);
    const auto row = static_cast<int>(words.row), column = static_cast<int>(words.column);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) a[i * n + j] = from[i * row + j * column];
    }
    bool nan, infinite;
    T inverse;
    scale_numbers<L>(a, n, n, true, kEigenScale<T>, inverse, nan, infinite);
    make_tridiagonal<L>(a, n, diagonal, beside, factors, work);
    if (kWithVectors) make_q<L>(a, n, 1, factors, n - 1, z, n, n);
    Index info = iterate_ql<L>(diagonal, beside, n, kWithVectors ? z : nullptr, factors, work);
    info = nan ? 1 : info;
    const bool bad = infinite || info != 0;
    rank<false, L>(diagonal, n, places);
    put_values(words, k, diagonal, n, places, inverse, bad);
    if (kWithVectors) {
        finish<L>(z, n * n, bad);
        T* const to = pointer<T>(words.left) + k * static_cast<uint64_t>(n * n);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) to[i * n + static_cast<int>(places[j])] = z[i * n + j];
        }
    }
    report(words, k, info);
}

void load(const SpectraArguments& words, uint64_t k, int m, int n, T* a) {
    const T* const from = pointer<const T>(words.input) + k * static_cast<uint64_t>(m * n);
    const auto row = static_cast<int>(words.row), column = static_cast<int>(words.column);
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) a[i * n + j] = from[i * row + j * column];
    }
}

// Of which a program has one.
struct Spectra {
    static void svdvals(const SpectraArguments& words) {
        const uint64_t k = own_matrix();
        if (k >= words.count) return;
        const int m = size_of(words.rows), n = size_of(words.columns);
        T a[kMost * kMost], diagonal[kMost], above[kMost];
        Index places[kMost];
        load(words, k, m, n, a);
        bool nan, infinite;
        T inverse;
        scale_numbers<L>(a, m, n, false, kBidiagonalScale<T>, inverse, nan, infinite);
        make_bidiagonal<L>(a, m, n, diagonal, above);
        Index info = iterate_bidiagonal<L>(diagonal, above, n);
        info = nan || infinite ? 1 : info;
        rank<true, L>(diagonal, n, places);
        put_values(words, k, diagonal, n, places, inverse, info != 0);
        report(words, k, info);
    }

    static void svd(const SpectraArguments& words) {
        const uint64_t k = own_matrix();
        if (k >= words.count) return;
        const int m = size_of(words.rows), n = size_of(words.columns), width = size_of(words.width);
        T a[kMost * kMost], u[kMost * kMost], factors[kMost], norms[kMost];
        Index places[kMost], order[kMost];
        load(words, k, m, n, a);
        bool nan, infinite;
        T inverse;
        scale_numbers<L>(a, m, n, false, kJacobiScale<T>, inverse, nan, infinite);
        factor_pivoted_qr<L>(a, m, n, factors, norms, order);
        make_q<L>(a, n, 0, factors, n, u, m, width);
        clear_below<L>(a, n, n);
        Index info = rotate_rows<L>(a, n, u, m, width);
        info = nan || infinite ? 1 : info;
        const bool bad = info != 0;
        take_norms<L>(a, n, norms);
        rank<true, L>(norms, n, places);
        complete_rows<L>(a, n, norms);
        finish<L>(a, n * n, bad);
        finish<L>(u, m * width, bad);
        T* const left = pointer<T>(words.left) + k * static_cast<uint64_t>(m * width);
        T* const right = pointer<T>(words.right) + k * static_cast<uint64_t>(n * n);
        const auto left_row = static_cast<int>(words.left_row),
                   left_column = static_cast<int>(words.left_column),
                   right_row = static_cast<int>(words.right_row),
                   right_column = static_cast<int>(words.right_column);
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < width; ++j) {
                const int place = j < n ? static_cast<int>(places[j]) : j;
                left[i * left_row + place * left_column] = u[i * width + j];
            }
        }
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j)
                right[static_cast<int>(places[i]) * right_row + static_cast<int>(order[j]) * right_column] =
                    a[i * n + j];
        }
        put_values(words, k, norms, n, places, inverse, bad);
        report(words, k, info);
    }

    static void eigh(const SpectraArguments& words) { eigen<true>(words); }
    static void eigvalsh(const SpectraArguments& words) { eigen<false>(words); }
};

}  // namespace

WEFT_SMALL_KERNEL(SpectraArguments, kSpectraThreads) { Spectra::WEFT_KIND(words); }
