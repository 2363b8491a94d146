// The passes: what each does to the text, and that none changes what a kernel computes.
#include <bit>
#include <functional>
#include <random>

#include "ir/builder.h"
#include "passes/pipeline.h"
#include "passes/simplify.h"
#include "support/ir_random.h"
#include "support/ir_testing.h"
#include "support/kernel_texts.h"

namespace weft::passes {
namespace {

using namespace ir;

Module lowered(const Module& module) {
    Module result = module;
    run_pipeline(result);
    check(result);
    return result;
}

bool contains(const Region& region, Opcode opcode) {
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == opcode) return true;
        for (const Region& inner : instruction.regions) {
            if (contains(inner, opcode)) return true;
        }
    }
    return false;
}

constexpr std::string_view kMixReduction = R"(
kernel @reduce(%n: i64, %first: u64, %a: global u64[8] scope 1 readonly, %out: global u64[8] scope 2) {
  %at = const i64 0
  %two = const u64 2
  %three = const u64 3
  %one = const u64 1
  %r = reduce %i in %n lanes LANES block BLOCK with (%first) {
    %x = load %a[%i]
    yield %x
  } combine (%l, %r) {
    %l2 = multiply %l, %two
    %r3 = multiply %r, %three
    %lr = add %l2, %r3
    %lr1 = add %lr, %one
    yield %lr1
  }
  store %out[%at], %r
}
)";

std::string with(std::string_view text, int64_t lanes, int64_t block) {
    return replaced(replaced(text, "LANES", std::to_string(lanes)), "BLOCK", std::to_string(block));
}

TEST(LowerReductions, KeepsTheTree) {
    std::mt19937_64 random(3);
    for (auto [lanes, block] :
         {std::pair{1, 0}, {1, 1}, {1, 4}, {2, 2}, {4, 8}, {8, 0}, {8, 24}, {32, 64}, {32, 0}}) {
        Module module = parse_and_check(with(kMixReduction, lanes, block));
        Module loops = lowered(module);
        EXPECT_FALSE(contains(loops.functions[0].body, Opcode::kReduce));
        for (int64_t n : {-1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 31, 32, 33, 64, 65, 100, 200, 515}) {
            std::vector<uint64_t> a(static_cast<size_t>(std::max<int64_t>(n, 0))), expected(1), found(1);
            for (uint64_t& x : a) x = random();
            uint64_t first = random();
            run(module, argument(n), argument(first), argument(a), argument(expected));
            run(loops, argument(n), argument(first), argument(a), argument(found));
            EXPECT_EQ(found, expected) << n << " " << lanes << " " << block;
        }
    }
}

TEST(LowerReductions, TakesSeveralComponentsAndNests) {
    // Of each row the largest element and its column; of these the largest over rows.
    Module module = parse_and_check(R"(
kernel @argmax(%n: i64, %m: i64, %a: global f64[?, 8] scope 1 readonly, %out: global i64[8] scope 2) {
  %zero = const i64 0
  %one = const i64 1
  %nowhere = const i64 -1
  %lowest = const f64 -inf
  %best, %row, %column = reduce %i in %n lanes 1 block 4 with (%lowest, %nowhere, %nowhere) {
    %b, %c = reduce %j in %m lanes 4 block 8 with (%lowest, %nowhere) {
      %x = load %a[%i, %j]
      yield %x, %j
    } combine (%lx, %lj, %rx, %rj) {
      %left = greater_equal %lx, %rx
      %x = select %left, %lx, %rx
      %j = select %left, %lj, %rj
      yield %x, %j
    }
    yield %b, %i, %c
  } combine (%lx, %li, %lj, %rx, %ri, %rj) {
    %left = greater_equal %lx, %rx
    %x = select %left, %lx, %rx
    %i = select %left, %li, %ri
    %j = select %left, %lj, %rj
    yield %x, %i, %j
  }
  store %out[%zero], %row
  store %out[%one], %column
}
)");
    Module loops = lowered(module);
    std::mt19937_64 random(4);
    for (int64_t n : {1, 3, 9}) {
        for (int64_t m : {1, 5, 30}) {
            std::vector<double> a(static_cast<size_t>(n * m));
            for (double& x : a) x = static_cast<double>(random() % 1000000);
            std::vector<int64_t> expected(2), found(2);
            run(module, argument(n), argument(m), argument(a, {n, m}), argument(expected));
            run(loops, argument(n), argument(m), argument(a, {n, m}), argument(found));
            int64_t flat = std::max_element(a.begin(), a.end()) - a.begin();
            EXPECT_EQ(expected, (std::vector<int64_t>{flat / m, flat % m}));
            EXPECT_EQ(found, expected);
        }
    }
}

