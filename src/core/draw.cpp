#include "core/draw.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/thread_pool.h"

namespace weft {

namespace {

#include "core/ziggurat_tables.inc"

constexpr int64_t kPiece = int64_t{1} << 16;

// Elements that take one number each: pieces of the stream side by side.
template <class T, class Draw>
void draw_apart(BitGenerator& generator, std::span<T> out, const Draw& draw) {
    const auto count = static_cast<int64_t>(out.size());
    const int64_t pieces = (count + kPiece - 1) / kPiece;
    if (pieces < 2) {
        for (T& each : out) each = draw(generator);
        return;
    }
    parallel_for(pieces, [&](int64_t piece) {
        BitGenerator own = generator;
        own.advance(static_cast<uint64_t>(piece * kPiece));
        for (int64_t i = piece * kPiece; i < std::min(count, (piece + 1) * kPiece); ++i)
            out[static_cast<size_t>(i)] = draw(own);
    });
    generator.advance(static_cast<uint64_t>(count));
}

// 1 / R and R of the normal distribution's ziggurats, and R of the exponential's.
constexpr double kNormalEdge = 3.6541528853610087963519472518;
constexpr double kNormalInverse = 0.27366123732975827203338247596;
constexpr double kExponentialEdge = 7.69711747013104972;

double normal(BitGenerator& generator) {
    while (true) {
        uint64_t word = generator.next64();
        const auto layer = static_cast<size_t>(word & 0xff);
        word >>= 8;
        const uint64_t magnitude = word >> 1 & 0xfffffffffffff;
        double x = static_cast<double>(magnitude) * kNormalFactors[layer];
        if ((word & 1) != 0) x = -x;
        if (magnitude < kNormalThresholds[layer]) return x;
        if (layer == 0) {
            while (true) {
                const double beyond = -kNormalInverse * std::log1p(-generator.next_double());
                const double height = -std::log1p(-generator.next_double());
                if (height + height > beyond * beyond)
                    return (magnitude >> 8 & 1) != 0 ? -(kNormalEdge + beyond) : kNormalEdge + beyond;
            }
        }
        const double step = kNormalHeights[layer - 1] - kNormalHeights[layer];
        if (step * generator.next_double() + kNormalHeights[layer] < std::exp(-0.5 * x * x)) return x;
    }
}

float normal32(BitGenerator& generator) {
    constexpr auto kEdge = static_cast<float>(kNormalEdge), kInverse = static_cast<float>(kNormalInverse);
    while (true) {
        uint32_t word = generator.next32();
        const auto layer = static_cast<size_t>(word & 0xff);
        const bool negative = (word >> 8 & 1) != 0;
        const uint32_t magnitude = word >> 9 & 0x7fffff;
        float x = static_cast<float>(magnitude) * kNormalFloatFactors[layer];
        if (negative) x = -x;
        if (magnitude < kNormalFloatThresholds[layer]) return x;
        if (layer == 0) {
            while (true) {
                const float beyond = -kInverse * std::log1p(-generator.next_float());
                const float height = -std::log1p(-generator.next_float());
                if (height + height > beyond * beyond)
                    return (magnitude >> 8 & 1) != 0 ? -(kEdge + beyond) : kEdge + beyond;
            }
        }
        const float step = kNormalFloatHeights[layer - 1] - kNormalFloatHeights[layer];
        const float height = step * generator.next_float() + kNormalFloatHeights[layer];
        if (static_cast<double>(height) < std::exp(-0.5 * static_cast<double>(x) * static_cast<double>(x)))
            return x;
    }
}

double exponential(BitGenerator& generator) {
    while (true) {
        uint64_t word = generator.next64() >> 3;
        const auto layer = static_cast<size_t>(word & 0xff);
        word >>= 8;
        const double x = static_cast<double>(word) * kExponentialFactors[layer];
        if (word < kExponentialThresholds[layer]) return x;
        if (layer == 0) return kExponentialEdge - std::log1p(-generator.next_double());
        const double step = kExponentialHeights[layer - 1] - kExponentialHeights[layer];
        if (step * generator.next_double() + kExponentialHeights[layer] < std::exp(-x)) return x;
    }
}

float exponential32(BitGenerator& generator) {
    constexpr auto kEdge = static_cast<float>(kExponentialEdge);
    while (true) {
        uint32_t word = generator.next32() >> 1;
        const auto layer = static_cast<size_t>(word & 0xff);
        word >>= 8;
        const float x = static_cast<float>(word) * kExponentialFloatFactors[layer];
        if (word < kExponentialFloatThresholds[layer]) return x;
        if (layer == 0) return kEdge - std::log1p(-generator.next_float());
        const float step = kExponentialFloatHeights[layer - 1] - kExponentialFloatHeights[layer];
        if (step * generator.next_float() + kExponentialFloatHeights[layer] < std::exp(-x)) return x;
    }
}

// ---- integers ----

uint64_t bounded64(BitGenerator& generator, uint64_t range) {
    const uint64_t count = range + 1;
    unsigned __int128 product = static_cast<unsigned __int128>(generator.next64()) * count;
    if (static_cast<uint64_t>(product) < count) {
        const uint64_t threshold = (UINT64_MAX - range) % count;
        while (static_cast<uint64_t>(product) < threshold)
            product = static_cast<unsigned __int128>(generator.next64()) * count;
    }
    return static_cast<uint64_t>(product >> 64);
}

uint32_t bounded32(BitGenerator& generator, uint32_t range) {
    const uint32_t count = range + 1;
    uint64_t product = static_cast<uint64_t>(generator.next32()) * count;
    if (static_cast<uint32_t>(product) < count) {
        const uint32_t threshold = (UINT32_MAX - range) % count;
        while (static_cast<uint32_t>(product) < threshold)
            product = static_cast<uint64_t>(generator.next32()) * count;
    }
    return static_cast<uint32_t>(product >> 32);
}

// As many bits as the range has, again and again until they are in it.
uint64_t masked(BitGenerator& generator, uint64_t range) {
    const uint64_t mask = UINT64_MAX >> std::countl_zero(range);
    while (true) {
        const uint64_t drawn = (range <= UINT32_MAX ? generator.next32() : generator.next64()) & mask;
        if (drawn <= range) return drawn;
    }
}

// Small numbers are cut from one of 32 bits.
template <class Small>
class Cut {
public:
    explicit Cut(BitGenerator& generator) : generator_(generator) {}

