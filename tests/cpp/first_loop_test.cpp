#include "codegen/first_loop.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

TEST(FirstLoop, ComputesEveryElement) {
    std::vector<double> a{1.0, -2.5, 1e300}, b{0.5, 4.0, -1e300}, out(3);
    weft::codegen::run_first_loop(a, b, out);
    EXPECT_EQ(out, (std::vector<double>{2.5, -1.0, 1e300}));
}

TEST(FirstLoop, AcceptsNothing) { weft::codegen::run_first_loop({}, {}, {}); }

}  // namespace
