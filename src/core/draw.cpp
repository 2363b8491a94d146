#include "core/draw.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/draw_pieces.h"

namespace weft {

namespace {

#include "core/ziggurat_tables.inc"

// 1 / R and R of the normal distribution's ziggurats, and R of the exponential's.
constexpr double kNormalEdge = 3.6541528853610087963519472518;
constexpr double kNormalInverse = 0.27366123732975827203338247596;
constexpr double kExponentialEdge = 7.69711747013104972;

struct Normal {
    using Unit = uint64_t;
    using Value = double;
    static constexpr bool kUnitsStandAlone = false;

    static uint64_t magnitude_of(uint64_t word) { return word >> 9 & 0xfffffffffffff; }
    static bool takes(uint64_t word, double& value) {
        const auto layer = static_cast<size_t>(word & 0xff);
        const double x =
            static_cast<double>(static_cast<int64_t>(magnitude_of(word))) * kNormalFactors[layer];
        value = std::bit_cast<double>(std::bit_cast<uint64_t>(x) | (word >> 8 & 1) << 63);
        return magnitude_of(word) < kNormalThresholds[layer];
    }

    template <class Source>
    static double draw(Source& source) {
        while (true) {
            const uint64_t word = source.next64();
            double x = 0;
            if (takes(word, x)) return x;
            const auto layer = static_cast<size_t>(word & 0xff);
            if (layer == 0) return draw_tail(source, (magnitude_of(word) >> 8 & 1) != 0);
            const double step = kNormalHeights[layer - 1] - kNormalHeights[layer];
            if (step * source.next_double() + kNormalHeights[layer] < std::exp(-0.5 * x * x)) return x;
        }
    }

    template <class Source>
    static double draw_tail(Source& source, bool negative) {
        while (true) {
            const double beyond = -kNormalInverse * std::log1p(-source.next_double());
            const double height = -std::log1p(-source.next_double());
            if (height + height > beyond * beyond)
                return negative ? -(kNormalEdge + beyond) : kNormalEdge + beyond;
        }
    }
};

struct Normal32 {
    using Unit = uint32_t;
    using Value = float;
    static constexpr bool kUnitsStandAlone = false;

    static uint32_t magnitude_of(uint32_t word) { return word >> 9 & 0x7fffff; }
    static bool takes(uint32_t word, float& value) {
        const auto layer = static_cast<size_t>(word & 0xff);
        const float x = static_cast<float>(magnitude_of(word)) * kNormalFloatFactors[layer];
        value = std::bit_cast<float>(std::bit_cast<uint32_t>(x) | (word >> 8 & 1) << 31);
        return magnitude_of(word) < kNormalFloatThresholds[layer];
    }

    template <class Source>
    static float draw(Source& source) {
        while (true) {
            const uint32_t word = source.next32();
            float x = 0;
            if (takes(word, x)) return x;
            const auto layer = static_cast<size_t>(word & 0xff);
            if (layer == 0) return draw_tail(source, (magnitude_of(word) >> 8 & 1) != 0);
            const float step = kNormalFloatHeights[layer - 1] - kNormalFloatHeights[layer];
            const float height = step * source.next_float() + kNormalFloatHeights[layer];
            if (static_cast<double>(height) <
                std::exp(-0.5 * static_cast<double>(x) * static_cast<double>(x)))
                return x;
        }
    }

    template <class Source>
    static float draw_tail(Source& source, bool negative) {
        constexpr auto kEdge = static_cast<float>(kNormalEdge), kInverse = static_cast<float>(kNormalInverse);
        while (true) {
            const float beyond = -kInverse * std::log1p(-source.next_float());
            const float height = -std::log1p(-source.next_float());
            if (height + height > beyond * beyond) return negative ? -(kEdge + beyond) : kEdge + beyond;
        }
    }
};

struct Exponential {
    using Unit = uint64_t;
    using Value = double;
    static constexpr bool kUnitsStandAlone = false;

    static bool takes(uint64_t word, double& value) {
        const auto layer = static_cast<size_t>(word >> 3 & 0xff);
        value = static_cast<double>(static_cast<int64_t>(word >> 11)) * kExponentialFactors[layer];
        return word >> 11 < kExponentialThresholds[layer];
    }

    template <class Source>
    static double draw(Source& source) {
        while (true) {
            const uint64_t word = source.next64();
            double x = 0;
            if (takes(word, x)) return x;
            const auto layer = static_cast<size_t>(word >> 3 & 0xff);
            if (layer == 0) return kExponentialEdge - std::log1p(-source.next_double());
            const double step = kExponentialHeights[layer - 1] - kExponentialHeights[layer];
            if (step * source.next_double() + kExponentialHeights[layer] < std::exp(-x)) return x;
        }
    }
};

struct Exponential32 {
    using Unit = uint32_t;
    using Value = float;
    static constexpr bool kUnitsStandAlone = false;

