// Eigenvalues of a symmetric matrix of lanes: by reflections to a tridiagonal matrix, then by the implicit QL
// iteration with Wilkinson's shift, all lanes in step.
#pragma once

#include "library/linalg/batched/householder.h"
#include "library/linalg/batched/lanes.h"

namespace weft::batched {
namespace {

// Numbers are scaled to about 2^this, so that squares do not overflow, and what vanishes does not matter.
template <class T>
constexpr int kEigenScale = sizeof(T) == 8 ? 300 : 40;
// Beside the diagonal, what is far below the rounding errors of the whole matrix.
template <class T>
constexpr T kEigenNoise = sizeof(T) == 8 ? T(0x1p+207) : T(0x1p-8);
constexpr int kMostSteps = 50;  // for each eigenvalue

// The lower triangle of a (row by row) becomes that of a tridiagonal matrix, whose diagonals are copied, with
// the reflections below; `work` has n values.
template <class L>
inline void make_tridiagonal(typename L::Value* a, int n, typename L::Value* diagonal,
                             typename L::Value* beside, typename L::Value* factors, typename L::Value* work) {
    using Value = typename L::Value;
    using T = typename L::Element;
    for (int k = 0; k + 1 < n; ++k) {
        const int length = n - k - 1;
        Value* const v = a + (k + 1) * n + k;  // in steps of n
        const Reflection<L> reflection = reflect<L>(v, n, length);
        beside[k] = reflection.first;
        factors[k] = reflection.factor;
        v[0] = Value(T(1));
        Value* const rest = a + (k + 1) * n + k + 1;
        // work = factor * rest * v, of which only the lower triangle is there.
        for (int i = 0; i < length; ++i) work[i] = Value(T(0));
        for (int i = 0; i < length; ++i) {
            const Value x = v[i * n];
            Value sum = rest[i * n + i] * x;
            for (int j = 0; j < i; ++j) {
                sum = fma(rest[i * n + j], v[j * n], sum);
                work[j] = fma(rest[i * n + j], x, work[j]);
            }
            work[i] += sum;
        }
        Value dot = Value(T(0));
        for (int i = 0; i < length; ++i) {
            work[i] *= reflection.factor;
            dot = fma(work[i], v[i * n], dot);
        }
        dot *= reflection.factor * T(-0.5);
        for (int i = 0; i < length; ++i) work[i] = fma(dot, v[i * n], work[i]);
        for (int i = 0; i < length; ++i) {
            const Value x = -v[i * n], w = -work[i];
            for (int j = 0; j <= i; ++j) rest[i * n + j] = fma(x, work[j], fma(w, v[j * n], rest[i * n + j]));
        }
    }
    for (int k = 0; k < n; ++k) diagonal[k] = a[k * n + k];
    beside[n - 1] = Value(T(0));
}

// Rotates columns first + i and first + i + 1 of rows, for i from count - 1 down.
template <class L>
inline void rotate_columns(typename L::Value* z, int n, int first, int count,
                           const typename L::Value* cosines, const typename L::Value* sines) {
    using Value = typename L::Value;
    constexpr int kBlock = 4;
    int row = 0;
    for (; row + kBlock <= n; row += kBlock) {
        Value* const at = z + row * n + first;
        Value right[kBlock];
        for (int r = 0; r < kBlock; ++r) right[r] = at[r * n + count];
        for (int i = count - 1; i >= 0; --i) {
            const Value c = cosines[first + i], s = sines[first + i];
            for (int r = 0; r < kBlock; ++r) {
                const Value left = at[r * n + i];
                at[r * n + i + 1] = fma(s, left, c * right[r]);
                right[r] = fma(c, left, -s * right[r]);
            }
        }
        for (int r = 0; r < kBlock; ++r) at[r * n] = right[r];
    }
    for (; row < n; ++row) {
        Value* const at = z + row * n + first;
        Value right = at[count];
        for (int i = count - 1; i >= 0; --i) {
            const Value c = cosines[first + i], s = sines[first + i];
            const Value left = at[i];
            at[i + 1] = fma(s, left, c * right);
            right = fma(c, left, -s * right);
        }
        at[0] = right;
    }
}

// The diagonal becomes the eigenvalues, in any order, and z, when not null, is multiplied by the rotations.
// `cosines` and `sines` are n values each. The result is one more than the index of the first that did not
// converge, or zero.
template <class L>
inline typename L::Index iterate_ql(typename L::Value* d, typename L::Value* e, int n, typename L::Value* z,
                                    typename L::Value* cosines, typename L::Value* sines) {
    using Value = typename L::Value;
    using Index = typename L::Index;
    using Mask = typename L::Mask;
    using T = typename L::Element;
    // Of rotations so small that they may be any.
    constexpr T kNothing = sizeof(T) == 8 ? T(1e-280) : T(1e-34);
    Index info = Index(0);
    for (int l = 0; l < n - 1; ++l) {
        for (int step = 0;; ++step) {
            // The block from l to `end`, where the next number beside the diagonal is nearly zero.
            Index end = Index(n - 1);
            Value last = d[n - 1];
            for (int m = n - 2; m >= l; --m) {
                const Value size = absolute(d[m]) + absolute(d[m + 1]);
                const Mask small =
                    absolute(e[m]) <= fma(Value(Format<T>::kEpsilon), size, Value(kEigenNoise<T>));
                end = L::choose(small, Index(m), end);
                last = L::select(small, d[m], last);
            }
            const Mask active = end > Index(l);
            if (!L::any(active)) break;
            if (step == kMostSteps) {
                info = L::choose(active, L::choose(info == Index(0), Index(l + 1), info), info);
                break;
            }
            const int most = L::most(end);
            Value g = (d[l + 1] - d[l]) / (T(2) * e[l]);
            Value r = square_root(fma(g, g, Value(T(1))));
            g = last - d[l] + e[l] / (g + L::select(g < Value(T(0)), -r, r));
            Value s = Value(T(1)), c = Value(T(1)), p = Value(T(0));
            for (int i = most - 1; i >= l; --i) {
                const Mask on = active & (Index(i) < end);
                const Value f = s * e[i], b = c * e[i];
                const Value square = fma(f, f, g * g);
                const Mask nothing = square < Value(kNothing);
                r = square_root(square);
                const Value length = L::select(nothing, absolute(g), r);
                s = L::select(on, L::select(nothing, Value(T(0)), f / r), s);
                c = L::select(
                    on, L::select(nothing, L::select(g < Value(T(0)), Value(T(-1)), Value(T(1))), g / r), c);
                e[i + 1] = L::select(on, L::select(end == Index(i + 1), Value(T(0)), length), e[i + 1]);
                const Value next = d[i + 1] - p;
                const Value t = fma(d[i] - next, s, T(2) * (c * b));
                p = L::select(on, s * t, p);
                d[i + 1] = L::select(on, next + p, d[i + 1]);
                g = L::select(on, fma(c, t, -b), g);
                cosines[i] = L::select(on, c, Value(T(1)));
                sines[i] = L::select(on, s, Value(T(0)));
            }
            d[l] = L::select(active, d[l] - p, d[l]);
            e[l] = L::select(active, g, e[l]);
            if (z != nullptr) rotate_columns<L>(z, n, l, most - l, cosines, sines);
        }
    }
    return info;
}

// Where each of the values goes in ascending order (descending, when kDescending); equal ones keep theirs.
template <bool kDescending, class L>
inline void rank(const typename L::Value* values, int n, typename L::Index* places) {
    using Index = typename L::Index;
    for (int i = 0; i < n; ++i) places[i] = Index(0);
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) {
            const auto after = kDescending ? values[j] > values[i] : values[j] < values[i];
            places[i] += L::choose(after, Index(1), Index(0));
            places[j] += L::choose(after, Index(0), Index(1));
        }
    }
}

}  // namespace
}  // namespace weft::batched
