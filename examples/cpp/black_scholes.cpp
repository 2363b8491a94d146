// The prices of many European options, in one kernel: the formulas of examples/black_scholes.py. Checked by a
// price that is in the textbooks, by put-call parity, and against plain C++ for some of the options.
#include <weft/weft.h>

#include <cmath>
#include <iostream>
#include <random>
#include <utility>
#include <vector>

weft::array normal_cdf(const weft::array& x) { return 0.5 * (1 + weft::erf(x * std::sqrt(0.5))); }

// Calls and puts of a spot price, strike, years, rate and volatility.
std::pair<weft::array, weft::array> black_scholes(const weft::array& spot, const weft::array& strike,
                                                  const weft::array& years, double rate, double volatility) {
    const weft::array spread = volatility * weft::sqrt(years);
    const weft::array d1 =
        (weft::log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread;
    const weft::array d2 = d1 - spread;
    const weft::array discounted = strike * weft::exp(-rate * years);
    return {spot * normal_cdf(d1) - discounted * normal_cdf(d2),
            discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)};
}

double plain_call(double spot, double strike, double years, double rate, double volatility) {
    const double spread = volatility * std::sqrt(years);
    const double d1 = (std::log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread;
    const auto cdf = [](double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); };
    return spot * cdf(d1) - strike * std::exp(-rate * years) * cdf(d1 - spread);
}

int main() {
    // Hull, "Options, Futures, and Other Derivatives": 4.76 for the call, 0.81 for the put.
    const auto [call, put] = black_scholes({42.0}, {40.0}, {0.5}, 0.1, 0.2);
    std::cout << "call " << call << " put " << put << '\n';
    bool good =
        std::abs(call(0).item<double>() - 4.76) < 0.005 && std::abs(put(0).item<double>() - 0.81) < 0.005;

    const size_t count = 200'000;
    std::mt19937_64 engine(1);
    const auto uniform = [&](double low, double high) {
        std::vector<double> values(count);
        std::uniform_real_distribution<double> draw(low, high);
        for (double& value : values) value = draw(engine);
        return weft::share(std::move(values));  // the array keeps the vector: no copy
    };
    const weft::array spot = uniform(5, 30), strike = uniform(1, 100), years = uniform(0.25, 10);
    const auto [calls, puts] = black_scholes(spot, strike, years, 0.02, 0.3);
    const weft::array parity = calls - puts - (spot - strike * weft::exp(-0.02 * years));
    const auto off = weft::max(weft::abs(parity)).item<double>();
    double worst = 0;
    for (size_t k = 0; k < count; k += 1000) {
        const double wanted =
            plain_call(spot.item<double>(k), strike.item<double>(k), years.item<double>(k), 0.02, 0.3);
        worst = std::max(worst, std::abs(calls.item<double>(k) - wanted));
    }
    std::cout << count << " options: parity off by " << off << ", off from plain C++ by " << worst << '\n';
    good = good && off < 1e-11 && worst < 1e-11;
    return good ? 0 : 1;
}
