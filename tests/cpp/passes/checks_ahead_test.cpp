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

std::string changed(std::string_view from = "", std::string_view to = "") {
    std::string text(kLoop);
    if (!from.empty()) {
        const size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    }
    return text;
}

Module ahead(const Module& module) {
    Module result = module;
    for (Function& function : result.functions) checks_ahead(result, function);
    check(result);
    return result;
}

bool is_taken(std::string_view from = "", std::string_view to = "") {
    const Module module = parse_and_check(changed(from, to));
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

TEST(ChecksAhead, TakeLoopsThatBecomeVectors) {
    // Checks that hang on what is computed along the way, or on what is written.
    EXPECT_FALSE(is_taken("less %k, %size", "less %s, %nothing"));
    EXPECT_FALSE(is_taken("%d: global f64[8] scope 3 readonly", "%d: global f64[8] scope 4"));
    // Of the counter alone: the loop ran without already.
    EXPECT_FALSE(is_taken("less %k, %size", "less %i, %size"));
    // Stores that scatter, and ways out.
    EXPECT_FALSE(is_taken("store %out[%i]", "store %out[%k]"));
    EXPECT_FALSE(is_taken("%next = add", "if %big {\nbreak %s\n}\n%next = add"));
}

}  // namespace
}  // namespace weft::passes
