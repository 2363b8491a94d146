// NumPy's normal and exponential distributions by ziggurats (Marsaglia and Tsang, 2000), as methods of
// draw_pieces.h. Most units of a stream are a draw each, below the corner of the layer that they choose. Of
// the others, those in a layer's wedge are decided by the unit that follows: it becomes a draw or nothing.
// The rest is the tail, of as many units as it takes.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "random/bit_generator.h"
#include "random/ziggurat_runs.h"
#include "random/ziggurat_tables.h"

namespace weft {

struct Normal {
    using Unit = uint64_t;
    using Value = double;
    static constexpr bool kHasWedges = true;

    static size_t layer_of(uint64_t word) { return word & 0xff; }
    static uint64_t magnitude_of(uint64_t word) { return word >> 9 & 0xfffffffffffff; }
    static bool takes(uint64_t word, double& value) {
        const double x =
            static_cast<double>(static_cast<int64_t>(magnitude_of(word))) * kNormalFactors[layer_of(word)];
        value = std::bit_cast<double>(std::bit_cast<uint64_t>(x) | (word >> 8 & 1) << 63);
        return magnitude_of(word) < kNormalThresholds[layer_of(word)];
    }
    static size_t run(const uint64_t* words, size_t count, double* out) {
        return ziggurat_runs().normal(words, count, out);
    }

    static bool in_wedge(uint64_t word) { return layer_of(word) != 0; }
    static bool accepts(double x, uint64_t word, uint64_t next) {
        return accepts_at(x, word, to_double(next));
    }
    static bool accepts_at(double x, uint64_t word, double uniform) {
        const size_t layer = layer_of(word);
        const double step = kNormalHeights[layer - 1] - kNormalHeights[layer];
        return step * uniform + kNormalHeights[layer] < std::exp(-0.5 * x * x);
    }

    template <class Source>
    static double tail(uint64_t word, Source& source) {
        const bool negative = (magnitude_of(word) >> 8 & 1) != 0;
        while (true) {
            const double distance = source.next_double();
            const double height = -std::log1p(-source.next_double());
            const auto x = beyond(distance);
            if (height + height > x * x) return in_tail(negative, distance);
        }
    }
    static double beyond(double uniform) { return -kNormalInverse * std::log1p(-uniform); }
    static double in_tail(bool negative, double uniform) {
        return negative ? -(kNormalEdge + beyond(uniform)) : kNormalEdge + beyond(uniform);
    }
};

struct Normal32 {
    using Unit = uint32_t;
    using Value = float;
    static constexpr bool kHasWedges = true;

    static size_t layer_of(uint32_t half) { return half & 0xff; }
    static uint32_t magnitude_of(uint32_t half) { return half >> 9; }
    static bool takes(uint32_t half, float& value) {
        const float x = static_cast<float>(magnitude_of(half)) * kNormalFloatFactors[layer_of(half)];
        value = std::bit_cast<float>(std::bit_cast<uint32_t>(x) | (half >> 8 & 1) << 31);
        return magnitude_of(half) < kNormalFloatThresholds[layer_of(half)];
    }
    static size_t run(const uint32_t* halves, size_t count, float* out) {
        return ziggurat_runs().normal32(halves, count, out);
    }

    static bool in_wedge(uint32_t half) { return layer_of(half) != 0; }
    static bool accepts(float x, uint32_t half, uint32_t next) { return accepts_at(x, half, to_float(next)); }
    static bool accepts_at(float x, uint32_t half, float uniform) {
        const size_t layer = layer_of(half);
        const float step = kNormalFloatHeights[layer - 1] - kNormalFloatHeights[layer];
        const float height = step * uniform + kNormalFloatHeights[layer];
        return static_cast<double>(height) < std::exp(-0.5 * static_cast<double>(x) * static_cast<double>(x));
    }

    template <class Source>
    static float tail(uint32_t half, Source& source) {
        const bool negative = (magnitude_of(half) >> 8 & 1) != 0;
        while (true) {
            const float distance = source.next_float();
            const float height = -std::log1p(-source.next_float());
            const auto x = beyond(distance);
            if (height + height > x * x) return in_tail(negative, distance);
        }
    }
    static float beyond(float uniform) { return -static_cast<float>(kNormalInverse) * std::log1p(-uniform); }
    static float in_tail(bool negative, float uniform) {
        constexpr auto kEdge = static_cast<float>(kNormalEdge);
        return negative ? -(kEdge + beyond(uniform)) : kEdge + beyond(uniform);
    }
};

struct Exponential {
    using Unit = uint64_t;
    using Value = double;
    static constexpr bool kHasWedges = true;

    static size_t layer_of(uint64_t word) { return word >> 3 & 0xff; }
    static uint64_t magnitude_of(uint64_t word) { return word >> 11; }
    static bool takes(uint64_t word, double& value) {
        value = static_cast<double>(static_cast<int64_t>(magnitude_of(word))) *
                kExponentialFactors[layer_of(word)];
        return magnitude_of(word) < kExponentialThresholds[layer_of(word)];
    }
    static size_t run(const uint64_t* words, size_t count, double* out) {
        return ziggurat_runs().exponential(words, count, out);
    }

    static bool in_wedge(uint64_t word) { return layer_of(word) != 0; }
    static bool accepts(double x, uint64_t word, uint64_t next) {
        return accepts_at(x, word, to_double(next));
    }
    static bool accepts_at(double x, uint64_t word, double uniform) {
        const size_t layer = layer_of(word);
        const double step = kExponentialHeights[layer - 1] - kExponentialHeights[layer];
        return step * uniform + kExponentialHeights[layer] < std::exp(-x);
    }

    template <class Source>
    static double tail(uint64_t, Source& source) {
        return in_tail(false, source.next_double());
    }
    static double in_tail(bool, double uniform) { return kExponentialEdge - std::log1p(-uniform); }
};

struct Exponential32 {
    using Unit = uint32_t;
    using Value = float;
    static constexpr bool kHasWedges = true;

    static size_t layer_of(uint32_t half) { return half >> 1 & 0xff; }
    static uint32_t magnitude_of(uint32_t half) { return half >> 9; }
    static bool takes(uint32_t half, float& value) {
        value = static_cast<float>(magnitude_of(half)) * kExponentialFloatFactors[layer_of(half)];
        return magnitude_of(half) < kExponentialFloatThresholds[layer_of(half)];
    }
    static size_t run(const uint32_t* halves, size_t count, float* out) {
        return ziggurat_runs().exponential32(halves, count, out);
    }

    static bool in_wedge(uint32_t half) { return layer_of(half) != 0; }
    static bool accepts(float x, uint32_t half, uint32_t next) { return accepts_at(x, half, to_float(next)); }
    static bool accepts_at(float x, uint32_t half, float uniform) {
        const size_t layer = layer_of(half);
        const float step = kExponentialFloatHeights[layer - 1] - kExponentialFloatHeights[layer];
        return step * uniform + kExponentialFloatHeights[layer] < std::exp(-x);
    }

    template <class Source>
    static float tail(uint32_t, Source& source) {
        return in_tail(false, source.next_float());
    }
    static float in_tail(bool, float uniform) {
        return static_cast<float>(kExponentialEdge) - std::log1p(-uniform);
    }
};

}  // namespace weft
