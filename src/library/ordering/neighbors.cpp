#include "library/ordering/neighbors.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/scalar_traits.h"
#include "core/threads/thread_pool.h"
#include "library/ordering/sort_keys.h"

namespace weft {

namespace {

constexpr int64_t kPiece = int64_t{1} << 15;  // elements

// Calls work(piece, begin, end) for pieces of [0, count).
template <class Work>
void in_pieces(int64_t count, const Work& work) {
    parallel_for((count + kPiece - 1) / kPiece,
                 [&](int64_t piece) { work(piece, piece * kPiece, std::min(count, (piece + 1) * kPiece)); });
}

// Whether two elements are equal, and with `equal_nan` whether both are NaN.
template <class T, bool equal_nan>
bool are_equal(const char* first, const char* second) {
    if constexpr (is_half_float<T>) {
        const auto x = SortKeys<T>::of(first, true), y = SortKeys<T>::of(second, true);
        return x == y && (equal_nan || x != SortKeys<T>::kNan);
    } else {
        const T x = load_element<T>(first), y = load_element<T>(second);
        if constexpr (requires { x.re; }) {
            const auto is_nan = [](const T& z) { return z.re != z.re || z.im != z.im; };
            return (x.re == y.re && x.im == y.im) || (equal_nan && is_nan(x) && is_nan(y));
        } else {
            return x == y || (equal_nan && x != x && y != y);
        }
    }
}

// Compares neighbours.
template <class T, bool equal_nan>
struct Row {
    static constexpr auto kItemsize = static_cast<int64_t>(sizeof(T));
    const char* data;
    int64_t count;

    const char* at(int64_t i) const { return data + i * kItemsize; }
    // Whether another element begins at `i`; behind the last one it does.
    bool begins(int64_t i) const {
        return i == 0 || i == count || !are_equal<T, equal_nan>(at(i - 1), at(i));
    }
    template <Neighbors rule>
    bool fits(int64_t i) const {
        if constexpr (rule == Neighbors::kFirst) return begins(i);
        if constexpr (rule == Neighbors::kAgain) return !begins(i + 1);
        return begins(i) && begins(i + 1);
    }
};

// With work(Row) for the elements' type.
template <class Work>
void with_row(const OrderedElements& row, const Work& work) {
    visit_scalar_type(row.type, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (!std::is_integral_v<T>) {
            if (row.equal_nan) return work(Row<T, true>{row.data, row.count});
        }
        work(Row<T, false>{row.data, row.count});
    });
}

template <class Work>
void with_rule(Neighbors rule, const Work& work) {
    switch (rule) {
        case Neighbors::kFirst: return work(std::integral_constant<Neighbors, Neighbors::kFirst>());
        case Neighbors::kAgain: return work(std::integral_constant<Neighbors, Neighbors::kAgain>());
        case Neighbors::kAlone: return work(std::integral_constant<Neighbors, Neighbors::kAlone>());
    }
}

// How many elements fit before each piece, and in all.
template <Neighbors rule, class R>
std::vector<int64_t> count_before(const R& row) {
    std::vector<int64_t> before(static_cast<size_t>((row.count + kPiece - 1) / kPiece) + 1);
    in_pieces(row.count, [&](int64_t piece, int64_t begin, int64_t end) {
        int64_t count = 0;
        for (int64_t i = begin; i < end; ++i) count += row.template fits<rule>(i);
        before[static_cast<size_t>(piece) + 1] = count;
    });
    for (size_t k = 1; k < before.size(); ++k) before[k] += before[k - 1];
    return before;
}

int64_t* positions_in(const BufferPtr& buffer) { return reinterpret_cast<int64_t*>(buffer->data()); }

}  // namespace

SelectedElements select_by_neighbors(const OrderedElements& row, Neighbors rule, bool with_places) {
    SelectedElements result;
    with_row(row, [&](auto typed) {
        with_rule(rule, [&](auto constant) {
            constexpr Neighbors kRule = decltype(constant)::value;
            constexpr int64_t kItemsize = decltype(typed)::kItemsize;
            const std::vector<int64_t> before = count_before<kRule>(typed);
            result.count = before.back();
            result.values = cpu_device().allocate(static_cast<size_t>(result.count * kItemsize));
            if (with_places)
                result.places = cpu_device().allocate(static_cast<size_t>(result.count) * sizeof(int64_t));
            in_pieces(row.count, [&](int64_t piece, int64_t begin, int64_t end) {
                int64_t next = before[static_cast<size_t>(piece)];
                char* to = result.values->data() + next * kItemsize;
                int64_t* places = with_places ? positions_in(result.places) + next : nullptr;
                for (int64_t i = begin; i < end; ++i) {
                    if (!typed.template fits<kRule>(i)) continue;
                    std::memcpy(to, typed.at(i), static_cast<size_t>(kItemsize));
                    to += kItemsize;
                    if (places != nullptr) *places++ = i;
                }
            });
        });
    });
    return result;
}

void number_by_order(const OrderedElements& row, const int64_t* order, int64_t* inverse) {
    with_row(row, [&](auto typed) {
        const std::vector<int64_t> before = count_before<Neighbors::kFirst>(typed);
        in_pieces(row.count, [&](int64_t piece, int64_t begin, int64_t end) {
            int64_t number = before[static_cast<size_t>(piece)] - 1;
            for (int64_t i = begin; i < end; ++i) {
                number += typed.begins(i);
                inverse[order[i]] = number;
            }
        });
    });
}

void distances_of_places(const int64_t* places, int64_t count, int64_t end, int64_t* lengths) {
    in_pieces(count, [&](int64_t, int64_t begin, int64_t stop) {
        for (int64_t k = begin; k < stop; ++k)
            lengths[k] = (k + 1 == count ? end : places[k + 1]) - places[k];
    });
}

void take_at_places(const int64_t* from, const int64_t* places, int64_t count, int64_t* to) {
    in_pieces(count, [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) to[k] = from[places[k]];
    });
}

}  // namespace weft
