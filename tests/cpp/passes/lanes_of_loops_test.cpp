// The pass by which iterations step through the loops inside together: which loops it changes, and that it
// changes no bit.
#include <random>
#include <string>
#include <vector>

#include "ir/printer.h"
#include "passes/lanes_of_loops.h"
#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

// For each %i two sums over all %j, of which one swaps with the other at each step; a branch for all lanes
// that has a loop, and one for some that has none.
constexpr std::string_view kPairs = R"(
function @pairs(%n: i64, %m: i64, %flag: bool, %a: global f64[8] scope 1 readonly, %b: global f64[8] scope 2 readonly, %out: global f64[8] scope 3) {
  %zero = const i64 0
  %one = const i64 1
  for %i = %one to %n step %one lanes 16 {
    %x = load %a[%i]
    %start = const f64 0.5
    %twice = add %x, %x
    %s, %t = for %j = %zero to %m step %one with (%p = %start, %q = %twice) {
      %y = load %b[%j]
      %d = subtract %x, %y
      %dd = multiply %d, %d
      %small = less %dd, %x
      %part = if %small {
        %more = add %dd, %twice
        yield %more
      } else {
        yield %dd
      }
      %next = add %p, %part
      yield %q, %next
    }
    %r = if %flag {
      %u = for %k = %zero to %m step %one with (%v = %s) {
        %z = load %a[%i]
        %w = add %v, %z
        yield %w
      }
      yield %u
    } else {
      yield %t
    }
    %result = add %r, %t
    store %out[%i], %result
  }
}
)";

Module stepping(const Module& module) {
    Module result = module;
    for (Function& function : result.functions) lanes_of_loops(result, function);
    check(result);
    return result;
}

bool is_changed(std::string_view from = "", std::string_view to = "") {
    const Module module = parse_and_check(replaced(kPairs, from, to));
    return print(stepping(module)).find("allocate local") != std::string::npos;
}

TEST(LanesOfLoops, KeepsEveryBit) {
    const Module module = parse_and_check(kPairs);
    const Module together = stepping(module);
    std::mt19937_64 random(7);
    for (const int64_t n : {0, 1, 2, 8, 9, 16, 17, 18, 33, 50}) {
        for (const int64_t m : {0, 1, 5}) {
            for (const bool flag : {false, true}) {
                std::vector<double> a(static_cast<size_t>(n) + 1), b(static_cast<size_t>(m) + 1);
                for (double& value : a) value = static_cast<double>(random() % 1000) / 7;
                for (double& value : b) value = static_cast<double>(random() % 1000) / 7;
                const auto run = [&](const Module& which) {
                    std::vector<double> out(a.size(), -1);
                    const std::vector<OracleArgument> arguments{
                        Constant::of(ScalarType::kInt64, n),
                        Constant::of(ScalarType::kInt64, m),
                        Constant::of(ScalarType::kBool, static_cast<uint8_t>(flag ? 1 : 0)),
                        argument(a),
                        argument(b),
                        argument(out)};
                    run_oracle(which, which.functions[0], arguments);
                    return out;
                };
                EXPECT_EQ(run(together), run(module)) << n << " " << m << " " << flag;
            }
        }
    }
}

TEST(LanesOfLoops, TakesLoopsThatAddUpOverNeighbours) {
    EXPECT_TRUE(is_changed());
    EXPECT_FALSE(is_changed(" lanes 16", ""));
    // What lanes read lies apart.
    EXPECT_FALSE(is_changed("%a: global f64[8]", "%a: global f64[16]"));
    EXPECT_TRUE(is_changed("%y = load %b[%j]", "%ij = add %i, %j\n%y = load %b[%ij]"));
    EXPECT_FALSE(is_changed("%y = load %b[%j]", "%ij = multiply %i, %j\n%y = load %b[%ij]"));
    // Lanes take different ways.
    EXPECT_FALSE(is_changed("%j = %zero to %m", "%j = %i to %m"));
    EXPECT_FALSE(is_changed("%r = if %flag", "%own = less %x, %s\n%r = if %own"));
    // They may leave, but not the function.
    EXPECT_TRUE(
        is_changed("%next = add %p, %part", "%next = add %p, %part\nif %small {\nbreak %p, %next\n}"));
}

}  // namespace
}  // namespace weft::passes
