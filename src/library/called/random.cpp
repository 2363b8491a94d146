#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "library/called/functions.h"
#include "library/called/streams.h"
#include "library/random/odds.h"
#include "random/distributions/table.h"
#include "random/distributions/vectors.h"
#include "random/draw_in_order.h"
#include "weft/errors.h"

namespace weft::called {

using distributions::Constraint;

namespace {

void check_numbers(const distributions::Distribution& distribution, const distributions::Numbers& numbers) {
    for (size_t k = 0; k < static_cast<size_t>(distribution.count); ++k) {
        const distributions::Parameter& parameter = distribution.parameters[k];
        distributions::check(parameter,
                             parameter.is_whole ? static_cast<double>(numbers.whole[k]) : numbers.real[k]);
    }
    if (distribution.name.ends_with("hypergeometric")) {
        constexpr int64_t kMostBalls = 1000000000;
        if (numbers.whole[0] >= kMostBalls || numbers.whole[1] >= kMostBalls)
            throw ValueError("both ngood and nbad must be less than 1000000000");
        if (numbers.whole[0] + numbers.whole[1] < numbers.whole[2])
            throw ValueError("ngood + nbad < nsample");
    }
    if (distribution.name.ends_with("negative_binomial")) {
        const double n = numbers.real[0], p = numbers.real[1];
        const double most = 0x1p63 - std::sqrt(0x1p63) * 10;
        if ((1 - p) / p * (n + 10 * std::sqrt(n)) > most)
            throw ValueError("n too large or p too small, see Generator.negative_binomial Notes");
    }
    if (distribution.name.ends_with("triangular") && !distribution.name.starts_with("python_")) {
        if (numbers.real[0] > numbers.real[1]) throw ValueError("left > mode");
        if (numbers.real[1] > numbers.real[2]) throw ValueError("mode > right");
        if (numbers.real[0] == numbers.real[2]) throw ValueError("left == right");
    }
}

const distributions::Distribution& read(EngineArguments& arguments, distributions::Numbers& numbers) {
    const auto place = static_cast<size_t>(arguments.integer());
    for (double& each : numbers.real) each = arguments.real();
    for (int64_t& each : numbers.whole) each = arguments.integer();
    const distributions::Distribution& distribution = distributions::all()[place];
    check_numbers(distribution, numbers);
    return distribution;
}

// Of one dimension.
std::vector<double> copied(const EngineArray& given) {
    std::vector<double> values(static_cast<size_t>(given.shape[0]));
    for (size_t i = 0; i < values.size(); ++i)
        std::memcpy(&values[i], given.data + static_cast<int64_t>(i) * given.strides[0], sizeof(double));
    return values;
}

struct Range {
    uint64_t low = 0, range = 0;
    Within within = Within::kByProducts;
};

Range range_of(EngineArguments& arguments, ScalarType type) {
    const int64_t low_word = arguments.integer(), high_word = arguments.integer();
    const int64_t kinds = arguments.integer();
    const bool endpoint = (kinds & 1) != 0, masked = arguments.integer() != 0;
    const auto number = [](int64_t word, bool is_unsigned) {
        return is_unsigned ? static_cast<__int128>(static_cast<uint64_t>(word)) : static_cast<__int128>(word);
    };
    const __int128 low = number(low_word, (kinds & 2) != 0), high = number(high_word, (kinds & 4) != 0);
    const DType dtype(type);
    const auto bits = static_cast<unsigned>(8 * dtype.itemsize());
    const bool is_signed = dtype.is_signed_integer();
    const __int128 count = type == ScalarType::kBool ? 2 : static_cast<__int128>(1) << bits;
    const __int128 least = is_signed ? -count / 2 : 0, most = least + count - 1;
    const std::string name(dtype.name());
    if (low < least) throw ValueError("low is out of bounds for " + name);
    if (high > most && high - (endpoint ? 0 : 1) > most)
        throw ValueError("high is out of bounds for " + name);
    if (endpoint ? low > high : low >= high) {
        const std::string relation = endpoint ? " < " : " <= ";
        throw ValueError(low == 0 ? "high" + relation + "0" : endpoint ? "low > high" : "low >= high");
    }
    const __int128 last = endpoint ? high : high - 1;
    return {static_cast<uint64_t>(low), static_cast<uint64_t>(last) - static_cast<uint64_t>(low),
            masked ? Within::kByMasks : Within::kByProducts};
}

}  // namespace

int64_t draw_number(EngineArguments arguments) {
    Stream stream(arguments.integer());
    distributions::Numbers numbers;
    const distributions::Distribution& distribution = read(arguments, numbers);
    Bits bits = stream.bits();
    return distribution.is_whole ? kept(distribution.draw_whole(bits, numbers))
                                 : kept(distribution.draw_real(bits, numbers));
}

int64_t draw_uniform(EngineArguments arguments) {
    Stream stream(arguments.integer());
    return kept(stream.bits().next_double());
}

int64_t draw_numbers(EngineArguments arguments) {
    const EngineArray out = arguments.array();
    Stream stream(arguments.integer());
    distributions::Numbers numbers;
    const distributions::Distribution& distribution = read(arguments, numbers);
    Bits bits = stream.bits();
    if (distribution.is_whole) {
        distribution.fill_whole(bits, numbers, elements_of<int64_t>(out));
    } else if (distribution.name == "random") {
        draw_uniform(bits, elements_of<double>(out));
    } else if (distribution.name == "standard_normal") {
        draw_normal(bits, elements_of<double>(out));
    } else if (distribution.name == "standard_exponential") {
        draw_exponential(bits, elements_of<double>(out));
    } else {
        distribution.fill_real(bits, numbers, elements_of<double>(out));
    }
    return 0;
}

int64_t draw_floats(EngineArguments arguments) {
    const std::span<float> out = elements_of<float>(arguments.array());
    Stream stream(arguments.integer());
    const int64_t kind = arguments.integer();
    const double shape = arguments.real();
    Bits bits = stream.bits();
    switch (kind) {
        case 0: draw_uniform(bits, out); break;
        case 1: draw_normal(bits, out); break;
        case 2: draw_exponential(bits, out); break;
        case 4: draw_exponential_by_log(bits, out); break;
        default:
            distributions::check({"shape", Constraint::kNonNegative}, shape);
            distributions::fill_standard_gamma32(bits, static_cast<float>(shape), out);
    }
    return 0;
}

int64_t draw_integer(EngineArguments arguments) {
    Stream stream(arguments.integer());
    const auto type = static_cast<ScalarType>(arguments.integer());
    const Range range = range_of(arguments, type);
    uint64_t number = 0;
    Bits bits = stream.bits();
    weft::draw_integers(bits, type, range.within, range.low, range.range, 1,
                        reinterpret_cast<char*>(&number));
    return kept(number);
}

int64_t draw_integers(EngineArguments arguments) {
    const EngineArray out = arguments.array();
    const int64_t count = element_count(out.shape);
    Stream stream(arguments.integer());
    if (count == 0) return 0;
    const Range range = range_of(arguments, out.type);
    Bits bits = stream.bits();
    weft::draw_integers(bits, out.type, range.within, range.low, range.range, count, out.data);
    return 0;
}

int64_t draw_order(EngineArguments arguments) {
    const std::span<int64_t> out = elements_of<int64_t>(arguments.array());
    Stream stream(arguments.integer());
    Bits bits = stream.bits();
    count_up(out);
    shuffle(bits, reinterpret_cast<char*>(out.data()), static_cast<int64_t>(out.size()), sizeof(int64_t));
    return 0;
}

int64_t choose(EngineArguments arguments) {
    const std::span<int64_t> out = elements_of<int64_t>(arguments.array());
    Stream stream(arguments.integer());
    const int64_t population = arguments.integer();
    const bool replace = arguments.integer() != 0, legacy = arguments.integer() != 0;
    const bool shuffled = arguments.integer() != 0;
    Bits bits = stream.bits();
    if (out.empty()) return 0;
    if (population <= 0)
        throw ValueError(legacy ? "a must be greater than 0 unless no samples are taken"
                                : "a must be a positive integer unless no samples are taken");
    if (replace) {
        weft::draw_integers(bits, ScalarType::kInt64, legacy ? Within::kByMasks : Within::kByProducts, 0,
                            static_cast<uint64_t>(population - 1), static_cast<int64_t>(out.size()),
                            reinterpret_cast<char*>(out.data()));
        return 0;
    }
    if (static_cast<int64_t>(out.size()) > population)
        throw ValueError(legacy ? "Cannot take a larger sample than population when 'replace=False'"
                                : "Cannot take a larger sample than population when replace is False");
    if (!legacy) {
        draw_sample(bits, population, out, shuffled);
        return 0;
    }
    std::vector<int64_t> order(static_cast<size_t>(population));
    count_up(order);
    shuffle(bits, reinterpret_cast<char*>(order.data()), population, sizeof(int64_t));
    std::copy_n(order.begin(), out.size(), out.begin());
    return 0;
}

int64_t choose_by_odds(EngineArguments arguments) {
    const std::span<int64_t> out = elements_of<int64_t>(arguments.array());
    Stream stream(arguments.integer());
    const std::vector<double> odds = copied(arguments.array());
    const bool replace = arguments.integer() != 0;
    draw_by_odds(stream.source, odds, replace, 0x1p-26, out);
    return 0;
}

int64_t draw_multinomial(EngineArguments arguments) {
    const std::span<int64_t> out = elements_of<int64_t>(arguments.array());
    Stream stream(arguments.integer());
    const int64_t trials = arguments.integer();
    const std::vector<double> odds = copied(arguments.array());
    const bool legacy = arguments.integer() != 0;
    if (odds.empty() && !legacy)
        throw ValueError(
            "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0.");
    for (const double each : odds) distributions::check({"pvals", Constraint::kUpToOne}, each, true);
    if (!odds.empty() && sum_of_odds(std::span(odds).first(odds.size() - 1)) > 1.0 + 1e-12)
        throw ValueError("sum(pvals[:-1]) > 1.0");
    distributions::check({"n", Constraint::kNonNegative, true}, static_cast<double>(trials));
    std::ranges::fill(out, 0);
    Bits bits = stream.bits();
    (legacy ? distributions::legacy_multinomial : distributions::multinomial)(bits, trials, odds, out);
    return 0;
}

int64_t draw_dirichlet(EngineArguments arguments) {
    const std::span<double> out = elements_of<double>(arguments.array());
    Stream stream(arguments.integer());
    const std::vector<double> alpha = copied(arguments.array());
    const bool legacy = arguments.integer() != 0;
    for (const double each : alpha) {
        if (legacy ? each <= 0 : each < 0) throw ValueError(legacy ? "alpha <= 0" : "alpha < 0");
    }
    std::ranges::fill(out, 0.0);
    Bits bits = stream.bits();
    if (legacy) {
        distributions::legacy_dirichlet(bits, alpha, out);
    } else {
        distributions::dirichlet(bits, alpha, out);
    }
    return 0;
}

int64_t seed_thread(EngineArguments arguments) {
    const int64_t seed = arguments.integer();
    if (seed < 0 || seed > std::numeric_limits<uint32_t>::max())
        throw ValueError("Seed must be between 0 and 2**32 - 1");
    ThreadStream& stream = stream_of_thread();
    stream.twister.seed(static_cast<uint32_t>(seed));
    stream.spare = {};
    return 0;
}

}  // namespace weft::called