    static bool takes(uint32_t word, float& value) {
        const auto layer = static_cast<size_t>(word >> 1 & 0xff);
        value = static_cast<float>(word >> 9) * kExponentialFloatFactors[layer];
        return word >> 9 < kExponentialFloatThresholds[layer];
    }

    template <class Source>
    static float draw(Source& source) {
        constexpr auto kEdge = static_cast<float>(kExponentialEdge);
        while (true) {
            const uint32_t word = source.next32();
            float x = 0;
            if (takes(word, x)) return x;
            const auto layer = static_cast<size_t>(word >> 1 & 0xff);
            if (layer == 0) return kEdge - std::log1p(-source.next_float());
            const float step = kExponentialFloatHeights[layer - 1] - kExponentialFloatHeights[layer];
            if (step * source.next_float() + kExponentialFloatHeights[layer] < std::exp(-x)) return x;
        }
    }
};

// One after another until a whole word begins, the rest by all threads.
template <class Method>
void draw_any(BitGenerator& generator, std::span<typename Method::Value> out, const Method& method) {
    constexpr size_t kFew = 1024;
    size_t i = 0;
    constexpr bool kHalves = sizeof(typename Method::Unit) == sizeof(uint32_t);
    while (i < out.size() && (out.size() - i < kFew || (kHalves && generator.has_half)))
        out[i++] = method.draw(generator);
    if (i < out.size()) draw_by_pieces(generator, out.subspan(i), method);
}

// ---- integers ----

// low and a number of [0, range], which is not all numbers; Product: an integer of twice the unit's bits.
template <class Draw, class Product, class Result = Draw>
struct Bounded {
    using Unit = Draw;
    using Value = Result;
    static constexpr bool kUnitsStandAlone = true;

    Bounded(Result from, Draw range)
        : low(from),
          count(static_cast<Draw>(range + 1)),
          least(static_cast<Draw>((static_cast<Draw>(-1) - range) % (Product{range} + 1))) {}

    bool takes(Draw unit, Result& value) const {
        const auto product = static_cast<Product>(static_cast<Product>(unit) * count);
        value = static_cast<Result>(low + static_cast<Result>(product >> (8 * sizeof(Draw))));
        return static_cast<Draw>(product) >= least;
    }

    template <class Source>
    Result draw(Source& source) const {
        Result value{};
        if constexpr (sizeof(Draw) == sizeof(uint64_t)) {
            while (!takes(source.next64(), value)) {
            }
        } else {
            while (!takes(source.next32(), value)) {
            }
        }
        return value;
    }

