// The pass that takes two rows at a time: which kernels it changes, and that it changes no bit.
#include <random>
#include <string>
#include <vector>

#include "passes/unroll_and_jam.h"
#include "support/ir_testing.h"

namespace weft::passes {
namespace {

using namespace ir;

// Of rows of a table with weights for all rows: a sum, the largest element, and what both make.
constexpr std::string_view kRows = R"(
kernel @rows(%outer: i64, %rows: i64, %length: i64, %a: global f32[?, ?, 4] scope 1 readonly, %weight: global f32[4] scope 2 readonly, %out: global f32[?, 4] scope 3) {
  parallel grid (%o, %i) in (%outer, %rows) {
    %zero = const f32 0.0
    %first = load %weight[%i]
    %sum = reduce %k in %length lanes 16 block 64 with (%zero) {
      %x = load %a[%o, %i, %k]
      %w = load %weight[%k]
      %xw = multiply %x, %w
      yield %xw
    } combine (%l, %r) {
      %s = add %l, %r
      yield %s
    }
    %least = const f32 -inf
    %largest = reduce %k in %length lanes 16 block 64 with (%least) {
      %x = load %a[%o, %i, %k]
      yield %x
    } combine (%l, %r) {
      %m = maximum %l, %r
      yield %m
    }
    %both = add %sum, %largest
    %result = add %both, %first
    store %out[%o, %i], %result
  }
}
)";

// One row cut into blocks of which the last is shorter.
constexpr std::string_view kBlocks = R"(
kernel @blocks(%outer: i64, %blocks: i64, %size: i64, %a: global f32[?, 4] scope 1 readonly, %out: global f32[?, 4] scope 2) {
  parallel grid (%o, %b) in (%outer, %blocks) {
    %length = const i64 700
    %begin = multiply %b, %length
    %left = subtract %size, %begin
    %here = minimum %left, %length
    %zero = const f32 0.0
    %sum = reduce %k in %here lanes 32 block 512 with (%zero) {
      %at = add %begin, %k
      %x = load %a[%o, %at]
      yield %x
    } combine (%l, %r) {
      %s = add %l, %r
      yield %s
    }
    store %out[%o, %b], %sum
  }
}
)";

Module paired(const Module& module) {
    Module result = module;
    for (Function& function : result.functions) unroll_and_jam(result, function);
    check(result);
    return result;
}

size_t reductions(const Region& region) {
    size_t count = 0;
    for (const Instruction& instruction : region.body) {
        if (instruction.opcode == Opcode::kReduce) ++count;
        for (const Region& inner : instruction.regions) count += reductions(inner);
    }
    return count;
}

bool is_changed(std::string_view text, std::string_view from = "", std::string_view to = "") {
    const Module module = paired(parse_and_check(replaced(text, from, to)));
    return module.functions[0].body.body[0].range_dimension >= 0;
}

std::vector<float> numbers(int64_t count) {
    std::mt19937_64 random(static_cast<uint64_t>(count));
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = static_cast<float>(random() % 10000) / 7 - 400;
    return values;
}

TEST(UnrollAndJam, TakesTwoRowsAtATimeAndKeepsEveryBit) {
    const Module module = parse_and_check(kRows);
    const Module pairs = paired(module);
    ASSERT_EQ(reductions(module.functions[0].body), 2);
    EXPECT_EQ(reductions(pairs.functions[0].body), 4);  // two of pairs, two of the rows that are left
    for (const auto [outer, rows, length] : {std::tuple{1, 1, 600},
                                             {2, 2, 512},
                                             {1, 5, 777},
                                             {3, 4, 511},
                                             {2, 3, 0},
                                             {0, 2, 600},
                                             {1, 0, 600},
                                             {1, 7, 513}}) {
        std::vector<float> a = numbers(outer * rows * length), weight = numbers(std::max(rows, length));
        std::vector<float> expected(static_cast<size_t>(outer * rows)), found = expected;
        const auto run_on = [&, o = outer, r = rows, n = length](const Module& what,
                                                                 std::vector<float>& out) {
            run(what, argument<int64_t>(o), argument<int64_t>(r), argument<int64_t>(n),
                argument(a, {o, r, n}), argument(weight), argument(out, {o, r}));
        };
        run_on(module, expected);
        run_on(pairs, found);
        EXPECT_EQ(found, expected) << outer << " " << rows << " " << length;
    }
}

TEST(UnrollAndJam, LeavesRowsOfOtherLengthsAlone) {
    const Module module = parse_and_check(kBlocks);
    const Module pairs = paired(module);
    EXPECT_GE(pairs.functions[0].body.body[0].range_dimension, 0);
    for (const int64_t size : {1, 699, 700, 701, 1400, 1401, 2100, 3000}) {
        const int64_t blocks = (size + 699) / 700, outer = 2;
        std::vector<float> a = numbers(outer * size);
        std::vector<float> expected(static_cast<size_t>(outer * blocks)), found = expected;
        const auto run_on = [&](const Module& what, std::vector<float>& out) {
            run(what, argument<int64_t>(outer), argument<int64_t>(blocks), argument<int64_t>(size),
                argument(a, {outer, size}), argument(out, {outer, blocks}));
        };
        run_on(module, expected);
        run_on(pairs, found);
        EXPECT_EQ(found, expected) << size;
    }
}

TEST(UnrollAndJam, LeavesWhatMemoryDoesNotHoldUp) {
    EXPECT_TRUE(is_changed(kRows));
    EXPECT_FALSE(is_changed(kRows, "lanes 16", "lanes 1"));  // columns, or pairwise
    EXPECT_FALSE(is_changed(kRows, "a: global f32[?, ?, 4]", "a: global f32[4, ?, ?]"));
    EXPECT_FALSE(is_changed(kRows, "load %a[%o, %i, %k]", "load %a[%o, %o, %k]"));  // the same row for all
    EXPECT_FALSE(is_changed(kRows, "lanes 16", "lanes 64"));                        // too many registers
    EXPECT_FALSE(is_changed(kBlocks, "yield %x", "%y = exp %x\n      yield %y"));
    // The length is read from memory, so whether two are the same is not known beforehand.
    EXPECT_FALSE(is_changed(kBlocks, "%here = minimum %left, %length",
                            "%y = load %a[%o, %b]\n    %z = cast %y to i64\n    %here = minimum %left, %z"));
}

}  // namespace
}  // namespace weft::passes
