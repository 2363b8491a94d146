#include "library/ordering/cpu/float_keys.h"

#include <cstring>

#include "core/processor.h"

namespace weft {

namespace {

template <class Bits>
constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

template <class Bits, bool merge_zeros>
[[gnu::always_inline]] inline void make_keys(const char* from, Bits infinity, Bits* __restrict keys,
                                             size_t count) {
    for (size_t i = 0; i < count; ++i) {
        Bits bits;
        std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
        const auto magnitude = static_cast<Bits>(bits & ~kSign<Bits>);
        if (merge_zeros && magnitude == 0) bits = 0;
        const auto key = static_cast<Bits>((bits & kSign<Bits>) != 0 ? ~bits : bits | kSign<Bits>);
        keys[i] = magnitude > infinity ? static_cast<Bits>(~Bits{0}) : key;
    }
}

template <class Bits>
[[gnu::always_inline]] inline void turn_keys_back(Bits infinity, Bits* keys, size_t count) {
    const auto quiet_nan = static_cast<Bits>(infinity | infinity >> 1);
    for (size_t i = 0; i < count; ++i) {
        const Bits key = keys[i];
        const auto bits = static_cast<Bits>((key & kSign<Bits>) != 0 ? key ^ kSign<Bits> : ~key);
        keys[i] = key == static_cast<Bits>(~Bits{0}) ? quiet_nan : bits;
    }
}

template <class Bits, bool merge_zeros>
[[gnu::target("avx2")]] void make_keys_avx2(const char* from, Bits infinity, Bits* keys, size_t count) {
    make_keys<Bits, merge_zeros>(from, infinity, keys, count);
}

template <class Bits>
[[gnu::target("avx2")]] void turn_keys_back_avx2(Bits infinity, Bits* keys, size_t count) {
    turn_keys_back(infinity, keys, count);
}

bool has_avx2() { return processor_level() >= ProcessorLevel::kX86V3; }

}  // namespace

template <class Bits>
void FloatKeys<Bits>::make(const char* from, bool merge_zeros, std::span<Bits> keys) const {
    if (has_avx2()) {
        (merge_zeros ? make_keys_avx2<Bits, true> : make_keys_avx2<Bits, false>)(from, infinity, keys.data(),
                                                                                 keys.size());
    } else if (merge_zeros) {
        make_keys<Bits, true>(from, infinity, keys.data(), keys.size());
    } else {
        make_keys<Bits, false>(from, infinity, keys.data(), keys.size());
    }
}

template <class Bits>
void FloatKeys<Bits>::turn_back(std::span<Bits> keys) const {
    if (has_avx2()) {
        turn_keys_back_avx2(infinity, keys.data(), keys.size());
    } else {
        turn_keys_back(infinity, keys.data(), keys.size());
    }
}

template struct FloatKeys<uint16_t>;
template struct FloatKeys<uint32_t>;
template struct FloatKeys<uint64_t>;

}  // namespace weft
