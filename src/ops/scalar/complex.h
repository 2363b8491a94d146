// Complex arithmetic and functions. The algorithms are NumPy's where its results depend on them (division by
// Smith's method, lexicographic order), else well-known ones built of real functions (Kahan's for the inverse
// functions), accurate by norm. Special values follow C99's annex G. complex64 functions are computed in
// double: neither overflow nor cancellation needs care there, and the result is nearly always exactly
// rounded.
#pragma once

#include "ops/scalar/floating.h"
#include "ops/scalar/math.h"
#include "ops/scalar/trigonometry.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

template <Real T>
inline Complex<T> add(Complex<T> x, Complex<T> y) {
    return {x.re + y.re, x.im + y.im};
}
template <Real T>
inline Complex<T> subtract(Complex<T> x, Complex<T> y) {
    return {x.re - y.re, x.im - y.im};
}
template <Real T>
inline Complex<T> multiply(Complex<T> x, Complex<T> y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

// Smith's method, the larger part of the divisor first.
template <Real T>
inline Complex<T> divide(Complex<T> x, Complex<T> y) {
    const bool by_real = fabs(y.re) >= fabs(y.im);
    const T large = by_real ? y.re : y.im;
    const T small = by_real ? y.im : y.re;
    const T ratio = small / large;
    const T scale = static_cast<T>(1) / (large + small * ratio);
    const T re = (by_real ? x.re + x.im * ratio : x.re * ratio + x.im) * scale;
    const T im = (by_real ? x.im - x.re * ratio : x.im * ratio - x.re) * scale;
    const bool by_zero = (y.re == 0) & (y.im == 0);
    const T zero = fabs(y.re);
    return {by_zero ? x.re / zero : re, by_zero ? x.im / zero : im};
}

template <Real T>
inline Complex<T> reciprocal(Complex<T> y) {
    const bool by_real = fabs(y.im) <= fabs(y.re);
    const T ratio = by_real ? y.im / y.re : y.re / y.im;
    const T scale = by_real ? y.re + y.im * ratio : y.re * ratio + y.im;
    return by_real ? Complex<T>{1 / scale, -ratio / scale} : Complex<T>{ratio / scale, -1 / scale};
}

template <Real T>
inline Complex<T> negative(Complex<T> x) {
    return {negative(x.re), negative(x.im)};
}
template <Real T>
inline Complex<T> positive(Complex<T> x) {
    return x;
}
template <Real T>
inline Complex<T> conjugate(Complex<T> x) {
    return {x.re, negative(x.im)};
}
template <Real T>
inline Complex<T> square(Complex<T> x) {
    return {x.re * x.re - x.im * x.im, x.re * x.im + x.im * x.re};
}
template <Real T>
inline T real(Complex<T> x) {
    return x.re;
}
template <Real T>
inline T imag(Complex<T> x) {
    return x.im;
}
template <Real T>
inline Complex<T> make_complex(T re, T im) {
    return {re, im};
}

// An infinite part outweighs a nan.
template <Real T>
inline T absolute(Complex<T> x) {
    return isinf(x) ? kInfinity<T> : hypot(x.re, x.im);
}

template <Real T>
inline Complex<T> sign(Complex<T> x) {
    const T norm = absolute(x);
    const bool re_infinite = isinf(x.re);
    const bool im_infinite = isinf(x.im);
    const bool undefined = isnan(norm) | (re_infinite & im_infinite);
    const T one = static_cast<T>(1);
    const T zero = static_cast<T>(0);
    T re = norm == 0 ? zero : x.re / norm;
    T im = norm == 0 ? zero : x.im / norm;
    re = re_infinite ? copysign(one, x.re) : (im_infinite ? zero : re);
    im = im_infinite ? copysign(one, x.im) : (re_infinite ? zero : im);
    return undefined ? Complex<T>{kNaN<T>, kNaN<T>} : Complex<T>{re, im};
}

inline Complex<double> widen(Complex<float> x) {
    return {static_cast<double>(x.re), static_cast<double>(x.im)};
}
inline Complex<float> narrow(Complex<double> x) {
    return {static_cast<float>(x.re), static_cast<float>(x.im)};
}
inline Complex<double> swap_parts(Complex<double> x) { return {x.im, x.re}; }

// A product in which a zero wins over infinities and nans, as annex G has it where one factor is exactly
// zero.
inline double product_with_zeros(double x, double y) {
    const double signed_zero = from_bits<double>((bits(x) ^ bits(y)) & kSignBit<double>);
    return (x == 0) | (y == 0) ? signed_zero : x * y;
}

// The root with a real part that is not negative: sqrt((|x| + |z|) / 2) and |y| over twice that, in turn.
// Large and small arguments are scaled by powers of four, whose roots are exact.
inline Complex<double> sqrt(Complex<double> z) {
    const double larger = fabs(z.re) > fabs(z.im) ? fabs(z.re) : fabs(z.im);
    const bool is_large = larger > 0x1p1000;
    const bool is_small = larger < 0x1p-900;
    const double scale = is_large ? 0x1p-100 : (is_small ? 0x1p120 : 1.0);
    const double root_scale = is_large ? 0x1p50 : (is_small ? 0x1p-60 : 1.0);
    const double x = z.re * scale;
    const double y = z.im * scale;
    const double root = square_root(0.5 * (fabs(x) + hypot(x, y)));
    const double other = fabs(y) / (root + root) * root_scale;
    const double first = root * root_scale;
    Complex<double> result = {z.re >= 0 ? first : other, copysign(z.re >= 0 ? other : first, z.im)};
    if (larger == 0) result = {0.0, z.im};
    if (isnan(z)) result = {kNaN<double>, kNaN<double>};
    if (isinf(z.re)) {
        const bool is_positive = z.re > 0;
        const double rest = isnan(z.im) ? z.im : 0.0;
        result = is_positive ? Complex<double>{z.re, isnan(rest) ? rest : copysign(0.0, z.im)}
                             : Complex<double>{isnan(rest) ? rest : 0.0, copysign(kInfinity<double>, z.im)};
    }
    if (isinf(z.im)) result = {kInfinity<double>, z.im};
    return result;
}

inline Complex<double> exp(Complex<double> z) {
    // Where exp(x) overflows, its product with a small sine may not: take it as the square of exp(x/2).
    const bool is_large = z.re > 709.0;
    const double factor = exp(is_large ? 0.5 * z.re : z.re);
    const double again = is_large ? factor : 1.0;
    Complex<double> result = {factor * cos(z.im) * again, factor * sin(z.im) * again};
    if (z.im == 0) result = {factor * again, z.im};
    if (isinf(z.re) & !isfinite(z.im)) {
        result = z.re > 0 ? Complex<double>{kInfinity<double>, kNaN<double>} : Complex<double>{0.0, 0.0};
    }
    return result;
}

// The angle is y * ln(2) with its rounding error, which would count for large y: a turn by a small angle
// more.
inline Complex<double> exp2(Complex<double> z) {
    const bool is_large = z.re > 1023.0;
    const double factor = exp2(is_large ? 0.5 * z.re : z.re);
    const double again = is_large ? factor : 1.0;
    const double angle = z.im * kLn2;
    const double error = fma(z.im, kLn2, -angle) + z.im * 0x1.abc9e3b39803fp-56;
    const double sine = sin(angle);
    const double cosine = cos(angle);
    Complex<double> result = {factor * fma(-error, sine, cosine) * again,
                              factor * fma(error, cosine, sine) * again};
    if (z.im == 0) result = {factor * again, z.im};
    if (isinf(z.re) & !isfinite(z.im)) {
        result = z.re > 0 ? Complex<double>{kInfinity<double>, kNaN<double>} : Complex<double>{0.0, 0.0};
    }
    return result;
}

inline Complex<double> expm1(Complex<double> z) {
    const double half_sine = sin(0.5 * z.im);
    const double growth = expm1(z.re);
    Complex<double> result = {growth * cos(z.im) - 2 * half_sine * half_sine, (growth + 1) * sin(z.im)};
    const Complex<double> direct = exp(z);
    if (!isfinite(result) | (fabs(z.re) > 40.0)) result = {direct.re - 1, direct.im};
    if (z.im == 0) result = {growth, z.im};
    return result;
}

// log(|z|) with a small error by itself where |z| is near one, from |z|**2 - 1 in double-double.
inline double log_of_norm_plus(double x, double y) {
    const double a = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    const double b = fabs(x) > fabs(y) ? fabs(y) : fabs(x);
    const bool is_near_one = (a > 0.5) & (a < 1.5) & (a * a + b * b < 3.0);
    const double aa = a * a;
    const double bb = b * b;
    const double rest = fma(a, a, -aa) + fma(b, b, -bb);
    const double base = aa - 1.0;
    const double sum = base + bb;
    const double carried = sum - base;
    const double error = (base - (sum - carried)) + (bb - carried);
    const double near_one = 0.5 * log1p(is_near_one ? sum + (error + rest) : 0.0);
    const bool is_large = a > 0x1p1000;
    const bool is_small = a < 0x1p-900;
    const double scale = is_large ? 0x1p-100 : (is_small ? 0x1p200 : 1.0);
    const double offset = is_large ? 100 * kLn2 : (is_small ? -200 * kLn2 : 0.0);
    const double far = sleef::precise_log(hypot(a * scale, b * scale)) + offset;
    return isinf(x) | isinf(y) ? kInfinity<double> : (is_near_one ? near_one : far);
}

inline Complex<double> log(Complex<double> z) { return {log_of_norm_plus(z.re, z.im), arctan2(z.im, z.re)}; }
inline Complex<double> log2(Complex<double> z) {
    const Complex<double> w = log(z);
    return {w.re * kLog2E, w.im * kLog2E};
}
inline Complex<double> log10(Complex<double> z) {
    const Complex<double> w = log(z);
    return {w.re * kLog10E, w.im * kLog10E};
}

// |1 + z|**2 - 1 = x * (2 + x) + y**2.
inline Complex<double> log1p(Complex<double> z) {
    const double twice = z.re * (2.0 + z.re);
    const double excess = fma(z.im, z.im, twice);
    const bool is_near = (fabs(z.re) < 0.5) & (fabs(z.im) < 0.7);
    const double re = is_near ? 0.5 * log1p(excess) : log_of_norm_plus(z.re + 1.0, z.im);
    return {re, arctan2(z.im, z.re + 1.0)};
}

// sinh and cosh of x times factors of at most one, the way around overflow being that of exp.
inline Complex<double> sinh(Complex<double> z) {
    const bool is_large = fabs(z.re) > 700.0;
    const double half = exp(0.5 * (is_large ? fabs(z.re) : 0.0));
    const double sine = z.im == 0 ? z.im : sin(z.im);
    const double cosine = cos(z.im);
    const double sinh_x = is_large ? copysign(0.5 * half, z.re) : sinh(z.re);
    const double cosh_x = is_large ? 0.5 * half : cosh(z.re);
    const double again = is_large ? half : 1.0;
    Complex<double> result = {product_with_zeros(sinh_x, cosine) * again,
                              product_with_zeros(cosh_x, sine) * again};
    if (z.im == 0) result.im = z.im;
    if (isinf(z.re) & !isfinite(z.im)) result = {z.re, kNaN<double>};
    return result;
}
inline Complex<double> cosh(Complex<double> z) {
    const bool is_large = fabs(z.re) > 700.0;
    const double half = exp(0.5 * (is_large ? fabs(z.re) : 0.0));
    const double sine = z.im == 0 ? z.im : sin(z.im);
    const double cosine = cos(z.im);
    const double sinh_x = is_large ? copysign(0.5 * half, z.re) : sinh(z.re);
    const double cosh_x = is_large ? 0.5 * half : cosh(z.re);
    const double again = is_large ? half : 1.0;
    const double im = product_with_zeros(sinh_x, sine);
    Complex<double> result = {cosh_x * cosine * again, im == 0 ? im : im * again};
    if (isinf(z.re) & !isfinite(z.im)) result = {kInfinity<double>, kNaN<double>};
    return result;
}

inline Complex<double> tanh(Complex<double> z) {
    const bool is_large = fabs(z.re) > 22.0;
    const double x = is_large ? 0.0 : z.re;
    const double t = tan(z.im);
    const double beta = 1.0 + t * t;  // 1 / cos(y)**2
    const double s = sinh(x);
    const double rho = square_root(1.0 + s * s);
    const double denominator = 1.0 + beta * s * s;
    Complex<double> result = isinf(t) ? Complex<double>{rho / s, 1 / t}
                                      : Complex<double>{beta * rho * s / denominator, t / denominator};
    if (is_large) {
        const double sines = isfinite(z.im) ? 4.0 * sin(z.im) * cos(z.im) : copysign(0.0, z.im);
        result = {copysign(1.0, z.re), isnan(z.im) & !isinf(z.re) ? z.im : sines * exp(-2.0 * fabs(z.re))};
        if (!isfinite(z.im) & !isinf(z.re)) result = {kNaN<double>, kNaN<double>};
    }
    if ((z.re == 0) & !isfinite(z.im)) result = {z.re, kNaN<double>};
    if (isnan(z.re)) result = {z.re, z.im == 0 ? z.im : kNaN<double>};
    return result;
}

inline Complex<double> sin(Complex<double> z) { return swap_parts(sinh(swap_parts(z))); }
inline Complex<double> cos(Complex<double> z) { return cosh(Complex<double>{negative(z.im), z.re}); }
inline Complex<double> tan(Complex<double> z) { return swap_parts(tanh(swap_parts(z))); }

// Arguments beyond this have inverse functions that are logarithms to the last bit; their squares may
// overflow.
constexpr double kLargeForInverse = 0x1p500;

inline bool is_large_for_inverse(Complex<double> z) {
    return isinf(z) | (!isnan(z) & ((fabs(z.re) > kLargeForInverse) | (fabs(z.im) > kLargeForInverse)));
}

// Kahan: acos z = 2 atan(Re sqrt(1-z) / Re sqrt(1+z)) - i asinh(Im(sqrt(1+z)* … )).
inline Complex<double> arccos(Complex<double> z) {
    const Complex<double> minus = sqrt(Complex<double>{1.0 - z.re, negative(z.im)});
    const Complex<double> plus = sqrt(Complex<double>{1.0 + z.re, z.im});
    Complex<double> result = {2.0 * arctan2(minus.re, plus.re),
                              arcsinh(plus.re * minus.im - plus.im * minus.re)};
    if (is_large_for_inverse(z)) {
        const double re = arctan2(fabs(z.im), z.re);
        result = {re, negative(copysign(log_of_norm_plus(z.re, z.im) + kLn2, z.im))};
    } else if (isnan(z)) {
        result = {(z.re == 0) ? kPi / 2 : kNaN<double>, kNaN<double>};
    }
    return result;
}
inline Complex<double> arcsin(Complex<double> z) {
    const Complex<double> minus = sqrt(Complex<double>{1.0 - z.re, negative(z.im)});
    const Complex<double> plus = sqrt(Complex<double>{1.0 + z.re, z.im});
    Complex<double> result = {arctan2(z.re, minus.re * plus.re - minus.im * plus.im),
                              arcsinh(minus.re * plus.im - minus.im * plus.re)};
    if (is_large_for_inverse(z)) {
        const double re = arctan2(fabs(z.re), fabs(z.im));
        result = {copysign(re, z.re), copysign(log_of_norm_plus(z.re, z.im) + kLn2, z.im)};
    } else if (isnan(z)) {
        result = {z.re == 0 ? z.re : kNaN<double>, kNaN<double>};
    }
    return result;
}
inline Complex<double> arcsinh(Complex<double> z) { return swap_parts(arcsin(swap_parts(z))); }
inline Complex<double> arccosh(Complex<double> z) {
    const Complex<double> w = arccos(z);
    const bool flipped = isnan(w.re) | isnan(w.im);
    return {fabs(w.im), flipped ? w.re : copysign(w.re, z.im)};
}

inline Complex<double> arctanh(Complex<double> z) {
    const double x = fabs(z.re);
    const double y = fabs(z.im);
    const double distance = 1.0 - x;
    double re = 0.25 * log1p(4.0 * x / (distance * distance + y * y));
    if ((x == 1.0) & (y < 0x1p-26)) re = 0.5 * (kLn2 - log(y));
    double im = 0.5 * arctan2(2.0 * y, distance * (1.0 + x) - y * y);
    if (is_large_for_inverse(z)) {
        const double norm = hypot(x, y);
        re = isinf(z) ? 0.0 : x / norm / norm;
        im = isnan(y) ? y : kPi / 2;
    } else if (isnan(z)) {
        re = x == 0 ? x : kNaN<double>;
        im = kNaN<double>;
    }
    return {copysign(re, z.re), copysign(im, z.im)};
}
inline Complex<double> arctan(Complex<double> z) { return swap_parts(arctanh(swap_parts(z))); }

// With an infinite factor the product is infinite, even where one of its parts is nan (C standard, annex G).
inline Complex<double> multiply_infinities(Complex<double> x, Complex<double> y) {
    Complex<double> result = multiply(x, y);
    if (!isnan(result.re) | !isnan(result.im)) return result;
    const auto number_or_zero = [](double part) { return isnan(part) ? copysign(0.0, part) : part; };
    const auto only_infinities = [](double part) { return copysign(isinf(part) ? 1.0 : 0.0, part); };
    const bool x_is_infinite = isinf(x.re) | isinf(x.im), y_is_infinite = isinf(y.re) | isinf(y.im);
    if (!(x_is_infinite | y_is_infinite)) return result;
    if (x_is_infinite) {
        x = {only_infinities(x.re), only_infinities(x.im)};
        y = {number_or_zero(y.re), number_or_zero(y.im)};
    }
    if (y_is_infinite) {
        y = {only_infinities(y.re), only_infinities(y.im)};
        x = {number_or_zero(x.re), number_or_zero(x.im)};
    }
    constexpr double kInfinity = __builtin_huge_val();
    return {kInfinity * (x.re * y.re - x.im * y.im), kInfinity * (x.re * y.im + x.im * y.re)};
}

// Small whole exponents by multiplication, as NumPy does, which begins with 1 for all but 1, 2 and 3: that
// makes infinite parts nan. Others by exp(y log(x)).
inline Complex<double> power(Complex<double> x, Complex<double> y) {
    if ((y.re == 0) & (y.im == 0)) return {1.0, 0.0};
    if ((x.re == 0) & (x.im == 0)) {
        return y.re > 0 ? Complex<double>{0.0, 0.0} : Complex<double>{kNaN<double>, kNaN<double>};
    }
    if ((y.im == 0) & (fabs(y.re) < 100.0) & (y.re == rint(y.re))) {
        int count = static_cast<int>(fabs(y.re));
        Complex<double> factor = x;
        Complex<double> result = {1.0, 0.0};
        bool is_first = (y.re > 0) & (count < 4);
        while (count != 0) {
            if ((count & 1) != 0) {
                result = is_first ? factor : multiply(result, factor);
                is_first = false;
            }
            factor = multiply(factor, factor);
            count >>= 1;
        }
        return y.re < 0 ? divide(Complex<double>{1.0, 0.0}, result) : result;
    }
    return exp(multiply_infinities(y, log(x)));
}
inline Complex<double> float_power(Complex<double> x, Complex<double> y) { return power(x, y); }

inline Complex<float> sqrt(Complex<float> x) { return narrow(sqrt(widen(x))); }
inline Complex<float> exp(Complex<float> x) { return narrow(exp(widen(x))); }
inline Complex<float> exp2(Complex<float> x) { return narrow(exp2(widen(x))); }
inline Complex<float> expm1(Complex<float> x) { return narrow(expm1(widen(x))); }
inline Complex<float> log(Complex<float> x) { return narrow(log(widen(x))); }
inline Complex<float> log2(Complex<float> x) { return narrow(log2(widen(x))); }
inline Complex<float> log10(Complex<float> x) { return narrow(log10(widen(x))); }
inline Complex<float> log1p(Complex<float> x) { return narrow(log1p(widen(x))); }
inline Complex<float> sin(Complex<float> x) { return narrow(sin(widen(x))); }
inline Complex<float> cos(Complex<float> x) { return narrow(cos(widen(x))); }
inline Complex<float> tan(Complex<float> x) { return narrow(tan(widen(x))); }
inline Complex<float> sinh(Complex<float> x) { return narrow(sinh(widen(x))); }
inline Complex<float> cosh(Complex<float> x) { return narrow(cosh(widen(x))); }
inline Complex<float> tanh(Complex<float> x) { return narrow(tanh(widen(x))); }
inline Complex<float> arcsin(Complex<float> x) { return narrow(arcsin(widen(x))); }
inline Complex<float> arccos(Complex<float> x) { return narrow(arccos(widen(x))); }
inline Complex<float> arctan(Complex<float> x) { return narrow(arctan(widen(x))); }
inline Complex<float> arcsinh(Complex<float> x) { return narrow(arcsinh(widen(x))); }
inline Complex<float> arccosh(Complex<float> x) { return narrow(arccosh(widen(x))); }
inline Complex<float> arctanh(Complex<float> x) { return narrow(arctanh(widen(x))); }
inline Complex<float> power(Complex<float> x, Complex<float> y) { return narrow(power(widen(x), widen(y))); }

}  // namespace weft::scalar::inline WEFT_ISA
