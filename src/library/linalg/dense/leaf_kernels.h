// The kernels of leaves.h. Included once by each file that compiles them for an instruction set, which sets
// the target before: so everything here has internal linkage, and takes nothing from other headers that could
// be shared. Sums are chains of fused multiply-adds in the same order for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "library/linalg/dense/leaves.h"

// Vectors wider than registers are passed to nobody: all of this is inlined or internal.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpsabi"

namespace weft::lapack {
namespace {

template <class T>
inline T load_from(const void* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
inline void store_to(void* to, const T& value) {
    __builtin_memcpy(to, &value, sizeof value);
}

template <class T, int kBytes>
struct Leaves {
    static constexpr int kSide = kLeafSide;
    static constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
    // Columns whose chains hide each other's waiting, as many as registers hold.
    static constexpr int kTogether = kBytes == 64 ? 8 : 8 * kLanes / kSide;
    typedef T Side __attribute__((ext_vector_type(kSide)));
    typedef T Vector __attribute__((ext_vector_type(kBytes / sizeof(T))));

    // `after` in the places of unknowns that are still to be found, `found` in the pivot's, else `before`.
    template <int kPivot, bool kForward, size_t... kIndex>
    static inline Side next_unknowns(Side after, Side found, Side before, std::index_sequence<kIndex...>) {
        const Side others = __builtin_shufflevector(
            after, before,
            ((kForward ? static_cast<int>(kIndex) > kPivot : static_cast<int>(kIndex) < kPivot)
                 ? static_cast<int>(kIndex)
                 : static_cast<int>(kIndex) + kSide)...);
        return __builtin_shufflevector(
            others, found,
            (static_cast<int>(kIndex) == kPivot ? kPivot + kSide : static_cast<int>(kIndex))...);
    }

    template <int kPivot, size_t... kIndex>
    static inline Side everywhere(Side x, std::index_sequence<kIndex...>) {
        return __builtin_shufflevector(x, x, (static_cast<void>(kIndex), kPivot)...);
    }

    template <int kPivot, bool kForward, Diagonal kDiagonal, int kColumns>
    static inline void eliminate(const TriangleLeaf<T>& triangle, Side (&x)[kColumns]) {
        constexpr std::make_index_sequence<kSide> kAll;
        const Side column = load_from<Side>(triangle.columns + kPivot * kSide);
        const Side diagonal = triangle.diagonal[kPivot];
#pragma clang loop unroll(full)
        for (int j = 0; j < kColumns; ++j) {
            const Side pivot = everywhere<kPivot>(x[j], kAll);
            const Side found = kDiagonal == Diagonal::kDivisors  ? pivot / diagonal
                               : kDiagonal == Diagonal::kFactors ? pivot * diagonal
                                                                 : pivot;
            x[j] = next_unknowns<kPivot, kForward>(__builtin_elementwise_fma(-found, column, x[j]), found,
                                                   x[j], kAll);
        }
    }

    template <bool kForward, Diagonal kDiagonal, int kColumns, size_t... kStep>
    static inline void eliminate_all(const TriangleLeaf<T>& triangle, Side (&x)[kColumns],
                                     std::index_sequence<kStep...>) {
        (eliminate<kForward ? static_cast<int>(kStep) : kSide - 1 - static_cast<int>(kStep), kForward,
                   kDiagonal, kColumns>(triangle, x),
         ...);
    }

    template <bool kForward, Diagonal kDiagonal>
    static void solve_by(const TriangleLeaf<T>& triangle, int64_t rows, int64_t columns, T* b, int64_t ldb) {
        const size_t bytes = static_cast<size_t>(rows) * sizeof(T);
        for (int64_t first = 0; first < columns; first += kTogether, b += kTogether * ldb) {
            const int64_t count = columns - first < kTogether ? columns - first : kTogether;
            Side x[kTogether] = {};
            for (int j = 0; j < kTogether; ++j) {
                if (j >= count) break;
                if (rows == kSide) {
                    x[j] = load_from<Side>(b + j * ldb);
                } else {
                    __builtin_memcpy(&x[j], b + j * ldb, bytes);
                }
            }
            eliminate_all<kForward, kDiagonal, kTogether>(triangle, x, std::make_index_sequence<kSide>());
            for (int j = 0; j < kTogether; ++j) {
                if (j >= count) break;
                if (rows == kSide) {
                    store_to(b + j * ldb, x[j]);
                } else {
                    __builtin_memcpy(b + j * ldb, &x[j], bytes);
                }
            }
        }
    }

    static void solve(const TriangleLeaf<T>& triangle, int64_t rows, int64_t columns, T* b, int64_t ldb) {
        using enum Diagonal;
        constexpr decltype(&solve) kFunctions[2][3] = {
            {solve_by<false, kOnes>, solve_by<false, kFactors>, solve_by<false, kDivisors>},
            {solve_by<true, kOnes>, solve_by<true, kFactors>, solve_by<true, kDivisors>}};
        const auto function = kFunctions[triangle.forward][static_cast<int>(triangle.kind)];
        function(triangle, rows, columns, b, ldb);
    }

    static T magnitude(T value) { return value < 0 ? -value : value; }

    // The first row of the largest element; one that is not a number is never larger, as in LAPACK's idamax.
    static int64_t largest(int64_t rows, const T* column) {
        T most = magnitude(column[0]);
        int64_t i = 0;
        Vector found[4] = {most, most, most, most};
        for (; i + 4 * kLanes <= rows; i += 4 * kLanes) {
#pragma clang loop unroll(full)
            for (int v = 0; v < 4; ++v) {
                const Vector size = __builtin_elementwise_abs(load_from<Vector>(column + i + v * kLanes));
                found[v] = size > found[v] ? size : found[v];
            }
        }
        for (; i + kLanes <= rows; i += kLanes) {
            const Vector size = __builtin_elementwise_abs(load_from<Vector>(column + i));
            found[0] = size > found[0] ? size : found[0];
        }
        for (int lane = 0; lane < 4 * kLanes; ++lane) {
            const T size = found[lane / kLanes][lane % kLanes];
            if (size > most) most = size;
        }
        for (; i < rows; ++i)
            if (magnitude(column[i]) > most) most = magnitude(column[i]);
        for (i = 0; i + kLanes <= rows; i += kLanes) {
            const Vector size = __builtin_elementwise_abs(load_from<Vector>(column + i));
            if (__builtin_reduce_or(size == most)) break;
        }
        for (; i < rows; ++i)
            if (magnitude(column[i]) == most) return i;
        return 0;
    }

    // column -= factor * pivots
    static void subtract(int64_t rows, const T* pivots, T factor, T* column) {
        const Vector by = -factor;
        int64_t i = 0;
        for (; i + kLanes <= rows; i += kLanes)
            store_to(column + i, __builtin_elementwise_fma(by, load_from<Vector>(pivots + i),
                                                           load_from<Vector>(column + i)));
        for (; i < rows; ++i) column[i] = __builtin_elementwise_fma(-factor, pivots[i], column[i]);
    }

    static int64_t lu(int64_t rows, int64_t columns, T* a, int64_t lda, int64_t* pivots) {
        constexpr T kLeast = sizeof(T) == 8 ? T(2.2250738585072014e-308) : T(1.17549435e-38f);
        int64_t info = 0;
        for (int64_t j = 0; j < columns; ++j) {
            T* const own = a + j * lda;
            const int64_t pivot = j + largest(rows - j, own + j);
            pivots[j] = pivot + 1;
            if (own[pivot] == 0) {
                if (info == 0) info = j + 1;
                continue;
            }
            if (pivot != j) {
                for (int64_t k = 0; k < columns; ++k) {
                    const T other = a[j + k * lda];
                    a[j + k * lda] = a[pivot + k * lda];
                    a[pivot + k * lda] = other;
                }
            }
            const T value = own[j];
            if (magnitude(value) >= kLeast) {
                const T factor = 1 / value;
                for (int64_t i = j + 1; i < rows; ++i) own[i] *= factor;
            } else {
                for (int64_t i = j + 1; i < rows; ++i) own[i] /= value;
            }
            for (int64_t k = j + 1; k < columns; ++k)
                subtract(rows - j - 1, own + j + 1, a[j + k * lda], a + j + 1 + k * lda);
        }
        return info;
    }

    static constexpr LeafKernels<T> kTable{solve, lu};
};

}  // namespace
}  // namespace weft::lapack

#pragma clang diagnostic pop
