// Bodies of kernels in C++, which the front end and the compiler of a test both get.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/oracle.h"
#include "ir/parser.h"
#include "ir/verifier.h"
#include "lang/c_source/elements.h"
#include "weft/elements.h"

namespace weft::lang::c_source {

template <class T>
std::vector<T> samples() {
    if constexpr (std::is_same_v<T, bool>) {
        return {false, true};
    } else if constexpr (std::is_floating_point_v<T>) {
        const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
        return {T(0), T(-0.0), T(1), T(-1), T(0.5), T(2.5), T(-3.75), T(100.25), nan, infinity, -infinity};
    } else {
        std::vector<T> values{T(0), T(1), T(2), T(3), T(7), T(100), std::numeric_limits<T>::max()};
        if (std::is_signed_v<T>) values.insert(values.end(), {T(-1), T(-2), T(-7), T(-100)});
        return values;
    }
}

inline ElementSource source_of(std::string body) {
    ElementSource source;
    source.preamble = {"the preamble of test", ""};
    source.body = {"the operation of test", std::move(body)};
    return source;
}

inline std::vector<Constant> run(const ElementCode& code, std::vector<Constant> arguments) {
    const ir::Module module = ir::parse(code.ir);
    ir::check(module);
    std::vector<ir::OracleArgument> given(arguments.begin(), arguments.end());
    return ir::run_oracle(module, module.functions[0], given);
}

template <class T>
bool same(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
    } else {
        return a == b;
    }
}

template <class X, class Z, class Y, class Native>
void compare(const std::string& body, const Native& native, const std::string& preamble = {}) {
    ElementSource source = source_of(body);
    source.preamble.text = preamble;
    source.inputs = {{"x", dtype_of<X>().scalar_type()}, {"z", dtype_of<Z>().scalar_type()}};
    source.outputs = {{"y", dtype_of<Y>().scalar_type()}};
    const ElementCode code = lower_elements("test", source);
    for (const X x : samples<X>()) {
        for (const Z z : samples<Z>()) {
            const Y expected = native(x, z);
            std::vector<Constant> arguments{Constant::of(dtype_of<X>().scalar_type(), x),
                                            Constant::of(dtype_of<Z>().scalar_type(), z)};
            if (code.reads_output[0]) arguments.push_back(Constant::of(dtype_of<Y>().scalar_type(), Y{}));
            const Y found = run(code, arguments)[0].as<Y>();
            EXPECT_TRUE(same(found, expected))
                << body << "\nx = " << +x << ", z = " << +z << ": " << +found << ", not " << +expected << "\n"
                << code.ir;
        }
    }
}

}  // namespace weft::lang::c_source

// NOLINTBEGIN
#define NATIVE(X, Z, Y, ...)   \
    [](const X x, const Z z) { \
        Y y{};                 \
        (void)x;               \
        (void)z;               \
        __VA_ARGS__;           \
        return y;              \
    }
// The body gets the text PREAMBLE before it. As it is written: macros are the front end's.
#define SAME_WITH(PREAMBLE, X, Z, Y, ...) \
    compare<X, Z, Y>(#__VA_ARGS__, NATIVE(X, Z, Y, __VA_ARGS__), PREAMBLE)
#define SAME(X, Z, Y, ...) compare<X, Z, Y>(#__VA_ARGS__, NATIVE(X, Z, Y, __VA_ARGS__))
// NOLINTEND
