// Comparisons, logic, extrema and selection. Complex numbers compare by real part, then by imaginary part,
// and anything with a nan compares false (but `not_equal`), as in NumPy.
#pragma once

#include "ops/scalar/floating.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

template <typename T>
concept Ordered = std::is_arithmetic_v<T>;

template <Ordered T>
inline bool less(T x, T y) {
    return x < y;
}
template <Ordered T>
inline bool less_equal(T x, T y) {
    return x <= y;
}
template <Ordered T>
inline bool greater(T x, T y) {
    return x > y;
}
template <Ordered T>
inline bool greater_equal(T x, T y) {
    return x >= y;
}
template <Ordered T>
inline bool equal(T x, T y) {
    return x == y;
}
template <Ordered T>
inline bool not_equal(T x, T y) {
    return x != y;
}

// Signed against unsigned, by value.
inline bool less(int64_t x, uint64_t y) { return (x < 0) | (static_cast<uint64_t>(x) < y); }
inline bool less(uint64_t x, int64_t y) { return (y >= 0) & (x < static_cast<uint64_t>(y)); }
inline bool equal(int64_t x, uint64_t y) { return (x >= 0) & (static_cast<uint64_t>(x) == y); }
inline bool equal(uint64_t x, int64_t y) { return equal(y, x); }
inline bool not_equal(int64_t x, uint64_t y) { return !equal(x, y); }
inline bool not_equal(uint64_t x, int64_t y) { return !equal(y, x); }
inline bool greater(int64_t x, uint64_t y) { return less(y, x); }
inline bool greater(uint64_t x, int64_t y) { return less(y, x); }
inline bool less_equal(int64_t x, uint64_t y) { return !less(y, x); }
inline bool less_equal(uint64_t x, int64_t y) { return !less(y, x); }
inline bool greater_equal(int64_t x, uint64_t y) { return !less(x, y); }
inline bool greater_equal(uint64_t x, int64_t y) { return !less(x, y); }

template <Real T>
inline bool less(Complex<T> x, Complex<T> y) {
    return ((x.re < y.re) & !isnan(x.im) & !isnan(y.im)) | ((x.re == y.re) & (x.im < y.im));
}
template <Real T>
inline bool less_equal(Complex<T> x, Complex<T> y) {
    return ((x.re < y.re) & !isnan(x.im) & !isnan(y.im)) | ((x.re == y.re) & (x.im <= y.im));
}
template <Real T>
inline bool greater(Complex<T> x, Complex<T> y) {
    return less(y, x);
}
template <Real T>
inline bool greater_equal(Complex<T> x, Complex<T> y) {
    return less_equal(y, x);
}
template <Real T>
inline bool equal(Complex<T> x, Complex<T> y) {
    return (x.re == y.re) & (x.im == y.im);
}
template <Real T>
inline bool not_equal(Complex<T> x, Complex<T> y) {
    return (x.re != y.re) | (x.im != y.im);
}

template <Ordered T>
inline bool is_true(T x) {
    return x != 0;
}
inline bool is_true(bool x) { return x; }
template <Real T>
inline bool is_true(Complex<T> x) {
    return (x.re != 0) | (x.im != 0);
}
template <typename T>
inline bool logical_and(T x, T y) {
    return is_true(x) & is_true(y);
}
template <typename T>
inline bool logical_or(T x, T y) {
    return is_true(x) | is_true(y);
}
template <typename T>
inline bool logical_xor(T x, T y) {
    return is_true(x) != is_true(y);
}
template <typename T>
inline bool logical_not(T x) {
    return !is_true(x);
}

template <Integral T>
inline T maximum(T x, T y) {
    return x >= y ? x : y;
}
template <Integral T>
inline T minimum(T x, T y) {
    return x <= y ? x : y;
}
template <Integral T>
inline T fmax(T x, T y) {
    return x >= y ? x : y;
}
template <Integral T>
inline T fmin(T x, T y) {
    return x <= y ? x : y;
}
// A nan compares with nothing, so it stays when it is the first operand by `x != x` and is taken from the
// second by the comparison's failing.
template <Real T>
inline T maximum(T x, T y) {
    return (x >= y) | (x != x) ? x : y;
}
template <Real T>
inline T minimum(T x, T y) {
    return (x <= y) | (x != x) ? x : y;
}
template <Real T>
inline T fmax(T x, T y) {
    return (x >= y) | (y != y) ? x : y;
}
template <Real T>
inline T fmin(T x, T y) {
    return (x <= y) | (y != y) ? x : y;
}
template <Real T>
inline Complex<T> choose(bool condition, Complex<T> x, Complex<T> y) {
    return {condition ? x.re : y.re, condition ? x.im : y.im};
}
template <Real T>
inline Complex<T> maximum(Complex<T> x, Complex<T> y) {
    return choose(greater_equal(x, y) | isnan(x), x, y);
}
template <Real T>
inline Complex<T> minimum(Complex<T> x, Complex<T> y) {
    return choose(less_equal(x, y) | isnan(x), x, y);
}
template <Real T>
inline Complex<T> fmax(Complex<T> x, Complex<T> y) {
    return choose(greater_equal(x, y) | isnan(y), x, y);
}
template <Real T>
inline Complex<T> fmin(Complex<T> x, Complex<T> y) {
    return choose(less_equal(x, y) | isnan(y), x, y);
}

template <typename T>
inline T clip(T x, T lower, T upper) {
    return minimum(maximum(x, lower), upper);
}
// NumPy clips complex numbers by an order in which a nan in one imaginary part does not matter where the real
// parts differ.
template <Real T>
inline bool precedes(Complex<T> x, Complex<T> y) {
    return x.re == y.re ? x.im < y.im : x.re < y.re;
}
template <Real T>
inline Complex<T> clip(Complex<T> x, Complex<T> lower, Complex<T> upper) {
    const Complex<T> raised = choose(isnan(x) | precedes(lower, x), x, lower);
    return choose(isnan(raised) | precedes(raised, upper), raised, upper);
}

template <typename T>
inline T select(bool condition, T x, T y) {
    return condition ? x : y;
}
template <Real T>
inline Complex<T> select(bool condition, Complex<T> x, Complex<T> y) {
    return choose(condition, x, y);
}

}  // namespace weft::scalar::inline WEFT_ISA
