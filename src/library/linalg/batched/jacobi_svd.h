// Singular values of a matrix of lanes: by a QR factorisation, then by one-sided Jacobi rotations of R's
// rows.
#pragma once

#include "library/linalg/batched/householder.h"
#include "library/linalg/batched/lanes.h"

namespace weft::batched {
namespace {

// Numbers are scaled to about 2^this, so that products of squared norms do not overflow.
template <class T>
constexpr int kJacobiScale = sizeof(T) == 8 ? 240 : 26;
// Squared norms of rows that are nothing beside the others.
template <class T>
constexpr T kNoNorm = sizeof(T) == 8 ? T(0x1p-500) : T(0x1p-62);
// Those of rows that rounding errors made, where the largest number is as kJacobiScale says. Such a row may
// be parallel to another, and what rotations leave of it would be made of rounding errors again.
template <class T>
constexpr T kNoise = sizeof(T) == 8 ? T(0x1p+320) : T(0x1p-32);
constexpr int kMostSweeps = 40;

// factor_qr() of a high matrix (m×n) whose columns are exchanged so that R's diagonal does not grow: then few
// rotations are left to do. Column k was column order[k]. `norms` has n values.
template <class L>
inline void factor_pivoted_qr(typename L::Value* a, int m, int n, typename L::Value* factors,
                              typename L::Value* norms, typename L::Index* order) {
    using Value = typename L::Value;
    using Index = typename L::Index;
    using T = typename L::Element;
    for (int j = 0; j < n; ++j) order[j] = Index(j);
    for (int k = 0; k < n; ++k) {
        for (int j = k; j < n; ++j) norms[j] = Value(T(0));
        for (int i = k; i < m; ++i) {
            for (int j = k; j < n; ++j) norms[j] = fma(a[i * n + j], a[i * n + j], norms[j]);
        }
        Value best = norms[k];
        Index pivot = Index(k);
        for (int j = k + 1; j < n; ++j) {
            const auto more = norms[j] > best;
            best = L::select(more, norms[j], best);
            pivot = L::choose(more, Index(j), pivot);
        }
        const Index own = order[k];
        for (int j = k + 1; j < n; ++j) {
            const auto hit = pivot == Index(j);
            order[k] = L::choose(hit, order[j], order[k]);
            order[j] = L::choose(hit, own, order[j]);
        }
        for (int i = 0; i < m; ++i) {
            const Value old = a[i * n + k];
            Value found = old;
            for (int j = k + 1; j < n; ++j) {
                const auto hit = pivot == Index(j);
                const Value x = a[i * n + j];
                found = L::select(hit, x, found);
                a[i * n + j] = L::select(hit, old, x);
            }
            a[i * n + k] = found;
        }
        const Reflection<L> reflection = reflect<L>(a + k * n + k, n, m - k);
        a[k * n + k] = reflection.first;
        factors[k] = reflection.factor;
        apply_reflection<L>(a + k * n + k, n, m - k, reflection.factor, a + k * n + k + 1, n, n - k - 1);
    }
}

template <class L>
inline void exchange_pairs(typename L::Mask where, typename L::Value* x, typename L::Value* y, int step,
                           int count) {
    for (int k = 0; k < count; ++k, x += step, y += step) {
        const typename L::Value a = *x, b = *y;
        *x = L::select(where, b, a);
        *y = L::select(where, a, b);
    }
}

// By an angle of which the sine is known, and the tangent of its half. So the many small angles, whose
// cosines round to one, make no vector longer.
template <class L>
inline void rotate_pairs(typename L::Value sine, typename L::Value half, typename L::Value* x,
                         typename L::Value* y, int step, int count) {
    for (int k = 0; k < count; ++k, x += step, y += step) {
        const typename L::Value a = *x, b = *y;
        *x = fma(-sine, fma(half, a, b), a);
        *y = fma(sine, fma(-half, b, a), b);
    }
}

// Rotates rows of r (n×n) until they are orthogonal, the longer first, and u's columns (m rows, `width`
// apart) with them. The result is one where that takes too long.
template <class L>
inline typename L::Index rotate_rows(typename L::Value* r, int n, typename L::Value* u, int m, int width) {
    using Value = typename L::Value;
    using Index = typename L::Index;
    using Mask = typename L::Mask;
    using T = typename L::Element;
    const T tolerance = Format<T>::kEpsilon * static_cast<T>(4 + 2 * __builtin_sqrt(n));
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
        Mask rotated = L::nowhere();
        for (int p = 0; p + 1 < n; ++p) {
            for (int q = p + 1; q < n; ++q) {
                Value* const x = r + p * n;
                Value* const y = r + q * n;
                Value alpha = Value(T(0)), beta = Value(T(0)), gamma = Value(T(0));
                for (int k = 0; k < n; ++k) {
                    alpha = fma(x[k], x[k], alpha);
                    beta = fma(y[k], y[k], beta);
                    gamma = fma(x[k], y[k], gamma);
                }
                const Value bound = tolerance * square_root(alpha * beta);
                const Value least = L::select(alpha < beta, alpha, beta);
                Mask on = (absolute(gamma) > bound) & (least >= Value(kNoNorm<T>));
                if (!L::any(on)) continue;
                const Mask noise = on & (least < Value(kNoise<T>));
                if (L::any(noise)) {
                    const Mask first = noise & (alpha < beta), second = noise & (alpha >= beta);
                    for (int k = 0; k < n; ++k) {
                        x[k] = L::select(first, Value(T(0)), x[k]);
                        y[k] = L::select(second, Value(T(0)), y[k]);
                    }
                    on = on & (least >= Value(kNoise<T>));
                    if (!L::any(on)) continue;
                }
                rotated = rotated | on;
                const Mask exchanged = on & (alpha < beta);
                if (L::any(exchanged)) {
                    exchange_pairs<L>(exchanged, x, y, 1, n);
                    exchange_pairs<L>(exchanged, u + p, u + q, width, m);
                    const Value longer = L::select(exchanged, beta, alpha);
                    beta = L::select(exchanged, alpha, beta);
                    alpha = longer;
                }
                const Value zeta = (beta - alpha) / (T(2) * gamma);
                const Value root = absolute(zeta) + square_root(fma(zeta, zeta, Value(T(1))));
                const Value t = L::select(zeta < Value(T(0)), Value(T(-1)), Value(T(1))) / root;
                const Value c = Value(T(1)) / square_root(fma(t, t, Value(T(1))));
                const Value s = L::select(on, c * t, Value(T(0)));
                const Value half = L::select(on, s / (Value(T(1)) + c), Value(T(0)));
                rotate_pairs<L>(s, half, x, y, 1, n);
                rotate_pairs<L>(s, half, u + p, u + q, width, m);
            }
        }
        if (!L::any(rotated)) return Index(0);
        if (sweep == kMostSweeps - 1) return L::choose(rotated, Index(1), Index(0));
    }
    return Index(0);
}

// The norms of r's rows, which become unit rows; those that are nothing remain, with norm zero.
template <class L>
inline void take_norms(typename L::Value* r, int n, typename L::Value* norms) {
    using Value = typename L::Value;
    using T = typename L::Element;
    for (int i = 0; i < n; ++i) {
        Value sum = Value(T(0));
        for (int k = 0; k < n; ++k) sum = fma(r[i * n + k], r[i * n + k], sum);
        const auto nothing = sum < Value(kNoNorm<T>);
        const Value norm = square_root(sum);
        norms[i] = L::select(nothing, Value(T(0)), norm);
        const Value inverse = Value(T(1)) / norm;
        for (int k = 0; k < n; ++k) r[i * n + k] = L::select(nothing, Value(T(0)), r[i * n + k] * inverse);
    }
}

// Rows of r whose norm is zero become unit rows orthogonal to all others.
template <class L>
inline void complete_rows(typename L::Value* r, int n, const typename L::Value* norms) {
    using Value = typename L::Value;
    using T = typename L::Element;
    for (int i = 0; i < n; ++i) {
        const auto missing = norms[i] == Value(T(0));
        if (!L::any(missing)) continue;
        // What the other rows leave of each unit vector, and the one of which most is left. Rows that are
        // missing still are zero, so they count for nothing.
        Value best = Value(T(-1));
        typename L::Index place = typename L::Index(0);
        for (int k = 0; k < n; ++k) {
            Value left = Value(T(1));
            for (int j = 0; j < n; ++j) left = fma(-r[j * n + k], r[j * n + k], left);
            const auto more = left > best;
            best = L::select(more, left, best);
            place = L::choose(more, typename L::Index(k), place);
        }
        Value* const row = r + i * n;
        for (int k = 0; k < n; ++k) {
            const Value unit = L::select(place == typename L::Index(k), Value(T(1)), Value(T(0)));
            row[k] = L::select(missing, unit, row[k]);
        }
        for (int pass = 0; pass < 3; ++pass) {
            for (int j = 0; j < n; ++j) {
                if (j == i) continue;
                Value dot = Value(T(0));
                for (int k = 0; k < n; ++k) dot = fma(row[k], r[j * n + k], dot);
                for (int k = 0; k < n; ++k)
                    row[k] = L::select(missing, fma(-dot, r[j * n + k], row[k]), row[k]);
            }
            Value sum = Value(T(0));
            for (int k = 0; k < n; ++k) sum = fma(row[k], row[k], sum);
            const Value inverse = Value(T(1)) / square_root(sum);
            for (int k = 0; k < n; ++k) row[k] = L::select(missing, row[k] * inverse, row[k]);
        }
    }
}

}  // namespace
}  // namespace weft::batched
