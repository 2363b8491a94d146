// Kernels in C++ (weft/c_kernels.h) and reductions of the program's own (weft/define.h).
#include "weft/c_kernels.h"

#include "support/array_testing.h"
#include "weft/cuda/raw_kernel.h"
#include "weft/define.h"
#include "weft/ops.h"

namespace weft {
namespace {

TEST(CKernels, AnElementwiseKernelBroadcasts) {
    const ElementwiseKernel kernel("T x, T y", "T z", "T d = x - y; z = d * d;", {.name = "squared"});
    const array x = {{1.0, 2.0}, {3.0, 4.0}};
    const std::vector<array> results = kernel(x, 1.0);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0](0, 1).item<double>(), 1.0);
    EXPECT_EQ(results[0](1, 1).item<double>(), 9.0);
    EXPECT_EQ(kernel.inputs()[1].name, "y");
    EXPECT_EQ(kernel.codes().size(), 1U);
}

TEST(CKernels, RawArraysAreIndexed) {
    const ElementwiseKernel kernel("raw T x", "T z", "z = x[n - 1 - i]", {.name = "reversed"});
    const array x = {1, 2, 3};
    const array z = kernel.call(std::vector<Argument>{x}, {.size = 3})[0];
    EXPECT_EQ(z(0).item<int64_t>(), 3);
    const ElementwiseKernel far("raw T x", "T z", "z = x[i + 1]", {.name = "far"});
    EXPECT_THROW(far.call(std::vector<Argument>{x}, {.size = 3}), IndexError);
}

TEST(CKernels, AReductionKernelReducesAxes) {
    const ReductionKernel norm("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", {});
    const array x = {{3.0, 4.0}, {5.0, 12.0}};
    const array y = norm.call(std::vector<Argument>{x}, {.axes = Dims{1}})[0];
    EXPECT_EQ(y(0).item<double>(), 5.0);
    EXPECT_EQ(y(1).item<double>(), 13.0);
}

TEST(CKernels, WhatIsOutsideOfTheSubsetIsACompileError) {
    const ElementwiseKernel kernel("T x", "T y", "y = nothing(x)", {.name = "wrong"});
    try {
        kernel(array{1.0});
        FAIL();
    } catch (const CompileError& error) {
        EXPECT_EQ(error.log(),
                  "the operation of wrong, line 1: the function nothing() is not known\n"
                  "    y = nothing(x)\n        ^");
    }
}

constexpr const char* kLonger = R"(
function @longer(%a: f64, %b: f64) : f64 {
  %x = absolute %a
  %y = absolute %b
  %more = greater %y, %x
  if %more {
    return %b
  }
  return %a
})";

TEST(DefinedReductions, AreThoseOfWeft) {
    const double start = 0;
    const ReductionInfo& longest = define_reduction("longest", kLonger, &start);
    EXPECT_EQ(&define_reduction("longest", kLonger, &start), &longest);
    const array x = {{1.0, -7.0, 3.0}, {2.0, 0.5, -1.0}};
    ReduceOptions along_rows;
    along_rows.axes = Dims{1};
    const array y = reduce(longest, x, along_rows);
    EXPECT_EQ(y(0).item<double>(), -7.0);
    EXPECT_EQ(y(1).item<double>(), 2.0);
    EXPECT_EQ(reduce(longest, empty({0})).item<double>(), 0.0);
    EXPECT_THROW(reduce(define_reduction("longest", kLonger, &start, false), empty({0})), ValueError);
    // Large ones are kernels.
    const array many = astype(arange(0, 100'000, 1), DType()) - 60'000.0;
    EXPECT_EQ(reduce(longest, many).item<double>(), -60'000.0);
}

TEST(DefinedReductions, NeedAFunctionOfTwoOfOneType) {
    const double start = 0;
    EXPECT_THROW(define_reduction("one", "function @one(%a: f64) : f64 {\n return %a\n}", &start),
                 ValueError);
    EXPECT_THROW(define_reduction("two", "function @two(%a: f64, %b: f32) : f64 {\n return %a\n}", &start),
                 ValueError);
}

}  // namespace
}  // namespace weft
