// What kernels for GPUs look like: claims about accesses, arithmetic, indices and arguments, read in the PTX.
#include <gtest/gtest.h>

#include <string>

#include "device/cuda/kernel_image.h"
#include "device/cuda/launch_shape.h"
#include "ir/parser.h"
#include "support/kernel_texts.h"
#include "support/ptx_testing.h"
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

TEST(Ptx, FastMathContractsAndApproximates) {
    const PtxOptions fast{.fast_math = true};
    const CudaKernelImage image = compile(kAxpy, fast);
    // Four neighbours at once; elsewhere four side by side, each if it is there.
    EXPECT_EQ(count_of(image.ptx, "fma.rn.f32"), 8U) << image.ptx;
    EXPECT_EQ(count_of(image.ptx, "div.approx.f32"), 8U);
    EXPECT_EQ(count_of(image.ptx, "sqrt.approx.f32"), 8U);
    EXPECT_EQ(count_of(image.ptx, ".ftz"), 0U) << "denormal numbers are kept";
    expect_assembles(image);
    const std::string exponential = R"(
kernel @exponential(%n: i64, %a: global f32[4] readonly, %out: global f32[4] scope 1) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %y = exp %x
    store %out[%i], %y
  }
})";
    EXPECT_EQ(count_of(compile(exponential, fast).ptx, "ex2.approx.f32"), 8U);
    EXPECT_EQ(count_of(compile(exponential).ptx, "ex2.approx.f32"), 0U);
    // float64 has no approximations.
    std::string wide = exponential;
    for (size_t at = 0; (at = wide.find("f32[4]", at)) != std::string::npos;) wide.replace(at, 6, "f64[8]");
    EXPECT_EQ(count_of(compile(wide, fast).ptx, "approx"), 0U);
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
    EXPECT_TRUE(image.shifted_runs);
    // Where all is aligned, and where only what is written is: then two words for each that is read.
    EXPECT_EQ(count_of(image.ptx, "ld.global.nc.v4."), 2U + 4U) << image.ptx;
    EXPECT_EQ(count_of(image.ptx, "st.global.v4."), 2U);
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
    %z = log2 %y
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

const std::string kRowSums = testing_kernels::row_sums("f32", 32, 512, "?, 4", "4");

TEST(Ptx, RowsAreReducedInRegisters) {
    const CudaKernelImage image = compile(kRowSums);
    EXPECT_TRUE(image.teams);
    EXPECT_EQ(image.team_threads, 0);
    EXPECT_EQ(image.row_word, 1);
    EXPECT_EQ(count_of(image.ptx, ".local"), 0U) << image.ptx;
    EXPECT_NE(count_of(image.ptx, "shfl.sync"), 0U);
    // A block's 16 rows of lanes are under way at once.
    EXPECT_GE(count_of(image.ptx, "ld.global.nc.f32"), 16U);
    EXPECT_EQ(inexact_arithmetic(image.ptx), "");
    expect_assembles(image);
}

TEST(Ptx, RowsLeaveRoomForOthersOnTheirMultiprocessor) {
    const CudaKernelImage image = compile(kRowSums);
    EXPECT_NE(image.ptx.find(".minnctapersm 4"), std::string::npos) << image.ptx;
    if (find_ptxas().empty()) GTEST_SKIP() << "ptxas is not installed";
    const Assembled assembled = assemble(find_ptxas(), image);
    EXPECT_LE(assembled.registers, 65536 / 256 / 4) << assembled.messages;
    EXPECT_EQ(assembled.spilled, 0) << assembled.messages;
}

TEST(Ptx, ArgmaxComparesNumbersOfElementsBetweenLanesOnly) {
    const CudaKernelImage image = compile(kArgmaxOfRows);
    // Not for each of the 16 iterations of a whole block; there are its steps between lanes, digits, and a
    // part at the end.
    EXPECT_LE(count_of(image.ptx, "setp.lt.s64"), 24U) << image.ptx;
    expect_assembles(image);
}

TEST(Ptx, DearKernelsShareConstantsAndKeepThemInRegisters) {
    // Four points of float64 side by side, where two are enough for the widest access.
    const CudaKernelImage image = compile(R"(
kernel @dear(%n: i64, %a: global f64[8] readonly, %out: global f64[8] scope 1) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %e = exp %x
    %f = erf %x
    %g = erf %e
    %y = multiply %f, %g
    store %out[%i], %y
  }
})");
    EXPECT_EQ(image.points_per_thread, 4);
    EXPECT_EQ(count_of(image.ptx, "ld.global.nc.v2.f64"), 2U) << image.ptx;
    EXPECT_NE(image.ptx.find(".minnctapersm 3"), std::string::npos);
    if (find_ptxas().empty()) GTEST_SKIP() << "ptxas is not installed";
    EXPECT_LE(assemble(find_ptxas(), image).spilled, 128);
}

