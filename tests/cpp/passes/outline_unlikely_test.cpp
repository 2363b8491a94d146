// Loops on the unlikely side of a branch become functions that are called lazily.
#include "passes/calls/outline_unlikely.h"

#include <array>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "core/optimisation_switches.h"
#include "ir/calls.h"
#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

// The sum of the first n elements, as floats or as integers; 5 is an error of the second loop.
constexpr std::string_view kSum = R"(
function @f(%n: i64, %a: global f64[?] readonly, %p: bool) : f64, i64 {
  %zero = const i64 0
  %one = const i64 1
  %five = const f64 5.0
  %start = const f64 0.0
  %sum, %seen = if likely %p {
    %s = for %i = %zero to %n step %one with (%before = %start) {
      %x = load %a[%i]
      %after = add %before, %x
      yield %after
    }
    yield %s, %zero
  } else {
    %t, %last = for %j = %zero to %n step %one with (%before = %start, %k = %zero) {
      %x = load %a[%j]
      %fine = not_equal %x, %five
      check %fine else raise 3 %j, %x
      %after = add %before, %x
      yield %after, %j
    }
    yield %t, %last
  }
  return %sum, %seen
}
)";

std::vector<const Instruction*> calls_of(const Region& region) {
    std::vector<const Instruction*> calls;
    for_each_call(region, [&](const Instruction& call) { calls.push_back(&call); });
    return calls;
}

TEST(OutlineUnlikely, MakesAFunctionOfTheLoop) {
    Module module = parse_and_check(kSum);
    std::vector<Function> parts;
    outline_unlikely(module.functions[0], parts);
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].name, "f.part0");
    EXPECT_EQ(parts[0].parameters.size(), 2U) << "constants are its own";
    const auto calls = calls_of(module.functions[0].body);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_TRUE(calls[0]->lazy);
    module.functions.push_back(parts[0]);
    check(module);
    const std::string text = print(module);
    EXPECT_NE(text.find("call lazy @f.part0("), std::string::npos) << text;
    EXPECT_EQ(print(parse_and_check(text)), text);
}

TEST(OutlineUnlikely, LeavesWhatLeavesALoopOrTheFunction) {
    for (const char* const exit : {"break %i", "return %i"}) {
        const std::string text = R"(
function @f(%n: i64, %p: bool) : i64 {
  %zero = const i64 0
  %one = const i64 1
  %found = for %i = %zero to %n step %one with (%last = %zero) {
    if likely %p {
    } else {
      for %j = %zero to %n step %one {
      }
      EXIT
    }
    for %k = %zero to %n step %one {
      if likely %p {
      } else {
        for %l = %zero to %n step %one {
          break
        }
      }
    }
    yield %i
  }
  return %found
}
)";
        std::string with_exit = text;
        with_exit.replace(text.find("EXIT"), 4, exit);
        Module module = parse_and_check(with_exit);
        std::vector<Function> parts;
        outline_unlikely(module.functions[0], parts);
        EXPECT_EQ(parts.size(), 1U) << exit;
    }
}

TEST(OutlineUnlikely, IsCompiledWhenItIsReached) {
    const Module module = parse_and_check(kSum);
    std::array<double, 5> a{1, 2, 3, 4, 5};
    alignas(16) std::array<int64_t, 4> results{};
    for (const bool lazily : {true, false}) {
        set_without(lazily ? "" : "lazy_parts");
        const auto compiled = codegen::compile_function_for_cpu(module, "f");
        set_without("");
        const int64_t before = codegen::kernels_compiled();
        const auto call = [&](uint64_t n, bool p) {
            const std::array<ArgumentWord, 4> words{n, std::bit_cast<uint64_t>(a.data()), 8, p ? 1U : 0U};
            return compiled->function(words.data(), reinterpret_cast<char*>(results.data()));
        };
        EXPECT_EQ(call(5, true), 0);
        EXPECT_EQ(std::bit_cast<double>(results[0]), 15.0);
        EXPECT_EQ(compiled->lazy_parts().all, lazily ? 1U : 0U);
        EXPECT_EQ(compiled->lazy_parts().compiled, 0U);
        EXPECT_EQ(call(4, false), 0);
        EXPECT_EQ(std::bit_cast<double>(results[0]), 10.0);
        EXPECT_EQ(results[2], 3);
        EXPECT_EQ(call(5, false), 4);
        EXPECT_EQ(results[0], 4);
        EXPECT_EQ(std::bit_cast<double>(results[2]), 5.0);
        EXPECT_EQ(compiled->lazy_parts().compiled, lazily ? 1U : 0U);
        EXPECT_EQ(codegen::kernels_compiled() - before, lazily ? 1 : 0);
    }
}

}  // namespace
}  // namespace weft::passes
