// Texts as 64-bit words whose order is that of the texts: characters side by side, the first one in the
// highest bits, each in as few bits as the characters that are there need. Short texts are one number so.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "library/ordering/sample_sort.h"
#include "library/texts/stretches.h"
#include "weft/texts.h"

namespace weft::texts {

// How characters become words: the same way for all texts that are compared.
class WordCode {
public:
    explicit WordCode(std::initializer_list<const View*> views);

    int words() const { return words_; }  // of a text, at least 1
    // A word of a text of `width` characters, which may be fewer than the widest one's.
    uint64_t word(const char* text, int64_t width, int number) const {
        const int64_t begin = number * in_word_, end = std::min(begin + in_word_, width_);
        if (character_ == Character::kByte) {
            if (begin + 8 <= width) {
                uint64_t word;
                std::memcpy(&word, text + begin, sizeof word);
                return __builtin_bswap64(word);
            }
            return packed<uint8_t>(text, begin, std::min(end, width), end);
        }
        return packed<uint32_t>(text, begin, std::min(end, width), end);
    }
    // The text of the widest kind that has one word.
    void restore(uint64_t word, char* to) const {
        visit_character(character_, [&](auto tag) {
            using Char = decltype(tag);
            const uint64_t mask = (uint64_t{1} << bits_) - 1;
            for (int64_t i = width_; i-- > 0; word >>= bits_)
                put_character(to, i, static_cast<Char>(word & mask));
        });
    }

private:
    template <class Char>
    uint64_t packed(const char* text, int64_t begin, int64_t end, int64_t behind) const {
        uint64_t word = 0;
        int64_t i = begin;
        for (; i < end; ++i) word = word << bits_ | character_at<Char>(text, i);
        for (; i < behind; ++i) word <<= bits_;
        return word;
    }

    Character character_ = Character::kByte;
    int64_t width_ = 1;
    int bits_ = 8, words_ = 1;
    int64_t in_word_ = 8;
};

// The first words of all texts, in C order.
class TextKeys {
public:
    TextKeys(const View& view, const WordCode& code, int words);

    int64_t count() const { return count_; }
    int words() const { return words_; }
    const uint64_t* data() const { return memory_.data(); }

private:
    int64_t count_;
    int words_;
    KeyMemory<uint64_t> memory_;
};

}  // namespace weft::texts
