// Random numbers: numpy.random's Generator, which gives NumPy's numbers for the same seed and algorithm.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "weft/array.h"

namespace weft::random {

/// The streams of bits, NumPy's classes of these names.
enum class Algorithm : uint8_t { kPcg64, kPcg64Dxsm, kPhilox, kSfc64, kMt19937 };

/// A stream, and draws from it. Threads may share one: each draw has it for itself. A draw that fails leaves
/// the stream as it was. Arrays are made on the current device; without a shape they have no dimensions.
///
///     weft::random::Generator rng(42);
///     rng.random({3}) is {0.77395605, 0.43887844, 0.85859792}, as numpy.random.default_rng(42).random(3) is
class Generator {
public:
    /// Of the system's entropy.
    Generator();
    explicit Generator(uint64_t seed, Algorithm algorithm = Algorithm::kPcg64);
    /// Of the words of SeedSequence(entropy, spawn_key=path), low ones first.
    Generator(std::span<const uint32_t> entropy, std::span<const uint32_t> path,
              Algorithm algorithm = Algorithm::kPcg64);
    ~Generator();
    Generator(Generator&&) noexcept;
    Generator& operator=(Generator&&) noexcept;

    /// Children of this one's seed, whose numbers are as good as independent.
    std::vector<Generator> spawn(int64_t count);
    /// The next 64 bits of the stream (the Mersenne Twister's next two numbers).
    uint64_t next64();

    /// In [0, 1); float64 or float32, as the next two.
    array random(const Dims& shape = {}, DType dtype = ScalarType::kFloat64);
    array standard_normal(const Dims& shape = {}, DType dtype = ScalarType::kFloat64);
    array standard_exponential(const Dims& shape = {}, DType dtype = ScalarType::kFloat64);
    /// In [low, high), with `endpoint` up to `high`. Throws ValueError where there is no number between them
    /// or the dtype does not have them, TypeError for a dtype of no integers.
    array integers(int64_t low, int64_t high, const Dims& shape = {}, DType dtype = ScalarType::kInt64,
                   bool endpoint = false);

    /// Any distribution with up to three parameters by NumPy's name and in NumPy's order: draw("gamma", {2,
    /// 1}, {10}). float64, or int64 where the numbers are whole. Throws ValueError, with NumPy's text, for
    /// what is no parameter of it, and for a name that is none.
    array draw(std::string_view distribution, std::initializer_list<double> parameters,
               const Dims& shape = {});
    /// The same of parameters that broadcast with each other, and to the shape where there is one.
    array draw(std::string_view distribution, std::span<const array> parameters,
               const std::optional<Dims>& shape = {});
    array uniform(double low, double high, const Dims& shape = {});
    array normal(double loc, double scale, const Dims& shape = {});

    /// The numbers below `count` in random order, int64; or the parts of an array along an axis.
    array permutation(int64_t count);
    array permutation(const array& x, int64_t axis = 0);
    /// Numbers below `population`, int64; without `replace` different ones, in random order unless `shuffle`
    /// is false. Throws ValueError where there are not so many.
    array choice(int64_t population, const Dims& shape = {}, bool replace = true, bool shuffle = true);
    /// Positions in a row of odds, int64: each comes as often as its number says. Throws ValueError for odds
    /// below 0, for others than add up to 1, and without `replace` where fewer than wanted are above 0.
    array choice(const array& odds, const Dims& shape = {}, bool replace = true);
    /// A copy whose rows along an axis are each in an order of their own; without an axis all is one row.
    array permuted(const array& x, std::optional<int64_t> axis = {});

    /// How often each of the odds, which add up to 1 along the last axis, came in `n` trials; int64.
    array multinomial(const array& n, const array& odds, const std::optional<Dims>& shape = {});
    /// Parts of 1, by a vector of positive numbers: one more axis than the shape.
    array dirichlet(const array& alpha, const Dims& shape = {});

private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
};

/// A Generator of PCG64, as numpy.random.default_rng(seed).
inline Generator default_rng(uint64_t seed) { return Generator(seed); }

}  // namespace weft::random
