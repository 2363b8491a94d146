// What searches.cpp is made of: the search for an extreme element in vectors. Compiled once for each
// instruction set, as strided_loop.h, with vectors as long as its registers. A block's extreme element is
// found first, without its place, and the place then in the best block.
#pragma once

#include "ops/extreme_search.h"

#include "ops/strided_loop.h"

namespace weft::WEFT_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
constexpr int64_t kBlockBytes =
    16384;  // of keys: they are in the first-level cache when the place is looked for

// What is compared: elements themselves or, where vectors cannot compare these, integers in their order.
template <typename T>
struct Keys {
    using Key = T;
    static constexpr bool kAreElements = true;
    template <bool largest>
    static WEFT_KERNEL Key of(T element) {
        return element;
    }
};
template <typename T>
    requires scalar::HalfFloat<T>
struct Keys<T> {
    using Key = int16_t;
    static constexpr bool kAreElements = false;
    template <bool largest>
    static WEFT_KERNEL Key of(T element) {
        const auto bits = scalar::bits(element);
        const auto magnitude = static_cast<int16_t>(bits & 0x7fff);
        const auto number = static_cast<int16_t>((bits & 0x8000) != 0 ? -magnitude : magnitude);
        const bool is_nan = magnitude > static_cast<int16_t>(scalar::kInfinityBits<T>);
        return is_nan ? static_cast<int16_t>(largest ? 0x7fff : -0x7fff) : number;
    }
};

template <bool largest, typename Key>
WEFT_KERNEL bool is_better(Key value, Key best) {
    return largest ? value > best : value < best;
}

// At any address.
template <typename Key>
WEFT_KERNEL Key key_at(const char* keys, int64_t position) {
    Key key;
    __builtin_memcpy(&key, keys + position * int64_t{sizeof(Key)}, sizeof key);
    return key;
}

template <typename Key>
struct Vectors {
    using Vector = Key __attribute__((vector_size(kVectorBytes)));
    static constexpr int64_t kLanes = kVectorBytes / sizeof(Key);

    static WEFT_KERNEL Vector at(const char* keys, int64_t position) {
        Vector vector;
        __builtin_memcpy(&vector, keys + position * int64_t{sizeof(Key)}, sizeof vector);
        return vector;
    }
    template <bool largest>
    static WEFT_KERNEL Vector better(Vector values, Vector best) {
        if constexpr (largest) {
            return values > best ? values : best;
        } else {
            return values < best ? values : best;
        }
    }
};

// Of keys side by side, kWidth vectors of them at least. With a NaN among them the result may be any of them.
template <bool largest, typename Key, int kWidth>
WEFT_KERNEL Key extreme_of(const char* keys, int64_t count, bool& has_nan) {
    using V = Vectors<Key>;
    constexpr int64_t kStep = kWidth * V::kLanes;
    typename V::Vector best[kWidth];
    for (int k = 0; k < kWidth; ++k) best[k] = V::at(keys, k * V::kLanes);
    auto unordered = best[0] != best[0];
    const auto take = [&](int64_t begin) __attribute__((always_inline)) {
        typename V::Vector values[kWidth];
        for (int k = 0; k < kWidth; ++k) {
            values[k] = V::at(keys, begin + k * V::kLanes);
            best[k] = V::template better<largest>(values[k], best[k]);
        }
        if constexpr (scalar::Real<Key>) {  // one comparison of two vectors
            for (int k = 0; k < kWidth; k += 2) {
                const auto& other = values[k + 1 < kWidth ? k + 1 : k];
                unordered |= (values[k] != values[k]) | (other != other);
            }
        }
    };
    int64_t begin = 0;
    for (; begin + kStep <= count; begin += kStep) take(begin);
    if (begin < count) take(count - kStep);
    if constexpr (scalar::Real<Key>) has_nan = __builtin_reduce_or(unordered) != 0;
    for (int k = 1; k < kWidth; ++k) best[0] = V::template better<largest>(best[k], best[0]);
    Key lanes[V::kLanes];
    __builtin_memcpy(lanes, &best[0], sizeof lanes);
    for (int64_t half = V::kLanes / 2; half > 0; half /= 2) {
        for (int64_t l = 0; l < half; ++l) {
            if (is_better<largest>(lanes[l + half], lanes[l])) lanes[l] = lanes[l + half];
        }
    }
    return lanes[0];
}

// The first of the keys that is sought, of which there is one: equal to `sought` or, for a NaN, unequal to
// itself.
template <typename Key, bool nan>
__attribute__((noinline)) int64_t first_of(const char* keys, int64_t count, Key sought) {
    using V = Vectors<Key>;
    constexpr int kWidth = 4;
    const auto is_sought = [&](auto key) __attribute__((always_inline)) {
        if constexpr (nan) {
            return key != key;
        } else {
            return key == sought;
        }
    };
    const auto any = [&](auto found)
                         __attribute__((always_inline)) { return __builtin_reduce_or(found) != 0; };
    int64_t begin = 0;
    for (constexpr int64_t kStep = kWidth * V::kLanes; begin + kStep <= count; begin += kStep) {
        auto found = is_sought(V::at(keys, begin));
        for (int k = 1; k < kWidth; ++k) found |= is_sought(V::at(keys, begin + k * V::kLanes));
        if (any(found)) break;
    }
    while (begin + V::kLanes <= count && !any(is_sought(V::at(keys, begin)))) begin += V::kLanes;
    while (!is_sought(key_at<Key>(keys, begin))) ++begin;
    return begin;
}

