#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <random>
#include <string>
#include <utility>

#include "api/random/distribution.h"
#include "api/random/random.h"
#include "api/random/vectors.h"
#include "core/shape.h"
#include "ops/resolve.h"
#include "random/bit_stream.h"
#include "random/seed_sequence.h"
#include "random/start.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/errors.h"
#include "weft/ops.h"
#include "weft/random.h"

namespace weft::random {

namespace {

std::vector<uint32_t> words_of(uint64_t seed) {
    std::vector<uint32_t> words{static_cast<uint32_t>(seed)};
    if ((seed >> 32) != 0) words.push_back(static_cast<uint32_t>(seed >> 32));
    return words;
}

BitStream::State start(const SeedPool& pool, Algorithm algorithm) {
    const auto count = static_cast<size_t>(words_of_start(algorithm));
    if (algorithm != Algorithm::kMt19937) return started(algorithm, pool.generate64(count));
    const std::vector<uint32_t> words = pool.generate(count);
    return started(algorithm, std::vector<uint64_t>(words.begin(), words.end()));
}

const distributions::Distribution& named(std::string_view name, size_t parameters) {
    const distributions::Distribution* found = distributions::find(name);
    if (found == nullptr) throw ValueError("there is no distribution '" + std::string(name) + "'");
    if (parameters != static_cast<size_t>(found->count))
        throw ValueError("the distribution '" + std::string(name) + "' has " + std::to_string(found->count) +
                         " parameters, not " + std::to_string(parameters));
    return *found;
}

}  // namespace

struct Generator::Stream {
    std::mutex mutex;
    std::vector<uint32_t> entropy, path;
    Algorithm algorithm;
    uint32_t children = 0;
    BitStream bits;

    Stream(std::vector<uint32_t> of, std::span<const uint32_t> along, Algorithm by)
        : entropy(std::move(of)),
          path(along.begin(), along.end()),
          algorithm(by),
          bits(start(SeedPool(entropy, path), by)) {}

