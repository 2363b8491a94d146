// Distributions of real numbers: each is a function of the bits and its parameters, as NumPy's Generator
// draws it, or as its RandomState does. Both agree with NumPy in every bit, so what is computed in which
// order is as there.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "random/distributions/poisson.h"
#include "random/distributions/standard.h"

namespace weft::distributions {

// ---- made of normal, exponential and gamma numbers, by either class ----

template <class From>
double normal(Bits& bits, double loc, double scale) {
    return loc + scale * From::normal(bits);
}

template <class From>
double exponential(Bits& bits, double scale) {
    return scale * From::exponential(bits);
}

template <class From>
class Gamma {
public:
    Gamma(double shape, double scale) : standard_(shape), scale_(scale) {}
    double operator()(Bits& bits) const { return scale_ * standard_(bits); }

private:
    StandardGamma<double, From> standard_;
    double scale_;
};

template <class From>
double lognormal(Bits& bits, double mean, double sigma) {
    return std::exp(normal<From>(bits, mean, sigma));
}

template <class From>
double f(Bits& bits, double dfnum, double dfden) {
    const double numerator = chisquare<From>(bits, dfnum) * dfden;
    const double denominator = chisquare<From>(bits, dfden) * dfnum;
    return numerator / denominator;
}

template <class From>
double standard_t(Bits& bits, double df) {
    const double numerator = From::normal(bits);
    const double denominator = standard_gamma<From>(bits, df / 2);
    return std::sqrt(df / 2) * numerator / std::sqrt(denominator);
}

template <class From>
double standard_cauchy(Bits& bits) {
    const double numerator = From::normal(bits);
    return numerator / From::normal(bits);
}

template <class From>
double weibull(Bits& bits, double a) {
    return a == 0.0 ? 0.0 : std::pow(From::exponential(bits), 1. / a);
}

template <class From>
double noncentral_chisquare(Bits& bits, double df, double nonc) {
    constexpr bool kModern = std::is_same_v<From, Modern<double>>;
    if (kModern && std::isnan(nonc)) return nonc;
    if (nonc == 0) return chisquare<From>(bits, df);
    if (1 < df) {
        const double central = chisquare<From>(bits, df - 1);
        const double shifted = From::normal(bits) + std::sqrt(nonc);
        return central + shifted * shifted;
    }
    const int64_t count = poisson(bits, nonc / 2.0);
    const double result = chisquare<From>(bits, df + 2 * static_cast<double>(count));
    return std::isnan(nonc) ? nonc : result;
}

template <class From>
double noncentral_f(Bits& bits, double dfnum, double dfden, double nonc) {
    const double numerator = noncentral_chisquare<From>(bits, dfnum, nonc) * dfden;
    return numerator / (chisquare<From>(bits, dfden) * dfnum);
}

// ---- of uniform numbers ----

inline double uniform(Bits& bits, double low, double span) { return low + span * bits.next_double(); }

double laplace(Bits& bits, double loc, double scale);
double gumbel(Bits& bits, double loc, double scale);
double logistic(Bits& bits, double loc, double scale);
double triangular(Bits& bits, double left, double mode, double right);

// ---- of Generator ----

// Jöhnk, "Erzeugung von betaverteilten und gammaverteilten Zufallszahlen", 1964, where both are at most 1.
double beta(Bits& bits, double a, double b);
double pareto(Bits& bits, double a);
double power(Bits& bits, double a);
double rayleigh(Bits& bits, double scale);
// Michael, Schucany and Haas, "Generating random variates using transformations with multiple roots", 1976.
double wald(Bits& bits, double mean, double scale);
// Best and Fisher, "Efficient simulation of the von Mises distribution", 1979.
double vonmises(Bits& bits, double mu, double kappa);

// ---- of RandomState ----

double legacy_beta(Bits& bits, double a, double b);
double legacy_pareto(Bits& bits, double a);
double legacy_power(Bits& bits, double a);
double legacy_rayleigh(Bits& bits, double scale);
double legacy_wald(Bits& bits, double mean, double scale);
double legacy_vonmises(Bits& bits, double mu, double kappa);

}  // namespace weft::distributions
