// Runs of neighbours that begin anywhere, and blocks that are tiles: what the code for GPUs looks like, and
// that it computes what the CPU's does (tests/simulation).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/cuda/kernel_image.h"
#include "ir/parser.h"
#include "support/gpu_kernel_testing.h"
#include "support/ptx_testing.h"

namespace weft {
namespace {

using namespace testing_ptx;

class PtxRuns : public GpuKernelTest {};

// Nine views of one array, as slices of it are.
std::string smoothing(const std::string& type, int itemsize, const std::string& divided) {
    const std::string buffer = type + "[?, " + std::to_string(itemsize) + "]";
    std::string text = "kernel @smoothing(%m: i64, %n: i64";
    for (int k = 0; k < 9; ++k) text += ", %a" + std::to_string(k) + ": global " + buffer + " readonly";
    text += ", %out: global " + buffer + " scope 1) {\n  parallel grid (%i, %j) in (%m, %n) {\n";
    for (int k = 0; k < 9; ++k) {
        const std::string n = std::to_string(k), sum = "%s" + n;
        text += "    %x" + n + " = load %a" + n + "[%i, %j]\n";
        if (k > 0)
            text += "    " + sum + " = add " + (k == 1 ? "%x0" : "%s" + std::to_string(k - 1)) + ", %x" + n +
                    "\n";
    }
    return text + divided + "    store %out[%i, %j], %r\n  }\n}";
}

std::string mean_of(const std::string& type) {
    return "    %nine = const " + type + " 9\n    %r = floor_divide %s8, %nine\n";
}

// The views of an array of rows of `width`, and a result of rows of their own.
std::vector<Argument> nine_views(std::vector<char>& a, std::vector<char>& out, int64_t m, int64_t n,
                                 int64_t width, int64_t out_width, int64_t out_offset, int64_t itemsize) {
    std::vector<Argument> arguments{{nullptr, m}, {nullptr, n}};
    for (int64_t k = 0; k < 9; ++k)
        arguments.push_back({&a, (k / 3 * width + k % 3) * itemsize, {width * itemsize}});
    arguments.push_back({&out, out_offset * itemsize, {out_width * itemsize}});
    return arguments;
}

TEST_F(PtxRuns, SmallElementsAreReadFromAnyAddress) {
    struct Case {
        const char* name;
        ScalarType type;
    };
    for (const Case& type : {Case{"i8", ScalarType::kInt8}, Case{"u8", ScalarType::kUInt8},
                             Case{"i16", ScalarType::kInt16}, Case{"u16", ScalarType::kUInt16}}) {
        SCOPED_TRACE(type.name);
        const int64_t itemsize = DType(type.type).itemsize();
        const ir::Module module =
            ir::parse(smoothing(type.name, static_cast<int>(itemsize), mean_of(type.name)));
        const GpuKernel gpu(module, "smoothing", {.sm = 90});
        EXPECT_TRUE(gpu.image().shifted_runs);
        EXPECT_EQ(gpu.image().tile_dimension, 0);
        for (const int64_t n : {1, 7, 16, 23, 64, 65}) {
            for (const int64_t offset : {0, 1, 7, 15}) {
                SCOPED_TRACE(std::to_string(n) + " elements, written from " + std::to_string(offset));
                const int64_t m = 5, width = n + 2 + offset % 3, out_width = n + offset % 5;
                Memory memory(static_cast<uint64_t>(n));
                std::vector<char>&a = memory.add(type.type, (m + 2) * width),
                &out = memory.add(type.type, m * out_width + offset, true);
                expect_same(module, gpu, nine_views(a, out, m, n, width, out_width, offset, itemsize), {m, n},
                            out, type.type);
            }
        }
    }
}

TEST_F(PtxRuns, SeveralResultsThatAreNotAlignedTogether) {
    const ir::Module module = ir::parse(R"(
kernel @both(%m: i64, %n: i64, %a: global u8[?, 1] readonly, %b: global i16[?, 2] readonly, %sum: global i16[?, 2] scope 1, %low: global u8[?, 1] scope 2) {
  parallel grid (%i, %j) in (%m, %n) {
    %x = load %a[%i, %j]
    %y = load %b[%i, %j]
    %wide = cast %x to i16
    %s = add %wide, %y
    store %sum[%i, %j], %s
    %t = cast %s to u8
    store %low[%i, %j], %t
  }
})");
    const GpuKernel gpu(module, "both", {.sm = 90});
    EXPECT_EQ(gpu.image().points_per_thread, 8);
    for (const int64_t n : {3, 8, 40, 61}) {
        for (const int64_t offset : {0, 1, 3, 8}) {
            SCOPED_TRACE(std::to_string(n) + " elements, the second from " + std::to_string(offset));
            const int64_t m = 3;
            Memory memory(static_cast<uint64_t>(n));
            std::vector<char>&a = memory.add(ScalarType::kUInt8, m * n + 5),
            &b = memory.add(ScalarType::kInt16, m * n + 5),
            &sum = memory.add(ScalarType::kInt16, m * n, true),
            &low = memory.add(ScalarType::kUInt8, m * n + 9, true);
            const std::vector<Argument> arguments = {{nullptr, m},       {nullptr, n},
                                                     {&a, 5, {n}},       {&b, 6, {2 * n}},
                                                     {&sum, 0, {2 * n}}, {&low, offset, {n}}};
            expect_same(module, gpu, arguments, {m, n}, sum, ScalarType::kInt16);
            expect_same(module, gpu, arguments, {m, n}, low, ScalarType::kUInt8);
        }
    }
}

// Elements of one row, so many further on each, added and halved.
std::string window(const std::string& type, int itemsize, const std::vector<int64_t>& steps) {
    const std::string buffer = "global " + type + "[?, " + std::to_string(itemsize) + "]";
    std::string text = "kernel @window(%m: i64, %n: i64, %a: " + buffer + " readonly, %b: " + buffer +
                       " readonly, %out: " + buffer + " scope 1) {\n";
    text += "  parallel grid (%i, %j) in (%m, %n) {\n    %sum = load %b[%i, %j]\n";
    for (size_t k = 0; k < steps.size(); ++k) {
        const std::string n = std::to_string(k);
        text += "    %step" + n + " = const i64 " + std::to_string(steps[k]) + "\n";
        text += "    %at" + n + " = add %j, %step" + n + "\n    %x" + n + " = load %a[%i, %at" + n + "]\n";
        text +=
            "    %s" + n + " = add " + (k == 0 ? "%sum" : "%s" + std::to_string(k - 1)) + ", %x" + n + "\n";
    }
    const std::string last = std::to_string(steps.size() - 1);
    return text + "    %low = bitwise_and %x" + last + ", %s0\n    %r = subtract %s" + last +
           ", %low\n    store %out[%i, %j], %r\n  }\n}";
}

TEST_F(PtxRuns, ViewsOfOneArrayAreReadTogether) {
    struct Case {
        const char* name;
        ScalarType type;
        std::vector<int64_t> steps;
    };
    for (const Case& c :
         {Case{"u8", ScalarType::kUInt8, {0, 1, 2}}, Case{"i8", ScalarType::kInt8, {0, -1, 3}},
          Case{"u8", ScalarType::kUInt8, {0, 8, 7}}, Case{"i16", ScalarType::kInt16, {0, 1, 2}},
          Case{"u16", ScalarType::kUInt16, {1, -8, 8}}}) {
        const int64_t itemsize = DType(c.type).itemsize();
        SCOPED_TRACE(std::string(c.name) + " and a step of " + std::to_string(c.steps[1]));
        const ir::Module module = ir::parse(window(c.name, static_cast<int>(itemsize), c.steps));
        const GpuKernel gpu(module, "window", {.sm = 90});
        EXPECT_TRUE(gpu.image().shifted_runs);
        for (const int64_t n : {3, 16, 33, 70}) {
            for (int64_t offset = 0; offset < 17; offset += 3) {
                SCOPED_TRACE(std::to_string(n) + " elements from " + std::to_string(offset));
                const int64_t m = 3, width = n + 17 + offset;
                Memory memory(static_cast<uint64_t>(n));
                std::vector<char>&a = memory.add(c.type, m * width + 32),
                &b = memory.add(c.type, m * width + 32), &out = memory.add(c.type, m * width + 32, true);
                expect_same(module, gpu,
                            {{nullptr, m},
                             {nullptr, n},
                             {&a, (8 + offset) * itemsize, {width * itemsize}},
                             {&b, itemsize, {width * itemsize}},
                             {&out, offset / 2 * itemsize, {width * itemsize}}},
                            {m, n}, out, c.type);
            }
        }
    }
}

TEST(PtxRunsText, ViewsOfOneArrayAreReadOnce) {
    const ir::Module module = ir::parse(window("u8", 1, {0, 1, 2}));
    const CudaKernelImage image = codegen::compile_ptx(module, "window", {.sm = 90});
    // Three for the views, two for what is beside them; there is no way in which all is aligned.
    EXPECT_EQ(count_of(image.ptx, "ld.global.nc.v4."), 5U) << image.ptx;
    EXPECT_EQ(count_of(image.ptx, "st.global.v4."), 1U);
}

// What is computed in pairs of 16 bits, mixed with what is not.
TEST_F(PtxRuns, SmallIntegersAreComputedInPairs) {
    struct Case {
        std::string buffers, body;
        ScalarType in, out;
    };
    const std::vector<Case> cases = {
        {"i8", "maximum %x, %y|minimum %a, %x|negative %b|subtract %c, %y|invert %d", ScalarType::kInt8,
         ScalarType::kInt8},
        {"u8", "maximum %x, %y|minimum %a, %x|negative %b|subtract %c, %y|invert %d", ScalarType::kUInt8,
         ScalarType::kUInt8},
        {"i16", "maximum %x, %y|minimum %a, %x|negative %b|bitwise_xor %c, %y|multiply %d, %x",
         ScalarType::kInt16, ScalarType::kInt16},
        {"u16", "maximum %x, %y|bitwise_and %a, %x|add %b, %b|bitwise_or %c, %y|right_shift %d, %x",
         ScalarType::kUInt16, ScalarType::kUInt16},
        {"i8 widened", "add %x, %y|cast %a to i16|add %b, %b|negative %c|add %d, %b", ScalarType::kInt8,
         ScalarType::kInt16},
        {"u8 widened", "add %x, %y|cast %a to i16|subtract %b, %p|cast %c to u8|cast %d to u16",
         ScalarType::kUInt8, ScalarType::kUInt16},
        {"i16 narrowed", "add %x, %y|cast %a to u8|add %b, %b|cast %c to i16|cast %d to i8",
         ScalarType::kInt16, ScalarType::kInt8},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.buffers);
        const int64_t in_bytes = DType(c.in).itemsize(), out_bytes = DType(c.out).itemsize();
        const auto type = [](ScalarType t) { return std::string(ir::scalar_name(t)); };
        const auto buffer = [&](ScalarType t) {
            return "global " + type(t) + "[?, " + std::to_string(DType(t).itemsize()) + "]";
        };
        std::string text =
            "kernel @pairs(%m: i64, %n: i64, %p: i16, %in0: " + buffer(c.in) +
            " readonly, %in1: " + buffer(c.in) + " readonly, %out: " + buffer(c.out) +
            " scope 1) {\n parallel grid (%i, %j) in (%m, %n) {\n %x = load %in0[%i, %j]\n %y = load "
            "%in1[%i, %j]\n";
        char name = 'a';
        std::string line;
        for (const char at : c.body + "|") {
            if (at != '|') {
                line += at;
                continue;
            }
            text += std::string(" %") + name++ + " = " + line + "\n";
            line.clear();
        }
        text += " store %out[%i, %j], %e\n }\n}";
        const ir::Module module = ir::parse(text);
        const GpuKernel gpu(module, "pairs", {.sm = 90});
        EXPECT_TRUE(gpu.image().shifted_runs);
        for (const int64_t offset : {0, 1, 6}) {
            const int64_t m = 2, n = 77;
            Memory memory(static_cast<uint64_t>(offset));
            std::vector<char>&a = memory.add(c.in, m * n + 9), &b = memory.add(c.in, m * n + 9),
            &out = memory.add(c.out, m * n + 9, true);
            expect_same(module, gpu,
                        {{nullptr, m},
                         {nullptr, n},
                         {nullptr, 31},
                         {&a, offset * in_bytes, {n * in_bytes}},
                         {&b, 3 * in_bytes, {n * in_bytes}},
                         {&out, offset / 2 * out_bytes, {n * out_bytes}}},
                        {m, n}, out, c.out);
        }
    }
}

const char* const kLaplace = R"(
kernel @laplace(%l: i64, %m: i64, %n: i64, %a: global f32[?, ?, 4] readonly, %b: global f32[?, ?, 4] readonly, %c: global f32[?, ?, 4] readonly, %d: global f32[?, ?, 4] readonly, %out: global f32[?, ?, 4] scope 1) {
  parallel grid (%h, %i, %j) in (%l, %m, %n) {
    %up = load %a[%h, %i, %j]
    %down = load %b[%h, %i, %j]
    %left = load %c[%h, %i, %j]
    %right = load %d[%h, %i, %j]
    %x = add %up, %down
    %y = add %left, %right
    %z = add %x, %y
    store %out[%h, %i, %j], %z
  }
})";

