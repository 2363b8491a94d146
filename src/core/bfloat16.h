// bfloat16: the upper half of a float32, which C++ has no portable type for. Plain data; conversions are
// integer arithmetic, so that every compiler, instruction set and GPU gives the same bits (x86's own
// instruction makes zeros of subnormal numbers). Freestanding: kernels compiled to bitcode include it.
#pragma once

#include <cstdint>
#include <type_traits>

namespace weft {

struct BFloat16 {
    uint16_t bits;

    BFloat16() = default;

    /// Through float, to the nearest number, ties to even; a nan to the quiet one of its sign, as ml_dtypes.
    template <typename T>
        requires std::is_arithmetic_v<T>
    explicit constexpr BFloat16(T value)
        : bits(rounded(__builtin_bit_cast(uint32_t, static_cast<float>(value)))) {}

    template <typename T>
        requires std::is_arithmetic_v<T>
    explicit constexpr operator T() const {
        return static_cast<T>(__builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16));
    }

    friend constexpr bool operator==(BFloat16 a, BFloat16 b) {
        return static_cast<float>(a) == static_cast<float>(b);
    }
    friend constexpr bool operator<(BFloat16 a, BFloat16 b) {
        return static_cast<float>(a) < static_cast<float>(b);
    }
    friend constexpr bool operator>(BFloat16 a, BFloat16 b) { return b < a; }

private:
    static constexpr uint16_t rounded(uint32_t value) {
        // Half of the last place less one, and one if the last place is odd; a carry walks into the exponent.
        const uint32_t nearest = (value + 0x7FFF + ((value >> 16) & 1)) >> 16;
        const uint32_t nan = ((value >> 16) & 0x8000) | 0x7FC0;
        return static_cast<uint16_t>((value & 0x7FFFFFFF) > 0x7F800000 ? nan : nearest);
    }
};

static_assert(sizeof(BFloat16) == 2 && alignof(BFloat16) == 2);

}  // namespace weft
