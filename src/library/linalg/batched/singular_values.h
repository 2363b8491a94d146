// Singular values without vectors, of a matrix of lanes: by reflections to a bidiagonal matrix, then by the
// implicit QR iteration of Golub and Kahan, all lanes in step.
#pragma once

#include "library/linalg/batched/householder.h"
#include "library/linalg/batched/lanes.h"

namespace weft::batched {
namespace {

// Numbers are scaled to about 2^this, so that fourth powers do not overflow, and what vanishes does not
// matter.
template <class T>
constexpr int kBidiagonalScale = sizeof(T) == 8 ? 100 : 24;
// Above the diagonal, what is far below the rounding errors of the whole matrix.
template <class T>
constexpr T kBidiagonalNoise = sizeof(T) == 8 ? T(0x1p+7) : T(0x1p-24);
constexpr int kMostPasses = 50;  // for each singular value

// The rows of a (a row's numbers are adjacent, rows `stride` apart) are multiplied by the reflection of v.
template <class L>
inline void apply_reflection_to_rows(const typename L::Value* v, int length, typename L::Value factor,
                                     typename L::Value* a, int stride, int rows) {
    using Value = typename L::Value;
    constexpr int kBlock = 4;
    int i = 0;
    for (; i + kBlock <= rows; i += kBlock) {
        Value* const at = a + i * stride;
        Value sum[kBlock];
        for (int r = 0; r < kBlock; ++r) sum[r] = at[r * stride];
        for (int j = 1; j < length; ++j) {
            for (int r = 0; r < kBlock; ++r) sum[r] = fma(v[j], at[r * stride + j], sum[r]);
        }
        for (int r = 0; r < kBlock; ++r) {
            sum[r] *= -factor;
            at[r * stride] += sum[r];
        }
        for (int j = 1; j < length; ++j) {
            for (int r = 0; r < kBlock; ++r) at[r * stride + j] = fma(v[j], sum[r], at[r * stride + j]);
        }
    }
    for (; i < rows; ++i) {
        Value* const at = a + i * stride;
        Value sum = at[0];
        for (int j = 1; j < length; ++j) sum = fma(v[j], at[j], sum);
        sum *= -factor;
        at[0] += sum;
        for (int j = 1; j < length; ++j) at[j] = fma(v[j], sum, at[j]);
    }
}

// The diagonal, and the numbers above it (n of each, the last is zero), of a bidiagonal matrix that has the
// singular values of a high matrix (m×n, row by row), which is lost.
template <class L>
inline void make_bidiagonal(typename L::Value* a, int m, int n, typename L::Value* diagonal,
                            typename L::Value* above) {
    using Value = typename L::Value;
    for (int k = 0; k < n; ++k) {
        Value* const corner = a + k * n + k;
        const Reflection<L> left = reflect<L>(corner, n, m - k);
        diagonal[k] = left.first;
        above[k] = Value(0);
        if (k + 1 == n) return;
        apply_reflection<L>(corner, n, m - k, left.factor, corner + 1, n, n - k - 1);
        const Reflection<L> right = reflect<L>(corner + 1, 1, n - k - 1);
        above[k] = right.first;
        apply_reflection_to_rows<L>(corner + 1, n - k - 1, right.factor, corner + n + 1, n, m - k - 1);
    }
}

// The rotation that turns (f, g) into (length, 0), in the lanes that are `on`; elsewhere it does nothing, and
// the length is f.
template <class L>
inline void find_rotation(typename L::Value f, typename L::Value g, typename L::Mask on, typename L::Value& c,
                          typename L::Value& s, typename L::Value& length) {
    using Value = typename L::Value;
    using T = typename L::Element;
    // Of numbers so small that it may be any.
    constexpr T kNothing = sizeof(T) == 8 ? T(1e-280) : T(1e-34);
    const Value square = fma(f, f, g * g);
    const typename L::Mask turned = on & (square >= Value(kNothing));
    const Value root = square_root(square);
    c = L::select(turned, f / root, Value(T(1)));
    s = L::select(turned, g / root, Value(T(0)));
    length = L::select(turned, root, f);
}

// The diagonal becomes the singular values, in any order. The result is one more than the index of the first
// that did not converge, or zero.
template <class L>
inline typename L::Index iterate_bidiagonal(typename L::Value* d, typename L::Value* e, int n) {
    using Value = typename L::Value;
    using Index = typename L::Index;
    using Mask = typename L::Mask;
    using T = typename L::Element;
    const Value epsilon = Value(Format<T>::kEpsilon), zero = Value(T(0));
    Index info = Index(0);
    for (int end = n - 1; end > 0; --end) {
        for (int pass = 0;; ++pass) {
            // The block from `start` to `end`, before which the number above the diagonal is nearly zero.
            Index start = Index(0);
            Value first = d[0], beside = e[0];
            Value least = absolute(d[0]), most = least;
            for (int i = 0; i < end; ++i) {
                const Value own = absolute(d[i]), next = absolute(d[i + 1]);
                const Mask small = absolute(e[i]) <= fma(epsilon, own + next, Value(kBidiagonalNoise<T>));
                e[i] = L::select(small, zero, e[i]);
                start = L::choose(small, Index(i + 1), start);
                first = L::select(small, d[i + 1], first);
                beside = L::select(small, e[i + 1], beside);
                least = L::select(small | (next < least), next, least);
                most = L::select(small | (next > most), next, most);
            }
            const Mask active = start < Index(end);
            if (!L::any(active)) break;
            if (pass == kMostPasses) {
                info = L::choose(active, L::choose(info == Index(0), Index(end + 1), info), info);
                break;
            }
            // The shift is the smaller singular value of the last two rows. Where a number of the diagonal
            // is nearly zero, so is a singular value, and the pass without a shift finds it.
            const Value p = absolute(d[end - 1]), q = absolute(d[end]), square = e[end - 1] * e[end - 1];
            const Value larger_twice =
                square_root(fma(p + q, p + q, square)) + square_root(fma(p - q, p - q, square));
            const Value shift = T(2) * (p * q) / larger_twice;
            const Mask unshifted = least <= epsilon * most;
            const Value size = absolute(first);
            const Value first_f = L::select(unshifted, first, (size - shift) * (size + shift));
            const Value first_g = L::select(unshifted, beside, first * beside);
            Value f = zero, g = zero;
            for (int i = -L::most(-start); i < end; ++i) {
                const Mask begins = start == Index(i);
                const Mask on = active & (start <= Index(i));
                f = L::select(begins, first_f, f);
                g = L::select(begins, first_g, g);
                Value c, s, length;
                find_rotation<L>(f, g, on, c, s, length);
                if (i > 0) e[i - 1] = L::select(on & (start < Index(i)), length, e[i - 1]);
                f = fma(c, d[i], s * e[i]);
                e[i] = fma(c, e[i], -s * d[i]);
                g = s * d[i + 1];
                d[i + 1] *= c;
                find_rotation<L>(f, g, on, c, s, length);
                d[i] = length;
                f = fma(c, e[i], s * d[i + 1]);
                d[i + 1] = fma(c, d[i + 1], -s * e[i]);
                if (i + 1 < end) {
                    g = s * e[i + 1];
                    e[i + 1] *= c;
                }
            }
            e[end - 1] = f;
        }
    }
    for (int i = 0; i < n; ++i) d[i] = absolute(d[i]);
    return info;
}

}  // namespace
}  // namespace weft::batched
