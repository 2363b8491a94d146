// Arrays as text, in NumPy's words and columns.
#pragma once

#include <iosfwd>
#include <string>

#include "weft/array.h"

namespace weft {

/// numpy.set_printoptions, for one text.
struct PrintOptions {
    int precision = 8;         // digits after the point at most
    int64_t threshold = 1000;  // elements from which on only the edges are shown
    int64_t edgeitems = 3;
    int64_t linewidth = 75;
    bool suppress = false;  // small numbers next to large ones as zeros instead of exponents
};

/// str(a): "[1. 2. 3.]". Evaluates the array.
std::string to_string(const array& input, const PrintOptions& options = {});
/// repr(a): "array([1., 2., 3.])", with the dtype where the text does not tell it.
std::string to_repr(const array& input, const PrintOptions& options = {});

std::ostream& operator<<(std::ostream& stream, const array& input);
std::ostream& operator<<(std::ostream& stream, DType dtype);
std::ostream& operator<<(std::ostream& stream, const Dims& shape);  // (2, 3)

}  // namespace weft
