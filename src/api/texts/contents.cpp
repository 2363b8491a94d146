#include <algorithm>

#include "api/texts/views.h"
#include "library/texts/text_changes.h"
#include "library/texts/text_contents.h"

namespace weft::texts {

namespace {

// work(texts, texts, results) of two views that broadcast.
template <class T, class Work>
array of_pairs(const View& first, const View& second, const Work& work) {
    const auto [a, b] = broadcast(first, second);
    Results<T> results(a.shape);
    work(a, b, results.data());
    return results.finish();
}

}  // namespace

array compare(const View& first, const View& second, Comparison comparison) {
    return of_pairs<bool>(
        first, second, [&](const View& a, const View& b, bool* to) { compare_texts(a, b, comparison, to); });
}

array str_len(const View& input) {
    check(input);
    Results<int64_t> lengths(input.shape);
    lengths_of_texts(input, lengths.data());
    return lengths.finish();
}

array find(const View& input, const View& wanted, bool last) {
    return of_pairs<int64_t>(
        input, wanted, [&](const View& a, const View& b, int64_t* to) { find_in_texts(a, b, last, to); });
}

array count(const View& input, const View& wanted) {
    return of_pairs<int64_t>(input, wanted,
                             [&](const View& a, const View& b, int64_t* to) { count_in_texts(a, b, to); });
}

array startswith(const View& input, const View& wanted, bool at_end) {
    return of_pairs<bool>(input, wanted, [&](const View& a, const View& b, bool* to) {
        match_ends_of_texts(a, b, at_end, to);
    });
}

void add(const View& first, const View& second, const Target& target) {
    const auto [a, b] = broadcast(first, second);
    if (target.width < a.width + b.width) throw ValueError("the target is narrower than both texts");
    join_texts(a, b, target);
}

void strip(const View& input, const View* removed, Ends ends, const Target& target) {
    check(input);
    if (removed != nullptr) {
        check_pair(input, *removed);
        if (element_count(removed->shape) != 1) throw ValueError("characters to remove are one text");
    }
    if (target.width < input.width) throw ValueError("the target is narrower than the texts");
    strip_texts(input, removed, ends, target);
}

array change_case(const View& input, Case to, const Target& target) {
    check(input);
    if (target.width != input.width) throw ValueError("the target is as wide as the texts");
    const std::vector<int64_t> others = change_case_of_texts(input, to, target);
    Results<int64_t> positions({static_cast<int64_t>(others.size())});
    std::ranges::copy(others, positions.data());
    return positions.finish();
}

}  // namespace weft::texts
