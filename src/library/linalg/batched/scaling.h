// Before and after the spectra of a matrix of lanes: numbers are scaled, so that squares are normal, and
// results are finished.
#pragma once

#include "library/linalg/batched/lanes.h"

namespace weft::batched {
namespace {

template <class L>
inline void clear_below(typename L::Value* a, int rows, int n) {
    using T = typename L::Element;
    for (int i = 1; i < rows; ++i) {
        for (int j = 0; j < i && j < n; ++j) a[i * n + j] = typename L::Value(T(0));
    }
}

// Scales to about 2^power; `inverse` scales back. Matrices with other numbers than finite ones are zeros
// then.
template <class L>
inline void scale_numbers(typename L::Value* a, int m, int n, bool lower, int power,
                          typename L::Value& inverse, typename L::Mask& nan, typename L::Mask& infinite) {
    using Value = typename L::Value;
    using T = typename L::Element;
    Value most = Value(T(0)), none = Value(T(0));
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < (lower ? i + 1 : n); ++j) {
            most = larger<L>(most, absolute(a[i * n + j]));
            none = fma(a[i * n + j], Value(T(0)), none);
        }
    }
    infinite = none != Value(T(0));
    nan = L::nowhere();
    if (L::any(infinite)) {
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < (lower ? i + 1 : n); ++j) nan = nan | (a[i * n + j] != a[i * n + j]);
        }
    }
    Value scale;
    scale_to<L>(most, power, scale, inverse);
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < (lower ? i + 1 : n); ++j)
            a[i * n + j] = L::select(infinite, Value(T(0)), a[i * n + j] * scale);
    }
}

// Zeros have no sign, since what other lanes need may change it.
template <class L>
inline void finish(typename L::Value* values, int count, typename L::Mask bad) {
    using Value = typename L::Value;
    using T = typename L::Element;
    for (int i = 0; i < count; ++i) values[i] = L::select(bad, Value(Format<T>::kQuietNan), values[i] + T(0));
}

}  // namespace
}  // namespace weft::batched
