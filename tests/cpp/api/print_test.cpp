// Arrays and numbers as text, with options. What the texts are is NumPy's: tests/python/package compares
// them.
#include <gtest/gtest.h>

#include "weft/weft.h"

namespace weft {
namespace {

TEST(Print, FloatModes) {
    const array a = {1.5, 0.25, 3.0};
    EXPECT_EQ(to_string(a), "[1.5  0.25 3.  ]");
    EXPECT_EQ(to_string(a, {.precision = 3, .floatmode = FloatMode::kFixed}), "[1.500 0.250 3.000]");
    EXPECT_EQ(to_string(a, {.precision = 1, .floatmode = FloatMode::kUnique}), "[1.5  0.25 3.  ]");
    EXPECT_EQ(to_string(a, {.floatmode = FloatMode::kMaxprecEqual}), "[1.50 0.25 3.00]");
}

TEST(Print, SignsAndSpecialNumbers) {
    const array a = {1.0, -2.0, std::numeric_limits<double>::quiet_NaN()};
    EXPECT_EQ(to_string(a, {.nanstr = "–", .sign = '+'}), "[ +1.  -2.   +–]");
    EXPECT_EQ(to_string(array{1, 2}, {.sign = '+'}), "[+1 +2]");
    EXPECT_EQ(to_string(array{1, 2}, {.sign = ' '}), "[ 1  2]");
}

TEST(Print, FramesAndNames) {
    EXPECT_EQ(array2string(array{1, 2, 3}, {}, {.separator = ", "}), "[1, 2, 3]");
    EXPECT_EQ(array2string(array{10, 20, 30}, {.linewidth = 12}, {.prefix = "a = ", .suffix = ";"}),
              "[10 20\n     30]");
    EXPECT_EQ(to_repr(array{1, 2}, {}, "vector"), "vector([1, 2])");
    EXPECT_EQ(to_repr(zeros({0, 2})), "array([], shape=(0, 2), dtype=float64)");
    EXPECT_EQ(to_repr(asarray(0.5)), "array(0.5)");
    EXPECT_EQ(to_string(asarray(1e20)), "1e+20");
    EXPECT_EQ(to_string(arange(0, 9, 1), {.threshold = 5, .edgeitems = 1}), "[0 ... 8]");
}

TEST(Print, SingleNumbers) {
    EXPECT_EQ(format_float_positional(1e-5, ScalarType::kFloat32), "0.00001");
    EXPECT_EQ(format_float_positional(2.5, {}, {.precision = 3, .unique = false}), "2.500");
    EXPECT_EQ(format_float_positional(1.0, {}, {.trim = '-', .sign = true, .pad_left = 4}), "  +1");
    EXPECT_EQ(format_float_scientific(123.456, {}, {.precision = 2}), "1.23e+02");
    EXPECT_EQ(format_float_scientific(5e-324, {}, {.min_digits = 4}), "4.9407e-324");
    EXPECT_EQ(format_float_positional(174.0, {}, {.precision = 1, .fractional = false}), "200.");
    EXPECT_THROW(format_float_positional(1.0, {}, {.unique = false}), TypeError);
    EXPECT_THROW(format_float_positional(1.0, {}, {.trim = 'x'}), TypeError);
}

}  // namespace
}  // namespace weft
