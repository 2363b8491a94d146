// Elements as unsigned integers in NumPy's order, and back: as library/ordering/sort_keys.h does, but by a
// number that says what the elements are, so that one kernel serves all types of a size.
#pragma once

#include <cstdint>

#include "library/gpu/threads.h"
#include "library/ordering/cuda/kernel_arguments.h"

namespace weft::gpu {

template <class Bits>
constexpr Bits kSignBit = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
template <class Bits>
constexpr Bits kLastKey = static_cast<Bits>(~Bits{0});

// Of a float; `infinity` are the bits of that number. NaN is the last key, all of them the same.
template <class Bits>
Bits key_of_float(Bits bits, Bits infinity, bool merge_zeros) {
    const Bits magnitude = static_cast<Bits>(bits & static_cast<Bits>(~kSignBit<Bits>));
    if (magnitude > infinity) return kLastKey<Bits>;
    if (merge_zeros && magnitude == 0) bits = 0;
    return static_cast<Bits>((bits & kSignBit<Bits>) != 0 ? ~bits : bits | kSignBit<Bits>);
}
// NumPy's order of complex numbers: by the real part, then by the imaginary one; those with a NaN in the
// imaginary part come behind those with none, behind them those with a NaN in the real part. `high` and `low`
// are the keys of the parts; what is above the key of infinity and below that of NaN tells the classes apart.
template <class Bits>
struct ComplexKey {
    Bits high, low;
};
// How many bits there are above infinity: 22 of float32, 51 of float64.
template <class Bits>
constexpr int kClassBits = sizeof(Bits) == 4 ? 22 : 51;

template <class Bits>
ComplexKey<Bits> complex_key(Bits real, Bits imaginary, Bits infinity, bool merge_zeros) {
    const Bits high = key_of_float(real, infinity, merge_zeros),
               low = key_of_float(imaginary, infinity, merge_zeros);
    constexpr int kBits = 8 * sizeof(Bits), kFree = kClassBits<Bits>;
    if (high == kLastKey<Bits>) {
        return {low == kLastKey<Bits> ? kLastKey<Bits> : static_cast<Bits>(kLastKey<Bits> - 1), low};
    }
    if (low != kLastKey<Bits>) return {high, low};
    return {static_cast<Bits>(kLastKey<Bits> << kFree | high >> (kBits - kFree)),
            static_cast<Bits>(high << kFree)};
}

// From elements of one kind to keys and back, without branches: what differs between kinds are numbers.
// `merge_zeros`: -0.0 and 0.0 have one key, for orders that keep positions.
template <class Bits, bool merge_zeros>
class KeyRule {
public:
    KeyRule(uint64_t kind, uint64_t infinity)
        : sign_(kind == kOrderSigned || kind == kOrderFloat ? kSignBit<Bits> : Bits{0}),
          negative_(kind == kOrderFloat ? static_cast<Bits>(~kSignBit<Bits>) : Bits{0}),
          infinity_(kind == kOrderFloat || kind == kOrderComplex ? static_cast<Bits>(infinity)
                                                                 : kLastKey<Bits>),
          negative_zero_(kind == kOrderFloat),
          truth_(kind == kOrderBool),
          complex_(kind == kOrderComplex) {}

    Bits key(Bits bits) const {
        if constexpr (merge_zeros && sizeof(Bits) == 8) {
            if (complex_) {
                const auto key = complex_key(static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32),
                                             static_cast<uint32_t>(infinity_), true);
                return uint64_t{key.high} << 32 | key.low;
            }
        }
        if constexpr (sizeof(Bits) == 1) {
            if (truth_) return bits != 0;
        }
        const bool is_negative = (bits & kSignBit<Bits>) != 0;
        const bool is_nan = static_cast<Bits>(bits & static_cast<Bits>(~kSignBit<Bits>)) > infinity_;
        if (merge_zeros && negative_zero_ && bits == kSignBit<Bits>) return kSignBit<Bits>;
        const auto key = static_cast<Bits>(bits ^ sign_ ^ (is_negative ? negative_ : Bits{0}));
        return is_nan ? kLastKey<Bits> : key;
    }

    Bits element(Bits key) const {
        const bool is_negative = (key & kSignBit<Bits>) == 0;
        const auto bits = static_cast<Bits>(key ^ sign_ ^ (is_negative ? negative_ : Bits{0}));
        const bool is_nan = negative_ != 0 && key == kLastKey<Bits>;
        return is_nan ? static_cast<Bits>(infinity_ | (infinity_ >> 1)) : bits;
    }

private:
    const Bits sign_, negative_, infinity_;
    const bool negative_zero_, truth_, complex_;
};

}  // namespace weft::gpu
