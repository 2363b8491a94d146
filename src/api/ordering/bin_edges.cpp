#include "api/ordering/bin_edges.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>

#include "api/recording/transfer.h"
#include "graph/placement.h"
#include "ops/resolve.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/quantiles.h"
#include "weft/statistics.h"

namespace weft {

namespace {

double as_double(const array& value) { return astype(value, ScalarType::kFloat64).item<double>(); }

// As Python's str() has it.
std::string text_of(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    const double size = std::fabs(value);
    const bool is_fixed = size == 0 || (size >= 1e-4 && size < 1e16);
    std::array<char, 64> room;
    const auto format = is_fixed ? std::chars_format::fixed : std::chars_format::scientific;
    const auto end = std::to_chars(room.data(), room.data() + room.size(), value, format).ptr;
    std::string text(room.data(), end);
    return is_fixed && text.find('.') == std::string::npos ? text + ".0" : text;
}

bool is_finite(double low, double high) { return std::isfinite(low) && std::isfinite(high); }

// ---- how wide bins are to be ----

// Of the sample's size n and its range: Sturges 1926, Scott 1979, Freedman and Diaconis 1981, Doane 1976, and
// Stone's estimate of the loss (1984).
class Sample {
public:
    Sample(const array& elements, double low, double high)
        : x_(elements), n_(static_cast<double>(elements.size())), low_(low), high_(high) {}

    double width(std::string_view rule) {
        if (rule == "auto") return std::min(std::max(fd(), sqrt_width() / 2), sturges());
        if (rule == "doane") return doane();
        if (rule == "fd") return fd();
        if (rule == "rice") return span() / (2.0 * std::pow(n_, 1.0 / 3));
        if (rule == "scott")
            return std::pow(24.0 * std::pow(std::numbers::pi, 0.5) / n_, 1.0 / 3.0) * deviation();
        if (rule == "sqrt") return sqrt_width();
        if (rule == "stone") return stone();
        return sturges();
    }
    bool doubtful() const { return doubtful_; }

private:
    double span() const { return as_double(max(x_)) - as_double(min(x_)); }
    double deviation() const { return as_double(std(x_)); }
    double sqrt_width() const { return span() / std::sqrt(n_); }
    double sturges() const { return span() / (std::log2(n_) + 1.0); }
    double fd() const {
        const array quartiles = astype(percentile(x_, array{75, 25}), ScalarType::kFloat64);
        return 2.0 * (quartiles.item<double>(0) - quartiles.item<double>(1)) * std::pow(n_, -1.0 / 3.0);
    }
    double doane() const {
        if (n_ <= 2) return 0;
        const double sigma = deviation();
        if (!(sigma > 0.0)) return 0;
        const double expected = std::sqrt(6.0 * (n_ - 2) / ((n_ + 1.0) * (n_ + 3)));
        const double skewness = as_double(mean(power(divide(subtract(x_, mean(x_)), sigma), 3)));
        return span() / (1.0 + std::log2(n_) + std::log2(1.0 + std::fabs(skewness) / expected));
    }
    double stone() {
        const double all = span();
        if (n_ <= 1 || all == 0) return 0;
        const auto most = std::max<int64_t>(100, static_cast<int64_t>(std::sqrt(n_)));
        int64_t best = 1;
        double least = 0;
        for (int64_t count = 1; count <= most; ++count) {
            const array parts = histogram(x_, count, {.range = std::pair(low_, high_)}).counts / n_;
            const double loss =
                (2 - (n_ + 1) * as_double(sum(parts * parts))) / (all / static_cast<double>(count));
            if (count == 1 || loss < least) {
                least = loss;
                best = count;
            }
        }
        doubtful_ = best == most;
        return all / static_cast<double>(best);
    }

