#include "random/distributions/python.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/threads/interrupt.h"
#include "weft/errors.h"

namespace weft::distributions::python {

namespace {

constexpr double kTau = 2 * std::numbers::pi;

double quotient(double numerator, double denominator) {
    if (denominator == 0) throw ZeroDivisionError("float division by zero");
    return numerator / denominator;
}

// Python's ** and math.exp raise where C answers infinity.
double power(double base, double exponent) {
    if (base == 0 && exponent < 0) throw ZeroDivisionError("0.0 cannot be raised to a negative power");
    const double result = std::pow(base, exponent);
    if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent))
        throw OverflowError("(34, 'Numerical result out of range')");
    return result;
}

double exponential(double x) {
    const double result = std::exp(x);
    if (std::isinf(result) && std::isfinite(x)) throw OverflowError("math range error");
    return result;
}

// Python's %, whose sign is that of the modulus.
double remainder_of_turn(double angle) {
    const double rest = std::fmod(angle, kTau);
    if (rest == 0) return 0;
    return rest < 0 ? rest + kTau : rest;
}

double triangular_at(double low, double high, double u, double c) {
    if (u > c) {
        u = 1 - u;
        c = 1 - c;
        std::swap(low, high);
    }
    return low + (high - low) * std::sqrt(u * c);
}

// R.C.H. Cheng, "The generation of gamma variables with non-integral shape parameter", 1977.
double gamma_above_one(Bits& bits, double alpha) {
    static const double log4 = std::log(4.0), magic = 1.0 + std::log(4.5);
    const double root = std::sqrt(2 * alpha - 1), b = alpha - log4, c = alpha + root;
    while (true) {
        const double u = bits.next_double();
        if (!(1e-7 < u && u < 0.9999999)) continue;
        const double v = 1 - bits.next_double();
        const double t = std::log(u / (1 - u)) / root;
        const double x = alpha * std::exp(t);
        const double z = u * u * v;
        const double r = b + c * t - x;
        if (r + magic - 4.5 * z >= 0 || r >= std::log(z)) return x;
    }
}

// Ahrens and Dieter's algorithm GS (Kennedy and Gentle, "Statistical Computing", 1980, page 190).
double gamma_below_one(Bits& bits, double alpha) {
    while (true) {
        const double b = (std::numbers::e + alpha) / std::numbers::e;
        const double p = b * bits.next_double();
        const double x = p <= 1 ? power(p, 1 / alpha) : -std::log((b - p) / alpha);
        const double u = bits.next_double();
        if (p > 1 ? u <= power(x, alpha - 1) : u <= std::exp(-x)) return x;
    }
}

}  // namespace

double uniform(Bits& bits, double a, double b) { return a + (b - a) * bits.next_double(); }

double triangular(Bits& bits, double low, double high, double mode) {
    const double u = bits.next_double();
    return high == low ? low : triangular_at(low, high, u, (mode - low) / (high - low));
}

double symmetric(Bits& bits, double low, double high) {
    return triangular_at(low, high, bits.next_double(), 0.5);
}

// Kinderman and Monahan, "Computer generation of random variables using the ratio of uniform deviates", 1977.
double normalvariate(Bits& bits, double mu, double sigma) {
    static const double magic = 4 * std::exp(-0.5) / std::sqrt(2.0);
    while (true) {
        const double u = bits.next_double(), v = 1 - bits.next_double();
        const double z = magic * (u - 0.5) / v;
        if (z * z / 4 <= -std::log(v)) return mu + z * sigma;
    }
}

double gauss(Bits& bits, double mu, double sigma) {
    SpareNormal& spare = *bits.spare();
    double z = spare.value;
    if (spare.waits) {
        spare = {};
    } else {
        const double turn = bits.next_double() * kTau;
        const double radius = std::sqrt(-2 * std::log(1 - bits.next_double()));
        z = std::cos(turn) * radius;
        spare = {true, std::sin(turn) * radius};
    }
    return mu + z * sigma;
}

double lognormvariate(Bits& bits, double mu, double sigma) {
    return exponential(normalvariate(bits, mu, sigma));
}