TEST(Ptx, SineAndCosineOfOneAngleReduceItOnce) {
    const ir::Module module = ir::parse(R"(
kernel @turn(%n: i64, %a: global f64[8] readonly, %out: global f64[8] scope 1) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %s = sin %x
    %c = cos %x
    %p = multiply %s, %c
    store %out[%i], %p
  }
})");
    codegen::PtxTexts texts;
    const CudaKernelImage image = codegen::compile_ptx(module, "turn", {}, &texts);
    EXPECT_FALSE(texts.uses_libdevice);
    // For each of the two lanes behind one branch, and for the points at the end one by one.
    EXPECT_EQ(count_of(texts.llvm_ir, "@weft_gpu_reduce_any_angle_f64("), 4U) << texts.llvm_ir;
    EXPECT_EQ(count_of(texts.llvm_ir, "!prof"), 2U);
    EXPECT_EQ(image.ptx.find(".extern"), std::string::npos) << image.ptx;
    expect_assembles(image);
}

TEST(Ptx, ColumnsAreReadSideBySide) {
    // The last dimension counts chunks of rows; neighbouring threads take neighbouring columns all the same.
    const CudaKernelImage image = compile(R"(
kernel @column_sums(%columns: i64, %chunks: i64, %rows: i64, %a: global f32[4, ?] readonly, %out: global f32[?, 4] scope 1) {
  %length = const i64 4096
  parallel grid (%j, %c) in (%columns, %chunks) {
    %zero = const f32 0.0
    %begin = multiply %c, %length
    %rest = subtract %rows, %begin
    %count = minimum %rest, %length
    %sum = reduce %k in %count lanes 1 block 0 with (%zero) {
      %row = add %begin, %k
      %x = load %a[%j, %row]
      yield %x
    } combine (%left, %right) {
      %both = add %left, %right
      yield %both
    }
    store %out[%j, %c], %sum
  }
})");
    EXPECT_FALSE(image.teams);
    EXPECT_EQ(count_of(image.ptx, ".local"), 0U) << image.ptx;
    EXPECT_EQ(image.points_per_thread, 4);
    EXPECT_EQ(image.run_dimension, 0);
    EXPECT_GE(count_of(image.ptx, "ld.global.nc.v4.f32"), 8U) << "loads of several rows are under way";
    // Of several rows before the first addition.
    const size_t addition = image.ptx.find("add.rn.f32");
    ASSERT_NE(addition, std::string::npos);
    EXPECT_GE(count_of(image.ptx.substr(0, addition), "ld.global.nc.v4.f32"), 8U) << image.ptx;
    expect_assembles(image);
}

TEST(Ptx, BlocksHaveTheThreadsThatTheKernelSays) {
    const CudaKernelImage image = compile(R"(
kernel @reverse_each(%n: i64, %threads: i64, %a: global i32[256, 4] scope 1) {
  parallel grid (%row) in (%n) {
    %tile = allocate shared i32[4] size [64] scope 2
    parallel block (%t) in (%threads) {
      %x = load %a[%row, %t]
      store %tile[%t], %x
      barrier
      %last = const i64 63
      %from = subtract %last, %t
      %y = load %tile[%from]
      store %a[%row, %t], %y
    }
  }
})");
    EXPECT_EQ(image.team_threads, 1);
    EXPECT_EQ(image.team_words, (std::vector<int>{1}));
    EXPECT_NE(image.ptx.find(".maxntid 1024"), std::string::npos) << image.ptx;
    EXPECT_NE(image.ptx.find("bar.sync"), std::string::npos);
    EXPECT_NE(image.ptx.find("st.shared"), std::string::npos);
    const std::vector<ArgumentWord> words = {5, 64, 0};
    const std::vector<int64_t> grid = {5};
    EXPECT_EQ(launch_shape(image, words, grid).threads_x, 64U);
    EXPECT_EQ(launch_shape(image, words, grid).blocks, 5U);
    const std::vector<ArgumentWord> too_many = {5, 2000, 0};
    EXPECT_THROW(launch_shape(image, too_many, grid), ValueError);
    expect_assembles(image);
}

TEST(Ptx, OrderOfAtomicsIsKept) {
    const CudaKernelImage image = compile(R"(
kernel @publish(%n: i64, %flags: global i32[4] scope 1, %sums: global f64[8] scope 2) {
  parallel grid (%i) in (%n) {
    %one = const i32 1
    %x = const f64 2.0
    %a = atomic add %flags[%i], %one release device
    %b = atomic add %sums[%i], %x relaxed device
    %c = atomic multiply %sums[%i], %x relaxed device
  }
})");
    const size_t fence = image.ptx.find("membar.gl"), flag = image.ptx.find("atom.global.add.u32");
    EXPECT_LT(fence, flag) << image.ptx;
    EXPECT_NE(image.ptx.find("atom.global.add.f64"), std::string::npos);
    EXPECT_NE(image.ptx.find("atom.global.cas.b64"), std::string::npos);
    EXPECT_EQ(count_of(image.ptx, "membar"), 1U);
    expect_assembles(image);
    EXPECT_THROW(compile(R"(
kernel @system(%n: i64, %flags: global i32[4] scope 1) {
  parallel grid (%i) in (%n) {
    %one = const i32 1
    %a = atomic add %flags[%i], %one relaxed system
  }
})"),
                 NotImplementedError);
}

}  // namespace
}  // namespace weft
