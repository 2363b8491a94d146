// What threads of a launch print, and functions that call themselves: the PTX is assembled where there is an
// assembler, and its LLVM IR is run on the CPU (tests/simulation).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "device/cuda/launch_error.h"
#include "device/cuda/linker.h"
#include "ir/parser.h"
#include "support/ptx_simulation.h"
#include "support/ptx_testing.h"
#include "weft/errors.h"

namespace weft {
namespace {

using namespace testing_ptx;
using codegen::PrintedPart;
using Kind = codegen::PrintedPart::Kind;

constexpr CudaLaunchShape kOneThread{.blocks = 1, .threads_x = 1, .threads_y = 1};

void expect_assembled(const CudaKernelImage& image) {
    const std::string ptxas = find_ptxas();
    if (ptxas.empty()) return;
    const Assembled assembled = assemble(ptxas, image);
    EXPECT_TRUE(assembled.accepted) << assembled.messages << image.ptx;
}

template <class T>
ArgumentWord word_of(T value) {
    ArgumentWord word = 0;
    static_assert(sizeof(value) <= sizeof(word));
    std::memcpy(&word, &value, sizeof(value));
    return word;
}

TEST(PtxLaunch, PrintsValuesOfAllTypesAsPythonDoes) {
    const ir::Module module = ir::parse(R"(
function @print_all(%a: i8, %b: u64, %c: i64, %d: bool, %e: f64, %f: f32, %g: c64, %h: f64, %i: i64) {
  tell 3 %a, %b, %c, %d, %e, %f, %g, %h, %i
  return
})");
    const auto value = [](Kind kind, size_t number, ScalarType type) {
        return PrintedPart{.kind = kind, .value = number, .type = type};
    };
    const auto text = [](std::string text) { return PrintedPart{.text = std::move(text)}; };
    PrintedPart truth = value(Kind::kChoice, 3, ScalarType::kBool);
    truth.choices = {"False", "True"};
    PrintedPart choice = value(Kind::kChoice, 2, ScalarType::kInt64);
    choice.choices = {"none", "50%", "größer"};
    PrintedPart fixed = value(Kind::kByFormat, 7, ScalarType::kFloat64),
                whole = value(Kind::kByFormat, 8, ScalarType::kInt64);
    fixed.text = "%9.3f";
    whole.text = "%05lld";
    codegen::PtxOptions options;
    options.printed[3] = {text("100% {"), value(Kind::kInteger, 0, ScalarType::kInt8),
                          text(" "),      value(Kind::kInteger, 1, ScalarType::kUInt64),
                          text(" "),      choice,
                          text(" "),      truth,
                          text(" "),      value(Kind::kFloat, 4, ScalarType::kFloat64),
                          text(" "),      value(Kind::kFloat, 5, ScalarType::kFloat32),
                          text(" "),      value(Kind::kComplex, 6, ScalarType::kComplex64),
                          text(" "),      fixed,
                          text(" "),      whole,
                          text("}\n")};
    EXPECT_EQ(text_of(codegen::parse_printed(text_of(options.printed))), text_of(options.printed));
    expect_assembled(codegen::compile_launch_for_ptx(module, "print_all", options));
    if (!can_simulate()) GTEST_SKIP() << "no compiler to simulate with";
    const auto kernel = SimulatedKernel::of_launch(module, "print_all", options);
    LaunchError error{};
    const std::array<float, 2> complex{0.1F, -2};
    const std::vector<ArgumentWord> words{
        word_of<int8_t>(-5),   word_of(UINT64_MAX),
        word_of<int64_t>(1),   word_of(true),
        word_of(0.1),          word_of(1e-4F),
        word_of(complex),      word_of(-std::numeric_limits<double>::quiet_NaN()),
        word_of<int64_t>(-42), word_of(&error),
        word_of<int64_t>(1)};
    ASSERT_EQ(words.size(), static_cast<size_t>(kernel->image().words));
    testing::internal::CaptureStdout();
    kernel->run(words, kOneThread);
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "100% {-5 18446744073709551615 50% True 0.1 1e-04 (0.1-2j)       nan -0042}\n");
    EXPECT_EQ(error.status, 0);
}

TEST(PtxLaunch, WhatNobodyKnowsHowToPrintIsRefused) {
    const ir::Module module = ir::parse(R"(
function @told(%a: i64) {
  tell 3 %a
  return
})");
    EXPECT_THROW(codegen::compile_launch_for_ptx(module, "told", {}), NotImplementedError);
}

constexpr const char* kParity = R"(
function @even(%n: i64) : i64 {
  %zero = const i64 0
  %one = const i64 1
  %ends = equal %n, %zero
  if %ends {
    return %one
  }
  %less = subtract %n, %one
  %r = call @odd(%less) : i64
  return %r
}
function @odd(%n: i64) : i64 {
  %zero = const i64 0
  %one = const i64 1
  %ends = equal %n, %zero
  if %ends {
    return %zero
  }
  %negative = less %n, %zero
  %fine = logical_not %negative
  check %fine else raise 7 %n
  %less = subtract %n, %one
  %r = call @even(%less) : i64
  return %r
}
function @parity(%n: i64, %out: global i64[8]) {
  %zero = const i64 0
  %r = call @even(%n) : i64
  store %out[%zero], %r
  return
})";