TEST_F(PtxRuns, StencilsAreComputedInTiles) {
    for (const bool wide : {false, true}) {
        const ir::Module module = ir::parse(kLaplace);
        const GpuKernel gpu(module, "laplace", {.wide = wide});
        EXPECT_EQ(gpu.image().tile_dimension, 1);
        EXPECT_EQ(gpu.image().rows_per_thread, 2);
        EXPECT_EQ(gpu.image().points_per_thread, 4);
        EXPECT_EQ(gpu.image().run_dimension, 2);
        EXPECT_EQ(gpu.image().run_distance, 32);
        for (const int64_t n : {1, 33, 128, 131, 300}) {
            for (const int64_t m : {1, 2, 3, 9}) {
                SCOPED_TRACE(std::to_string(m) + " rows of " + std::to_string(n));
                const int64_t l = 3, width = 4 * (n + 2), plane = width * (m + 2);
                Memory memory(static_cast<uint64_t>(n));
                std::vector<char>&u = memory.add(ScalarType::kFloat32, l * plane / 4),
                &out = memory.add(ScalarType::kFloat32, l * plane / 4, true);
                const auto view = [&](std::vector<char>& bytes, int64_t i, int64_t j) {
                    return Argument{&bytes, i * width + 4 * j, {plane, width}};
                };
                expect_same(module, gpu,
                            {{nullptr, l},
                             {nullptr, m},
                             {nullptr, n},
                             view(u, 0, 1),
                             view(u, 2, 1),
                             view(u, 1, 0),
                             view(u, 1, 2),
                             view(out, 1, 1)},
                            {l, m, n}, out, ScalarType::kFloat32);
            }
        }
    }
}

