// Cholesky factorisation of a matrix of lanes, of which the lower triangle is read. Rows are adjacent.
#pragma once

#include "library/linalg/batched/lanes.h"

namespace weft::batched {
namespace {

// The lower triangle becomes L. The result is one more than the index of the first pivot that is zero or
// negative, or zero: nan is no error, as in LAPACK.
template <class L, class Size>
inline typename L::Index factor_cholesky(typename L::Value* a, Size size) {
    using Value = typename L::Value;
    using Index = typename L::Index;
    const int n = size;
    Index info = Index(0);
    for (int j = 0; j < n; ++j) {
        Value pivot = a[j * n + j];
        for (int k = 0; k < j; ++k) pivot = fma(-a[j * n + k], a[j * n + k], pivot);
        const Index wrong = L::choose(pivot <= Value(0), Index(j + 1), Index(0));
        info = L::choose(info == Index(0), wrong, info);
        const Value root = square_root(pivot);
        a[j * n + j] = root;
        const Value inverse = Value(1) / root;  // a root is normal
        int i = j + 1;
        for (; i + 4 <= n; i += 4) {
            Value sum[4];
            for (int r = 0; r < 4; ++r) sum[r] = a[(i + r) * n + j];
            for (int k = 0; k < j; ++k) {
                const Value factor = -a[j * n + k];
                for (int r = 0; r < 4; ++r) sum[r] = fma(a[(i + r) * n + k], factor, sum[r]);
            }
            for (int r = 0; r < 4; ++r) a[(i + r) * n + j] = sum[r] * inverse;
        }
        for (; i < n; ++i) {
            Value sum = a[i * n + j];
            for (int k = 0; k < j; ++k) sum = fma(a[i * n + k], -a[j * n + k], sum);
            a[i * n + j] = sum * inverse;
        }
    }
    return info;
}

}  // namespace
}  // namespace weft::batched
