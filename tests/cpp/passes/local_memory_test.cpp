// The pass by which small heap memory becomes local: which memory it takes, and that it changes no bit.
#include "passes/calls/local_memory.h"

#include <string>
#include <vector>

#include "passes/lanes_of_loops.h"
#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

// Each iteration has two arrays of its own, by views of one memory: the one of rows, which is filled by
// places that come from memory, the other by a counter.
constexpr std::string_view kArrays = R"(
function @arrays(%n: i64, %a: global i64[8] scope 1 readonly, %out: global i64[8] scope 2) {
  %zero = const i64 0
  %one = const i64 1
  %two = const i64 2
  %four = const i64 4
  %row = const i64 16
  %bytes = const i64 48
  %behind = const i64 32
  for %i = %zero to %n step %one lanes 16 {
    %owner, %memory = heap %bytes as global u8[1] scope 64001 else raise 0
    %rows = view %memory at %zero as global i64[?, 8] scope 64001 of (%row)
    %counts = view %memory at %behind as global i32[4] scope 64001
    %start = cast %i to i32
    for %k = %zero to %four step %one {
      store %counts[%k], %start
      %r = bitwise_and %k, %one
      %c = right_shift %k, %one
      store %rows[%r, %c], %k
    }
    %x = load %a[%i]
    %place = bitwise_and %x, %one
    %offset = multiply %place, %row
    %of_row = view %rows at %offset as global i64[8] scope 64001
    store %of_row[%place], %x
    %sum = for %k = %zero to %two step %one with (%s = %zero) {
      %p = load %rows[%place, %k]
      %q = load %counts[%k]
      %q64 = cast %q to i64
      %t = add %p, %q64
      %next = add %s, %t
      yield %next
    }
    store %out[%i], %sum
    release %owner
  }
}
)";

Module rewritten(const Module& module, bool steps = false) {
    Module result = module;
    for (Function& function : result.functions) {
        local_memory(result, function);
        if (steps) lanes_of_loops(result, function);
    }
    check(result);
    return result;
}

std::string text_of(std::string_view from, std::string_view to) {
    return print(rewritten(parse_and_check(replaced(kArrays, from, to))).functions[0]);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(LocalMemory, KeepsEveryBit) {
    const Module module = parse_and_check(kArrays);
    const Module local = rewritten(module), together = rewritten(module, /*steps=*/true);
    ASSERT_TRUE(has(print(together.functions[0]), "[128, 8] size [4, 16]")) << print(together.functions[0]);
    for (const int64_t n : {0, 1, 15, 16, 17, 40}) {
        std::vector<int64_t> a(static_cast<size_t>(n) + 1);
        for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int64_t>(i * i % 7);
        const auto run = [&](const Module& which) {
            std::vector<int64_t> out(a.size(), -1);
            const std::vector<OracleArgument> arguments{Constant::of(ScalarType::kInt64, n), argument(a),
                                                        argument(out)};
            run_oracle(which, which.functions[0], arguments);
            return out;
        };
        EXPECT_EQ(run(local), run(module)) << n;
        EXPECT_EQ(run(together), run(module)) << n;
    }
}

TEST(LocalMemory, ArraysOfThreadsAreApart) {
    const std::string result = text_of("", "");
    EXPECT_FALSE(has(result, "heap") || has(result, "release") || has(result, "view")) << result;
    EXPECT_TRUE(has(result, "allocate local i64[8] size [4]")) << result;
    EXPECT_TRUE(has(result, "allocate local i32[4] size [4]")) << result;
}

TEST(LocalMemory, ElementsOfSeveralTypesAreBytes) {
    const std::string result = text_of("    %start = cast", R"(
    %floats = view %memory at %behind as global f32[4] scope 64001
    %f = load %floats[%zero]
    %start = cast)");
    EXPECT_FALSE(has(result, "heap")) << result;
    EXPECT_TRUE(has(result, "allocate local u8[1] size [16]")) << result;
    EXPECT_TRUE(has(result, "as local f32[4]") && has(result, "as local i32[4]")) << result;
}

TEST(LocalMemory, WhatIsHandedOnIsMadeOnce) {
    const std::string handed = text_of("    %sum = for", "    %where = address %rows\n    %sum = for");
    EXPECT_TRUE(has(handed, "heap") && !has(handed, "lanes")) << handed;
    EXPECT_LT(handed.find("heap"), handed.find("for ")) << handed;
    EXPECT_GT(handed.find("release"), handed.rfind("store")) << handed;
}

TEST(LocalMemory, LargeAndUnknownMemoryStays) {
    EXPECT_TRUE(has(text_of("%bytes = const i64 48", "%bytes = const i64 48000"), "heap"));
    EXPECT_TRUE(has(text_of("heap %bytes", "heap %n"), "heap"));
    EXPECT_TRUE(has(text_of("    release %owner\n", "    retain %owner\n    release %owner\n"), "heap"));
}

}  // namespace
}  // namespace weft::passes
