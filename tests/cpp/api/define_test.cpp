// Operations of the program's own (weft/define.h).
#include "weft/define.h"
#include "support/array_testing.h"

namespace weft {
namespace {

constexpr const char* kCollatz = R"(
function @collatz(%n: i64) : i64 {
  %one = const i64 1
  %two = const i64 2
  %zero = const i64 0
  %three = const i64 3
  %last, %steps = while (%k = %n, %s = %zero) {
    %goes_on = greater %k, %one
    yield %goes_on, %k, %s
  } do (%m, %t) {
    %rest = remainder %m, %two
    %even = equal %rest, %zero
    %next = if %even {
      %half = floor_divide %m, %two
      yield %half
    } else {
      %more = call @triple(%m) : i64
      yield %more
    }
    %u = add %t, %one
    yield %next, %u
  }
  return %steps
}

function @triple(%n: i64) : i64 {
  %three = const i64 3
  %one = const i64 1
  %p = multiply %n, %three
  %q = add %p, %one
  return %q
})";

constexpr const char* kDistance = R"(
function @distance(%x: f64, %y: f64) : f64, bool {
  %less = less %x, %y
  %d = subtract %x, %y
  if %less {
    %e = negative %d
    return %e, %less
  }
  return %d, %less
})";

array steps_of(const array& n) {
    const DefinedLoop loops[] = {{kCollatz}};
    const Argument inputs[] = {n};
    return call(define_operation("collatz", loops), inputs)[0];
}

int64_t steps_of(int64_t n) {
    int64_t steps = 0;
    for (; n > 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return steps;
}

TEST(DefinedOperation, IsComputedAtOnceAndRecorded) {
    for (const int64_t count : {1, 7, 1000, 50000}) {
        const array n = arange(count);
        const array steps = steps_of(n), shown = steps_of(flip(n, {}));
        std::vector<int64_t> expected;
        for (int64_t k = 0; k < count; ++k) expected.push_back(steps_of(k));
        std::vector<int64_t> got(static_cast<size_t>(count)), turned(static_cast<size_t>(count));
        copy_out(steps, got.data());
        copy_out(shown, turned.data());
        EXPECT_EQ(got, expected);
        std::ranges::reverse(turned);
        EXPECT_EQ(turned, expected);
    }
}

TEST(DefinedOperation, IsPartOfAKernel) {
    const array n = arange(100000);
    eval(std::vector{n});
    clear_kernel_history();
    const array y = 2 * steps_of(n + 1) - n;
    EXPECT_FALSE(evaluated(y));
    eval(std::vector{y});
    const std::vector<KernelRecord> history = kernel_history();
    ASSERT_EQ(history.size(), 1U);
    EXPECT_NE(history[0].ir.find("while"), std::string::npos);
    EXPECT_EQ(array(y(26)).item<int64_t>(), 2 * steps_of(27) - 26);
}

TEST(DefinedOperation, HasSeveralResults) {
    const DefinedLoop loops[] = {{kDistance}, {kDistance, {ScalarType::kFloat32, ScalarType::kInt8}}};
    const OpInfo& distance = define_operation("distance", {loops, 1});
    const OpInfo& narrow = define_operation("distance", {loops + 1, 1});
    EXPECT_NE(&distance, &narrow);
    EXPECT_EQ(&distance, &define_operation("distance", {loops, 1}));
    for (const int64_t count : {3, 100000}) {
        const array x = arange(count) * 1.5, y = full({count}, 3.0);
        const Argument inputs[] = {x, y};
        const std::vector<array> wide = call(distance, inputs), few = call(narrow, inputs);
        expect_equal(wide[0], absolute(x - y));
        expect_equal(wide[1], less(x, y));
        EXPECT_EQ(few[0].dtype(), DType(ScalarType::kFloat32));
        EXPECT_EQ(few[1].dtype(), DType(ScalarType::kInt8));
        expect_equal(few[0], astype(absolute(x - y), ScalarType::kFloat32));
        expect_equal(few[1], astype(less(x, y), ScalarType::kInt8));
    }
}

TEST(DefinedOperation, BroadcastsAndConverts) {
    const DefinedLoop loops[] = {{kDistance}};
    const OpInfo& distance = define_operation("distance", loops);
    const array column = reshape(arange(3), {3, 1}), row = arange(4);
    const Argument inputs[] = {column, row};
    expect_equal(call(distance, inputs)[0], absolute(astype(column, {}) - astype(row, {})));
    const array complex = astype(row, ScalarType::kComplex128);
    const Argument wrong[] = {complex, row};
    EXPECT_THROW(call(distance, wrong), TypeError);
}

TEST(DefinedOperation, RunningResultsGoFromLeftToRight) {
    const DefinedLoop loops[] = {{R"(
        function @towards(%a: f64, %b: f64) : f64 {
          %half = const f64 0.5
          %c = multiply %a, %half
          %d = subtract %b, %c
          return %d
        })"}};
    const OpInfo& towards = define_operation("towards", loops);
    for (const int64_t count : {5, 10000}) {
        const array x = arange(count) * 1.0;
        std::vector<double> got(static_cast<size_t>(count));
        copy_out(accumulate(towards, x, 0), got.data());
        double running = 0;
        for (int64_t k = 1; k < count; ++k) {
            running = static_cast<double>(k) - 0.5 * running;
            ASSERT_EQ(got[static_cast<size_t>(k)], running) << k;
        }
    }
}

TEST(DefinedOperation, LargeFunctionsAreInlinedWhereverTheyAreCalled) {
    std::string body;
    for (int k = 0; k < 300; ++k) {
        const std::string before = k == 0 ? "%x" : "%v" + std::to_string(k - 1);
        body += "%v" + std::to_string(k) + " = add " + before + ", %x\n";
    }
    const DefinedLoop loops[] = {
        {"function @twice(%x: f64) : f64 { %a = call @long(%x) : f64 "
         "%b = call @long(%a) : f64 return %b }\nfunction @long(%x: f64) : f64 {\n" +
         body + "return %v299 }"}};
    const Argument inputs[] = {array{1.0, 2.0}};
    expect_equal(call(define_operation("twice", loops), inputs)[0], {301.0 * 301.0, 2 * 301.0 * 301.0});
}

TEST(DefinedOperation, RefusesWhatKernelsDoNotRun) {
    const auto define = [](const char* ir) { define_operation("f", std::vector<DefinedLoop>{{ir}}); };
    EXPECT_THROW(define("function @f(%x: f64) : f64 { raise 1 }"), NotImplementedError);
    EXPECT_THROW(define("function @f(%x: f64) : f64 { %y = call @f(%x) : f64 return %y }"),
                 NotImplementedError);
    EXPECT_THROW(
        define("function @f(%x: global f64[8]) : f64 { %z = const i64 0 %y = load %x[%z] return %y }"),
        NotImplementedError);
    EXPECT_THROW(define("function @f(%x: f64) : f64 { return %y }"), ValueError);
    EXPECT_THROW(define("kernel @f() { }"), ValueError);
    const DefinedLoop differ[] = {{kCollatz}, {kDistance}};
    EXPECT_THROW(define_operation("f", differ), ValueError);
    EXPECT_THROW(define_operation("f", {}), ValueError);
    const DefinedLoop one[] = {{kCollatz}};
    EXPECT_THROW(define_operation("f", one, 7), ValueError);
}

}  // namespace
}  // namespace weft
