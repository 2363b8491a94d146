#include "random/distributions/real.h"

namespace weft::distributions {

namespace {

constexpr double kPi = std::numbers::pi;

// Both parameters at most 1: the first of two powers whose sum is at most 1, by that sum. `in_logarithms`
// gives the result where the powers are too small.
template <class InLogarithms>
double beta_by_johnk(Bits& bits, double a, double b, bool needs_both, const InLogarithms& in_logarithms) {
    while (true) {
        const double u = bits.next_double();
        const double v = bits.next_double();
        const double x = std::pow(u, 1.0 / a);
        const double y = std::pow(v, 1.0 / b);
        const double sum = x + y;
        if (!(sum <= 1.0) || (needs_both && !(u + v > 0.0))) continue;
        if (needs_both ? x > 0 && y > 0 : sum > 0) return x / sum;
        return in_logarithms(std::log(u) / a, std::log(v) / b);
    }
}

template <class From>
double beta_by_gamma(Bits& bits, double a, double b) {
    const double first = standard_gamma<From>(bits, a);
    const double second = standard_gamma<From>(bits, b);
    return first / (first + second);
}

// The angle in [-pi, pi) that lies around mu.
double angle_around(double mu, double angle, bool negative) {
    const double sum = (negative ? -angle : angle) + mu;
    const double turned = std::fmod(std::fabs(sum) + kPi, 2 * kPi) - kPi;
    return sum < 0 ? -turned : turned;
}

double vonmises_by_rejection(Bits& bits, double mu, double kappa) {
    double s = 0;
    if (kappa < 1e-5) {
        s = 1. / kappa + kappa;  // the series around 0, where what follows loses all digits
    } else {
        const double r = 1 + std::sqrt(1 + 4 * kappa * kappa);
        const double rho = (r - std::sqrt(2 * r)) / (2 * kappa);
        s = (1 + rho * rho) / (2 * rho);
    }
    double cosine = 0;
    while (true) {
        const double z = std::cos(kPi * bits.next_double());
        cosine = (1 + s * z) / (s + z);
        const double y = kappa * (s - cosine);
        const double v = bits.next_double();
        if (y * (2 - y) - v >= 0 || std::log(y / v) + 1 - y >= 0) break;
    }
    const bool negative = bits.next_double() < 0.5;
    return angle_around(mu, std::acos(cosine), negative);
}

double nearly_uniform_angle(Bits& bits) { return kPi * (2 * bits.next_double() - 1); }

// One of the two roots, of which the smaller one is given.
double one_root(Bits& bits, double mean, double root) {
    return bits.next_double() <= mean / (mean + root) ? root : mean * mean / root;
}

}  // namespace

double laplace(Bits& bits, double loc, double scale) {
    while (true) {
        const double u = bits.next_double();
        if (u >= 0.5) return loc - scale * std::log(2.0 - u - u);
        if (u > 0.0) return loc + scale * std::log(u + u);
    }
}

double gumbel(Bits& bits, double loc, double scale) {
    while (true) {
        const double u = 1.0 - bits.next_double();
        if (u < 1.0) return loc - scale * std::log(-std::log(u));
    }
}

double logistic(Bits& bits, double loc, double scale) {
    while (true) {
        const double u = bits.next_double();
        if (u > 0.0) return loc + scale * std::log(u / (1.0 - u));
    }
}

double triangular(Bits& bits, double left, double mode, double right) {
    const double base = right - left, left_base = mode - left;
    const double u = bits.next_double();
    if (u <= left_base / base) return left + std::sqrt(u * (left_base * base));
    return right - std::sqrt((1.0 - u) * ((right - mode) * base));
}

double beta(Bits& bits, double a, double b) {
    if (!(a <= 1.0 && b <= 1.0)) return beta_by_gamma<Modern<double>>(bits, a, b);
    constexpr double kTiny = 3e-103;  // numbers other than 0 and 1 are not to be expected
    if (a < kTiny && b < kTiny) return (a + b) * bits.next_double() < a ? 1.0 : 0.0;
    return beta_by_johnk(bits, a, b, true, [](double log_x, double log_y) {
        const double difference = log_x - log_y;
        if (difference > 0) return std::exp(-std::log1p(std::exp(-difference)));
        return std::exp(difference - std::log1p(std::exp(difference)));
    });
}

double pareto(Bits& bits, double a) { return std::expm1(Modern<double>::exponential(bits) / a); }

double power(Bits& bits, double a) {
    return std::pow(-std::expm1(-Modern<double>::exponential(bits)), 1. / a);
}

double rayleigh(Bits& bits, double scale) {
    return scale * std::sqrt(2.0 * Modern<double>::exponential(bits));
}

double wald(Bits& bits, double mean, double scale) {
    const double z = Modern<double>::normal(bits);
    const double y = mean * z * z;
    const double d = 1 + std::sqrt(1 + 4 * scale / y);
    return one_root(bits, mean, mean * (1 - 2 / d));
}

double vonmises(Bits& bits, double mu, double kappa) {
    if (std::isnan(kappa)) return kappa;
    if (kappa < 1e-8) return nearly_uniform_angle(bits);
    if (kappa <= 1e6) return vonmises_by_rejection(bits, mu, kappa);
    double angle = mu + std::sqrt(1. / kappa) * Modern<double>::normal(bits);
    if (angle < -kPi) angle += 2 * kPi;
    if (angle > kPi) angle -= 2 * kPi;
    return angle;
}

double legacy_beta(Bits& bits, double a, double b) {
    if (!(a <= 1.0 && b <= 1.0)) return beta_by_gamma<Legacy>(bits, a, b);
    return beta_by_johnk(bits, a, b, false, [](double log_x, double log_y) {
        const double larger = log_x > log_y ? log_x : log_y;
        return std::exp(log_x - larger - std::log(std::exp(log_x - larger) + std::exp(log_y - larger)));
    });
}

double legacy_pareto(Bits& bits, double a) { return std::exp(Legacy::exponential(bits) / a) - 1; }

double legacy_power(Bits& bits, double a) {
    return std::pow(1 - std::exp(-Legacy::exponential(bits)), 1. / a);
}

double legacy_rayleigh(Bits& bits, double scale) {
    return scale * std::sqrt(-2.0 * std::log1p(-bits.next_double()));
}

double legacy_wald(Bits& bits, double mean, double scale) {
    const double half = mean / (2 * scale);
    const double z = Legacy::normal(bits);
    const double y = mean * z * z;
    return one_root(bits, mean, mean + half * (y - std::sqrt(4 * scale * y + y * y)));
}

double legacy_vonmises(Bits& bits, double mu, double kappa) {
    if (std::isnan(kappa)) return kappa;
    return kappa < 1e-8 ? nearly_uniform_angle(bits) : vonmises_by_rejection(bits, mu, kappa);
}

}  // namespace weft::distributions
