// Cholesky factors, determinants, inverses and solutions of small matrices, one matrix a thread: the
// algorithms of library/linalg/batched, with one number where a CPU has a vector.

// First, since what follows it is for the GPU.
#include "library/linalg/cuda/small_matrices.h"

#include "library/linalg/batched/cholesky.h"
#include "library/linalg/batched/lu.h"
#include "library/linalg/cuda/factors_arguments.h"

namespace {

#if WEFT_ROWS <= 4
using Size = Fixed<WEFT_ROWS>;
Size size_of(uint64_t) { return {}; }
#else
using Size = Any;
Size size_of(uint64_t rows) { return {static_cast<int>(rows)}; }
#endif

// Row i of the matrix that was factorised is this row of the given one.
void order_rows(const Index* pivots, int n, Index* order) {
    for (int i = 0; i < n; ++i) order[i] = i;
    for (int k = 0; k < n; ++k) {
        // By comparisons, so that what is in registers stays there.
        const Index own = order[k];
        for (int i = k; i < n; ++i) {
            const bool hit = pivots[k] == i;
            order[k] = hit ? order[i] : order[k];
            order[i] = hit ? own : order[i];
        }
    }
}

// Of which a program has one.
struct Factors {
    explicit Factors(const FactorsArguments& words)
        : n(size_of(words.rows)), k(uint64_t{block()} * kFactorsThreads + thread()) {}

    void load(const FactorsArguments& words) {
        const T* const from = pointer<const T>(words.input) + k * static_cast<uint64_t>(n * n);
        const auto row = static_cast<int>(words.row), column = static_cast<int>(words.column);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) a[i * n + j] = from[i * row + j * column];
        }
    }
    void report(const FactorsArguments& words, Index info) const {
        pointer<int32_t>(words.info)[k] = static_cast<int32_t>(info);
    }
    T checked(Index info, T value) const { return info != 0 ? Format<T>::kQuietNan : value; }

    void cholesky(const FactorsArguments& words) {
        load(words);
        const Index info = factor_cholesky<L>(a, n);
        T* const to = pointer<T>(words.output) + k * static_cast<uint64_t>(n * n);
        const auto row = static_cast<int>(words.output_row), column = static_cast<int>(words.output_column);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j)
                to[i * row + j * column] = checked(info, j <= i ? a[i * n + j] : T(0));
        }
        report(words, info);
    }

    void det(const FactorsArguments& words) {
        load(words);
        Index pivots[kMost], exponent;
        Divisor<L> divisors[kMost];
        const Index info = factor_lu<false, L>(a, n, pivots, divisors);
        const T mantissa = determinant_of_lu<L>(a, n, pivots, exponent);
        pointer<T>(words.output)[k] = info == 0 ? scaled<L>(mantissa, exponent) : T(0);
    }

    void inverse(const FactorsArguments& words) {
        load(words);
        Index pivots[kMost], order[kMost];
        Divisor<L> divisors[kMost];
        T b[kMost * kMost];
        const Index info = factor_lu<true, L>(a, n, pivots, divisors);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) b[i * n + j] = i == j ? T(1) : T(0);
        }
        solve_lu<true, L>(a, n, divisors, b, n, n);
        order_rows(pivots, n, order);
        T* const to = pointer<T>(words.output) + k * static_cast<uint64_t>(n * n);
        for (int j = 0; j < n; ++j) {
            const auto place = static_cast<int>(order[j]);
            for (int i = 0; i < n; ++i) to[i * n + place] = checked(info, b[i * n + j]);
        }
        report(words, info);
    }

    void solve(const FactorsArguments& words) {
        load(words);
        Index pivots[kMost], order[kMost];
        Divisor<L> divisors[kMost];
        constexpr int kColumns = 4;
        T b[kMost * kColumns];
        const Index info = factor_lu<true, L>(a, n, pivots, divisors);
        order_rows(pivots, n, order);
        const auto sides = static_cast<int>(words.columns);
        const T* const from = pointer<const T>(words.sides) + k * static_cast<uint64_t>(n * sides);
        T* const to = pointer<T>(words.output) + k * static_cast<uint64_t>(n * sides);
        for (int first = 0; first < sides; first += kColumns) {
            const int columns = sides - first < kColumns ? sides - first : kColumns;
            for (int i = 0; i < n; ++i) {
                for (int c = 0; c < columns; ++c)
                    b[i * kColumns + c] = from[static_cast<int>(order[i]) * sides + first + c];
            }
            solve_lu<false, L>(a, n, divisors, b, kColumns, columns);
            for (int i = 0; i < n; ++i) {
                for (int c = 0; c < columns; ++c)
                    to[i * sides + first + c] = checked(info, b[i * kColumns + c]);
            }
        }
        report(words, info);
    }

    const Size n;
    const uint64_t k;
    T a[kMost * kMost];
};

}  // namespace

WEFT_SMALL_KERNEL(FactorsArguments, kFactorsThreads) {
    Factors factors(words);
    if (factors.k < words.count) factors.WEFT_KIND(words);
}
