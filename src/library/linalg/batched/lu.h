// LU factorisation with partial pivoting, and what follows from it, of a matrix of lanes. Rows are adjacent.
#pragma once

#include "library/linalg/batched/lanes.h"

namespace weft::batched {
namespace {

// A divisor, and one over it, with which numbers are multiplied where it is normal.
template <class L>
struct Divisor {
    using Value = typename L::Value;
    Divisor() = default;
    explicit Divisor(Value x)
        : value(x),
          inverse(Value(1) / x),
          small(absolute(x) < Value(4 * Format<typename L::Element>::kLeastNormal)),
          any_small(L::any(small)) {}
    Value divide(Value x) const {
        const Value product = x * inverse;
        return any_small ? L::select(small, x / value, product) : product;
    }
    Value value, inverse;
    typename L::Mask small;
    bool any_small;
};

// A becomes L (its diagonal of ones is not kept) and U. Row k was exchanged with row pivots[k] before step k.
// Without kKeepsLower only U is right. The result is one more than the index of the first zero pivot, or
// zero.
template <bool kKeepsLower, class L, class Size>
inline typename L::Index factor_lu(typename L::Value* a, Size size, typename L::Index* pivots,
                                   Divisor<L>* divisors) {
    using Value = typename L::Value;
    using Index = typename L::Index;
    using Mask = typename L::Mask;
    constexpr int kMost = Size::kKnown != 0 ? Size::kKnown : 32;
    const int n = size;
    Index info = Index(0);
    Value factors[kMost];
    Mask hit[kMost];
    for (int k = 0; k < n; ++k) {
        Value* top = a + k * n;
        Value best = absolute(top[k]);
        Index pivot = Index(k);
        for (int i = k + 1; i < n; ++i) {
            const Value x = absolute(a[i * n + k]);
            const Mask more = best < x;
            best = L::select(more, x, best);
            pivot = L::choose(more, Index(i), pivot);
        }
        pivots[k] = pivot;
        info = L::choose((info == Index(0)) & (best == Value(0)), Index(k + 1), info);
        Value diagonal = top[k];
        for (int i = k + 1; i < n; ++i) {
            hit[i] = pivot == Index(i);
            diagonal = L::select(hit[i], a[i * n + k], diagonal);
        }
        const Value old = top[k];
        top[k] = diagonal;
        const Divisor<L> divisor(diagonal);
        divisors[k] = divisor;
        const Mask zero = best == Value(0);
        for (int i = k + 1; i < n; ++i) {
            const Value x = L::select(hit[i], old, a[i * n + k]);
            factors[i] = L::select(zero, Value(0), divisor.divide(x));
        }
        for (int j = kKeepsLower ? 0 : k + 1; j < k; ++j) {
            const Value above = top[j];
            Value found = above;
            for (int i = k + 1; i < n; ++i) {
                const Value x = a[i * n + j];
                found = L::select(hit[i], x, found);
                a[i * n + j] = L::select(hit[i], above, x);
            }
            top[j] = found;
        }
        if (kKeepsLower) {
            for (int i = k + 1; i < n; ++i) a[i * n + k] = factors[i];
        }
        for (int j = k + 1; j < n; ++j) {
            const Value above = top[j];
            Value found = above;
            for (int i = k + 1; i < n; ++i) found = L::select(hit[i], a[i * n + j], found);
            top[j] = found;
            for (int i = k + 1; i < n; ++i) {
                const Value x = L::select(hit[i], above, a[i * n + j]);
                a[i * n + j] = fma(-factors[i], found, x);
            }
        }
    }
    return info;
}

// The columns of b, whose rows are `stride` apart, become those of U^-1 L^-1 b, for rows that were exchanged.
// Before the first row of a column that is not zero, its row `first + column` when kTriangular, nothing is
// done; b has ones there, which are not read.
template <bool kTriangular, class L, class Size>
inline void solve_lu(const typename L::Value* a, Size size, const Divisor<L>* divisors, typename L::Value* b,
                     int stride, int columns) {
    using Value = typename L::Value;
    const int n = size;
    constexpr int kBlock = 4;
    for (int j = 0; j < columns; j += kBlock) {
        const int width = columns - j < kBlock ? columns - j : kBlock;
        const int first = kTriangular ? j : 0;
        if (width == kBlock) {
            for (int i = first + 1; i < n; ++i) {
                Value sum[kBlock];
                for (int c = 0; c < kBlock; ++c) sum[c] = b[i * stride + j + c];
                for (int k = first; k < i; ++k) {
                    const Value factor = -a[i * n + k];
                    for (int c = 0; c < kBlock; ++c) sum[c] = fma(factor, b[k * stride + j + c], sum[c]);
                }
                for (int c = 0; c < kBlock; ++c) b[i * stride + j + c] = sum[c];
            }
            for (int i = n - 1; i >= 0; --i) {
                Value sum[kBlock];
                for (int c = 0; c < kBlock; ++c) sum[c] = b[i * stride + j + c];
                for (int k = i + 1; k < n; ++k) {
                    const Value factor = -a[i * n + k];
                    for (int c = 0; c < kBlock; ++c) sum[c] = fma(factor, b[k * stride + j + c], sum[c]);
                }
                for (int c = 0; c < kBlock; ++c) b[i * stride + j + c] = divisors[i].divide(sum[c]);
            }
            continue;
        }
        for (int c = j; c < columns; ++c) {
            for (int i = first + 1; i < n; ++i) {
                Value sum = b[i * stride + c];
                for (int k = first; k < i; ++k) sum = fma(-a[i * n + k], b[k * stride + c], sum);
                b[i * stride + c] = sum;
            }
            for (int i = n - 1; i >= 0; --i) {
                Value sum = b[i * stride + c];
                for (int k = i + 1; k < n; ++k) sum = fma(-a[i * n + k], b[k * stride + c], sum);
                b[i * stride + c] = divisors[i].divide(sum);
            }
        }
    }
}

// The determinant is mantissa * 2^exponent; the mantissa has its sign.
template <class L, class Size>
inline typename L::Value determinant_of_lu(const typename L::Value* a, Size size,
                                           const typename L::Index* pivots, typename L::Index& exponent) {
    using Value = typename L::Value;
    using Index = typename L::Index;
    const int n = size;
    Value product = Value(1);
    exponent = Index(0);
    for (int k = 0; k < n; ++k) {
        product *= split<L>(a[k * n + k], exponent);
        product = L::select(pivots[k] == Index(k), product, -product);
    }
    return split<L>(product, exponent);
}

}  // namespace
}  // namespace weft::batched
