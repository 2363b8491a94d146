// Random numbers in kernels for GPUs, where a thread draws several words one from another: the same words as
// the CPU's kernels draw (tests/simulation).
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "ir/parser.h"
#include "support/gpu_kernel_testing.h"
#include "support/ptx_testing.h"

namespace weft {
namespace {

using namespace testing_ptx;

struct Draw {
    const char* op;
    bool halves, blocks;  // halves of words; blocks of four words, of Philox
};
void PrintTo(const Draw& draw, std::ostream* out) { *out << draw.op; }

class PtxDraws : public GpuKernelTest, public testing::WithParamInterface<Draw> {
protected:
    static size_t words() { return GetParam().blocks ? 6 : 4; }
    // The parameters, and the operation at %p.
    static std::string stream() {
        std::string text = "%first: i64";
        for (size_t k = 0; k < words(); ++k) text += ", %w" + std::to_string(k) + ": u64";
        return text;
    }
    static std::string draw() {
        std::string text = std::string(GetParam().op) + " %p";
        for (size_t k = 0; k < words(); ++k) text += ", %w" + std::to_string(k);
        return text;
    }
    static void add_stream(std::vector<Argument>& arguments, int64_t first) {
        std::mt19937_64 random(static_cast<uint64_t>(first) + 5);
        arguments.push_back({nullptr, first});
        for (size_t k = 0; k < words(); ++k)
            arguments.push_back({nullptr, static_cast<int64_t>(random() | (k == 2 ? 1 : 0))});
    }
};

TEST_P(PtxDraws, OfARow) {
    const bool halves = GetParam().halves;
    const ScalarType type = halves ? ScalarType::kUInt32 : ScalarType::kUInt64;
    const ir::Module module = ir::parse("kernel @draws(%n: i64, " + stream() + ", %out: global " +
                                        (halves ? "u32[4]" : "u64[8]") + R"() {
  parallel grid (%i) in (%n) {
    %p = add %first, %i
    %x = )" + draw() + R"(
    store %out[%i], %x
  }
})");
    const GpuKernel gpu(module, "draws");
    if (!GetParam().blocks) {
        EXPECT_GT(gpu.image().points_per_thread, 4);
        EXPECT_EQ(gpu.image().run_distance, 32);
    }
    for (const int64_t first : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, (int64_t{1} << 32) - 100,
                                (int64_t{3} << 45) + 77}) {
        for (const int64_t n : {1, 5, 31, 33, 511, 512, 513, 1500}) {
            SCOPED_TRACE(std::to_string(n) + " from " + std::to_string(first));
            Memory memory(1);
            std::vector<char>& out = memory.add(type, n, true);
            std::vector<Argument> arguments{{nullptr, n}};
            add_stream(arguments, first);
            arguments.push_back({&out});
            expect_same(module, gpu, arguments, {n}, out, type);
        }
    }
}

class PtxDrawsAmongOthers : public PtxDraws {};

// Beside what is read, in rows that begin anywhere.
TEST_P(PtxDrawsAmongOthers, OfRowsThatAreCompared) {
    const std::string type = GetParam().halves ? "f32" : "f64";
    const int64_t itemsize = GetParam().halves ? 4 : 8;
    const ir::Module module = ir::parse("kernel @compared(%m: i64, %n: i64, %row: i64, " + stream() +
                                        ", %a: global " + type + "[?, " + std::to_string(itemsize) +
                                        R"(] readonly, %out: global bool[?, 1] scope 1) {
  parallel grid (%i, %j) in (%m, %n) {
    %q = multiply %i, %row
    %r = add %first, %q
    %p = add %j, %r
    %u = )" + draw() + R"(
    %x = unit_interval %u
    %y = load %a[%i, %j]
    %less = less %x, %y
    store %out[%i, %j], %less
  }
})");
    const GpuKernel gpu(module, "compared");
    for (const int64_t n : {1, 7, 32, 100, 256, 300}) {
        for (const int64_t gap : {0, 1, 32}) {
            SCOPED_TRACE(std::to_string(n) + " of rows of " + std::to_string(n + gap));
            constexpr int64_t kRows = 3;
            Memory memory(2);
            std::vector<char>& a =
                memory.add(itemsize == 4 ? ScalarType::kFloat32 : ScalarType::kFloat64, kRows * (n + gap));
            std::vector<char>& out = memory.add(ScalarType::kBool, kRows * n, true);
            std::vector<Argument> arguments{{nullptr, kRows}, {nullptr, n}, {nullptr, n + gap}};
            add_stream(arguments, gap);
            arguments.push_back({&a, 0, {(n + gap) * itemsize}});
            arguments.push_back({&out, 0, {n}});
            expect_same(module, gpu, arguments, {kRows, n}, out, ScalarType::kBool);
        }
    }
}

TEST_P(PtxDrawsAmongOthers, OfRowsThatAreAdded) {
    const std::string type = GetParam().halves ? "f32" : "f64";
    const ir::Module module = ir::parse("kernel @added(%m: i64, %n: i64, " + stream() + ", %out: global " +
                                        type + (GetParam().halves ? "[4]" : "[8]") + R"( scope 1) {
  parallel grid (%i) in (%m) {
    %zero = const )" + type + R"( 0
    %q = multiply %i, %n
    %r = add %first, %q
    %sum = reduce %k in %n lanes 32 block 512 with (%zero) {
      %p = add %r, %k
      %u = )" + draw() + R"(
      %x = unit_interval %u
      yield %x
    } combine (%l, %more) {
      %both = add %l, %more
      yield %both
    }
    store %out[%i], %sum
  }
})");
    const GpuKernel gpu(module, "added");
    for (const int64_t n : {1, 40, 512, 1300, 5000}) {
        SCOPED_TRACE(n);
        constexpr int64_t kRows = 3;
        const ScalarType result = GetParam().halves ? ScalarType::kFloat32 : ScalarType::kFloat64;
        Memory memory(3);
        std::vector<char>& out = memory.add(result, kRows, true);
        std::vector<Argument> arguments{{nullptr, kRows}, {nullptr, n}};
        add_stream(arguments, n);
        arguments.push_back({&out});
        expect_same(module, gpu, arguments, {kRows}, out, result);
    }
}

const auto name_of = [](const auto& each) { return std::string(each.param.op); };

INSTANTIATE_TEST_SUITE_P(Streams, PtxDraws,
                         testing::Values(Draw{"pcg64_word", false, false}, Draw{"pcg64_half", true, false},
                                         Draw{"pcg64dxsm_word", false, false},
                                         Draw{"pcg64dxsm_half", true, false},
                                         Draw{"philox_word", false, true}, Draw{"philox_half", true, true}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Streams, PtxDrawsAmongOthers,
                         testing::Values(Draw{"pcg64_half", true, false},
                                         Draw{"pcg64dxsm_word", false, false},
                                         Draw{"philox_half", true, true}),
                         name_of);

}  // namespace
}  // namespace weft
