// Arrays and numbers as text, in NumPy's words and columns.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "weft/array.h"

namespace weft {

/// How many digits floats have: `precision` of them; as many as tell each from others; the same, but not more
/// than `precision`; and these with the same number for all floats of an array.
enum class FloatMode : uint8_t { kFixed, kUnique, kMaxprec, kMaxprecEqual };

/// numpy.set_printoptions, for one text.
struct PrintOptions {
    int precision = 8;         // digits after the point at most
    int64_t threshold = 1000;  // elements from which on only the edges are shown
    int64_t edgeitems = 3;
    int64_t linewidth = 75;
    bool suppress = false;  // small numbers next to large ones as zeros instead of exponents
    std::string nanstr = "nan";
    std::string infstr = "inf";
    char sign = '-';  // of positive numbers: '+', a space, or '-' for none
    FloatMode floatmode = FloatMode::kMaxprec;
};

/// What stands between the elements; and what the caller writes before the text and behind it, for which the
/// lines leave room.
struct TextFrame {
    std::string separator = " ";
    std::string prefix = {};
    std::string suffix = {};
};

/// str(a): "[1. 2. 3.]". Evaluates the array.
std::string to_string(const array& input, const PrintOptions& options = {});
/// repr(a): "array([1., 2., 3.])", with the dtype where the text does not tell it. `name` is what is called
/// to make such an array.
std::string to_repr(const array& input, const PrintOptions& options = {}, std::string_view name = "array");
/// np.array2string: the elements alone, in columns.
std::string array2string(const array& input, const PrintOptions& options = {}, const TextFrame& frame = {});

struct FloatTextOptions {
    std::optional<int> precision = {};  // digits behind the point at most
    bool unique = true;                 // as few digits as tell the number from others of its type
    bool fractional = true;             // positional: false counts digits from the first one on
    char trim = 'k';  // zeros at the end: 'k' keeps them, '.' drops them, '0' all but one, '-' the point too
    bool sign = false;
    std::optional<int> pad_left = {};    // characters before the point at least
    std::optional<int> pad_right = {};   // positional: characters behind it
    int exp_digits = 2;                  // scientific
    std::optional<int> min_digits = {};  // at least; they are the number's own
};
/// np.format_float_positional: "0.00001". The digits are those of a number of `dtype`. Throws ValueError and
/// TypeError for options that do not go together.
std::string format_float_positional(double value, DType dtype = {}, const FloatTextOptions& options = {});
/// np.format_float_scientific: "1.e-05".
std::string format_float_scientific(double value, DType dtype = {}, const FloatTextOptions& options = {});

std::ostream& operator<<(std::ostream& stream, const array& input);
std::ostream& operator<<(std::ostream& stream, DType dtype);
std::ostream& operator<<(std::ostream& stream, const Dims& shape);  // (2, 3)

}  // namespace weft
