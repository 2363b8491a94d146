// np.pad for C++ users. All modes, dtypes and layouts are tested beside NumPy in
// tests/python/numpy/test_pad.py.
#include <gtest/gtest.h>

#include "weft/weft.h"

namespace weft {
namespace {

void expect_equal(const array& found, const array& expected) {
    EXPECT_EQ(found.dtype(), expected.dtype());
    EXPECT_EQ(to_repr(found), to_repr(expected));
}

TEST(Padding, HasEachMode) {
    const array row = {1, 2, 4};
    const auto padded = [&](PadMode mode) { return pad(row, {{2, 1}}, {.mode = mode}); };
    expect_equal(pad(row, {{2, 1}}), {0, 0, 1, 2, 4, 0});
    expect_equal(padded(PadMode::kEdge), {1, 1, 1, 2, 4, 4});
    expect_equal(padded(PadMode::kLinearRamp), {0, 0, 1, 2, 4, 0});
    expect_equal(padded(PadMode::kMaximum), {4, 4, 1, 2, 4, 4});
    expect_equal(padded(PadMode::kMean), {2, 2, 1, 2, 4, 2});
    expect_equal(padded(PadMode::kMedian), {2, 2, 1, 2, 4, 2});
    expect_equal(padded(PadMode::kMinimum), {1, 1, 1, 2, 4, 1});
    expect_equal(padded(PadMode::kReflect), {4, 2, 1, 2, 4, 2});
    expect_equal(padded(PadMode::kSymmetric), {2, 1, 1, 2, 4, 4});
    expect_equal(padded(PadMode::kWrap), {2, 4, 1, 2, 4, 1});
    expect_equal(padded(PadMode::kEmpty)(slice(2, 5)), row);
    expect_equal(pad(row, {{4, 3}}, {.mode = PadMode::kReflect, .odd = true}),
                 {-5, -4, -2, 0, 1, 2, 4, 6, 7, 8});
}

TEST(Padding, TakesValuesOfEachAxis) {
    const array table = {{1.0, 2.0}};
    expect_equal(pad(table, {{1, 0}, {0, 1}}, {.values = {{{7, 8}}, {{9, 5}}}}),
                 {{7.0, 7.0, 5.0}, {1.0, 2.0, 5.0}});
    expect_equal(pad(table, {{0, 1}, {1, 0}}, {.values = {{{3, 3}}}}), {{3.0, 1.0, 2.0}, {3.0, 3.0, 3.0}});
    expect_equal(pad(array{1, 2, 9}, {{1, 1}}, {.mode = PadMode::kMean, .lengths = {{{2, 1}}}}),
                 {2, 1, 2, 9, 9});
    EXPECT_TRUE(pad(transpose(zeros({2, 3})), {{1, 1}}).f_contiguous());
}

TEST(Padding, SaysWhatIsWrong) {
    EXPECT_THROW(pad(zeros({2, 2}), {{1, 1}, {1, 1}, {1, 1}}), ValueError);
    EXPECT_THROW(pad(zeros(2), {{-1, 1}}), ValueError);
    EXPECT_THROW(pad(zeros(0), {{1, 1}}, {.mode = PadMode::kEdge}), ValueError);
    EXPECT_THROW(pad(zeros(2), {{1, 1}}, {.mode = PadMode::kMaximum, .lengths = {{{0, 1}}}}), ValueError);
    EXPECT_THROW(pad(zeros(2), {{INT64_MAX, 1}}), ValueError);
}

}  // namespace
}  // namespace weft
