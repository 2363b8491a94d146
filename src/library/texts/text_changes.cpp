#include "library/texts/text_changes.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "library/texts/stretches.h"

namespace weft::texts {

namespace {

const char* data_of(const View& view) { return static_cast<const char*>(view.data); }
char* data_of(const Target& target) { return static_cast<char*>(target.data); }

template <class Char>
void fill_up(char* to, int64_t length, int64_t width) {
    std::memset(to + length * int64_t{sizeof(Char)}, 0,
                static_cast<size_t>((width - length) * int64_t{sizeof(Char)}));
}

// work(text, to) of each text.
template <class Work>
void for_changes(const View& input, const Target& target, const Work& work) {
    const Stretches<2> stretches(input.shape, {&input.strides, &target.strides});
    for_parts(element_count(input.shape), input.width + target.width, [&](int64_t begin, int64_t end) {
        stretches.run(begin, end, [&](int64_t, int64_t count, const auto& offsets, const auto& strides) {
            const char* from = data_of(input) + offsets[0];
            char* to = data_of(target) + offsets[1];
            for (int64_t i = 0; i < count; ++i, from += strides[0], to += strides[1]) work(from, to);
        });
    });
}

// Python's white space.
bool is_space(uint8_t value) { return value == ' ' || (value >= '\t' && value <= '\r'); }
bool is_space(uint32_t value) {
    if (value < 128)
        return value == ' ' || (value >= '\t' && value <= '\r') || (value >= 0x1c && value < 0x20);
    switch (value) {
        case 0x85:
        case 0xa0:
        case 0x1680:
        case 0x2028:
        case 0x2029:
        case 0x202f:
        case 0x205f:
        case 0x3000: return true;
        default: return value >= 0x2000 && value <= 0x200a;
    }
}

// `zeros`: zeros before what is removed at the end are removed as well, as NumPy does for white space.
template <class Char, class IsRemoved>
void strip_each(const View& input, Ends ends, const Target& target, bool zeros, const IsRemoved& is_removed) {
    for_changes(input, target, [&](const char* from, char* to) {
        int64_t begin = 0, end = length_of<Char>(from, input.width);
        if (ends != Ends::kLast) {
            while (begin < end && is_removed(character_at<Char>(from, begin))) ++begin;
        }
        if (ends != Ends::kFirst) {
            for (; begin < end; --end) {
                const Char value = character_at<Char>(from, end - 1);
                if (!is_removed(value) && !(zeros && value == 0)) break;
            }
        }
        std::memcpy(to, from + begin * int64_t{sizeof(Char)},
                    static_cast<size_t>((end - begin) * int64_t{sizeof(Char)}));
        fill_up<Char>(to, end - begin, target.width);
    });
}

template <class Char>
Char lower(Char value) {
    return static_cast<Char>(value + (static_cast<Char>(value - 'A') < 26 ? 32 : 0));
}
template <class Char>
Char upper(Char value) {
    return static_cast<Char>(value - (static_cast<Char>(value - 'a') < 26 ? 32 : 0));
}
template <class Char>
Char swapped(Char value) {
    return static_cast<Char>(value ^ (static_cast<Char>((value | 32) - 'a') < 26 ? 32 : 0));
}
template <class Char>
bool is_letter(Char value) {
    return static_cast<Char>((value | 32) - 'a') < 26;
}

// Characters that change by themselves; returns all of their bits.
template <class Char, class Change>
Char change_each(const char* from, char* to, int64_t count, const Change& change) {
    Char bits = 0;
    for (int64_t i = 0; i < count; ++i) {
        const Char value = character_at<Char>(from, i);
        bits |= value;
        put_character(to, i, change(value));
    }
    return bits;
}

template <class Char>
Char change_words(const char* from, char* to, int64_t count, bool every_word) {
    Char bits = 0;
    bool within = false;
    for (int64_t i = 0; i < count; ++i) {
        const Char value = character_at<Char>(from, i);
        bits |= value;
        put_character(to, i, within ? lower(value) : upper(value));
        within = !every_word || is_letter(value);
    }
    return bits;
}

template <class Char>
Char change_text(const char* from, char* to, int64_t count, Case as) {
    switch (as) {
        case Case::kLower: return change_each<Char>(from, to, count, lower<Char>);
        case Case::kUpper: return change_each<Char>(from, to, count, upper<Char>);
        case Case::kSwap: return change_each<Char>(from, to, count, swapped<Char>);
        case Case::kCapitalize: return change_words<Char>(from, to, count, false);
        case Case::kTitle: break;
    }
    return change_words<Char>(from, to, count, true);
}

}  // namespace

void join_texts(const View& first, const View& second, const Target& target) {
    const Stretches<3> stretches(first.shape, {&first.strides, &second.strides, &target.strides});
    visit_character(first.character, [&](auto tag) {
        using Char = decltype(tag);
        constexpr int64_t kSize = sizeof(Char);
        for_parts(element_count(first.shape), 2 * target.width, [&](int64_t begin, int64_t end) {
            stretches.run(begin, end, [&](int64_t, int64_t count, const auto& offsets, const auto& strides) {
                const char *a = data_of(first) + offsets[0], *b = data_of(second) + offsets[1];
                char* to = data_of(target) + offsets[2];
                for (int64_t i = 0; i < count; ++i, a += strides[0], b += strides[1], to += strides[2]) {
                    const int64_t in_a = length_of<Char>(a, first.width);
                    const int64_t in_b = length_of<Char>(b, second.width);
                    std::memcpy(to, a, static_cast<size_t>(in_a * kSize));
                    std::memcpy(to + in_a * kSize, b, static_cast<size_t>(in_b * kSize));
                    fill_up<Char>(to, in_a + in_b, target.width);
                }
            });
        });
    });
}

void strip_texts(const View& input, const View* removed, Ends ends, const Target& target) {
    visit_character(input.character, [&](auto tag) {
        using Char = decltype(tag);
        if (removed == nullptr) {
            strip_each<Char>(input, ends, target, true, [](Char value) { return is_space(value); });
            return;
        }
        const char* const set = data_of(*removed);
        const int64_t count = length_of<Char>(set, removed->width);
        strip_each<Char>(input, ends, target, false, [&](Char value) {
            for (int64_t k = 0; k < count; ++k) {
                if (character_at<Char>(set, k) == value) return true;
            }
            return false;
        });
    });
}

std::vector<int64_t> change_case_of_texts(const View& input, Case as, const Target& target) {
    std::vector<int64_t> others;
    std::mutex lock;
    const Stretches<2> stretches(input.shape, {&input.strides, &target.strides});
    visit_character(input.character, [&](auto tag) {
        using Char = decltype(tag);
        const int64_t size = input.width * int64_t{sizeof(Char)};
        const bool by_text = as == Case::kCapitalize || as == Case::kTitle;
        for_parts(element_count(input.shape), 2 * input.width, [&](int64_t begin, int64_t end) {
            stretches.run(
                begin, end, [&](int64_t first, int64_t count, const auto& offsets, const auto& strides) {
                    const char* from = data_of(input) + offsets[0];
                    char* to = data_of(target) + offsets[1];
                    if (!by_text && strides[0] == size && strides[1] == size &&
                        (change_text<Char>(from, to, count * input.width, as) < 128 || sizeof(Char) == 1))
                        return;
                    for (int64_t i = 0; i < count; ++i, from += strides[0], to += strides[1]) {
                        if (change_text<Char>(from, to, input.width, as) < 128 || sizeof(Char) == 1) continue;
                        std::memcpy(to, from, static_cast<size_t>(size));
                        const std::lock_guard guard(lock);
                        others.push_back(first + i);
                    }
                });
        });
    });
    std::ranges::sort(others);
    return others;
}

void copy_texts_of(const View& input, const Target& target) {
    const auto size = static_cast<size_t>(input.width * bytes_of(input.character));
    for_changes(input, target, [&](const char* from, char* to) { std::memcpy(to, from, size); });
}

void take_texts(const View& input, const int64_t* positions, int64_t count, const Target& target) {
    const int64_t size = input.width * bytes_of(input.character);
    const Stretches<1> stretches(input.shape, {&input.strides});
    for_parts(count, 2 * input.width, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            char* const to = data_of(target) + i * target.strides[0];
            stretches.run(positions[i], positions[i] + 1,
                          [&](int64_t, int64_t, const auto& offsets, const auto&) {
                              std::memcpy(to, data_of(input) + offsets[0], static_cast<size_t>(size));
                          });
        }
    });
}

}  // namespace weft::texts
