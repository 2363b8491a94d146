// Elements as unsigned integers in the order that NumPy has for elements: -inf first, NaN last. Between a row
// and the sort of its keys (library/ordering/sort_loops.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/scalar_traits.h"

namespace weft {

template <size_t size>
using UnsignedOfSize = std::conditional_t<
    size == 1, uint8_t,
    std::conditional_t<size == 2, uint16_t, std::conditional_t<size == 4, uint32_t, uint64_t>>>;

// Of bool, integers and floats.
template <class T>
struct SortKeys {
    using Bits = UnsignedOfSize<sizeof(T)>;
    static constexpr bool kFloating = std::is_floating_point_v<T> || is_half_float<T>;
    static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
    static constexpr Bits kNan = std::numeric_limits<Bits>::max();
    // Infinity: all bits of the exponent.
    static constexpr Bits kInfinity = static_cast<Bits>(std::is_same_v<T, double>     ? 0x7ff0000000000000
                                                        : std::is_same_v<T, float>    ? 0x7f800000
                                                        : std::is_same_v<T, BFloat16> ? 0x7f80
                                                                                      : 0x7c00);

    // With `merge_zeros` -0.0 and 0.0 have one key, for orders that keep positions.
    static Bits of(const char* from, bool merge_zeros) {
        Bits bits;
        std::memcpy(&bits, from, sizeof bits);
        if constexpr (kFloating) {
            const Bits magnitude = bits & static_cast<Bits>(~kSign);
            if (magnitude > kInfinity) return kNan;
            if (merge_zeros && magnitude == 0) bits = 0;
            return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign);
        } else if constexpr (std::is_same_v<T, bool>) {
            return bits != 0;
        } else {
            return std::is_signed_v<T> ? static_cast<Bits>(bits ^ kSign) : bits;
        }
    }

    static void back(Bits key, char* to) {
        Bits bits = key;
        if constexpr (kFloating) {
            constexpr Bits kQuietNan = static_cast<Bits>(kInfinity | (kInfinity >> 1));
            bits = key == kNan          ? kQuietNan
                   : (key & kSign) != 0 ? static_cast<Bits>(key ^ kSign)
                                        : static_cast<Bits>(~key);
        } else if constexpr (std::is_signed_v<T>) {
            bits = static_cast<Bits>(key ^ kSign);
        }
        std::memcpy(to, &bits, sizeof bits);
    }
};

// Calls work(stride) with a constant where elements lie side by side, so that its loop is one over vectors.
template <class T, class Work>
void with_stride(int64_t stride, const Work& work) {
    if (stride == int64_t{sizeof(T)}) {
        work(std::integral_constant<int64_t, sizeof(T)>());
    } else {
        work(stride);
    }
}

// NumPy's order of complex numbers: by the real part, then by the imaginary one; those with a NaN in the
// imaginary part come behind those with none, behind them those with a NaN in the real part.
template <class Complex>
bool complex_less(const Complex& a, const Complex& b) {
    const bool nan_a[2] = {a.re != a.re, a.im != a.im}, nan_b[2] = {b.re != b.re, b.im != b.im};
    const int class_a = 2 * nan_a[0] + nan_a[1], class_b = 2 * nan_b[0] + nan_b[1];
    if (class_a != class_b) return class_a < class_b;
    if (!nan_a[0] && a.re != b.re) return a.re < b.re;
    return !nan_a[1] && a.im < b.im;
}

}  // namespace weft