    template <class Work>
    auto with(const Work& work) {
        const std::lock_guard lock(mutex);
        return work(bits.source());
    }
};

Generator::Generator() {
    std::random_device device;
    std::vector<uint32_t> entropy;
    for (uint32_t i = 0; i < SeedPool::kLeastSize; ++i) entropy.push_back(device());
    stream_ = std::make_unique<Stream>(std::move(entropy), std::span<const uint32_t>(), Algorithm::kPcg64);
}
Generator::Generator(uint64_t seed, Algorithm algorithm)
    : stream_(std::make_unique<Stream>(words_of(seed), std::span<const uint32_t>(), algorithm)) {}
Generator::Generator(std::span<const uint32_t> entropy, std::span<const uint32_t> path, Algorithm algorithm)
    : stream_(
          std::make_unique<Stream>(std::vector<uint32_t>(entropy.begin(), entropy.end()), path, algorithm)) {}
Generator::~Generator() = default;
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;

std::vector<Generator> Generator::spawn(int64_t count) {
    if (count < 0) throw ValueError("n_children must be non-negative");
    const std::lock_guard lock(stream_->mutex);
    std::vector<Generator> made;
    for (int64_t i = 0; i < count; ++i) {
        std::vector<uint32_t> path = stream_->path;
        path.push_back(stream_->children++);
        made.emplace_back(stream_->entropy, path, stream_->algorithm);
    }
    return made;
}

uint64_t Generator::next64() {
    return stream_->with([](const BitSource& source) { return source.next_uint64(source.state); });
}

array Generator::random(const Dims& shape, DType dtype) {
    return stream_->with(
        [&](const BitSource& source) { return weft::draw(source, Distribution::kUniform, shape, dtype); });
}
array Generator::standard_normal(const Dims& shape, DType dtype) {
    return stream_->with(
        [&](const BitSource& source) { return weft::draw(source, Distribution::kNormal, shape, dtype); });
}
array Generator::standard_exponential(const Dims& shape, DType dtype) {
    return stream_->with([&](const BitSource& source) {
        return weft::draw(source, Distribution::kExponential, shape, dtype);
    });
}

array Generator::integers(int64_t low, int64_t high, const Dims& shape, DType dtype, bool endpoint) {
    if (!dtype.is_integer() && !dtype.is_bool())
        throw TypeError("Unsupported dtype dtype('" + std::string(dtype.name()) + "') for integers");
    if (endpoint ? low > high : low >= high) throw ValueError(endpoint ? "low > high" : "low >= high");
    const int64_t last = endpoint ? high : high - 1;
    const auto fits = [&](int64_t value) {
        return dtype.is_bool() ? value == 0 || value == 1 : python_int_fits(value, dtype);
    };
    if (!fits(low)) throw ValueError("low is out of bounds for " + std::string(dtype.name()));
    if (!fits(last)) throw ValueError("high is out of bounds for " + std::string(dtype.name()));
    return stream_->with([&](const BitSource& source) {
        return draw_integers(source, shape, dtype, static_cast<uint64_t>(low),
                             static_cast<uint64_t>(last) - static_cast<uint64_t>(low));
    });
}

array Generator::draw(std::string_view distribution, std::initializer_list<double> parameters,
                      const Dims& shape) {
    const distributions::Distribution& found = named(distribution, parameters.size());
    distributions::Numbers numbers;
    size_t k = 0;
    for (const double value : parameters) {
        if (found.parameters[k].is_whole) {
            constexpr double kBeyond = 9223372036854775808.0;  // 2^63: NaN and larger numbers are no int64
            if (!(value >= -kBeyond && value < kBeyond) || value != std::trunc(value))
                throw ValueError(std::string(found.parameters[k].name) + " is a whole number");
            numbers.whole[k] = static_cast<int64_t>(value);
        } else {
            numbers.real[k] = value;
        }
        ++k;
    }
    check_numbers(found, numbers);
    return stream_->with(
        [&](const BitSource& source) { return draw_numbers({source}, found, numbers, shape); });
}

array Generator::draw(std::string_view distribution, std::span<const array> parameters,
                      const std::optional<Dims>& shape) {
    const distributions::Distribution& found = named(distribution, parameters.size());
    std::vector<array> converted;
    for (size_t k = 0; k < parameters.size(); ++k) {
        const bool is_whole = found.parameters[k].is_whole;
        converted.push_back(astype(parameters[k], is_whole ? ScalarType::kInt64 : ScalarType::kFloat64));
    }
    return stream_->with(
        [&](const BitSource& source) { return draw_numbers({source}, found, converted, shape); });
}

array Generator::uniform(double low, double high, const Dims& shape) {
    return draw("uniform", {low, high - low}, shape);
}
array Generator::normal(double loc, double scale, const Dims& shape) {
    return draw("normal", {loc, scale}, shape);
}

array Generator::permutation(int64_t count) {
    return stream_->with([&](const BitSource& source) { return draw_permutation(source, count); });
}
array Generator::permutation(const array& x, int64_t axis) {
    const int along = normalize_axis(axis, x.ndim());
    return take(x, permutation(x.shape()[static_cast<size_t>(along)]), along);
}

array Generator::choice(int64_t population, const Dims& shape, bool replace, bool shuffle) {
    const int64_t count = element_count(shape);
    if (count == 0) return empty(shape, ScalarType::kInt64);
    if (population <= 0) throw ValueError("a must be a positive integer unless no samples are taken");
    if (replace) return integers(0, population, shape);
    if (count > population)
        throw ValueError("Cannot take a larger sample than population when replace is False");
    const array drawn = stream_->with(
        [&](const BitSource& source) { return draw_sample(source, population, count, shuffle); });
    return reshape(drawn, shape);
}

array Generator::choice(const array& odds, const Dims& shape, bool replace) {
    return stream_->with([&](const BitSource& source) { return draw_by_odds(source, odds, shape, replace); });
}

array Generator::permuted(const array& x, std::optional<int64_t> axis) {
    return stream_->with([&](const BitSource& source) { return draw_permuted(source, x, axis); });
}

array Generator::multinomial(const array& n, const array& odds, const std::optional<Dims>& shape) {
    return stream_->with([&](const BitSource& source) {
        return draw_multinomial(source, astype(n, ScalarType::kInt64), astype(odds, ScalarType::kFloat64),
                                shape, false);
    });
}
array Generator::dirichlet(const array& alpha, const Dims& shape) {
    return stream_->with([&](const BitSource& source) {
        return draw_dirichlet({source}, astype(alpha, ScalarType::kFloat64), shape, false);
    });
}

}  // namespace weft::random
