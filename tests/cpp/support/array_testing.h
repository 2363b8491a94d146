// What tests of the public C++ functions share.
#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "weft/weft.h"

namespace weft {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline void expect_equal(const array& found, const array& expected) {
    EXPECT_EQ(found.dtype(), expected.dtype());
    EXPECT_EQ(to_repr(found), to_repr(expected));
}

}  // namespace weft