TEST(PtxLaunch, FunctionsThatCallEachOtherAreCalls) {
    const ir::Module module = ir::parse(kParity);
    codegen::PtxOptions options;
    options.recursive = true;
    const CudaKernelImage image = codegen::compile_launch_for_ptx(module, "parity", options);
    expect_assembled(image);
    EXPECT_NE(image.ptx.find(".func  (.param"), std::string::npos) << image.ptx;
    EXPECT_NE(image.ptx.find("call.uni"), std::string::npos) << image.ptx;
    if (!can_simulate()) GTEST_SKIP() << "no compiler to simulate with";
    const auto kernel = SimulatedKernel::of_launch(module, "parity", options);
    const auto run = [&](int64_t n, int64_t stack, LaunchError& error) {
        int64_t out = -1;
        const std::vector<ArgumentWord> words{word_of(n), word_of(&out), word_of(&error), word_of<int64_t>(1),
                                              word_of(stack)};
        EXPECT_EQ(words.size(), static_cast<size_t>(kernel->image().words));
        kernel->run(words, kOneThread);
        return out;
    };
    constexpr int64_t kStack = 64 << 10;
    LaunchError fine{};
    EXPECT_EQ(run(10, kStack, fine), 1);
    EXPECT_EQ(run(11, kStack, fine), 0);
    EXPECT_EQ(fine.status, 0);
    // What a function raises that has been called ends the thread.
    LaunchError raised{};
    EXPECT_EQ(run(-5, kStack, raised), -1);
    EXPECT_EQ(raised.status, 8);
    int64_t told = 0;
    std::memcpy(&told, raised.values, sizeof told);
    EXPECT_EQ(told, -6);
    // Beyond the stack, too: as deep as it is, and no more.
    LaunchError deep{};
    EXPECT_EQ(run(100'000, kStack, deep), -1);
    EXPECT_EQ(deep.status, int64_t{ir::kTooDeep} + 1);
    LaunchError none{};
    EXPECT_EQ(run(2, 0, none), -1);
    EXPECT_EQ(none.status, int64_t{ir::kTooDeep} + 1);
}

TEST(PtxLaunch, LinesOfTheProgramAreInThePtx) {
    ir::Module module = ir::parse(kParity);
    module.lines = {{"/program/one.py", 11}, {"/program/two.py", 22}, {"/program/one.py", 13}};
    const auto in_line = [&](const char* name, std::initializer_list<uint32_t> lines) {
        for (ir::Function& each : module.functions) {
            if (each.name != name) continue;
            auto line = lines.begin();
            for (ir::Instruction& instruction : each.body.body) {
                instruction.line = *line;
                if (line + 1 != lines.end()) ++line;
            }
        }
    };
    in_line("parity", {1, 2, 3});
    codegen::PtxOptions options;
    options.recursive = true;
    const CudaKernelImage image = codegen::compile_launch_for_ptx(module, "parity", options);
    EXPECT_TRUE(image.has_lines);
    expect_assembled(image);
    for (const char* part : {".file", "/program/one.py\"", "/program/two.py\"", " 22 0", " 13 0"})
        EXPECT_NE(image.ptx.find(part), std::string::npos) << part << image.ptx;
    module.lines.clear();
    for (ir::Function& each : module.functions) {
        for (ir::Instruction& instruction : each.body.body) instruction.line = 0;
    }
    EXPECT_EQ(codegen::compile_launch_for_ptx(module, "parity", options).ptx.find("\t.loc\t"),
              std::string::npos);
}

// As NVRTC writes it.
constexpr const char* kFunctionsOfCuda = R"(.version 9.0
.target sm_90
.address_size 64

	// .globl	scale
.visible .func  (.param .b32 func_retval0) scale(
	.param .b32 scale_param_0
)
{
	.reg .f32 	%f<3>;
	ld.param.f32 	%f1, [scale_param_0];
	add.f32 	%f2, %f1, %f1;
	st.param.f32 	[func_retval0+0], %f2;
	ret;
}
.visible .func  (.param .b32 func_retval0) scale_all(
	.param .b64 scale_all_param_0,
	.param .b64 scale_all_param_1,
	.param .b32 scale_all_param_2
)
{
	.reg .b32 	%r<2>;
	mov.u32 	%r1, 0;
	st.param.b32 	[func_retval0+0], %r1;
	ret;
}
)";

TEST(PtxLaunch, CallsFunctionsOfOtherMachineCodeWhosePtxIsMergedIntoItsOwn) {
    const ir::Module module = ir::parse(R"(
function @scaled(%a: global f32[4], %i: i64, %narrow: i8) {
  %x = load %a[%i]
  %y = external @scale(%x) : f32
  %status, %z = external status @scale_all(%a, %narrow) : i32, f32
  %sum = add %y, %z
  store %a[%i], %sum
  return
})");
    CudaKernelImage image = codegen::compile_launch_for_ptx(module, "scaled", {});
    expect_assembled(image);  // to be linked
    EXPECT_NE(image.ptx.find(".extern .func  (.param .b32 func_retval0) scale\n"), std::string::npos);
    EXPECT_EQ(cuda::merge_ptx(image.ptx, kFunctionsOfCuda, {"scale", "unknown"}), "");
    image.ptx = cuda::merge_ptx(image.ptx, kFunctionsOfCuda, {"scale", "scale_all"});
    EXPECT_EQ(image.ptx.find(".extern .func"), std::string::npos) << image.ptx;
    EXPECT_EQ(image.ptx.find(".version"), image.ptx.rfind(".version"));
    image.sm = 90;
    expect_assembled(image);
}

}  // namespace
}  // namespace weft