    Small next() {
        if (left_ == 0) {
            word_ = generator_.next32();
            left_ = sizeof(uint32_t) / sizeof(Small) - 1;
        } else {
            word_ >>= 8 * sizeof(Small);
            --left_;
        }
        return static_cast<Small>(word_);
    }

    Small bounded(Small range) {
        const auto count = static_cast<uint32_t>(range) + 1;
        constexpr uint32_t kMost = static_cast<Small>(-1);
        uint32_t product = static_cast<uint32_t>(next()) * count;
        if ((product & kMost) < count) {
            const uint32_t threshold = (kMost - range) % count;
            while ((product & kMost) < threshold) product = static_cast<uint32_t>(next()) * count;
        }
        return static_cast<Small>(product >> (8 * sizeof(Small)));
    }

private:
    BitGenerator& generator_;
    uint32_t word_ = 0;
    size_t left_ = 0;
};

template <class T>
void store(char* out, int64_t i, T value) {
    std::memcpy(out + i * static_cast<int64_t>(sizeof(T)), &value, sizeof value);
}

template <class Small>
void draw_small(BitGenerator& generator, Small low, Small range, int64_t count, char* out) {
    Cut<Small> cut(generator);
    const bool all = range == static_cast<Small>(-1);
    for (int64_t i = 0; i < count; ++i)
        store<Small>(out, i, static_cast<Small>(low + (all ? cut.next() : cut.bounded(range))));
}

void draw_bools(BitGenerator& generator, bool low, int64_t count, char* out) {
    uint32_t word = 0;
    int left = 0;
    for (int64_t i = 0; i < count; ++i, --left) {
        if (left == 0) {
            word = generator.next32();
            left = 32;
        } else {
            word >>= 1;
        }
        out[i] = static_cast<char>(low || (word & 1) != 0);
    }
}

}  // namespace

void draw_words(BitGenerator& generator, std::span<uint64_t> out) {
    draw_apart(generator, out, [](BitGenerator& own) { return own.next64(); });
}

void draw_uniform(BitGenerator& generator, std::span<double> out) {
    draw_apart(generator, out, [](BitGenerator& own) { return own.next_double(); });
}

void draw_uniform(BitGenerator& generator, std::span<float> out) {
    // Two of a word: up to where a word begins, then pieces of whole words.
    size_t begin = 0;
    if (generator.has_half && !out.empty()) out[begin++] = generator.next_float();
    const auto pairs = static_cast<int64_t>((out.size() - begin) / 2);
    const int64_t pieces = (pairs + kPiece - 1) / kPiece;
    if (pieces > 1) {
        parallel_for(pieces, [&](int64_t piece) {
            BitGenerator own = generator;
            own.advance(static_cast<uint64_t>(piece * kPiece));
            const auto first = begin + 2 * static_cast<size_t>(piece * kPiece);
            const auto last = begin + 2 * static_cast<size_t>(std::min(pairs, (piece + 1) * kPiece));
            for (size_t i = first; i < last; ++i) out[i] = own.next_float();
        });
        generator.advance(static_cast<uint64_t>(pairs));
        begin += 2 * static_cast<size_t>(pairs);
    }
    for (; begin < out.size(); ++begin) out[begin] = generator.next_float();
}

void draw_normal(BitGenerator& generator, std::span<double> out) {
    for (double& each : out) each = normal(generator);
}

void draw_normal(BitGenerator& generator, std::span<float> out) {
    for (float& each : out) each = normal32(generator);
}

void draw_exponential(BitGenerator& generator, std::span<double> out) {
    for (double& each : out) each = exponential(generator);
}

void draw_exponential(BitGenerator& generator, std::span<float> out) {
    for (float& each : out) each = exponential32(generator);
}

void draw_exponential_by_log(BitGenerator& generator, std::span<double> out) {
    draw_uniform(generator, out);
    for (double& each : out) each = -std::log1p(-each);  // libm's, as NumPy's
}

void draw_exponential_by_log(BitGenerator& generator, std::span<float> out) {
    draw_uniform(generator, out);
    for (float& each : out) each = -std::log1p(-each);
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
        draw_bools(generator, low != 0, count, out);
        return;
    }
    switch (itemsize) {
        case 1:
            draw_small(generator, static_cast<uint8_t>(low), static_cast<uint8_t>(range), count, out);
            return;
        case 2:
            draw_small(generator, static_cast<uint16_t>(low), static_cast<uint16_t>(range), count, out);
            return;
        case 4: {
            const auto small = static_cast<uint32_t>(range);
            for (int64_t i = 0; i < count; ++i) {
                const uint32_t drawn = small == UINT32_MAX ? generator.next32() : bounded32(generator, small);
                store<uint32_t>(out, i, static_cast<uint32_t>(low) + drawn);
            }
            return;
        }
        default: break;
    }
    for (int64_t i = 0; i < count; ++i) {
        const uint64_t drawn = range < UINT32_MAX    ? bounded32(generator, static_cast<uint32_t>(range))
                               : range == UINT32_MAX ? generator.next32()
                               : range == UINT64_MAX ? generator.next64()
                                                     : bounded64(generator, range);
        store<uint64_t>(out, i, low + drawn);
    }
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
