// Loops of one iteration become branches, but for those that something in them leaves for a loop around.
#include "passes/calls/structured_returns.h"

#include <string>

#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

constexpr std::string_view kLoops = R"(
function @f(%n: i64) : i64 {
  %zero = const i64 0
  %one = const i64 1
  %sum = for %i = %zero to %n step %one with (%s = %zero) {
    %once = for %k = %zero to %one step %one with (%none = %zero) {
      %two = const i64 2
      %rest = remainder %i, %two
      %odd = equal %rest, %one
      if %odd {
        EXIT
      }
      break %i
    }
    %more = add %s, %once
    yield %more
  }
  return %sum
}
)";

Module loops(const std::string& exit) {
    std::string text(kLoops);
    text.replace(text.find("EXIT"), 4, exit);
    return parse_and_check(text);
}

int64_t result(const Module& module) {
    return run_oracle(module, module.functions[0],
                      std::vector<OracleArgument>{Constant::of(ScalarType::kInt64, int64_t{6})})[0]
        .as<int64_t>();
}

TEST(StructuredReturns, ExitsOfLoopsAroundStay) {
    for (const std::string exit : {"break %two", "continue 1 %s", "break 1 %s"}) {
        const Module before = loops(exit);
        Module after = before;
        structured_returns(after, after.functions[0]);
        check(after);
        EXPECT_EQ(result(after), result(before)) << exit;
        EXPECT_EQ(equivalent(after.functions[0], before.functions[0]), exit != "break %two") << exit;
    }
}

// The loop that gets a flag is itself left from inside of another.
constexpr std::string_view kInside = R"(
function @f(%n: i64) : i64 {
  %zero = const i64 0
  %one = const i64 1
  %two = const i64 2
  %left = for %once = %zero to %one step %one with (%none = %zero) {
    for %i = %zero to %n step %one {
      for %k = %zero to %two step %one {
        %at = equal %i, %two
        if %at {
          EXIT
        }
      }
      %last = const i64 4
      %found = equal %i, %last
      if %found {
        break 1 %i
      }
    }
    %end = const i64 100
    yield %end
  }
  return %left
}
)";

TEST(StructuredReturns, LoopsThatAreLeftFromInsideOfOthersStay) {
    for (const std::string exit : {"break 1", "continue 1"}) {
        std::string text(kInside);
        text.replace(text.find("EXIT"), 4, exit);
        const Module before = parse_and_check(text);
        Module after = before;
        structured_returns(after, after.functions[0]);
        check(after);
        EXPECT_EQ(result(after), result(before)) << exit;
    }
}

}  // namespace
}  // namespace weft::passes
