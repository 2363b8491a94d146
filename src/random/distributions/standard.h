// Standard normal and exponential numbers, which most distributions are made of: by ziggurats, as NumPy's
// Generator draws them, and as its RandomState does, by the polar method and a logarithm.
#pragma once

#include <cmath>

#include "random/bit_source.h"
#include "random/ziggurat.h"

namespace weft::distributions {

template <class Method>
typename Method::Value draw_by_ziggurat(Bits& bits) {
    while (true) {
        typename Method::Value value{};
        if constexpr (sizeof(typename Method::Unit) == sizeof(uint64_t)) {
            const uint64_t unit = bits.next64();
            if (Method::takes(unit, value)) return value;
            if (!Method::in_wedge(unit)) return Method::tail(unit, bits);
            if (Method::accepts_at(value, unit, bits.next_double())) return value;
        } else {
            const uint32_t unit = bits.next32();
            if (Method::takes(unit, value)) return value;
            if (!Method::in_wedge(unit)) return Method::tail(unit, bits);
            if (Method::accepts_at(value, unit, bits.next_float())) return value;
        }
    }
}

// What the distributions of Generator are made of; T is double or float.
template <class T>
struct Modern;

template <>
struct Modern<double> {
    static double uniform(Bits& bits) { return bits.next_double(); }
    static double normal(Bits& bits) { return draw_by_ziggurat<Normal>(bits); }
    static double exponential(Bits& bits) { return draw_by_ziggurat<Exponential>(bits); }
};

template <>
struct Modern<float> {
    static float uniform(Bits& bits) { return bits.next_float(); }
    static float normal(Bits& bits) { return draw_by_ziggurat<Normal32>(bits); }
    static float exponential(Bits& bits) { return draw_by_ziggurat<Exponential32>(bits); }
};

// What those of RandomState are made of. Normal numbers come in pairs, of which the second one waits
// (Marsaglia and Bray, "A convenient method for generating normal variables", 1964).
struct Legacy {
    static double uniform(Bits& bits) { return bits.next_double(); }
    static double normal(Bits& bits) {
        SpareNormal& spare = *bits.spare();
        if (spare.waits) {
            const double value = spare.value;
            spare = {};
            return value;
        }
        double x = 0, y = 0, square = 0;
        do {
            x = 2.0 * bits.next_double() - 1.0;
            y = 2.0 * bits.next_double() - 1.0;
            square = x * x + y * y;
        } while (square >= 1.0 || square == 0.0);
        const double factor = std::sqrt(-2.0 * std::log(square) / square);
        spare = {true, factor * x};
        return factor * y;
    }
    static double exponential(Bits& bits) { return -std::log(1.0 - bits.next_double()); }
};

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000; for shapes below 1 Ahrens and
// Dieter, "Computer methods for sampling from gamma, beta, Poisson and binomial distributions", 1974 (GS).
template <class T, class From>
class StandardGamma {
public:
    explicit StandardGamma(T shape)
        : shape_(shape), d_(shape - T(1) / T(3)), c_(T(1) / std::sqrt(T(9) * d_)) {}

    T operator()(Bits& bits) const {
        if (shape_ == T(1)) return From::exponential(bits);
        if (shape_ == T(0)) return T(0);
        return shape_ < T(1) ? small(bits) : large(bits);
    }

private:
    T small(Bits& bits) const {
        while (true) {
            const T u = From::uniform(bits);
            const T v = From::exponential(bits);
            if (u <= T(1) - shape_) {
                const T x = std::pow(u, T(1) / shape_);
                if (x <= v) return x;
            } else {
                const T y = -std::log((T(1) - u) / shape_);
                const T x = std::pow(T(1) - shape_ + shape_ * y, T(1) / shape_);
                if (x <= v + y) return x;
            }
        }
    }
    T large(Bits& bits) const {
        while (true) {
            T x = 0, v = 0;
            do {
                x = From::normal(bits);
                v = T(1) + c_ * x;
            } while (v <= T(0));
            v = v * v * v;
            const T u = From::uniform(bits);
            if (u < T(1) - T(0.0331) * (x * x) * (x * x)) return d_ * v;
            if (std::log(u) < T(0.5) * x * x + d_ * (T(1) - v + std::log(v))) return d_ * v;
        }
    }

    T shape_, d_, c_;
};

template <class From>
double standard_gamma(Bits& bits, double shape) {
    return StandardGamma<double, From>(shape)(bits);
}

template <class From>
double chisquare(Bits& bits, double df) {
    return 2.0 * standard_gamma<From>(bits, df / 2.0);
}

}  // namespace weft::distributions
