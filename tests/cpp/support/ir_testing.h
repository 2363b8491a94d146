// What tests of kernel IR share: texts to modules, vectors to arguments.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/scalar_traits.h"
#include "ir/oracle.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"

namespace weft::ir {

inline Module parse_and_check(std::string_view text) {
    Module module = parse(text);
    check(module);
    return module;
}

// The text with `to` wherever `from` stands, which it does; without `from` the text itself.
inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
    std::string result(text);
    if (from.empty()) return result;
    size_t at = result.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    for (; at != std::string::npos; at = result.find(from, at + to.size()))
        result.replace(at, from.size(), to);
    return result;
}

// The vector as a buffer of the given shape in C order, with checked bounds; without a shape, of one
// dimension.
template <class T>
OracleBuffer argument(std::vector<T>& values, const std::vector<int64_t>& shape = {}) {
    OracleBuffer buffer;
    buffer.base = buffer.low = reinterpret_cast<char*>(values.data());
    buffer.high = buffer.low + values.size() * sizeof(T);
    int64_t stride = sizeof(T);
    buffer.strides.resize(shape.empty() ? 1 : shape.size(), stride);
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) buffer.strides[d] = stride;
    return buffer;
}

template <class T>
    requires(!std::is_class_v<T> || sizeof(T) <= 16)
Constant argument(T value) {
    return Constant::of(scalar_type_of<T>, value);
}

// Runs the module's last function, looking for races too.
template <class... Arguments>
void run(const Module& module, const Arguments&... arguments) {
    std::vector<OracleArgument> list{OracleArgument(arguments)...};
    run_oracle(module, module.functions.back(), list, {.detect_races = true});
}

}  // namespace weft::ir
