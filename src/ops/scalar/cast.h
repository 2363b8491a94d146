// Conversions between element types, as NumPy's astype: integers wrap around, complex numbers lose their
// imaginary part, anything to bool asks whether it is not zero, and floating-point numbers lose their
// fraction. Numbers that an integer type cannot hold give what x86's conversions give where that is one
// instruction.
#pragma once

#include "ops/scalar/comparison.h"
#include "ops/scalar/types.h"

namespace weft::scalar::inline WEFT_ISA {

// C++ leaves a conversion out of range undefined; here it is the smallest integer, as x86's instructions
// give.
template <SignedInteger T>
    requires(sizeof(T) >= 4)
inline T truncate_to(double x) {
    constexpr double kLimit = sizeof(T) == 8 ? 0x1p63 : 0x1p31;
    const bool fits = (x >= -kLimit) & (x < kLimit);
    constexpr T kSmallest = static_cast<T>(static_cast<std::make_unsigned_t<T>>(1) << (8 * sizeof(T) - 1));
    return fits ? static_cast<T>(x) : kSmallest;
}
inline uint64_t truncate_to_uint64(double x) {
    const bool is_high = x >= 0x1p63;
    const int64_t low = truncate_to<int64_t>(is_high ? x - 0x1p63 : x);
    return is_high ? static_cast<uint64_t>(low) ^ (1ULL << 63) : static_cast<uint64_t>(low);
}

template <typename To, typename From>
inline To cast(From x) {
    if constexpr (std::is_same_v<To, From>) {
        return x;
    } else if constexpr (is_complex<From> && is_complex<To>) {
        using Part = decltype(To::re);
        return {static_cast<Part>(x.re), static_cast<Part>(x.im)};
    } else if constexpr (Bool<To>) {
        if constexpr (is_complex<From>)
            return is_true(x);
        else
            return x != static_cast<From>(0);
    } else if constexpr (is_complex<From>) {
        return cast<To>(x.re);
    } else if constexpr (is_complex<To>) {
        using Part = decltype(To::re);
        return {cast<Part>(x), static_cast<Part>(0)};
    } else if constexpr (std::is_same_v<To, BFloat16>) {
        return static_cast<BFloat16>(static_cast<float>(x));
    } else if constexpr (std::is_same_v<From, BFloat16>) {
        return cast<To>(static_cast<float>(x));
    } else if constexpr (std::is_same_v<To, Half>) {
        // Through float, as NumPy: integers above 2**24 and doubles are rounded twice there as well, but for
        // double to half, which NumPy rounds once.
        return static_cast<Half>(x);
    } else if constexpr (AnyFloat<From> && Integer<To>) {
        const auto wide = static_cast<double>(x);
        if constexpr (std::is_same_v<To, uint64_t>)
            return truncate_to_uint64(wide);
        else if constexpr (std::is_same_v<To, uint32_t>)
            return static_cast<uint32_t>(truncate_to<int64_t>(wide));
        else if constexpr (std::is_same_v<To, int64_t>)
            return truncate_to<int64_t>(wide);
        else
            return static_cast<To>(truncate_to<int32_t>(wide));
    } else {
        return static_cast<To>(x);
    }
}

}  // namespace weft::scalar::inline WEFT_ISA
