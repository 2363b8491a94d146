#include "library/texts/text_keys.h"

#include <atomic>

namespace weft::texts {

namespace {

const char* data_of(const View& view) { return static_cast<const char*>(view.data); }

// All bits of the code points.
uint32_t bits_of(const View& view) {
    std::atomic<uint32_t> found = 0;
    const Stretches<1> stretches(view.shape, {&view.strides});
    for_parts(element_count(view.shape), view.width, [&](int64_t begin, int64_t end) {
        uint32_t own = 0;
        const auto add = [&](const char* text, int64_t characters) {
            uint32_t all = 0;
            for (int64_t i = 0; i < characters; ++i) all |= character_at<uint32_t>(text, i);
            own |= all;
        };
        stretches.run(begin, end, [&](int64_t, int64_t count, const auto& offsets, const auto& strides) {
            const char* const text = data_of(view) + offsets[0];
            if (strides[0] == view.width * 4) {
                add(text, count * view.width);
            } else {
                for (int64_t i = 0; i < count; ++i) add(text + i * strides[0], view.width);
            }
        });
        found.fetch_or(own, std::memory_order_relaxed);
    });
    return found;
}

}  // namespace

WordCode::WordCode(std::initializer_list<const View*> views) {
    uint32_t all = 1;
    for (const View* view : views) {
        character_ = view->character;
        width_ = std::max(width_, view->width);
        if (character_ == Character::kCodePoint) all |= bits_of(*view);
    }
    if (character_ == Character::kCodePoint) bits_ = std::max<int>(std::bit_width(all), 7);
    in_word_ = 64 / bits_;
    words_ = static_cast<int>((width_ + in_word_ - 1) / in_word_);
}

TextKeys::TextKeys(const View& view, const WordCode& code, int words)
    : count_(element_count(view.shape)), words_(words), memory_(count_ * words_) {
    const Stretches<1> stretches(view.shape, {&view.strides});
    for_parts(count_, view.width, [&](int64_t begin, int64_t end) {
        stretches.run(begin, end,
                      [&](int64_t first, int64_t count, const auto& offsets, const auto& strides) {
                          const char* text = data_of(view) + offsets[0];
                          uint64_t* to = memory_.data() + first * words_;
                          for (int64_t i = 0; i < count; ++i, text += strides[0]) {
                              for (int k = 0; k < words_; ++k) *to++ = code.word(text, view.width, k);
                          }
                      });
    });
}

}  // namespace weft::texts
