// NumPy's normal and exponential distributions for GPUs: what random/ziggurat.h does, but that comparisons
// with exponentials and logarithms, whose last bits are libm's, say when they are too close to be sure.
#pragma once

#include <cstdint>

#include "library/gpu/threads.h"
#include "random/ziggurat_tables.h"

namespace weft::gpu {

inline double unit_interval(uint64_t word) {
    return static_cast<double>(static_cast<int64_t>(word >> 11)) * 0x1p-53;
}
inline float unit_interval(uint32_t half) { return static_cast<float>(half >> 8) * 0x1p-24F; }

// exp(x) for x in [-700, 0], within a few units in the last place.
inline double exp_near(double x) {
    constexpr double kMagic = 0x1.8p52;  // adding it rounds to an integer, which is then in the low bits
    const double shifted = __builtin_fma(x, 0x1.71547652b82fep+0, kMagic), n = shifted - kMagic;
    double r = __builtin_fma(n, -0x1.62e42fefa39efp-1, x);
    r = __builtin_fma(n, -0x1.abc9e3b39803fp-56, r);
    double sum = 1;  // of Taylor's series: r is within 0.35
#pragma unroll
    for (int k = 14; k > 0; --k) sum = __builtin_fma(sum * r, 1.0 / k, 1);
    return __builtin_bit_cast(
        double, __builtin_bit_cast(uint64_t, sum) + (__builtin_bit_cast(uint64_t, shifted) << 52));
}

struct OddReciprocals {
    double values[13];
};
WEFT_GPU_TABLE OddReciprocals kOddReciprocals = {{1, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13,
                                                  1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23,
                                                  1.0 / 25}};

// log(x) for x in (0, 1], no denormal number, within a few units in the last place.
inline double log_near(double x) {
    const auto bits = __builtin_bit_cast(uint64_t, x);
    auto exponent = static_cast<int64_t>(bits >> 52) - 1023;
    double m = __builtin_bit_cast(double, (bits & 0xfffffffffffff) | 0x3ff0000000000000);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        ++exponent;
    }
    const double s = (m - 1) / (m + 1), square = s * s;
    // The series of artanh: s is within 0.172. Seldom needed, so that its factors do not stay in registers.
    double sum = 0;
#pragma unroll 1
    for (int k = 12; k >= 0; --k) sum = __builtin_fma(sum, square, kOddReciprocals.values[k]);
    return __builtin_fma(static_cast<double>(exponent), 0x1.62e42fefa39efp-1, 2 * s * sum);
}

// Whether it is, and whether that is sure.
struct Decision {
    bool yes, sure;
};

// Whether `height` is below what libm's function says, of which `value` is as much as a share of `error` off.
template <class Value>
Decision is_below(Value height, double value, double error) {
    const bool least = height < static_cast<Value>(value * (1 - error));
    const bool most = height < static_cast<Value>(value * (1 + error));
    return {most, least == most};
}

constexpr double kErrorOfDoubles = 1e-14;  // of libm's exponentials and logarithms, and those above
constexpr double kErrorOfFloats = 1e-6;    // of libm's logarithms of float32, squared
// Before rounding, of libm's exponentials of float32, which are computed in float64.
constexpr double kErrorOfFloatExp = 4e-10;

template <class Unit, class Value>
struct ZigguratTable {
    uint32_t near[256];  // leading bits of the thresholds
    Value factors[256];
    Unit thresholds[256];
    Value heights[256];
};

template <class Unit, class Value>
constexpr ZigguratTable<Unit, Value> ziggurat_table(const Unit* thresholds, const Value* factors,
                                                    const Value* heights, int far_bits) {
    ZigguratTable<Unit, Value> table{};
    for (int k = 0; k < 256; ++k) {
        table.near[k] = static_cast<uint32_t>(thresholds[k] >> far_bits);
        table.factors[k] = factors[k];
        table.thresholds[k] = thresholds[k];
        table.heights[k] = heights[k];
    }
    return table;
}

WEFT_GPU_TABLE auto kNormalTable = ziggurat_table(kNormalThresholds, kNormalFactors, kNormalHeights, 20);
WEFT_GPU_TABLE auto kNormalFloatTable =
    ziggurat_table(kNormalFloatThresholds, kNormalFloatFactors, kNormalFloatHeights, 0);
WEFT_GPU_TABLE auto kExponentialTable =
    ziggurat_table(kExponentialThresholds, kExponentialFactors, kExponentialHeights, 21);