    Result low;
    Draw count, least;
};

// As many bits as the range has, again and again until they are in it.
uint64_t masked(BitGenerator& generator, uint64_t range) {
    const uint64_t mask = UINT64_MAX >> std::countl_zero(range);
    while (true) {
        const uint64_t drawn = (range <= UINT32_MAX ? generator.next32() : generator.next64()) & mask;
        if (drawn <= range) return drawn;
    }
}

// Elements of a half each, or several of a half; one half may wait from earlier.
template <size_t kEach, class Value, class Write>
void draw_halves(BitGenerator& generator, std::span<Value> out, const Write& write) {
    if (generator.has_half && !out.empty()) {
        Value first[kEach];
        write(generator.next32(), first);
        const size_t count = std::min(kEach, out.size());
        std::copy_n(first, count, out.begin());
        out = out.subspan(count);
    }
    if (!out.empty()) draw_apart<uint32_t, kEach>(generator, out, write);
}

// Small numbers are cut from halves, from the low bits on; what is left of the last one is dropped.
template <class Small>
void draw_small(BitGenerator& generator, Small low, Small range, std::span<Small> out) {
    constexpr size_t kCuts = sizeof(uint32_t) / sizeof(Small);
    const auto cut = [](uint32_t half, size_t k) {
        return static_cast<Small>(half >> (8 * sizeof(Small) * k));
    };
    if (range == static_cast<Small>(-1)) {
        draw_halves<kCuts>(generator, out, [&](uint32_t half, Small* to) {
            for (size_t k = 0; k < kCuts; ++k) to[k] = static_cast<Small>(low + cut(half, k));
        });
        return;
    }
    constexpr size_t kFew = 1024;
    const Bounded<Small, uint32_t> method(low, range);
    size_t i = 0;
    while (i < out.size() && (out.size() - i < kFew || generator.has_half)) {
        const uint32_t half = generator.next32();
        for (size_t k = 0; k < kCuts && i < out.size(); ++k) i += method.takes(cut(half, k), out[i]) ? 1 : 0;
    }
    if (i < out.size()) draw_by_pieces(generator, out.subspan(i), method);
}

template <class T>
std::span<T> elements(char* out, int64_t count) {
    return {reinterpret_cast<T*>(out), static_cast<size_t>(count)};
}

}  // namespace

void draw_words(BitGenerator& generator, std::span<uint64_t> out) {
    draw_apart<uint64_t>(generator, out, [](uint64_t word, uint64_t* to) { *to = word; });
}

void draw_uniform(BitGenerator& generator, std::span<double> out) {
    draw_apart<uint64_t>(generator, out, [](uint64_t word, double* to) { *to = to_double(word); });
}

void draw_uniform(BitGenerator& generator, std::span<float> out) {
    draw_halves<1>(generator, out, [](uint32_t half, float* to) { *to = to_float(half); });
}

void draw_normal(BitGenerator& generator, std::span<double> out) { draw_any(generator, out, Normal{}); }

void draw_normal(BitGenerator& generator, std::span<float> out) { draw_any(generator, out, Normal32{}); }

void draw_exponential(BitGenerator& generator, std::span<double> out) {
    draw_any(generator, out, Exponential{});
}

void draw_exponential(BitGenerator& generator, std::span<float> out) {
    draw_any(generator, out, Exponential32{});
}

// The logarithm is libm's, as NumPy's.
void draw_exponential_by_log(BitGenerator& generator, std::span<double> out) {
    draw_apart<uint64_t>(generator, out,
                         [](uint64_t word, double* to) { *to = -std::log1p(-to_double(word)); });
}

void draw_exponential_by_log(BitGenerator& generator, std::span<float> out) {
    draw_halves<1>(generator, out, [](uint32_t half, float* to) { *to = -std::log1p(-to_float(half)); });
}

void draw_integers(BitGenerator& generator, ScalarType type, uint64_t low, uint64_t range, int64_t count,
                   char* out) {
    const int64_t itemsize = DType(type).itemsize();
    if (range == 0) {
        for (int64_t i = 0; i < count; ++i)
            std::memcpy(out + i * itemsize, &low, static_cast<size_t>(itemsize));
        return;
    }
    if (type == ScalarType::kBool) {
        draw_halves<32>(generator, elements<uint8_t>(out, count), [&](uint32_t half, uint8_t* to) {
            for (size_t k = 0; k < 32; ++k) to[k] = static_cast<uint8_t>(low != 0 || (half >> k & 1) != 0);
        });
        return;
    }
    switch (itemsize) {
        case 1:
            draw_small(generator, static_cast<uint8_t>(low), static_cast<uint8_t>(range),
                       elements<uint8_t>(out, count));
            return;
        case 2:
            draw_small(generator, static_cast<uint16_t>(low), static_cast<uint16_t>(range),
                       elements<uint16_t>(out, count));
            return;
        case 4: {
            const std::span<uint32_t> all = elements<uint32_t>(out, count);
            const auto from = static_cast<uint32_t>(low);
            if (range == UINT32_MAX) {
                draw_halves<1>(generator, all, [&](uint32_t half, uint32_t* to) { *to = from + half; });
            } else {
                draw_any(generator, all, Bounded<uint32_t, uint64_t>(from, static_cast<uint32_t>(range)));
            }
            return;
        }
        default: break;
    }
    const std::span<uint64_t> all = elements<uint64_t>(out, count);
    if (range < UINT32_MAX) {
        draw_any(generator, all, Bounded<uint32_t, uint64_t, uint64_t>(low, static_cast<uint32_t>(range)));
    } else if (range == UINT32_MAX) {
        draw_halves<1>(generator, all, [&](uint32_t half, uint64_t* to) { *to = low + half; });
    } else if (range == UINT64_MAX) {
        draw_apart<uint64_t>(generator, all, [&](uint64_t word, uint64_t* to) { *to = low + word; });
    } else {
        draw_any(generator, all, Bounded<uint64_t, unsigned __int128>(low, range));
    }
}

namespace {

// In [0, range], by a product of which too low ones are refused, not by bits.
uint64_t bounded(BitGenerator& generator, uint64_t range) {
    if (range == 0) return 0;
    if (range == UINT32_MAX) return generator.next32();
    if (range == UINT64_MAX) return generator.next64();
    if (range < UINT32_MAX) {
        const auto count = static_cast<uint32_t>(range + 1);
        uint64_t product = uint64_t{generator.next32()} * count;
        if (static_cast<uint32_t>(product) < count) {
            const uint32_t least = (UINT32_MAX - static_cast<uint32_t>(range)) % count;
            while (static_cast<uint32_t>(product) < least) product = uint64_t{generator.next32()} * count;
        }
        return product >> 32;
    }
    return Bounded<uint64_t, unsigned __int128>(0, range).draw(generator);
}

// Cuts halves of a stream into parts, of which some may wait for the next draw.
template <class Small>
class Parts {
public:
    explicit Parts(BitGenerator& generator) : generator_(generator) {}
    Small next() {
        if (left_ == 0) {
            half_ = generator_.next32();
            left_ = sizeof half_ / sizeof(Small);
        } else {
            half_ >>= 8 * sizeof(Small);
        }
        --left_;
        return static_cast<Small>(half_);
    }

private:
    BitGenerator& generator_;
    uint32_t half_ = 0;
    size_t left_ = 0;
};

template <class Small>
void draw_small_between(BitGenerator& generator, std::span<const uint64_t> low,
                        std::span<const uint64_t> range, Small* out) {
    Parts<Small> parts(generator);
    for (size_t i = 0; i < low.size(); ++i) {
        const auto from = static_cast<Small>(low[i]), span = static_cast<Small>(range[i]);
        if (span == 0) {
            out[i] = from;
        } else if (span == static_cast<Small>(-1)) {
            out[i] = static_cast<Small>(from + parts.next());
        } else {
            const Bounded<Small, uint32_t> method(from, span);
            while (!method.takes(parts.next(), out[i])) {
            }
        }
    }
}

}  // namespace

void draw_integers_between(BitGenerator& generator, ScalarType type, std::span<const uint64_t> low,
                           std::span<const uint64_t> range, char* out) {
    if (type == ScalarType::kBool) {
        uint32_t half = 0, left = 0;
        for (size_t i = 0; i < low.size(); ++i) {
            if (range[i] == 0) {
                out[i] = static_cast<char>(low[i]);
                continue;
            }
            half = left == 0 ? generator.next32() : half >> 1;
            left = left == 0 ? 31 : left - 1;
            out[i] = static_cast<char>(half & 1);
        }
        return;
    }
    switch (DType(type).itemsize()) {
        case 1: draw_small_between(generator, low, range, reinterpret_cast<uint8_t*>(out)); return;
        case 2: draw_small_between(generator, low, range, reinterpret_cast<uint16_t*>(out)); return;
        case 4:
            for (size_t i = 0; i < low.size(); ++i)
                reinterpret_cast<uint32_t*>(out)[i] =
                    static_cast<uint32_t>(low[i] + bounded(generator, range[i]));
            return;
        default:
            for (size_t i = 0; i < low.size(); ++i)
                reinterpret_cast<uint64_t*>(out)[i] = low[i] + bounded(generator, range[i]);
    }
}

void draw_sample(BitGenerator& generator, int64_t population, std::span<int64_t> out, bool shuffled) {
    const auto count = static_cast<int64_t>(out.size());
    const auto shuffle_from = [&](std::span<int64_t> items, int64_t first) {
        for (auto i = static_cast<int64_t>(items.size()) - 1; i >= first; --i)
            std::swap(items[static_cast<size_t>(i)], items[bounded(generator, static_cast<uint64_t>(i))]);
    };
    if (population > 10000 && count > population / (shuffled ? 50 : 20)) {
        std::vector<int64_t> all(static_cast<size_t>(population));
        std::iota(all.begin(), all.end(), int64_t{0});
        shuffle_from(all, std::max<int64_t>(population - count, 1));
        std::copy(all.end() - count, all.end(), out.begin());
        return;
    }
    std::unordered_set<int64_t> found;
    found.reserve(out.size());
    for (int64_t i = 0, last = population - count; i < count; ++i, ++last) {
        const auto drawn = static_cast<int64_t>(bounded(generator, static_cast<uint64_t>(last)));
        const int64_t taken = found.insert(drawn).second ? drawn : last;
        if (taken == last) found.insert(last);
        out[static_cast<size_t>(i)] = taken;
    }
    if (shuffled) shuffle_from(out, 1);
}

void shuffle(BitGenerator& generator, char* items, int64_t count, int64_t itemsize) {
    const auto size = static_cast<size_t>(itemsize);
    for (int64_t i = count - 1; i > 0; --i) {
        const uint64_t other = masked(generator, static_cast<uint64_t>(i));
        char *first = items + i * itemsize, *second = items + static_cast<int64_t>(other) * itemsize;
        if (first != second) std::swap_ranges(first, first + size, second);
    }
}

}  // namespace weft
