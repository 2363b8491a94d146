// Texts of one shape in several views, as stretches of texts that lie one stride apart: what loops are over.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "core/shape.h"
#include "core/threads/thread_pool.h"
#include "weft/texts.h"

namespace weft::texts {

inline int64_t bytes_of(Character character) { return character == Character::kByte ? 1 : 4; }

// A text's character, which NumPy does not always align.
template <class Char>
Char character_at(const char* text, int64_t i) {
    Char value;
    std::memcpy(&value, text + i * int64_t{sizeof(Char)}, sizeof value);
    return value;
}

template <class Char>
void put_character(char* text, int64_t i, Char value) {
    std::memcpy(text + i * int64_t{sizeof(Char)}, &value, sizeof value);
}

// Characters before the zeros at the end.
template <class Char>
int64_t length_of(const char* text, int64_t width) {
    while (width > 0 && character_at<Char>(text, width - 1) == 0) --width;
    return width;
}

// Calls work with a character of the type that holds one.
template <class Work>
decltype(auto) visit_character(Character character, const Work& work) {
    return character == Character::kByte ? work(uint8_t{}) : work(uint32_t{});
}

// Parts of so many texts on all threads: work(begin, end).
template <class Work>
void for_parts(int64_t count, int64_t width, const Work& work) {
    constexpr int64_t kCharacters = int64_t{1} << 16;
    const int64_t part = std::clamp<int64_t>(kCharacters / std::max<int64_t>(width, 1), 64, 16384);
    parallel_for((count + part - 1) / part,
                 [&](int64_t task) { work(task * part, std::min((task + 1) * part, count)); });
}

template <size_t views>
class Stretches {
public:
    template <class Byte>
    using Pointers = std::array<Byte*, views>;

    // The shape, and the strides of each view over it.
    Stretches(const Dims& shape, const std::array<const Dims*, views>& strides) {
        for (size_t d = 0; d < shape.size(); ++d) {
            if (shape[d] == 1) continue;
            bool joins = !shape_.empty();
            for (size_t k = 0; k < views && joins; ++k)
                joins = strides_[k].back() == (*strides[k])[d] * shape[d];
            if (joins) {
                shape_.back() *= shape[d];
            } else {
                shape_.push_back(shape[d]);
            }
            for (size_t k = 0; k < views; ++k) {
                if (joins) {
                    strides_[k].back() = (*strides[k])[d];
                } else {
                    strides_[k].push_back((*strides[k])[d]);
                }
            }
        }
        if (shape_.empty()) {
            shape_.push_back(1);
            for (Dims& each : strides_) each.push_back(0);
        }
    }

    // For the texts from begin to end, in C order: work(first, count, offsets, strides), both in bytes.
    template <class Work>
    void run(int64_t begin, int64_t end, const Work& work) const {
        const int64_t inner = shape_.back();
        std::array<int64_t, views> strides;
        for (size_t k = 0; k < views; ++k) strides[k] = strides_[k].back();
        while (begin < end) {
            std::array<int64_t, views> offsets{};
            int64_t rest = begin;
            for (size_t d = shape_.size(); d-- > 0; rest /= shape_[d]) {
                for (size_t k = 0; k < views; ++k) offsets[k] += rest % shape_[d] * strides_[k][d];
            }
            const int64_t count = std::min(inner - begin % inner, end - begin);
            work(begin, count, offsets, strides);
            begin += count;
        }
    }

private:
    Dims shape_;
    std::array<Dims, views> strides_;
};

}  // namespace weft::texts
