// Householder reflections of a matrix of lanes, and the QR factorisation made of them.
#pragma once

#include "library/linalg/batched/lanes.h"

namespace weft::batched {
namespace {

// I - factor * v * v^T turns the numbers x into `first`, and zeros. x becomes v, whose first number is one
// and is not written. Where only x[0] is not zero, the factor is zero.
template <class L>
struct Reflection {
    using Value = typename L::Value;
    Value first, factor;
};

template <class L>
inline Reflection<L> reflect(typename L::Value* x, int step, int length) {
    using Value = typename L::Value;
    using T = typename L::Element;
    Value most = Value(0);
    for (int i = 1; i < length; ++i) most = larger<L>(most, absolute(x[i * step]));
    const auto nothing = most == Value(0);
    const Value alpha = x[0];
    // Scaled, so that squares neither overflow nor vanish.
    Value scale, inverse;
    scale_to<L>(larger<L>(most, absolute(alpha)), 0, scale, inverse);
    const Value head = alpha * scale;
    Value sum = head * head;
    for (int i = 1; i < length; ++i) {
        const Value y = x[i * step] * scale;
        sum = fma(y, y, sum);
    }
    const Value norm = square_root(sum);
    const Value beta = L::select(head < Value(0), norm, -norm);
    const Value divisor = Value(1) / (head - beta);
    for (int i = 1; i < length; ++i) {
        const Value y = x[i * step] * scale * divisor;
        x[i * step] = L::select(nothing, Value(0), y);
    }
    Reflection<L> result;
    result.first = L::select(nothing, alpha, beta * inverse);
    result.factor = L::select(nothing, Value(T(0)), (beta - head) / beta);
    return result;
}

// The columns of a (a column's numbers are `stride` apart) are multiplied by the reflection of v.
template <class L>
inline void apply_reflection(const typename L::Value* v, int step, int length, typename L::Value factor,
                             typename L::Value* a, int stride, int columns) {
    using Value = typename L::Value;
    constexpr int kBlock = 4;
    int j = 0;
    for (; j + kBlock <= columns; j += kBlock) {
        Value sum[kBlock];
        for (int c = 0; c < kBlock; ++c) sum[c] = a[j + c];
        for (int i = 1; i < length; ++i) {
            const Value x = v[i * step];
            for (int c = 0; c < kBlock; ++c) sum[c] = fma(x, a[i * stride + j + c], sum[c]);
        }
        for (int c = 0; c < kBlock; ++c) {
            sum[c] *= -factor;
            a[j + c] += sum[c];
        }
        for (int i = 1; i < length; ++i) {
            const Value x = v[i * step];
            for (int c = 0; c < kBlock; ++c) a[i * stride + j + c] = fma(x, sum[c], a[i * stride + j + c]);
        }
    }
    for (; j < columns; ++j) {
        Value sum = a[j];
        for (int i = 1; i < length; ++i) sum = fma(v[i * step], a[i * stride + j], sum);
        sum *= -factor;
        a[j] += sum;
        for (int i = 1; i < length; ++i) a[i * stride + j] = fma(v[i * step], sum, a[i * stride + j]);
    }
}

// A (m×n, row by row) becomes R and, below it, the reflections, of which there are min(m, n).
template <class L>
inline void factor_qr(typename L::Value* a, int m, int n, typename L::Value* factors) {
    const int count = m < n ? m : n;
    for (int k = 0; k < count; ++k) {
        const Reflection<L> reflection = reflect<L>(a + k * n + k, n, m - k);
        a[k * n + k] = reflection.first;
        factors[k] = reflection.factor;
        apply_reflection<L>(a + k * n + k, n, m - k, reflection.factor, a + k * n + k + 1, n, n - k - 1);
    }
}

// The first `columns` columns of Q (m×columns, row by row). Reflection k begins at row k + down.
template <class L>
inline void make_q(const typename L::Value* a, int n, int down, const typename L::Value* factors, int count,
                   typename L::Value* q, int m, int columns) {
    using Value = typename L::Value;
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < columns; ++j) q[i * columns + j] = Value(i == j ? 1 : 0);
    }
    for (int k = count - 1; k >= 0; --k) {
        const int row = k + down;
        apply_reflection<L>(a + row * n + k, n, m - row, factors[k], q + row * columns + row, columns,
                            columns - row);
    }
}

}  // namespace
}  // namespace weft::batched
