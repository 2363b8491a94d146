// Element-wise kernels in C++: from the body of a loop over elements to kernel IR of one element.
//
// The subset of C++ (docs/guide/c-subset.md) is that of numbers, structures and arrays of these, with
// pointers that are known to lead into one, and with C's types and conversions. Sums and products are not
// contracted. What C leaves undefined has a result here: integers wrap around, a division by zero gives 0, a
// shift too far 0 or the sign, a variable without a value is 0, an index out of bounds raises.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/c_source/syntax/source.h"
#include "weft/dtype.h"

namespace weft::lang::c_source {

struct Parameter {
    std::string name;
    ScalarType type = ScalarType::kFloat64;
    bool is_raw = false;  // an array that the body indexes
};

struct ElementSource {
    SourceText preamble, body;
    std::vector<std::pair<std::string, ScalarType>> types;  // what the program's names of types stand for
    std::vector<Parameter> inputs, outputs;                 // bodies assign to outputs
    std::optional<ScalarType> value;  // the body is an expression, and this the type of the only result
    bool has_position = true;         // `i` and the size are known
};

struct ElementCode {
    std::string ir;  // of a function from inputs, outputs that are read, position and size to outputs
    std::vector<bool> reads_output;  // their values before
    bool reads_position = false;     // `i`, an int64
    bool reads_size = false;         // `n`, `_ind.size()`, an int64
};

/// Throws OutsideSubset.
ElementCode lower_elements(std::string_view name, const ElementSource& source);

/// The type that the body names. Throws OutsideSubset.
ScalarType read_type(const ElementSource& source);

}  // namespace weft::lang::c_source