TEST(LowerReductions, LowersScansToo) {
    Module module = parse_and_check(testing_kernels::kRunningSums);
    Module loops = lowered(module);
    EXPECT_FALSE(contains(loops.functions[0].body, Opcode::kScan));
    std::vector<float> a{1, 2, 3}, out(3);
    run(loops, argument<int64_t>(3), argument(a), argument(out));
    EXPECT_EQ(out, (std::vector<float>{1, 3, 6}));
}

// A kernel over %outer × %columns that reduces %rows down each column; two reductions, the second needs the
// first.
constexpr std::string_view kColumns = R"(
kernel @variance(%outer: i64, %columns: i64, %rows: i64, %a: global f64[?, ?, 8] scope 1 readonly, %weight: global f64[8] scope 4 readonly, %out: global f64[?, 8] scope 2) {
  parallel grid (%o, %j) in (%outer, %columns) {
    %zero = const f64 0.0
    %count = cast %rows to f64
    %w = load %weight[%j]
    %sum = reduce %k in %rows lanes 1 block 0 with (%zero) {
      %x = load %a[%o, %k, %j]
      %xw = multiply %x, %w
      yield %xw
    } combine (%l, %r) {
      %s = add %l, %r
      yield %s
    }
    %mean = divide %sum, %count
    %squares, %largest = reduce %k in %rows lanes 1 block 0 with (%zero, %zero) {
      %x = load %a[%o, %k, %j]
      %xw = multiply %x, %w
      %d = subtract %xw, %mean
      %dd = multiply %d, %d
      yield %dd, %x
    } combine (%l, %lm, %r, %rm) {
      %s = add %l, %r
      %m = maximum %lm, %rm
      yield %s, %m
    }
    %negative = less %largest, %zero
    %result = if %negative {
      yield %zero
    } else {
      yield %squares
    }
    store %out[%o, %j], %result
  }
}
)";

bool has_ranges(const Module& module) {
    for (const Instruction& instruction : module.functions.back().body.body) {
        if (instruction.range_dimension >= 0) return true;
    }
    return false;
}

TEST(LoopInterchange, WalksRowsAndKeepsEveryBit) {
    Module module = parse_and_check(kColumns);
    Module rows = lowered(module);
    EXPECT_TRUE(has_ranges(rows));
    std::mt19937_64 random(10);
    for (auto [outer, columns, size] : {std::tuple{1, 1, 1},
                                        {2, 3, 5},
                                        {1, 300, 7},
                                        {2, 4100, 3},
                                        {1, 4, 0},
                                        {0, 2, 2},
                                        {2, 9, 21},
                                        {1, 300, 19},
                                        {1, 1300, 25}}) {
        std::vector<double> a(static_cast<size_t>(outer * columns * size)),
            weight(static_cast<size_t>(columns));
        for (double& x : a) x = static_cast<double>(random() % 1000) / 7 - 40;
        for (double& x : weight) x = static_cast<double>(random() % 1000) / 13;
        std::vector<double> expected(static_cast<size_t>(outer * columns)), found = expected;
        auto run_on = [&, o = outer, c = columns, n = size](const Module& what, std::vector<double>& out) {
            run(what, argument<int64_t>(o), argument<int64_t>(c), argument<int64_t>(n),
                argument(a, {o, n, c}), argument(weight), argument(out, {o, c}));
        };
        run_on(module, expected);
        run_on(rows, found);
        EXPECT_EQ(found, expected) << outer << " " << columns << " " << size;
    }
}

