#include "random/distributions/whole.h"

#include <algorithm>
#include <limits>

#include "core/threads/interrupt.h"

namespace weft::distributions {

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t geometric_by_search(Bits& bits, double p) {
    int64_t count = 1;
    double sum = p, product = p;
    const double q = 1.0 - p;
    for (const double u = bits.next_double(); u > sum; ++count) {
        product *= q;
        sum += product;
    }
    return count;
}

constexpr double kSearched = 1.0 / 3;  // odds above which few trials are expected

// 2**x by pow(), whose last bits are not those of exp2().
double power_of_two(double x) {
    const volatile double two = 2.0;
    return std::pow(two, x);
}

template <class Uniform>
int64_t zipf_by_rejection(Bits& bits, double a, const Uniform& uniform) {
    const double less = a - 1.0, b = power_of_two(less);
    PausePoints pauses;
    while (true) {
        pauses.next_iteration();
        const double u = uniform(bits);
        const double v = bits.next_double();
        const double x = std::floor(std::pow(u, -1.0 / less));
        if (x > static_cast<double>(kMost) || x < 1.0) continue;
        const double t = std::pow(1.0 + 1.0 / x, less);
        if (v * x * (t - 1.0) / (b - 1.0) <= t / b) return to_whole(x);
    }
}

template <class Q>
int64_t logseries_by(Bits& bits, double p, const Q& q_of) {
    while (true) {
        const double v = bits.next_double();
        if (v >= p) return 1;
        const double q = q_of(bits.next_double());
        if (v <= q * q) {
            const int64_t drawn = to_whole(std::floor(1 + std::log(v) / std::log(q)));
            if (drawn < 1 || v == 0.0) continue;
            return drawn;
        }
        return v >= q ? 1 : 2;
    }
}

// ---- hypergeometric ----

int64_t hypergeometric_one_by_one(Bits& bits, int64_t good, int64_t bad, int64_t sample) {
    const int64_t total = good + bad;
    const bool complement = sample > total / 2;
    int64_t left = complement ? total - sample : sample;  // to be taken
    int64_t all = total, good_ones = good;                // not taken yet
    while (left > 0 && good_ones > 0 && all > good_ones) {
        --all;
        if (static_cast<int64_t>(masked(bits, static_cast<uint64_t>(all))) < good_ones) --good_ones;
        --left;
    }
    if (all == good_ones) good_ones -= left;
    return complement ? good_ones : good - good_ones;
}

// The ratio of uniforms: a table mountain over the odds, which `odds` gives as logarithms of factorials.
template <class LogOdds>
int64_t by_ratio(Bits& bits, double center, double width, double bound, double log_mode,
                 const LogOdds& log_odds) {
    PausePoints pauses;
    while (true) {
        pauses.next_iteration();
        const double u = bits.next_double();
        const double v = bits.next_double();
        const double x = center + width * (v - 0.5) / u;
        if (!(x >= 0.0) || x >= bound) continue;
        const int64_t k = to_whole(std::floor(x));
        const double t = log_mode - log_odds(k);
        if (u * (4.0 - u) - 3.0 <= t) return k;
        if (u * (u - t) >= 1) continue;
        if (2.0 * std::log(u) <= t) return k;
    }
}

constexpr double kD1 = 1.7155277699214135;  // 2 sqrt(2 / e)
constexpr double kD2 = 0.8989161620588988;  // 3 - 2 sqrt(3 / e)

int64_t hypergeometric_by_ratio(Bits& bits, int64_t good, int64_t bad, int64_t sample) {
    const int64_t total = good + bad, taken = std::min(sample, total - sample);
    const int64_t fewer = std::min(good, bad), more = std::max(good, bad);
    const auto count = static_cast<double>(total);
    const double p = static_cast<double>(fewer) / count, q = static_cast<double>(more) / count;
    const double center = static_cast<double>(taken) * p + 0.5;
    const double variance =
        static_cast<double>(total - taken) * static_cast<double>(taken) * p * q / (count - 1);
    const double deviation = std::sqrt(variance + 0.5);
    const auto log_odds = [&](int64_t k) {
        return log_factorial(k) + log_factorial(fewer - k) + log_factorial(taken - k) +
               log_factorial(more - taken + k);
    };
    const int64_t mode =
        to_whole(std::floor(static_cast<double>(taken + 1) * static_cast<double>(fewer + 1) / (count + 2)));
    const double bound =
        std::min(static_cast<double>(std::min(taken, fewer) + 1), std::floor(center + 16 * deviation));
    int64_t k = by_ratio(bits, center, kD1 * deviation + kD2, bound, log_odds(mode), log_odds);
    if (good > bad) k = taken - k;
    return taken < sample ? good - k : k;
}

int64_t legacy_hypergeometric_by_ratio(Bits& bits, int64_t good, int64_t bad, int64_t sample) {
    const int64_t total = good + bad, taken = std::min(sample, total - sample);
    const int64_t fewer = std::min(good, bad), more = std::max(good, bad);
    const auto count = static_cast<double>(total);
    const double p = static_cast<double>(fewer) / count, q = 1.0 - p;
    const double center = static_cast<double>(taken) * p + 0.5;
    const double deviation = std::sqrt(
        static_cast<double>(total - taken) * static_cast<double>(sample) * p * q / (count - 1) + 0.5);
    const auto log_of = [](int64_t k) { return log_gamma(static_cast<double>(k + 1)); };
    const auto log_odds = [&](int64_t k) {
        return log_of(k) + log_of(fewer - k) + log_of(taken - k) + log_of(more - taken + k);
    };
    const int64_t mode =
        to_whole(std::floor(static_cast<double>(taken + 1) * static_cast<double>(fewer + 1) / (count + 2)));
    const double bound =
        std::min(static_cast<double>(std::min(taken, fewer)) + 1.0, std::floor(center + 16 * deviation));
    int64_t k = by_ratio(bits, center, kD1 * deviation + kD2, bound, log_odds(mode), log_odds);
    if (good > bad) k = taken - k;
    return taken < sample ? good - k : k;
}

int64_t legacy_hypergeometric_by_steps(Bits& bits, int64_t good, int64_t bad, int64_t sample) {
    const int64_t others = bad + good - sample;
    const auto fewer = static_cast<double>(std::min(bad, good));
    double left = fewer;
    for (int64_t k = sample; left > 0.0 && k > 0; --k)
        left -= std::floor(bits.next_double() + left / static_cast<double>(others + k));
    const int64_t taken = to_whole(fewer - left);
    return good > bad ? sample - taken : taken;
}

}  // namespace

