// What kernels for GPUs look like: claims about accesses, arithmetic, indices and arguments, read in the PTX.
#include <gtest/gtest.h>

#include <string>

#include "ir/parser.h"
#include "ptx_testing.h"
#include "weft/errors.h"

namespace weft {
namespace {

using namespace testing_ptx;
using codegen::PtxOptions;

CudaKernelImage compile(const std::string& text, const PtxOptions& options = {},
                        codegen::PtxTexts* texts = nullptr) {
    const ir::Module module = ir::parse(text);
    return codegen::compile_ptx(module, module.functions.back().name, options, texts);
}

// Assembled, where that is possible.
void expect_assembles(const CudaKernelImage& image) {
    const std::string ptxas = find_ptxas();
    if (ptxas.empty()) return;
    const Assembled assembled = assemble(ptxas, image);
    EXPECT_TRUE(assembled.accepted) << assembled.messages << image.ptx;
}

const char* const kAxpy = R"(
kernel @axpy(%n: i64, %c: f32, %a: global f32[4] readonly, %b: global f32[4] scope 1 readonly, %out: global f32[4] scope 2) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = load %b[%i]
    %cx = multiply %c, %x
    %sum = add %cx, %y
    %quotient = divide %sum, %y
    %root = sqrt %quotient
    store %out[%i], %root
  }
})";

TEST(Ptx, NeighboursAreReadAndWrittenAtOnce) {
    const CudaKernelImage image = compile(kAxpy);
    EXPECT_EQ(image.points_per_thread, 4);
    EXPECT_EQ(count_of(image.ptx, "ld.global.nc.v4.f32"), 2U) << image.ptx;
    EXPECT_EQ(count_of(image.ptx, "st.global.v4.f32"), 1U);
    EXPECT_EQ(count_of(image.ptx, ".local"), 0U);
    EXPECT_EQ(count_of(image.ptx, ".f64"), 0U);
    expect_assembles(image);
}

TEST(Ptx, ArithmeticIsExact) {
    const CudaKernelImage image = compile(kAxpy);
    EXPECT_EQ(count_of(image.ptx, "fma"), 0U) << image.ptx;
    EXPECT_EQ(inexact_arithmetic(image.ptx), "");
    EXPECT_NE(image.ptx.find("div.rn.f32"), std::string::npos);
    EXPECT_NE(image.ptx.find("sqrt.rn.f32"), std::string::npos);
}

TEST(Ptx, ArgumentsAreOneParameterByValue) {
    const CudaKernelImage image = compile(kAxpy);
    EXPECT_EQ(image.symbol, "weft_axpy");
    EXPECT_EQ(image.words, 5);
    EXPECT_NE(image.ptx.find("weft_axpy_param_0[40]"), std::string::npos) << image.ptx;
    ASSERT_EQ(image.buffers.size(), 3U);
    EXPECT_EQ(image.buffers[2].base_word, 4);
    EXPECT_EQ(image.buffers[2].alignment, 4);
    EXPECT_EQ(image.grid_dimensions, 1);
    EXPECT_FALSE(image.teams);
}

TEST(Ptx, WhatIsWrittenIsNotReadThroughTheReadOnlyCache) {
    const CudaKernelImage image = compile(R"(
kernel @in_place(%n: i64, %a: global f64[8] scope 1 readonly, %b: global f64[8] scope 2 readonly, %out: global f64[8] scope 1) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = load %b[%i]
    %z = add %x, %y
    store %out[%i], %z
  }
})");
    EXPECT_EQ(count_of(image.ptx, "ld.global.nc.v2.f64"), 1U) << image.ptx;
    EXPECT_EQ(count_of(image.ptx, "ld.global.v2.f64"), 1U);
}

TEST(Ptx, SmallElementsTravelInWords) {
    const CudaKernelImage image = compile(R"(
kernel @bytes(%n: i64, %a: global u8[1] readonly, %b: global u8[1] scope 1 readonly, %out: global u8[1] scope 2) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = load %b[%i]
    %z = add %x, %y
    store %out[%i], %z
  }
})");
    EXPECT_EQ(image.points_per_thread, 16);
    EXPECT_EQ(count_of(image.ptx, "ld.global.nc.v4."), 2U) << image.ptx;
    EXPECT_EQ(count_of(image.ptx, "st.global.v4."), 1U);
    EXPECT_EQ(count_of(image.ptx, ".local"), 0U);
    expect_assembles(image);
}

const char* const kStrided = R"(
kernel @strided(%m: i64, %n: i64, %a: global c64[?, ?] readonly, %out: global c64[?, 8] scope 1) {
  parallel grid (%i, %j) in (%m, %n) {
    %x = load %a[%i, %j]
    %y = multiply %x, %x
    store %out[%i, %j], %y
  }
})";

TEST(Ptx, IndicesHave32BitsUnlessWide) {
    const CudaKernelImage narrow = compile(kStrided);
    EXPECT_FALSE(narrow.wide);
    EXPECT_EQ(count_of(narrow.ptx, "div.u64"), 0U) << narrow.ptx;
    EXPECT_NE(count_of(narrow.ptx, "div.u32"), 0U);
    EXPECT_EQ(narrow.buffers[0].stride_words, (std::vector<int>{3, 4}));
    const CudaKernelImage wide = compile(kStrided, {.wide = true});
    EXPECT_TRUE(wide.wide);
    EXPECT_NE(count_of(wide.ptx, "div.u64"), 0U) << wide.ptx;
    expect_assembles(narrow);
    expect_assembles(wide);
}

TEST(Ptx, UnalignedBuffersAreReadByteByByte) {
    const CudaKernelImage image = compile(kAxpy, {.unaligned = true});
    EXPECT_EQ(image.points_per_thread, 1);
    EXPECT_EQ(image.buffers[0].alignment, 1);
    EXPECT_EQ(count_of(image.ptx, "ld.global.nc.f32"), 0U) << image.ptx;
    EXPECT_NE(count_of(image.ptx, "ld.global.nc.u8"), 0U);
    expect_assembles(image);
}

TEST(Ptx, ElementaryFunctionsComeFromLibdevice) {
    if (codegen::find_libdevice().empty()) GTEST_SKIP() << "libdevice is not installed";
    const char* const kText = R"(
kernel @waves(%n: i64, %a: global f64[8] readonly, %out: global f64[8] scope 1) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = sin %x
    %z = log %y
    store %out[%i], %z
  }
})";
    codegen::PtxTexts texts;
    const CudaKernelImage image = compile(kText, {}, &texts);
    EXPECT_TRUE(texts.uses_libdevice);
    EXPECT_EQ(image.ptx.find(".extern"), std::string::npos) << image.ptx;
    EXPECT_EQ(image.ptx.find("__nvvm_reflect"), std::string::npos);
    expect_assembles(image);
    EXPECT_THROW(compile(kText, {.libdevice = "/nowhere/libdevice.10.bc"}), DeviceError);
    // exp is weft's own code, the same as on the CPU.
    compile(R"(
kernel @own(%n: i64, %a: global f64[8] readonly, %out: global f64[8] scope 1) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = exp %x
    store %out[%i], %y
  }
})",
            {}, &texts);
    EXPECT_FALSE(texts.uses_libdevice);
}

}  // namespace
}  // namespace weft