    array x_;
    double n_, low_, high_;
    bool doubtful_ = false;
};

constexpr std::string_view kRules[] = {"auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"};

int64_t count_by_rule(array a, const std::string& rule, const BinRange& range, bool& doubtful) {
    check_rule(rule);
    const auto [low, high] = outer_edges(a, range);
    if (range) a = a(logical_and(a >= low, a <= high));
    if (a.size() == 0) return 1;
    Sample sample(a, low, high);
    double width = sample.width(rule);
    doubtful = sample.doubtful();
    if (width == 0) return 1;
    if (a.dtype().is_integer() && width < 1) width = 1;
    const double count = std::ceil((high - low) / width);
    if (std::isnan(count)) throw ValueError("cannot convert float NaN to integer");
    if (std::isinf(count)) throw OverflowError("cannot convert float infinity to integer");
    return static_cast<int64_t>(std::clamp(count, -0x1p62, 0x1p62));
}

}  // namespace

void check_rule(const std::string& rule) {
    if (std::find(std::begin(kRules), std::end(kRules), rule) == std::end(kRules))
        throw ValueError("'" + rule + "' is not a valid estimator for `bins`");
}

array binned_elements(const array& a) {
    const array flat = ravel(a);
    return flat.dtype().is_bool() ? astype(flat, ScalarType::kUInt8) : flat;
}

std::pair<double, double> outer_edges(const array& a, const BinRange& range) {
    double low = 0, high = 1;
    if (range) {
        std::tie(low, high) = *range;
        if (low > high) throw ValueError("max must be larger than min in range parameter.");
        if (!is_finite(low, high))
            throw ValueError("supplied range of [" + text_of(low) + ", " + text_of(high) + "] is not finite");
    } else if (a.size() != 0) {
        low = as_double(min(a));
        high = as_double(max(a));
        if (!is_finite(low, high))
            throw ValueError("autodetected range of [" + text_of(low) + ", " + text_of(high) +
                             "] is not finite");
    }
    return low == high ? std::pair(low - 0.5, high + 0.5) : std::pair(low, high);
}

ChosenEdges choose_edges(const array& a, const Bins& bins, const BinRange& range) {
    ChosenEdges chosen;
    if (const auto* given = std::get_if<array>(&bins)) {
        if (given->ndim() != 1) throw ValueError("`bins` must be 1d, when an array");
        const array next = (*given)(slice(1, none)), here = (*given)(slice(-1));
        if (truth_of(any(here > next))) throw ValueError("`bins` must increase monotonically, when an array");
        chosen.edges = *given;
        return chosen;
    }
    const auto* number = std::get_if<int64_t>(&bins);
    const int64_t count =
        number != nullptr ? *number : count_by_rule(a, std::get<std::string>(bins), range, chosen.doubtful);
    if (number != nullptr && count < 1) throw ValueError("`bins` must be positive, when an integer");
    const auto [low, high] = outer_edges(a, range);
    const DType own = a.dtype();
    const DType dtype = own.is_floating() ? own : promote_types(own, ScalarType::kFloat64);
    Argument first = low, last = high;
    chosen.width = high - low;
    if (!range && own.is_floating() && a.size() != 0) {
        // The steps are of the elements' type, too.
        const array ends[2] = {from_argument(low, own), from_argument(high, own)};
        first = ends[0];
        last = ends[1];
        chosen.width = as_double(ends[1] - ends[0]);
    }
    chosen.edges = move_to(linspace(first, last, count + 1, {.dtype = dtype}), device_of(a));
    chosen.even = true;
    chosen.low = low;
    chosen.high = high;
    const array next = chosen.edges(slice(1, none)), here = chosen.edges(slice(-1));
    if (truth_of(any(here >= next)))
        throw ValueError("Too many bins for data range. Cannot create " + std::to_string(count) +
                         " finite-sized bins.");
    return chosen;
}

array histogram_bin_edges(const array& a, const Bins& bins, const BinRange& range) {
    return choose_edges(binned_elements(a), bins, range).edges;
}

}  // namespace weft
