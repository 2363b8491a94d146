// The pass by which loops inside of a block of iterations run ahead: which loops it changes, and that it
// changes no bit, no error and no order.
#include "passes/loops_ahead.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ir/printer.h"
#include "passes/lanes_of_loops.h"
#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

// For each %i a sum over its neighbours, and a loop that ends when it does; both go into what is carried.
constexpr std::string_view kLoop = R"(
function @loop(%n: i64, %m: i64, %size: i64, %a: global f64[8] scope 1 readonly, %b: global f64[8] scope 2 readonly, %out: global f64[8] scope 3) : f64 {
  %zero = const i64 0
  %one = const i64 1
  %nothing = const f64 0.0
  %half = const f64 0.5
  %small = const f64 1.0
  %no = const bool false
  %yes = const bool true
  %total = for %i = %zero to %n step %one with (%t = %nothing) {
    %x = load %a[%i]
    %s = for %j = %zero to %m step %one with (%p = %nothing) {
      %ij = add %i, %j
      %y = load %b[%ij]
      %part = multiply %x, %y
      %next = add %p, %part
      yield %next
    }
    %z, %steps = while (%w = %x, %k = %zero) {
      yield %yes, %w, %k
    } do (%v, %c) {
      %ends = less %v, %small
      if %ends {
        break %v, %c
      }
      %fine = not_equal %v, %half
      check %fine else raise 1 %c
      %odd = bitwise_and %c, %one
      %is_odd = equal %odd, %one
      %less = if %is_odd {
        %quarter = multiply %v, %half
        yield %quarter
      } else {
        %minus = subtract %v, %small
        yield %minus
      }
      %more = add %c, %one
      yield %less, %more
    }
    %inside = less %steps, %size
    check %inside else raise 2 %i, %steps
    %r = add %s, %z
    %sum = add %t, %r
    store %out[%i], %sum
    yield %sum
  }
  return %total
}
)";

Module ahead(const Module& module, bool steps) {
    Module result = module;
    for (Function& function : result.functions) {
        loops_ahead(result, function);
        if (steps) lanes_of_loops(result, function);
    }
    check(result);
    return result;
}

bool is_taken(std::string_view from = "", std::string_view to = "") {
    const Module module = parse_and_check(replaced(kLoop, from, to));
    return print(ahead(module, false)) != print(module);
}

