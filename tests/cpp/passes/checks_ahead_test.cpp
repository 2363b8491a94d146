// The pass that looks at checks ahead: the same results, memory and errors, and which loops it takes.
#include <string>
#include <vector>

#include "ir/printer.h"
#include "passes/checks_ahead.h"
#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

// Gathers, divides where the divisor counts, and adds up.
constexpr std::string_view kLoop = R"(
function @f(%n: i64, %size: i64, %idx: global i64[8] scope 1 readonly, %a: global f64[8] scope 2 readonly, %d: global f64[8] scope 3 readonly, %out: global f64[8] scope 4) : f64 {
  %zero = const i64 0
  %one = const i64 1
  %nothing = const f64 0.0
  %sum = for %i = %zero to %n step %one with (%s = %nothing) {
    %k = load %idx[%i]
    %y = load %d[%i]
    %inside = less %k, %size
    check %inside else raise 1 %k, %size
    %x = load %a[%k]
    %e = exp %x
    %big = greater %y, %nothing
    %q = if %big {
      %three = const f64 3.0
      %rest = subtract %y, %three
      %fine = not_equal %rest, %nothing
      check %fine else raise 2
      %r = divide %e, %rest
      yield %r
    } else {
      yield %e
    }
    store %out[%i], %q
    %next = add %s, %q
    yield %next
  }
  return %sum
}
)";

Module ahead(const Module& module) {
    Module result = module;
    for (Function& function : result.functions) checks_ahead(result, function);
    check(result);
    return result;
}

bool is_taken(std::string_view from = "", std::string_view to = "") {
    const Module module = parse_and_check(replaced(kLoop, from, to));
    return print(ahead(module)) != print(module);
}

struct Outcome {
    std::vector<double> out;
    double sum = 0;
    int64_t error = -1, told = 0;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome_of(const Module& module, int64_t n, int64_t bad_index, int64_t bad_divisor, int64_t unused) {
    const auto length = static_cast<size_t>(n) + 1;
    std::vector<int64_t> idx(length);
    std::vector<double> a(length), d(length);
    for (size_t i = 0; i < length; ++i) {
        idx[i] = static_cast<int64_t>(length - 1 - i);
        a[i] = static_cast<double>(i % 13) / 8;
        d[i] = static_cast<double>(i % 5) * 2 + 1;
        if (i % 5 == 1) d[i] = -1;
    }
    if (bad_index >= 0) idx[static_cast<size_t>(bad_index)] = n + 100;
    if (bad_divisor >= 0) d[static_cast<size_t>(bad_divisor)] = 3;
    if (unused >= 0) d[static_cast<size_t>(unused)] = -3;
    Outcome outcome;
    outcome.out.assign(length, -7);
    const std::vector<OracleArgument> arguments{Constant::of(ScalarType::kInt64, n),
                                                Constant::of(ScalarType::kInt64, n + 1),
                                                argument(idx),
                                                argument(a),
                                                argument(d),
                                                argument(outcome.out)};
    try {
        outcome.sum = run_oracle(module, module.functions[0], arguments)[0].as<double>();
    } catch (const Raised& error) {
        outcome.error = error.site;
        if (!error.payload.empty()) outcome.told = error.payload[0].as<int64_t>();
    }
    return outcome;
}

TEST(ChecksAhead, ChangeNothing) {
    const Module module = parse_and_check(kLoop), looked = ahead(module);
    ASSERT_TRUE(is_taken());
    for (const int64_t n : {0, 1, 31, 32, 33, 255, 256, 257, 300, 600}) {
        EXPECT_EQ(outcome_of(looked, n, -1, -1, -1), outcome_of(module, n, -1, -1, -1)) << n;
        for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
            if (at < 0) continue;
            EXPECT_EQ(outcome_of(looked, n, at, -1, -1), outcome_of(module, n, at, -1, -1)) << n;
            EXPECT_EQ(outcome_of(looked, n, -1, at, -1), outcome_of(module, n, -1, at, -1)) << n;
            EXPECT_EQ(outcome_of(looked, n, n - 1 - at, at, -1), outcome_of(module, n, n - 1 - at, at, -1))
                << n;
            EXPECT_EQ(outcome_of(looked, n, -1, -1, at), outcome_of(module, n, -1, -1, at)) << n;
        }
    }
}

// An index that goes up with the counter is looked at for the first and last iteration of a block.
TEST(ChecksAhead, LookAtBothEnds) {
    constexpr std::string_view kHalves = R"(
function @f(%n: i64, %from: i64, %size: i64, %out: global f64[8] scope 1) {
  %zero = const i64 0
  %one = const i64 1
  for %i = %zero to %n step %one {
    %moved = add %i, %from
    %half = right_shift %moved, %one
    %hu = cast %half to u64
    %su = cast %size to u64
    %inside = less %hu, %su
    check %inside else raise 1 %half, %size
    %x = load %out[%half]
    %more = cast %i to f64
    %y = add %x, %more
    store %out[%half], %y
  }
}
)";
    const Module module = parse_and_check(kHalves), looked = ahead(module);
    ASSERT_NE(print(looked), print(module));
    const auto run = [](const Module& which, int64_t n, int64_t from, int64_t size) {
        std::vector<double> out(700, 0);
        const std::vector<OracleArgument> arguments{Constant::of(ScalarType::kInt64, n),
                                                    Constant::of(ScalarType::kInt64, from),
                                                    Constant::of(ScalarType::kInt64, size), argument(out)};
        try {
            run_oracle(which, which.functions[0], arguments);
        } catch (const Raised& error) {
            out.push_back(static_cast<double>(error.payload[0].as<int64_t>()));
        }
        return out;
    };
    for (const int64_t n : {0, 1, 31, 32, 33, 256, 257, 600}) {
        for (const int64_t from : {int64_t{0}, int64_t{5}, int64_t{-3}, INT64_MAX, INT64_MAX - 40}) {
            for (const int64_t size : {0, 1, 16, 17, 300, 700})
                EXPECT_EQ(run(looked, n, from, size), run(module, n, from, size))
                    << n << " " << from << " " << size;
        }
    }
    // What goes up by more may pass over the ends.
    const auto with = [&](std::string_view from, std::string_view to) {
        std::string text(kHalves);
        text.replace(text.find(from), from.size(), to);
        const Module changed_module = parse_and_check(text);
        return print(ahead(changed_module)) != print(changed_module);
    };
    EXPECT_FALSE(with("%half = right_shift %moved, %one", "%half = multiply %moved, %moved"));
    EXPECT_FALSE(with("%half = right_shift %moved, %one", "%half = right_shift %moved, %size"));
    EXPECT_FALSE(with("%half = right_shift %moved, %one", "%half = bitwise_xor %moved, %one"));
}

TEST(ChecksAhead, TakeLoopsThatBecomeVectors) {
    // Checks that hang on what is computed along the way, or on what is written.
    EXPECT_FALSE(is_taken("less %k, %size", "less %s, %nothing"));
    EXPECT_FALSE(is_taken("%d: global f64[8] scope 3 readonly", "%d: global f64[8] scope 4"));
    // Stores that scatter, and ways out.
    EXPECT_TRUE(is_taken("store %out[%i]", "store %out[%k]"));
    EXPECT_FALSE(is_taken("%next = add", "if %big {\nbreak %s\n}\n%next = add"));
}

}  // namespace
}  // namespace weft::passes