TEST(LoopInterchange, TakesTheDimensionThatIsContiguous) {
    // As the first of two kernels of a large reduction: the blocks of rows are the last dimension of the
    // grid.
    Module module = parse_and_check(R"(
kernel @partials(%columns: i64, %blocks: i64, %rows: i64, %a: global f32[?, 4] scope 1 readonly, %out: global f32[?, 4] scope 2) {
  parallel grid (%j, %b) in (%columns, %blocks) {
    %zero = const f32 0.0
    %length = const i64 8
    %begin = multiply %b, %length
    %left = subtract %rows, %begin
    %size = minimum %left, %length
    %sum = reduce %k in %size lanes 1 block 0 with (%zero) {
      %row = add %begin, %k
      %x = load %a[%row, %j]
      yield %x
    } combine (%l, %r) {
      %s = add %l, %r
      yield %s
    }
    store %out[%j, %b], %sum
  }
}
)");
    Module rows = lowered(module);
    ASSERT_TRUE(has_ranges(rows));
    EXPECT_EQ(rows.functions[0].body.body[0].range_dimension, 0);
    std::vector<float> a(20 * 30);
    for (size_t i = 0; i < a.size(); i++) a[i] = 1 / static_cast<float>(i + 1);
    std::vector<float> expected(30 * 3), found = expected;
    run(module, argument<int64_t>(30), argument<int64_t>(3), argument<int64_t>(20), argument(a, {20, 30}),
        argument(expected, {30, 3}));
    run(rows, argument<int64_t>(30), argument<int64_t>(3), argument<int64_t>(20), argument(a, {20, 30}),
        argument(found, {30, 3}));
    EXPECT_EQ(found, expected);
}

TEST(LoopInterchange, LeavesWhatItMayNotTouch) {
    auto changed = [](std::string_view from, std::string_view to) {
        return has_ranges(lowered(parse_and_check(replaced(kColumns, from, to))));
    };
    EXPECT_TRUE(changed("lanes 1", "lanes 1"));
    EXPECT_FALSE(changed("lanes 1", "lanes 8"));
    EXPECT_FALSE(changed("a: global f64[?, ?, 8]", "a: global f64[?, 8, ?]"));
    EXPECT_FALSE(changed("reduce %k in %rows", "reduce %k in %j"));  // as many rows as the column's index
    EXPECT_FALSE(changed("%mean = ", "store %out[%o, %j], %sum\n    %mean = "));
}

std::string simplified(std::string_view text) {
    Module module = parse_and_check(text);
    for (Function& function : module.functions) simplify(module, function);
    check(module);
    return print(module);
}

TEST(Simplify, FoldsMergesAndDrops) {
    EXPECT_EQ(simplified(R"(
kernel @k(%n: i64, %a: global f64[8] scope 1 readonly, %out: global f64[8] scope 2) {
  parallel grid (%i) in (%n) {
    %two = const f64 2.0
    %three = const f64 3.0
    %five = add %two, %three
    %x = load %a[%i]
    %again = load %a[%i]
    %xx = multiply %x, %again
    %yy = multiply %again, %x
    %unused = sqrt %x
    %z = add %xx, %five
    %w = add %z, %yy
    store %out[%i], %w
  }
}
)"),
              R"(kernel @k(%n: i64, %a: global f64[8] scope 1 readonly, %out: global f64[8] scope 2) {
  parallel grid (%i) in (%n) {
    %five = const f64 5.0
    %x = load %a[%i]
    %xx = multiply %x, %x
    %z = add %xx, %five
    %w = add %z, %xx
    store %out[%i], %w
  }
}
)");
}

TEST(Simplify, KeepsLoadsThatAWriteMayChange) {
    std::string text = R"(kernel @k(%n: i64, %a: global f64[8] scope 1, %b: global f64[8] scope 1) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    store %b[%i], %x
    %again = load %a[%i]
    %sum = add %x, %again
    store %b[%i], %sum
  }
}
)";
    EXPECT_EQ(simplified(text), text);
}

TEST(Simplify, MergesOnlyWhereTheFirstIsSeen) {
    std::string text = R"(kernel @k(%p: bool, %x: f64, %out: global f64[]) {
  if %p {
    %a = sqrt %x
    store %out[], %a
  } else {
    %b = sqrt %x
    store %out[], %b
  }
}
)";
    EXPECT_EQ(simplified(text), text);
}

