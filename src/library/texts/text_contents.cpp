#include "library/texts/text_contents.h"

#include <algorithm>
#include <cstring>

#include "library/texts/stretches.h"
#include "library/texts/two_texts.h"

namespace weft::texts {

namespace {

const char* data_of(const View& view) { return static_cast<const char*>(view.data); }

// work(index, text) of each text.
template <class Work>
void for_texts(const View& input, const Work& work) {
    const Stretches<1> stretches(input.shape, {&input.strides});
    for_parts(element_count(input.shape), input.width, [&](int64_t begin, int64_t end) {
        stretches.run(begin, end,
                      [&](int64_t first, int64_t count, const auto& offsets, const auto& strides) {
                          const char* text = data_of(input) + offsets[0];
                          for (int64_t i = 0; i < count; ++i, text += strides[0]) work(first + i, text);
                      });
    });
}

// work(index, text, text) of each pair.
template <class Work>
void for_pairs(const View& a, const View& b, const Work& work) {
    const Stretches<2> stretches(a.shape, {&a.strides, &b.strides});
    for_parts(element_count(a.shape), a.width + b.width, [&](int64_t begin, int64_t end) {
        stretches.run(begin, end,
                      [&](int64_t first, int64_t count, const auto& offsets, const auto& strides) {
                          const char *from_a = data_of(a) + offsets[0], *from_b = data_of(b) + offsets[1];
                          for (int64_t i = 0; i < count; ++i, from_a += strides[0], from_b += strides[1])
                              work(first + i, from_a, from_b);
                      });
    });
}

// Both are without zeros at their ends.
struct Text {
    const char* data;
    int64_t length;
};

template <class Char>
bool begins_with(const char* text, const Text& wanted) {
    return equal_bytes(text, wanted.data, wanted.length * int64_t{sizeof(Char)});
}

template <class Char>
int64_t find_first(const Text& text, int64_t from, const Text& wanted) {
    if (wanted.length == 0) return from;
    const Char first = character_at<Char>(wanted.data, 0);
    for (int64_t i = from; i + wanted.length <= text.length; ++i) {
        if (character_at<Char>(text.data, i) == first &&
            begins_with<Char>(text.data + i * int64_t{sizeof(Char)}, wanted))
            return i;
    }
    return -1;
}

template <class Char>
int64_t find_last(const Text& text, const Text& wanted) {
    for (int64_t i = text.length - wanted.length; i >= 0; --i) {
        if (begins_with<Char>(text.data + i * int64_t{sizeof(Char)}, wanted)) return i;
    }
    return -1;
}

// work(index, text, wanted) of each pair.
template <class Char, class Work>
void for_searches(const View& input, const View& wanted, const Work& work) {
    for_pairs(input, wanted, [&](int64_t i, const char* text, const char* other) {
        work(i, Text{text, length_of<Char>(text, input.width)},
             Text{other, length_of<Char>(other, wanted.width)});
    });
}

}  // namespace

void compare_texts(const View& first, const View& second, Comparison comparison, bool* to) {
    visit_character(first.character, [&](auto tag) {
        using Char = decltype(tag);
        const int64_t width_a = first.width, width_b = second.width;
        if (comparison == Comparison::kEqual || comparison == Comparison::kNotEqual) {
            const bool invert = comparison == Comparison::kNotEqual;
            for_pairs(first, second, [=](int64_t i, const char* a, const char* b) {
                to[i] = equal_texts<Char>(a, width_a, b, width_b) != invert;
            });
            return;
        }
        const bool swap = comparison == Comparison::kGreater || comparison == Comparison::kLessEqual;
        const bool invert = comparison == Comparison::kLessEqual || comparison == Comparison::kGreaterEqual;
        for_pairs(first, second, [=](int64_t i, const char* a, const char* b) {
            to[i] = (swap ? less_text<Char>(b, width_b, a, width_a)
                          : less_text<Char>(a, width_a, b, width_b)) != invert;
        });
    });
}

void lengths_of_texts(const View& input, int64_t* to) {
    visit_character(input.character, [&](auto tag) {
        for_texts(input, [=, width = input.width](int64_t i, const char* text) {
            to[i] = length_of<decltype(tag)>(text, width);
        });
    });
}

void find_in_texts(const View& input, const View& wanted, bool last, int64_t* to) {
    visit_character(input.character, [&](auto tag) {
        using Char = decltype(tag);
        for_searches<Char>(input, wanted, [=](int64_t i, const Text& text, const Text& other) {
            to[i] = last ? find_last<Char>(text, other) : find_first<Char>(text, 0, other);
        });
    });
}

void count_in_texts(const View& input, const View& wanted, int64_t* to) {
    visit_character(input.character, [&](auto tag) {
        using Char = decltype(tag);
        for_searches<Char>(input, wanted, [=](int64_t i, const Text& text, const Text& other) {
            if (other.length == 0) {
                to[i] = text.length + 1;
                return;
            }
            int64_t found = 0;
            for (int64_t at = 0; (at = find_first<Char>(text, at, other)) >= 0; at += other.length) ++found;
            to[i] = found;
        });
    });
}

void match_ends_of_texts(const View& input, const View& wanted, bool at_end, bool* to) {
    visit_character(input.character, [&](auto tag) {
        using Char = decltype(tag);
        for_searches<Char>(input, wanted, [=](int64_t i, const Text& text, const Text& other) {
            const int64_t at = at_end ? text.length - other.length : 0;
            to[i] = other.length <= text.length &&
                    begins_with<Char>(text.data + at * int64_t{sizeof(Char)}, other);
        });
    });
}

}  // namespace weft::texts
