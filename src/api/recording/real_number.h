// Reads a real number from an argument of a call, where the work depends on it before anything is recorded.
#pragma once

#include <optional>
#include <variant>

#include "weft/array.h"

namespace weft {

// The value of a bool, an integer or a real number; nothing of arrays and complex numbers.
inline std::optional<double> real_number(const Argument& value) {
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* integer = std::get_if<Integer>(&value)) return integer->approximation;
    if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
    return std::nullopt;
}

}  // namespace weft