template <bool largest, typename Key>
WEFT_KERNEL Key extreme_of(const char* keys, int64_t count, bool& has_nan) {
    return count < 4 * Vectors<Key>::kLanes ? extreme_of<largest, Key, 1>(keys, count, has_nan)
                                            : extreme_of<largest, Key, 4>(keys, count, has_nan);
}

// One after another.
template <typename T, bool largest>
WEFT_KERNEL int64_t search_few(const char* elements, int64_t stride, int64_t count) {
    int64_t position = 0;
    auto best = Keys<T>::template of<largest>(load_element<T>(elements));
    for (int64_t i = 1; i < count && best == best; ++i) {
        const auto key = Keys<T>::template of<largest>(load_element<T>(elements + i * stride));
        if (is_better<largest>(key, best) || key != key) {
            best = key;
            position = i;
        }
    }
    return position;
}

template <typename T, bool largest>
int64_t search(const char* elements, int64_t stride, int64_t count) {
    using Key = typename Keys<T>::Key;
    constexpr int64_t kLanes = Vectors<Key>::kLanes, kBlock = kBlockBytes / int64_t{sizeof(Key)};
    if (count < kLanes) return search_few<T, largest>(elements, stride, count);
    alignas(64) char copied[kBlockBytes + kVectorBytes];
    const auto keys_from = [&](int64_t begin, int64_t length) __attribute__((always_inline)) -> const char* {
        const char* from = elements + begin * stride;
        if (Keys<T>::kAreElements && stride == int64_t{sizeof(T)}) return from;
        const auto copy = [&](int64_t step) __attribute__((always_inline)) {
            for (int64_t i = 0; i < length; ++i) {
                const Key key = Keys<T>::template of<largest>(load_element<T>(from + i * step));
                __builtin_memcpy(copied + i * int64_t{sizeof(Key)}, &key, sizeof key);
            }
        };
        if (stride == int64_t{sizeof(T)}) {
            copy(int64_t{sizeof(T)});
        } else {
            copy(stride);
        }
        return copied;
    };
    Key best{};
    int64_t place = 0, best_length = 0;
    bool nan = false;
    for (int64_t begin = 0, length = 0; begin < count && !nan; begin += length) {
        length = count - begin < kBlock + kLanes ? count - begin : kBlock;
        const Key own = extreme_of<largest, Key>(keys_from(begin, length), length, nan);
        if (begin == 0 || nan || is_better<largest>(own, best)) {
            best = own;
            place = begin;
            best_length = length;
        }
    }
    const char* const keys = keys_from(place, best_length);
    if constexpr (scalar::Real<Key>) {
        if (nan) return place + first_of<Key, true>(keys, best_length, best);
    }
    return place + first_of<Key, false>(keys, best_length, best);
}

// The first one that decides.
template <bool largest>
int64_t search_bools(const char* elements, int64_t stride, int64_t count) {
    using V = Vectors<uint8_t>;
    int64_t begin = 0;
    if (stride == 1) {
        const auto decides = [&](int64_t at) __attribute__((always_inline)) {
            const V::Vector bytes = V::at(elements, at);
            return __builtin_reduce_or(largest ? bytes != 0 : bytes == 0) != 0;
        };
        while (begin + V::kLanes <= count && !decides(begin)) begin += V::kLanes;
    }
    for (; begin < count; ++begin) {
        if (load_element<bool>(elements + begin * stride) == largest) return begin;
    }
    return 0;
}

template <typename Real, bool largest>
int64_t search_complex(const char* elements, int64_t stride, int64_t count) {
    const auto at = [&](int64_t i) __attribute__((always_inline)) {
        return load_element<Complex<Real>>(elements + i * stride);
    };
    int64_t position = 0;
    Complex<Real> best = at(0);
    for (int64_t i = 1; i < count && best == best; ++i) {
        const Complex<Real> value = at(i);
        if (is_better<largest>(best.re, value.re) & (value.im == value.im)) continue;  // as nearly always
        if (is_better<largest>(value.re, best.re) || !(value == value) ||
            (value.re == best.re && is_better<largest>(value.im, best.im))) {
            best = value;
            position = i;
        }
    }
    return position;
}

template <typename T>
constexpr ExtremeSearches kSearchesOf = {search<T, true>, search<T, false>};
template <>
constexpr ExtremeSearches kSearchesOf<bool> = {search_bools<true>, search_bools<false>};
template <typename Real>
constexpr ExtremeSearches kSearchesOf<Complex<Real>> = {search_complex<Real, true>,
                                                        search_complex<Real, false>};

}  // namespace

extern const ExtremeSearches kExtremeSearches[];
const ExtremeSearches kExtremeSearches[] = {
#define WEFT_SCALAR_TYPE(enumerator, name, character, kind, type, size, short_name) kSearchesOf<type>,
#include "weft/scalar_types.def"
#undef WEFT_SCALAR_TYPE
};

}  // namespace weft::WEFT_ISA
