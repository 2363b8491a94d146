#include "random/distributions/poisson.h"

#include <array>

namespace weft::distributions {

double log_gamma(double x) {
    // Bernoulli numbers: B(2k) / (2k (2k - 1)).
    constexpr std::array<double, 10> kSeries = {
        8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04,
        8.417508417508418e-04, -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02,
        1.796443723688307e-01, -1.39243221690590e+00,
    };
    constexpr double kLogOfTwoPi = 1.8378770664093453;
    if (x == 1.0 || x == 2.0) return 0.0;
    const int64_t steps = x < 7.0 ? to_whole(7 - x) : 0;
    double shifted = x + static_cast<double>(steps);
    const double inverse_square = (1.0 / shifted) * (1.0 / shifted);
    double series = kSeries.back();
    for (size_t k = kSeries.size() - 1; k-- > 0;) {
        series *= inverse_square;
        series += kSeries[k];
    }
    double result = series / shifted + 0.5 * kLogOfTwoPi + (shifted - 0.5) * std::log(shifted) - shifted;
    for (int64_t k = 0; k < steps; ++k) {
        result -= std::log(shifted - 1.0);
        shifted -= 1.0;
    }
    return result;
}

double log_factorial(int64_t k) {
    // Sums in extended precision are the nearest doubles.
    static const std::array<double, 126> table = [] {
        std::array<double, 126> logarithms{};
        long double sum = 0;
        for (size_t i = 2; i < logarithms.size(); ++i) {
            sum += std::log(static_cast<long double>(i));
            logarithms[i] = static_cast<double>(sum);
        }
        return logarithms;
    }();
    if (k < 0) return std::numeric_limits<double>::quiet_NaN();
    if (k < static_cast<int64_t>(table.size())) return table[static_cast<size_t>(k)];
    constexpr double kHalfLogOfTwoPi = 0.9189385332046728;
    const auto x = static_cast<double>(k);
    return (x + 0.5) * std::log(x) - x + (kHalfLogOfTwoPi + (1.0 / x) * (1 / 12.0 - 1 / (360.0 * x * x)));
}

Poisson::Poisson(double lam) : lam_(lam) {
    if (!(lam >= 10)) {
        least_ = std::exp(-lam);
        return;
    }
    const double root = std::sqrt(lam);
    log_lam_ = std::log(lam);
    b_ = 0.931 + 2.53 * root;
    a_ = -0.059 + 0.02483 * b_;
    log_inverse_alpha_ = std::log(1.1239 + 1.1328 / (b_ - 3.4));
    surely_below_ = 0.9277 - 3.6224 / (b_ - 2);
}

int64_t Poisson::by_rejection(Bits& bits) const {
    while (true) {
        const double u = bits.next_double() - 0.5;
        const double v = bits.next_double();
        const double distance = 0.5 - std::fabs(u);
        const int64_t k = to_whole(std::floor((2 * a_ / distance + b_) * u + lam_ + 0.43));
        if (distance >= 0.07 && v <= surely_below_) return k;
        if (k < 0 || (distance < 0.013 && v > distance)) continue;
        const auto number = static_cast<double>(k);
        if (std::log(v) + log_inverse_alpha_ - std::log(a_ / (distance * distance) + b_) <=
            -lam_ + number * log_lam_ - log_gamma(number + 1))
            return k;
    }
}

}  // namespace weft::distributions