struct Outcome {
    std::vector<double> out;
    double total = 0;
    int64_t error = -1;
    std::vector<int64_t> told;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome_of(const Module& module, int64_t n, int64_t m, int64_t size, int64_t bad, double value,
                   int64_t room = INT64_MAX) {
    const auto length = static_cast<size_t>(n + m) + 1;
    std::vector<double> a(length), b(length);
    for (size_t i = 0; i < length; ++i) {
        a[i] = static_cast<double>(i * 37 % 29) + 0.25;
        b[i] = static_cast<double>(i * 11 % 17) / 7;
    }
    if (bad >= 0) a[static_cast<size_t>(bad)] = value;
    a.resize(std::min(length, static_cast<size_t>(room)));  // reading behind it is an error of the oracle's
    Outcome outcome;
    outcome.out.assign(length, -7);
    const std::vector<OracleArgument> arguments{Constant::of(ScalarType::kInt64, n),
                                                Constant::of(ScalarType::kInt64, m),
                                                Constant::of(ScalarType::kInt64, size),
                                                argument(a),
                                                argument(b),
                                                argument(outcome.out)};
    try {
        outcome.total = run_oracle(module, module.functions[0], arguments)[0].as<double>();
    } catch (const Raised& error) {
        outcome.error = error.site;
        for (const Constant& each : error.payload) outcome.told.push_back(each.as<int64_t>());
    }
    return outcome;
}

TEST(LoopsAhead, ChangeNothing) {
    const Module module = parse_and_check(kLoop);
    ASSERT_TRUE(is_taken());
    for (const bool steps : {false, true}) {
        const Module changed_module = ahead(module, steps);
        for (const int64_t n : {0, 1, 15, 16, 17, 31, 32, 33, 50}) {
            for (const int64_t m : {0, 1, 5}) {
                const auto expect_same = [&](int64_t size, int64_t bad, double value) {
                    EXPECT_EQ(outcome_of(changed_module, n, m, size, bad, value),
                              outcome_of(module, n, m, size, bad, value))
                        << n << " " << m << " " << size << " " << bad << " " << value;
                };
                expect_same(1000, -1, 0);
                for (const int64_t bad : {int64_t{0}, n / 2, n - 1}) {
                    if (bad < 0) continue;
                    expect_same(1000, bad, 1.5);  // is 0.5 at the next step, but small
                    expect_same(1000, bad, 2.0);
                    expect_same(7, bad, 1e9);  // the check behind the loops fails
                }
                for (const int64_t size : {0, 1, 2, 4, 8}) expect_same(size, -1, 0);
            }
        }
    }
}

TEST(LoopsAhead, TellTheFirstErrorOfALoopInside) {
    // 0.5 and then a check fails in the loop, of more than one lane.
    const std::string text = replaced(kLoop, "%small = const f64 1.0", "%small = const f64 0.125");
    const Module module = parse_and_check(text);
    const Module together = ahead(module, true);
    int errors = 0;
    for (const int64_t bad : {0, 3, 15, 16, 20, 39}) {
        for (const double value : {0.5, 1.0, 1.5, 3.0}) {
            const Outcome expected = outcome_of(module, 40, 3, 1000, bad, value);
            EXPECT_EQ(outcome_of(together, 40, 3, 1000, bad, value), expected) << bad << " " << value;
            errors += expected.error == 1 ? 1 : 0;
        }
    }
    EXPECT_GT(errors, 5);
}

TEST(LoopsAhead, LeaveLoopsWithoutAnEndToWhatRaisesBeforeThem) {
    // An infinite value never gets small: the iteration before it raises.
    const Module module = parse_and_check(kLoop);
    Module together = ahead(module, true);
    std::string text = print(together);
    const std::string most = "const i64 4194304";
    ASSERT_NE(text.find(most), std::string::npos);
    text.replace(text.find(most), most.size(), "const i64 100");
    together = parse_and_check(text);
    const auto run = [&](const Module& which) {
        std::vector<double> a(40, 3.25), b(50, 1.0), out(40, -7);
        a[5] = 60.25;  // too many steps for `size`
        a[9] = 1e300;
        const std::vector<OracleArgument> arguments{Constant::of(ScalarType::kInt64, int64_t{40}),
                                                    Constant::of(ScalarType::kInt64, int64_t{3}),
                                                    Constant::of(ScalarType::kInt64, int64_t{8}),
                                                    argument(a),
                                                    argument(b),
                                                    argument(out)};
        int64_t at = -1;
        try {
            run_oracle(which, which.functions[0], arguments);
        } catch (const Raised& error) {
            at = error.payload[0].as<int64_t>();
        }
        EXPECT_EQ(at, 5);
        return out;
    };
    EXPECT_EQ(run(together), run(module));
}

TEST(LoopsAhead, TakeLoopsThatHangOnNothingThatIsWritten) {
    // What the loop carries, and what it may have written.
    EXPECT_TRUE(is_taken("%p = %nothing", "%p = %t"));  // the other loop still runs ahead
    EXPECT_TRUE(is_taken("%w = %x, %k = %zero", "%w = %t, %k = %zero"));
    EXPECT_FALSE(is_taken("%x = load %a[%i]", "%xx = load %a[%i]\n%x = add %xx, %t"));
    EXPECT_TRUE(is_taken("%b: global f64[8] scope 2 readonly", "%b: global f64[8] scope 3"));
    EXPECT_FALSE(is_taken("%a: global f64[8] scope 1 readonly", "%a: global f64[8] scope 3"));
    // Ways out of the loop itself.
    EXPECT_FALSE(is_taken("%r = add %s, %z", "%r = add %s, %z\nif %inside {\nbreak %t\n}"));
    EXPECT_FALSE(is_taken("%r = add %s, %z", "%r = add %s, %z\nif %inside {\nreturn %r\n}"));
    EXPECT_FALSE(is_taken("step %one with (%t", "step %m with (%t"));
}

TEST(LoopsAhead, LookAtIndicesOfABlockAtBothEnds) {
    const std::string text = replaced(kLoop, "%x = load %a[%i]",
                                      "%iu = cast %i to u64\n%su = cast %size to u64\n%in = less %iu, %su\n"
                                      "check %in else raise 3 %i, %size\n%x = load %a[%i]");
    const Module module = parse_and_check(text), together = ahead(module, true);
    EXPECT_NE(print(module), print(ahead(module, false)));
    for (const int64_t n : {0, 1, 16, 17, 40}) {
        for (const int64_t size : {0, 1, 15, 16, 17, 31, 32, 39, 40, 41}) {
            EXPECT_EQ(outcome_of(together, n, 3, size, -1, 0, size),
                      outcome_of(module, n, 3, size, -1, 0, size))
                << n << " " << size;
        }
    }
    // An index that goes up by more is not looked at.
    EXPECT_FALSE(is_taken("%x = load %a[%i]",
                          "%ii = multiply %i, %i\n%iu = cast %ii to u64\n%su = cast %size to u64\n"
                          "%in = less %iu, %su\ncheck %in else raise 3 %ii, %size\n%x = load %a[%ii]"));
}

}  // namespace
}  // namespace weft::passes
