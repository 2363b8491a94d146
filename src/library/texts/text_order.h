// The order of texts that lie one stride apart. Equal texts keep their own order; results do not depend on
// the number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "library/texts/row_table.h"
#include "library/texts/text_keys.h"

namespace weft::texts {

class TextRows {
public:
    // The texts of a view of one dimension, or some of them.
    TextRows(const WordCode& code, const View& view, const char* data, int64_t stride, int64_t count)
        : code_(code),
          width_(view.width),
          rows_{data, stride, count, view.width * bytes_of(view.character)} {}

    int64_t count() const { return rows_.count; }
    int64_t size() const { return rows_.size; }
    int words() const { return code_.words(); }
    const WordCode& code() const { return code_; }
    const ByteRows& rows() const { return rows_; }
    const char* at(int64_t row) const { return rows_.at(row); }
    uint64_t word(int64_t row, int number) const { return code_.word(at(row), width_, number); }
    bool less(int64_t a, int64_t b, int from_word) const {
        for (int k = from_word; k < words(); ++k) {
            const uint64_t in_a = word(a, k), in_b = word(b, k);
            if (in_a != in_b) return in_a < in_b;
        }
        return false;
    }

private:
    const WordCode& code_;
    int64_t width_;
    ByteRows rows_;
};

// Whether along the last axis no text is less than the one before it, or each is.
enum class KnownOrder : uint8_t { kNone, kAscending, kDescending };
KnownOrder known_order(const View& view);
// order = the positions in the order of the texts.
void order_of_texts(const TextRows& texts, int64_t* order);
// The texts in order, `stride` bytes apart; they overlap none of those that are read.
void sort_texts(const TextRows& texts, char* to, int64_t stride);

// The different texts, in order.
struct DifferentTexts {
    std::vector<int64_t> first, counts;  // of each: where it is first, how often it is there
};
// `number`, unless it is null, becomes the number of each text.
DifferentTexts different_texts(const TextRows& texts, KnownOrder known, int64_t* number);

}  // namespace weft::texts