int64_t hypergeometric(Bits& bits, int64_t good, int64_t bad, int64_t sample) {
    return sample >= 10 && sample <= good + bad - 10 ? hypergeometric_by_ratio(bits, good, bad, sample)
                                                     : hypergeometric_one_by_one(bits, good, bad, sample);
}

int64_t legacy_hypergeometric(Bits& bits, int64_t good, int64_t bad, int64_t sample) {
    if (sample > 10) return legacy_hypergeometric_by_ratio(bits, good, bad, sample);
    return sample > 0 ? legacy_hypergeometric_by_steps(bits, good, bad, sample) : 0;
}

int64_t geometric(Bits& bits, double p) {
    if (p >= kSearched) return geometric_by_search(bits, p);
    const double drawn = std::ceil(-Modern<double>::exponential(bits) / std::log1p(-p));
    return drawn >= 0x1p63 ? kMost : to_whole(drawn);
}

int64_t legacy_geometric(Bits& bits, double p) {
    if (p >= kSearched) return geometric_by_search(bits, p);
    return to_whole(std::ceil(std::log1p(-bits.next_double()) / std::log(1 - p)));
}

int64_t zipf(Bits& bits, double a) {
    if (a >= 1025) return 1;  // others have odds below 1e-308
    const double least = std::pow(static_cast<double>(kMost), -(a - 1.0));
    return zipf_by_rejection(bits, a, [least](Bits& from) {
        const double u = from.next_double();
        return u * least + (1 - u);
    });
}

int64_t legacy_zipf(Bits& bits, double a) {
    return zipf_by_rejection(bits, a, [](Bits& from) { return 1.0 - from.next_double(); });
}

int64_t logseries(Bits& bits, double p) {
    const double r = std::log1p(-p);
    return logseries_by(bits, p, [r](double u) { return -std::expm1(r * u); });
}

int64_t legacy_logseries(Bits& bits, double p) {
    const double r = std::log(1.0 - p);
    return logseries_by(bits, p, [r](double u) { return 1.0 - std::exp(r * u); });
}

}  // namespace weft::distributions
