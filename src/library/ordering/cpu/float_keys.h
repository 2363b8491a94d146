// Floats side by side as unsigned numbers in the same order, and back, for sorts
// (library/ordering/sort_keys.h says what the keys are); in the widest registers of two instruction sets,
// chosen at run time.
#pragma once

#include <cstdint>
#include <span>

namespace weft {

// For floats as uint16_t, uint32_t and uint64_t; `infinity` has all bits of the exponent.
template <class Bits>
struct FloatKeys {
    Bits infinity;

    // With `merge_zeros` -0.0 and 0.0 have one key. `from` has any alignment.
    void make(const char* from, bool merge_zeros, std::span<Bits> keys) const;
    void turn_back(std::span<Bits> keys) const;  // in place; every NaN becomes the quiet one
};

}  // namespace weft