WEFT_GPU_TABLE auto kExponentialFloatTable =
    ziggurat_table(kExponentialFloatThresholds, kExponentialFloatFactors, kExponentialFloatHeights, 0);

// A method: `near` are the leading bits of a unit's magnitude, to be compared with the table's; below those
// the unit is a number. `value` is what it is then, or what its wedge would accept. The tail is a loop for
// normal numbers, one unit for the others.
struct Normal {
    using Unit = uint64_t;
    using Value = double;
    static constexpr bool kTailLoops = true;
    static const ZigguratTable<Unit, Value>& table() { return kNormalTable; }
    static uint32_t layer(Unit word) { return word & 0xff; }
    static Unit magnitude(Unit word) { return word >> 9 & 0xfffffffffffff; }
    static uint32_t near(Unit word) { return static_cast<uint32_t>(word >> 29); }
    static Value value(Unit word, Value factor) {
        // The magnitude has as many bits as a number holds behind its leading one.
        const double magnitude_value =
            __builtin_bit_cast(double, magnitude(word) | 0x4330000000000000) - 0x1p52;
        const double x = magnitude_value * factor;
        return __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, x) | (word >> 8 & 1) << 63);
    }
    static Decision is_below_density(Value height, Value x) {
        return is_below(height, exp_near(-0.5 * x * x), kErrorOfDoubles);
    }
    static Decision ends_tail(Unit first, Unit second) {
        const double beyond = -kNormalInverse * log_near(1 - unit_interval(first));
        const double height = -log_near(1 - unit_interval(second));
        return is_below(beyond * beyond, height + height, 4 * kErrorOfDoubles);
    }
    static bool is_negative(Unit word) { return (magnitude(word) >> 8 & 1) != 0; }
};

struct Normal32 {
    using Unit = uint32_t;
    using Value = float;
    static constexpr bool kTailLoops = true;
    static const ZigguratTable<Unit, Value>& table() { return kNormalFloatTable; }
    static uint32_t layer(Unit half) { return half & 0xff; }
    static Unit magnitude(Unit half) { return half >> 9; }
    static uint32_t near(Unit half) { return magnitude(half); }
    static Value value(Unit half, Value factor) {
        const float x = static_cast<float>(magnitude(half)) * factor;
        return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, x) | (half >> 8 & 1) << 31);
    }
    static Decision is_below_density(Value height, Value x) {
        const double wide = static_cast<double>(x);
        return is_below(static_cast<double>(height), exp_near(-0.5 * wide * wide), kErrorOfDoubles);
    }
    static Decision ends_tail(Unit first, Unit second) {
        const double beyond = -kNormalInverse * log_near(1 - static_cast<double>(unit_interval(first)));
        const double height = -log_near(1 - static_cast<double>(unit_interval(second)));
        return is_below(beyond * beyond, height + height, kErrorOfFloats);
    }
    static bool is_negative(Unit half) { return (magnitude(half) >> 8 & 1) != 0; }
};

struct Exponential {
    using Unit = uint64_t;
    using Value = double;
    static constexpr bool kTailLoops = false;
    static const ZigguratTable<Unit, Value>& table() { return kExponentialTable; }
    static uint32_t layer(Unit word) { return word >> 3 & 0xff; }
    static Unit magnitude(Unit word) { return word >> 11; }
    static uint32_t near(Unit word) { return static_cast<uint32_t>(word >> 32); }
    static Value value(Unit word, Value factor) {
        return static_cast<double>(static_cast<int64_t>(magnitude(word))) * factor;
    }
    static Decision is_below_density(Value height, Value x) {
        return is_below(height, exp_near(-x), kErrorOfDoubles);
    }
    static bool is_negative(Unit) { return false; }
};

struct Exponential32 {
    using Unit = uint32_t;
    using Value = float;
    static constexpr bool kTailLoops = false;
    static const ZigguratTable<Unit, Value>& table() { return kExponentialFloatTable; }
    static uint32_t layer(Unit half) { return half >> 1 & 0xff; }
    static Unit magnitude(Unit half) { return half >> 9; }
    static uint32_t near(Unit half) { return magnitude(half); }
    static Value value(Unit half, Value factor) { return static_cast<float>(magnitude(half)) * factor; }
    static Decision is_below_density(Value height, Value x) {
        return is_below(height, exp_near(-static_cast<double>(x)), kErrorOfFloatExp);
    }
    static bool is_negative(Unit) { return false; }
};

}  // namespace weft::gpu