TEST(Simplify, TakesTheBranchThatIsKnown) {
    EXPECT_EQ(simplified(R"(
kernel @k(%x: f64, %out: global f64[]) {
  %p = const bool false
  %y = if %p {
    yield %x
  } else {
    %half = const f64 0.5
    %h = multiply %x, %half
    yield %h
  }
  store %out[], %y
}
)"),
              R"(kernel @k(%x: f64, %out: global f64[]) {
  %half = const f64 0.5
  %h = multiply %x, %half
  store %out[], %h
}
)");
}

TEST(Simplify, TakesTheExitThatIsKnown) {
    EXPECT_EQ(simplified(R"(
kernel @k(%n: i64, %p: bool, %x: f64, %out: global f64[]) {
  %true = const bool true
  %zero = const i64 0
  %one = const i64 1
  %y = for %i = %zero to %n step %one with (%v = %x) {
    if %p {
      %s = sqrt %v
      if %true {
        break %s
      }
    } else {
      if %true {
        continue %x
      }
    }
    yield %v
  }
  store %out[], %y
  if %true {
    return
  }
  store %out[], %x
}
)"),
              R"(kernel @k(%n: i64, %p: bool, %x: f64, %out: global f64[]) {
  %zero = const i64 0
  %one = const i64 1
  %y = for %i = %zero to %n step %one with (%v = %x) {
    if %p {
      %s = sqrt %v
      break %s
    }
    continue %x
  }
  store %out[], %y
}
)");
}

TEST(InlineCalls, MakesLoopsOfFunctionsThatReturnEarly) {
    Module module = parse_and_check(R"(
function @root(%x: f64) : f64 {
  %nan = isnan %x
  if %nan {
    return %x
  }
  %y = sqrt %x
  return %y
}
kernel @k(%x: f64, %out: global f64[]) {
  %y = call @root(%x) : f64
  store %out[], %y
}
)");
    EXPECT_EQ(print(lowered(module)), R"(kernel @k(%x: f64, %out: global f64[]) {
  %0 = const f64 0.0
  %1 = const i64 0
  %2 = const i64 1
  %3 = for %4 = %1 to %2 step %2 with (%5 = %0) {
    %nan = isnan %x
    if %nan {
      break %x
    }
    %y = sqrt %x
    break %y
  }
  store %out[], %3
}
)");
}

TEST(InlineCalls, PutsBodiesInPlace) {
    Module module = parse_and_check(R"(
function @square(%x: f64) : f64 {
  %y = multiply %x, %x
  return %y
}
function @fourth(%x: f64) : f64 {
  %y = call @square(%x) : f64
  %z = call @square(%y) : f64
  return %z
}
kernel @k(%x: f64, %out: global f64[]) {
  %y = call @fourth(%x) : f64
  store %out[], %y
}
)");
    EXPECT_EQ(print(lowered(module)), R"(kernel @k(%x: f64, %out: global f64[]) {
  %y = multiply %x, %x
  %y.1 = multiply %y, %y
  store %out[], %y.1
}
)");
}

// The oracle before against the oracle after, on random kernels; the verifier runs after each pass.
TEST(Pipeline, ChangesNoBitOfRandomKernels) {
    for (uint64_t seed = 0; seed < 600; seed++) {
        Module module =
            random_kernel(seed, {.instructions = 60, .blocks = seed % 4 == 0, .views = seed % 3 == 0});
        Module after = lowered(module);
        RandomArguments expected(module, seed), found(module, seed);
        OracleOptions options{.detect_races = true};
        run_oracle(module, module.functions.back(), expected.arguments(), options);
        run_oracle(after, after.functions.back(), found.arguments(), options);
        ASSERT_EQ(found.contents(), expected.contents()) << seed << "\n" << print(module) << print(after);
    }
}

TEST(Pipeline, ShowsEachStep) {
    Module module = parse_and_check(with(kMixReduction, 4, 8));
    std::vector<std::string> names;
    run_pipeline(module, [&](std::string_view pass, double seconds, const Function& function) {
        names.emplace_back(pass);
        EXPECT_GE(seconds, 0);
        EXPECT_EQ(function.name, "reduce");
    });
    ASSERT_EQ(names.size(), pipeline().size() + 1);
    EXPECT_EQ(names[0], "input");
    for (size_t i = 0; i < pipeline().size(); i++) EXPECT_EQ(names[i + 1], pipeline()[i].name);
}

}  // namespace
}  // namespace weft::passes
