// Texts of a fixed width, as NumPy's dtypes S and U have them, in memory of the caller's: their order, what
// is equal, and what they contain. A text ends before the zeros that fill it up. Computed at the call, on all
// threads, on the host.
//
//     const char words[] = "to\0be\0or";
//     const weft::texts::View view{words, {3}, {3}, 3, weft::texts::Character::kByte};
//     weft::texts::argsort(view) is {1, 2, 0}
#pragma once

#include <cstdint>

#include "weft/array.h"
#include "weft/sets.h"

namespace weft::texts {

/// What a character is: a byte, or a code point in four bytes of the host's order.
enum class Character : uint8_t { kByte, kCodePoint };

/// Texts that are read during a call alone.
struct View {
    const void* data = nullptr;
    Dims shape, strides;  // in bytes
    int64_t width = 1;    // characters of each text, its zeros included; at least 1
    Character character = Character::kCodePoint;
};

/// Where texts are written, of the shape that the call says; it overlaps none of the views.
struct Target {
    void* data = nullptr;
    Dims strides;  // in bytes
    int64_t width = 1;
};

// The functions below throw TypeError where two views differ in their characters, AxisError for an axis that
// is not there, ValueError for shapes that do not broadcast, and for a width below 1.

/// np.argsort: int64 positions along an axis in the order of their texts, equal ones in their own order.
array argsort(const View& input, int64_t axis = -1);
/// np.sort: the texts in order along an axis; the target has the input's shape and width.
void sort(const View& input, int64_t axis, const Target& target);
/// np.lexsort takes numbers: each text's, of the flattened view. Equal texts have one, and a larger text a
/// larger one.
array ranks(const View& input);

/// np.unique of the flattened view. `first` is always there: take() makes the texts of it. `values` is
/// invalid.
Unique unique(const View& input, const UniqueOptions& options = {});
/// np.take of the flattened view: the texts at these positions, each of which lies in it.
void take(const View& input, const array& positions, const Target& target);

/// np.searchsorted: where each value would be inserted into texts in order, of one dimension.
array searchsorted(const View& sorted, const View& values, bool right = false);
/// np.isin: whether each element is among the tests.
array isin(const View& element, const View& tests, bool invert = false);

/// np.equal and its kin, of texts that broadcast; they may differ in width.
enum class Comparison : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
array compare(const View& first, const View& second, Comparison comparison);

/// np.strings.str_len: characters of each text.
array str_len(const View& input);
/// np.strings.find: where a text is first, or with `last` last, within another, or -1.
array find(const View& input, const View& wanted, bool last = false);
/// np.strings.count: how often a text is within another, without overlaps.
array count(const View& input, const View& wanted);
/// np.strings.startswith, and with `at_end` endswith.
array startswith(const View& input, const View& wanted, bool at_end = false);

/// np.strings.add: one text behind the other. The target is as wide as both.
void add(const View& first, const View& second, const Target& target);
/// np.strings.strip: without white space at the chosen ends, or without the characters of `removed`, one
/// text. The target is as wide as the input.
enum class Ends : uint8_t { kBoth, kFirst, kLast };
void strip(const View& input, const View* removed, Ends ends, const Target& target);
/// np.strings.lower and its kin, where they are about ASCII alone. Returns the positions in the flattened
/// view of those that have other code points, whose texts in the target are not said; none for bytes.
enum class Case : uint8_t { kLower, kUpper, kSwap, kCapitalize, kTitle };
array change_case(const View& input, Case to, const Target& target);

}  // namespace weft::texts