TEST(PtxRunsText, SmoothingReadsAndWritesWords) {
    const ir::Module module = ir::parse(smoothing("i8", 1, mean_of("i8")));
    const CudaKernelImage image = codegen::compile_ptx(module, "smoothing", {.sm = 90});
    EXPECT_EQ(image.points_per_thread, 16);
    EXPECT_EQ(count_of(image.ptx, "ld.global.nc.v4."), 9U + 18U) << image.ptx;
    EXPECT_EQ(count_of(image.ptx, "st.global.v4."), 2U);
    EXPECT_EQ(count_of(image.ptx, ".local"), 0U);
    // For each of four words, twice for all but the first view, in both ways to read them.
    EXPECT_EQ(count_of(image.ptx, "add.s16x2"), 2U * 2 * 4 * 8);
    const std::string ptxas = find_ptxas();
    if (ptxas.empty()) return;
    const Assembled assembled = assemble(ptxas, image);
    EXPECT_TRUE(assembled.accepted) << assembled.messages;
    EXPECT_EQ(assembled.spilled, 0) << assembled.messages;
    EXPECT_LE(assembled.registers, 64) << assembled.messages;
}

TEST(PtxRunsText, NarrowIntegersAreDividedInOneMultiplication) {
    for (const char* const type : {"i8", "u8", "i16", "u16"}) {
        SCOPED_TRACE(type);
        const int itemsize = type[1] == '8' ? 1 : 2;
        const ir::Module module = ir::parse(smoothing(type, itemsize, mean_of(type)));
        codegen::PtxTexts texts;
        codegen::compile_ptx(module, "smoothing", {.sm = 90}, &texts);
        for (const char* const division :
             {" sdiv i8", " udiv i8", " srem i8", " sdiv i16", " udiv i16", " srem i16"})
            EXPECT_EQ(count_of(texts.llvm_ir, division), 0U) << division << texts.llvm_ir;
    }
}

}  // namespace
}  // namespace weft
