// Determinants from LU factors as getrf leaves them: the product of the diagonal, with the sign of the row
// swaps.
#pragma once

#include "library/linalg/matrices.h"

namespace weft::lapack {

inline bool swaps_rows_oddly(int64_t n, const int64_t* pivots) {
    bool odd = false;
    for (int64_t i = 0; i < n; ++i) odd ^= pivots[i] != i + 1;
    return odd;
}

// A product whose exponent is kept apart, so that no part of it overflows.
template <class T>
class LongProduct {
public:
    void multiply(T factor) {
        int exponent = 0;
        const Real<T> size = std::max(std::abs(std::real(factor)), std::abs(std::imag(factor)));
        if (size == 0 || !std::isfinite(size)) {
            value_ *= factor;
            return;
        }
        std::frexp(size, &exponent);
        value_ *= scaled(factor, -exponent);
        exponent_ += exponent;
        const Real<T> now = std::max(std::abs(std::real(value_)), std::abs(std::imag(value_)));
        if (now == 0 || !std::isfinite(now)) return;
        std::frexp(now, &exponent);
        value_ = scaled(value_, -exponent);
        exponent_ += exponent;
    }
    T value() const {
        return scaled(value_, static_cast<int>(std::clamp<int64_t>(exponent_, -100000, 100000)));
    }

private:
    static T scaled(T value, int exponent) {
        if constexpr (is_complex<T>) {
            return {std::ldexp(value.real(), exponent), std::ldexp(value.imag(), exponent)};
        } else {
            return std::ldexp(value, exponent);
        }
    }

    T value_{1};
    int64_t exponent_ = 0;
};

template <class T>
T determinant_of(int64_t n, const T* factors, const int64_t* pivots) {
    LongProduct<T> product;
    for (int64_t i = 0; i < n; ++i) product.multiply(factors[i * (n + 1)]);
    return swaps_rows_oddly(n, pivots) ? -product.value() : product.value();
}

template <class T>
struct LogDeterminant {  // of a singular matrix
    T sign{};
    Real<T> logarithm = -std::numeric_limits<Real<T>>::infinity();
};

template <class T>
LogDeterminant<T> log_determinant_of(int64_t n, const T* factors, const int64_t* pivots) {
    LogDeterminant<T> result{swaps_rows_oddly(n, pivots) ? T(-1) : T(1), 0};
    for (int64_t i = 0; i < n; ++i) {
        const T element = factors[i * (n + 1)];
        const Real<T> size = std::abs(element);
        if constexpr (is_complex<T>) {
            result.sign *= element / size;
        } else {
            if (element < 0) result.sign = -result.sign;
            if (std::isnan(element)) result.sign = element;
        }
        result.logarithm += std::log(size);
    }
    return result;
}

}  // namespace weft::lapack
