#include "library/ordering/cpu/vector_sort.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "library/ordering/cpu/compress_store.h"

// Highway reads this file again for each instruction set, which its macros name.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "library/ordering/cpu/vector_sort.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
// clang-format off: the first of these includes the others for each instruction set
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/sort/traits-inl.h>
#include <hwy/contrib/sort/traits128-inl.h>
// Its Partition() finds the last two vectors of a part of more than two by an offset below zero from where it has come,
// as an unsigned number: within the part, but an overflow to the undefined-behaviour sanitizer.
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#include <hwy/contrib/sort/vqsort-inl.h>
#pragma clang attribute pop
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace weft::HWY_NAMESPACE {

namespace vectors = hwy::HWY_NAMESPACE;

template <class Key>
void sort_lanes(Key* keys, size_t count) {
    if (count < 2) return;  // Highway wants keys
    using Order = vectors::detail::OrderAscending<Key>;
    const vectors::detail::SharedTraits<vectors::detail::TraitsLane<Order>> traits;
    vectors::Sort(vectors::SortTag<Key>(), traits, keys, count, static_cast<Key*>(nullptr));
}

void sort_keys16(void* keys, size_t count) { sort_lanes(static_cast<uint16_t*>(keys), count); }
void sort_keys32(void* keys, size_t count) { sort_lanes(static_cast<uint32_t*>(keys), count); }
void sort_keys64(void* keys, size_t count) { sort_lanes(static_cast<uint64_t*>(keys), count); }

void sort_keys128(void* keys, size_t count) {
    if (count < 2) return;
    using Order = vectors::detail::OrderAscending128;
    const vectors::detail::SharedTraits<vectors::detail::Traits128<Order>> traits;
    vectors::Sort(vectors::SortTag<uint64_t>(), traits, static_cast<uint64_t*>(keys), 2 * count,
                  static_cast<uint64_t*>(nullptr));
}

}  // namespace weft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace hwy {

// Where the pivots are sampled begins anywhere; Highway's own library, which is not linked, takes the time.
void Sorter::Fill24Bytes(const void*, size_t count, void* bytes) {
    const std::array<uint64_t, 3> state = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, count | 1};
    std::memcpy(bytes, state.data(), sizeof state);
}

// Of its assertions, which builds with sanitizers check.
void Abort(const char* file, int line, const char* format, ...) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, format);
    std::abort();
}

}  // namespace hwy

namespace weft {

namespace {

using SortFunction = void (*)(void* keys, size_t count);

struct SortFunctions {
    SortFunction keys16, keys32, keys64, keys128;
};

SortFunctions choose_functions() {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return {N_AVX3::sort_keys16, N_AVX3::sort_keys32, N_AVX3::sort_keys64, N_AVX3::sort_keys128};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        return {N_AVX2::sort_keys16, N_AVX2::sort_keys32, N_AVX2::sort_keys64, N_AVX2::sort_keys128};
    return {N_SSE4::sort_keys16, N_SSE4::sort_keys32, N_SSE4::sort_keys64, N_SSE4::sort_keys128};
}

const SortFunctions& functions() {
    static const SortFunctions chosen = choose_functions();
    return chosen;
}

}  // namespace

void vector_sort(std::span<uint16_t> keys) { functions().keys16(keys.data(), keys.size()); }
void vector_sort(std::span<uint32_t> keys) { functions().keys32(keys.data(), keys.size()); }
void vector_sort(std::span<uint64_t> keys) { functions().keys64(keys.data(), keys.size()); }
void vector_sort(std::span<WideKey> keys) { functions().keys128(keys.data(), keys.size()); }

}  // namespace weft

#endif
