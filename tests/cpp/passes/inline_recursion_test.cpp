// Functions that call themselves do the work of their own calls once.
#include "passes/calls/inline_recursion.h"

#include <string>

#include "ir/calls.h"
#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

constexpr std::string_view kFibonacci = R"(
function @f(%n: i64) : i64 {
  %two = const i64 2
  %small = less %n, %two
  if %small {
    return %n
  }
  %one = const i64 1
  %below = subtract %n, %one
  %first = call @f(%below) : i64
  %further = subtract %n, %two
  %second = call @f(%further) : i64
  %sum = add %first, %second
  return %sum
}
)";

// The numbers below %limit that are sums of a choice of what is left; 5 is an error.
constexpr std::string_view kInLoop = R"(
function @f(%n: i64, %limit: i64) : i64 {
  %zero = const i64 0
  %one = const i64 1
  %five = const i64 5
  %fine = not_equal %n, %five
  check %fine else raise 3 %n
  %end = greater_equal %zero, %n
  if %end {
    return %one
  }
  %count = for %i = %one to %limit step %one with (%before = %zero) {
    %left = subtract %n, %i
    %found = call @f(%left, %limit) : i64
    %after = add %before, %found
    yield %after
  }
  return %count
}
)";

size_t calls_of(const Function& function) {
    size_t count = 0;
    for_each_call(function.body, [&](const Instruction&) { ++count; });
    return count;
}

Module rewritten(const Module& before) {
    Module after = before;
    inline_recursion(after, after.functions[0]);
    check(after);
    return after;
}

std::string outcome(const Module& module, const std::vector<int64_t>& numbers) {
    std::vector<OracleArgument> arguments;
    for (const int64_t number : numbers) arguments.emplace_back(Constant::of(ScalarType::kInt64, number));
    try {
        return std::to_string(run_oracle(module, module.functions[0], arguments)[0].as<int64_t>());
    } catch (const std::exception& error) {
        return error.what();
    }
}

TEST(InlineRecursion, GivesTheSameResults) {
    const Module before = parse_and_check(std::string(kFibonacci));
    const Module after = rewritten(before);
    EXPECT_EQ(calls_of(after.functions[0]), 4U);
    for (const int64_t n : {-1, 0, 1, 2, 3, 4, 10}) EXPECT_EQ(outcome(after, {n}), outcome(before, {n})) << n;
}

TEST(InlineRecursion, GivesTheSameErrorsFromLoops) {
    const Module before = parse_and_check(std::string(kInLoop));
    const Module after = rewritten(before);
    EXPECT_FALSE(equivalent(after.functions[0], before.functions[0]));
    for (const int64_t n : {-2, 0, 1, 3, 4, 5, 6, 8}) {
        for (const int64_t limit : {0, 1, 2, 3, 4})
            EXPECT_EQ(outcome(after, {n, limit}), outcome(before, {n, limit})) << n << " " << limit;
    }
    EXPECT_NE(outcome(before, {6, 3}), outcome(before, {4, 3}));
}

TEST(InlineRecursion, LeavesLargeFunctions) {
    std::string large(kFibonacci);
    for (int i = 0; i < 60; ++i)
        large.insert(large.find("  %one ="), "  %x" + std::to_string(i) + " = add %n, %two\n");
    const Module before = parse_and_check(large);
    EXPECT_TRUE(equivalent(rewritten(before).functions[0], before.functions[0]));
}

}  // namespace
}  // namespace weft::passes
