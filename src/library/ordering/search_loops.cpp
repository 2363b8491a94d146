#include "library/ordering/search_loops.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/complex.h"
#include "core/scalar_traits.h"
#include "core/threads/thread_pool.h"
#include "device/device.h"
#include "library/ordering/sort_keys.h"

namespace weft {

namespace {

// Values that are searched for together: what one waits for, memory or a comparison, the others hide.
constexpr size_t kTogether = 16;
constexpr int64_t kPiece = 4096;  // values of a task: some ten microseconds and more

template <class T>
constexpr bool is_complex_type = std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;

// What stands for an element of type T in comparisons.
template <class T>
auto key_of(const char* from) {
    if constexpr (is_complex_type<T>) {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    } else {
        return SortKeys<T>::of(from, true);
    }
}

// Whether the element belongs before the value.
template <bool right, class Key>
bool is_before(const Key& element, const Key& value) {
    if constexpr (std::is_unsigned_v<Key>) {
        return right ? element <= value : element < value;
    } else {
        return right ? !complex_less(value, element) : complex_less(element, value);
    }
}

// Each step halves what is left of all rows alike, whatever is found, so that nothing is guessed.
template <bool right, size_t count, class Key, class KeyAt>
void search_together(const KeyAt& key_at, int64_t length, const Key* values, int64_t* positions) {
    std::array<int64_t, count> low{};
    for (int64_t rest = length; rest > 1;) {
        const int64_t half = rest / 2;
        for (size_t j = 0; j < count; ++j)
            if (__builtin_unpredictable(is_before<right>(key_at(low[j] + half - 1), values[j])))
                low[j] += half;
        rest -= half;
    }
    for (size_t j = 0; j < count; ++j)
        positions[j] = low[j] + int64_t{is_before<right>(key_at(low[j]), values[j])};
}

template <class T, bool right, class KeyAt>
void search_all(const KeyAt& key_at, int64_t length, const char* values, int64_t count, int64_t* positions) {
    using Key = decltype(key_of<T>(values));
    const auto search_piece = [&](int64_t begin, int64_t end) {
        std::array<Key, kTogether> keys;
        const auto read = [&](size_t j, int64_t i) {
            keys[j] = key_of<T>(values + i * static_cast<int64_t>(sizeof(T)));
        };
        int64_t i = begin;
        for (; i + static_cast<int64_t>(kTogether) <= end; i += kTogether) {
            for (size_t j = 0; j < kTogether; ++j) read(j, i + static_cast<int64_t>(j));
            search_together<right, kTogether>(key_at, length, keys.data(), positions + i);
        }
        for (; i < end; ++i) {
            read(0, i);
            search_together<right, 1>(key_at, length, keys.data(), positions + i);
        }
    };
    if (count < 2 * kPiece) {
        search_piece(0, count);
        return;
    }
    parallel_for((count + kPiece - 1) / kPiece,
                 [&](int64_t piece) { search_piece(piece * kPiece, std::min(count, (piece + 1) * kPiece)); });
}

}  // namespace

void search_sorted(ScalarType type, const char* sorted, int64_t sorted_stride, int64_t length,
                   const char* values, int64_t count, bool right, int64_t* positions) {
    if (length == 0) {
        std::fill_n(positions, count, 0);
        return;
    }
    visit_scalar_type(type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        using Key = decltype(key_of<T>(sorted));
        const auto search = [&](const auto& key_at) {
            if (right) {
                search_all<T, true>(key_at, length, values, count, positions);
            } else {
                search_all<T, false>(key_at, length, values, count, positions);
            }
        };
        const auto element = [&](int64_t i) { return key_of<T>(sorted + i * sorted_stride); };
        if (is_complex_type<T> || length > count) {
            search(element);
            return;
        }
        const BufferPtr memory = cpu_device().allocate(static_cast<size_t>(length) * sizeof(Key));
        auto* const keys = reinterpret_cast<Key*>(memory->data());
        for (int64_t i = 0; i < length; ++i) keys[i] = element(i);
        search([keys](int64_t i) -> const Key& { return keys[i]; });
    });
}

}  // namespace weft