double expovariate(Bits& bits, double lambd) { return quotient(-std::log(1 - bits.next_double()), lambd); }

// Fisher, "Statistical Analysis of Circular Data", 1993.
double vonmisesvariate(Bits& bits, double mu, double kappa) {
    if (std::isnan(kappa)) return kappa;  // no draw would be taken
    if (kappa <= 1e-6) return kTau * bits.next_double();
    const double s = 0.5 / kappa;
    const double r = s + std::sqrt(1 + s * s);
    double z = 0;
    while (true) {
        z = std::cos(std::numbers::pi * bits.next_double());
        const double d = quotient(z, r + z);
        const double u = bits.next_double();
        if (u < 1 - d * d || u <= (1 - d) * exponential(d)) break;
    }
    const double q = 1 / r;
    const double angle = std::acos((q + z) / (1 + q * z));
    return remainder_of_turn(bits.next_double() > 0.5 ? mu + angle : mu - angle);
}

double gammavariate(Bits& bits, double alpha, double beta) {
    if (alpha <= 0 || beta <= 0) throw ValueError("gammavariate: alpha and beta must be > 0.0");
    if (!std::isfinite(alpha)) return alpha * beta;  // no draw would be taken
    if (alpha > 1) return gamma_above_one(bits, alpha) * beta;
    if (alpha == 1) return -std::log(1 - bits.next_double()) * beta;
    return gamma_below_one(bits, alpha) * beta;
}

double betavariate(Bits& bits, double alpha, double beta) {
    const double y = gammavariate(bits, alpha, 1);
    return y == 0 ? 0 : y / (y + gammavariate(bits, beta, 1));
}

double paretovariate(Bits& bits, double alpha) {
    const double u = 1 - bits.next_double();
    return power(u, quotient(-1, alpha));
}

double weibullvariate(Bits& bits, double alpha, double beta) {
    const double u = 1 - bits.next_double();
    return alpha * power(-std::log(u), quotient(1, beta));
}

// --- integers -------------------------------------------------------------------------------------------

uint64_t random_bits(Bits& bits, int count) {
    if (count <= 0) return 0;
    const uint64_t low = bits.next32();
    if (count <= 32) return low >> (32 - count);
    return low | static_cast<uint64_t>(bits.next32() >> (64 - count)) << 32;
}

// So many bits as the count has itself are drawn again until they are below it.
uint64_t random_below(Bits& bits, uint64_t count) {
    const int width = 64 - std::countl_zero(count);
    while (true) {
        const uint64_t drawn = random_bits(bits, count == 0 ? 64 : width);
        const bool is_below = count == 0 ? bits.next32() >> 31 == 0 : drawn < count;
        if (is_below) return drawn;
    }
}

void shuffle(Bits& bits, std::span<int64_t> items) {
    PausePoints pauses;
    for (size_t i = items.size(); i > 1; --i) {
        std::swap(items[i - 1], items[random_below(bits, i)]);
        pauses.next_iteration();
    }
}

void sample(Bits& bits, int64_t population, std::span<int64_t> out) {
    // Which way it goes decides the numbers: Python compares the size of a set's table with that of a list.
    double table = 21;
    if (out.size() > 5)
        table += std::pow(4, std::ceil(std::log(static_cast<double>(out.size()) * 3) / std::log(4.0)));
    if (static_cast<double>(population) <= table) {
        std::vector<int64_t> pool(static_cast<size_t>(population));
        std::iota(pool.begin(), pool.end(), 0);
        for (int64_t& each : out) {
            int64_t& taken = pool[random_below(bits, pool.size())];
            each = std::exchange(taken, pool.back());
            pool.pop_back();
        }
        return;
    }
    PausePoints pauses;
    std::unordered_set<int64_t> known;
    for (int64_t& each : out) {
        do {
            each = static_cast<int64_t>(random_below(bits, static_cast<uint64_t>(population)));
        } while (!known.insert(each).second);
        pauses.next_iteration();
    }
}

}  // namespace weft::distributions::python
