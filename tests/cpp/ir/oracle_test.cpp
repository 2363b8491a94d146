// The scalar oracle on hand-written kernels: results, faults and the tree of reductions.
#include "ir/oracle.h"

#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>

#include "support/ir_testing.h"
#include "support/kernel_texts.h"
#include "weft/errors.h"

namespace weft::ir {
namespace {

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

constexpr std::string_view kAxpy = R"(
kernel @axpy(%n: i64, %a: global f64[?] scope 1 readonly, %out: global f64[8] scope 2) {
  parallel grid (%i) in (%n) {
    %x = load %a[%i]
    %two = const f64 2.0
    %y = multiply %two, %x
    %z = load %out[%i]
    %sum = add %y, %z
    store %out[%i], %sum
  }
}
)";

TEST(Oracle, RunsAnElementwiseKernel) {
    Module module = parse_and_check(kAxpy);
    std::vector<double> a{1, 2, 3}, out{10, 20, 30};
    run(module, argument<int64_t>(3), argument(a), argument(out));
    EXPECT_EQ(out, (std::vector<double>{12, 24, 36}));
}

TEST(Oracle, ReadsByStrides) {
    Module module = parse_and_check(kAxpy);
    std::vector<double> a{1, 2, 3}, out{0, 0, 0};
    OracleBuffer reversed = argument(a);
    reversed.base += 16;
    reversed.strides = {-8};
    run(module, argument<int64_t>(3), reversed, argument(out));
    EXPECT_EQ(out, (std::vector<double>{6, 4, 2}));
}

TEST(Oracle, ReportsAccessesOutOfBounds) {
    Module module = parse_and_check(kAxpy);
    std::vector<double> a{1, 2, 3}, out{0, 0, 0};
    EXPECT_THROW(run(module, argument<int64_t>(4), argument(a), argument(out)), IndexError);
    EXPECT_EQ(message_of([&] { run(module, argument<int64_t>(4), argument(a), argument(out)); }),
              "kernel access out of bounds: load %a[3] in @axpy, point 3 of the grid");
}

TEST(Oracle, RefusesArgumentsThatDoNotMatch) {
    Module module = parse_and_check(kAxpy);
    std::vector<double> a{1}, out{0};
    EXPECT_THROW(run(module, argument<int64_t>(1), argument(a)), ValueError);
    EXPECT_THROW(run(module, argument<int32_t>(1), argument(a), argument(out)), ValueError);
    EXPECT_THROW(run(module, argument<int64_t>(1), argument(a), argument<double>(0)), ValueError);
    OracleBuffer strided = argument(out);
    strided.strides = {16};  // the type says 8
    EXPECT_THROW(run(module, argument<int64_t>(1), argument(a), strided), ValueError);
}

TEST(Oracle, RunsStructuredControlFlow) {
    // Collatz: how many steps to 1, for each i + 1; odd and even sums on the way.
    Module module = parse_and_check(R"(
kernel @collatz(%n: i64, %out: global i64[8] scope 1) {
  parallel grid (%i) in (%n) {
    %one = const i64 1
    %two = const i64 2
    %three = const i64 3
    %zero = const i64 0
    %start = add %i, %one
    %last, %count = while (%value = %start, %steps = %zero) {
      %more = greater %value, %one
      yield %more, %value, %steps
    } do (%v, %s) {
      %rest = remainder %v, %two
      %odd = equal %rest, %one
      %next = if %odd {
        %tripled = multiply %v, %three
        %up = add %tripled, %one
        yield %up
      } else {
        %half = floor_divide %v, %two
        yield %half
      }
      %s1 = add %s, %one
      yield %next, %s1
    }
    store %out[%i], %count
  }
}
)");
    std::vector<int64_t> out(30);
    run(module, argument<int64_t>(30), argument(out));
    for (int64_t i = 0; i < 30; i++) {
        int64_t steps = 0;
        for (int64_t v = i + 1; v > 1; v = v % 2 == 1 ? 3 * v + 1 : v / 2) steps++;
        EXPECT_EQ(out[static_cast<size_t>(i)], steps) << i;
    }
}

TEST(Oracle, ExitsLeaveLoopsAndFunctions) {
    Module module = parse_and_check(testing_kernels::kPairs);
    std::vector<int64_t> out(30);
    run(module, argument<int64_t>(30), argument<int64_t>(7), argument(out));
    for (int64_t i = 0; i < 30; i++)
        EXPECT_EQ(out[static_cast<size_t>(i)], testing_kernels::pair_of(i + 6, 7)) << i;
}

TEST(Oracle, ALoopIsLeftFromItsBody) {
    Module module = parse_and_check(R"(
kernel @k(%out: global i64[8] scope 1) {
  %zero = const i64 0
  %one = const i64 1
  %ten = const i64 10
  %once = for %i = %zero to %ten step %one with (%v = %zero) {
    store %out[%i], %ten
    break %ten
  }
  store %out[%one], %once
  %last, %count = while (%a = %zero, %b = %zero) {
    %on = less %a, %ten
    yield %on, %b, %a
  } do (%c, %d) {
    %next = add %d, %one
    %even = bitwise_and %d, %one
    %is_odd = equal %even, %one
    if %is_odd {
      continue %next, %d
    }
    %enough = const i64 6
    %ends = equal %d, %enough
    if %ends {
      break %c, %next
    }
    yield %next, %c
  }
  %two = const i64 2
  %three = const i64 3
  store %out[%two], %last
  store %out[%three], %count
}
)");
    std::vector<int64_t> out(4);
    run(module, argument(out));
    EXPECT_EQ(out, (std::vector<int64_t>{10, 10, 5, 7}));
}

TEST(Oracle, LoopsCarryValuesAndCallFunctions) {
    Module module = parse_and_check(R"(
function @twice(%x: f64) : f64 {
  %y = add %x, %x
  return %y
}
kernel @powers(%n: i64, %out: global f64[8] scope 1) {
  parallel grid (%i) in (%n) {
    %zero = const i64 0
    %one = const i64 1
    %start = const f64 1.0
    %final = for %k = %zero to %i step %one with (%x = %start) {
      %y = call @twice(%x) : f64
      yield %y
    }
    store %out[%i], %final
  }
}
)");
    std::vector<double> out(10);
    run(module, argument<int64_t>(10), argument(out));
    for (size_t i = 0; i < 10; i++) EXPECT_EQ(out[i], std::ldexp(1.0, static_cast<int>(i)));
}

TEST(Oracle, PredicatedAccessesTouchNothingWhenOff) {
    Module module = parse_and_check(R"(
kernel @edge(%n: i64, %size: i64, %a: global i32[4] scope 1 readonly, %out: global i32[4] scope 2) {
  parallel grid (%i) in (%n) {
    %inside = less %i, %size
    %otherwise = const i32 -1
    %x = load %a[%i] if %inside else %otherwise
    store %out[%i], %x
    store %out[%i], %otherwise if %inside
  }
}
)");
    std::vector<int32_t> a{5, 6}, out(4);
    run(module, argument<int64_t>(4), argument<int64_t>(2), argument(a), argument(out));
    EXPECT_EQ(out, (std::vector<int32_t>{-1, -1, -1, -1}));
}

TEST(Oracle, FindsRacesBetweenPointsOfAGrid) {
    Module module = parse_and_check(R"(
kernel @sum(%n: i64, %a: global f64[8] scope 1, %out: global f64[8] scope 2) {
  parallel grid (%i) in (%n) {
    %zero = const i64 0
    %x = load %a[%i]
    %old = load %out[%zero]
    %new = add %old, %x
    store %out[%zero], %new
  }
}
)");
    std::vector<double> a{1, 2, 3}, out{0};
    EXPECT_THROW(run(module, argument<int64_t>(3), argument(a), argument(out)), RuntimeError);
    out = {0};
    run(module, argument<int64_t>(1), argument(a), argument(out));  // a single point races with nobody
    EXPECT_EQ(out[0], 1);
}

TEST(Oracle, LockstepThreadsMeetAtBarriers) {
    // Each thread reads what its neighbour wrote before the barrier.
    Module module = parse_and_check(R"(
kernel @rotate(%out: global i64[8] scope 1) {
  %one = const i64 1
  %four = const i64 4
  parallel grid (%g) in (%one) {
    %shared = allocate shared i64[8] size [4] scope 2
    parallel block (%t) in (%four) {
      store %shared[%t], %t
      barrier
      %next = add %t, %one
      %wrapped = remainder %next, %four
      %x = load %shared[%wrapped]
      store %out[%t], %x
    }
  }
}
)");
    std::vector<int64_t> out(4);
    run(module, argument(out));
    EXPECT_EQ(out, (std::vector<int64_t>{1, 2, 3, 0}));

    std::string without = print(module);
    without.erase(without.find("barrier"), 7);
    Module racy = parse_and_check(without);
    EXPECT_THROW(run(racy, argument(out)), RuntimeError);
}

TEST(Oracle, ScansInOrder) {
    Module module = parse_and_check(testing_kernels::kRunningSums);
    std::vector<float> a{-0.0f, 1, 2, 3}, out(4);
    run(module, argument<int64_t>(4), argument(a), argument(out));
    EXPECT_EQ(out, (std::vector<float>{0, 1, 3, 6}));
    EXPECT_TRUE(std::signbit(out[0]));
}

// The tree of kReduce as docs/reference/kernel-ir.md states it, written another way: recursion instead of a
// binary counter. The combination is 2l + 3r + 1 modulo 2^64, which tells every tree from every other.
uint64_t mix(uint64_t left, uint64_t right) { return 2 * left + 3 * right + 1; }

uint64_t lanes_tree(std::vector<uint64_t> lanes, int64_t width) {
    for (; width > 1; width /= 2) {
        for (int64_t l = 0; l < width / 2; l++) {
            auto right = static_cast<size_t>(l + width / 2);
            if (right < lanes.size())
                lanes[static_cast<size_t>(l)] = mix(lanes[static_cast<size_t>(l)], lanes[right]);
        }
    }
    return lanes[0];
}

uint64_t block_tree(std::span<const uint64_t> blocks) {
    if (blocks.size() == 1) return blocks[0];
    size_t half =
        std::bit_floor(blocks.size() - 1);  // the largest power of two that leaves something on the right
    return mix(block_tree(blocks.first(half)), block_tree(blocks.subspan(half)));
}

uint64_t expected_reduction(std::span<const uint64_t> elements, uint64_t initial, int64_t lanes,
                            int64_t block) {
    if (elements.empty()) return initial;
    auto size = block == 0 ? elements.size() : static_cast<size_t>(block);
    std::vector<uint64_t> blocks;
    for (size_t start = 0; start < elements.size(); start += size) {
        std::span<const uint64_t> part = elements.subspan(start, std::min(size, elements.size() - start));
        std::vector<uint64_t> accumulators(std::min(part.size(), static_cast<size_t>(lanes)), initial);
        for (size_t k = 0; k < part.size(); k++) {
            uint64_t& accumulator = accumulators[k % static_cast<size_t>(lanes)];
            accumulator = mix(accumulator, part[k]);
        }
        blocks.push_back(block == 1 ? part[0] : lanes_tree(accumulators, lanes));
    }
    return block_tree(blocks);
}

std::string reduction_text(int64_t lanes, int64_t block) {
    return R"(
kernel @reduce(%n: i64, %first: u64, %a: global u64[8] scope 1 readonly, %out: global u64[8] scope 2) {
  %at = const i64 0
  %two = const u64 2
  %three = const u64 3
  %one = const u64 1
  %r = reduce %i in %n lanes )" +
           std::to_string(lanes) + " block " + std::to_string(block) + R"( with (%first) {
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
}

TEST(Oracle, ReducesByTheStatedTree) {
    std::mt19937_64 random(1);
    for (auto [lanes, block] : {std::pair{1, 0}, {1, 1}, {1, 4}, {2, 2}, {4, 8}, {8, 0}, {8, 8}, {32, 64}}) {
        Module module = parse_and_check(reduction_text(lanes, block));
        for (int64_t n : {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 31, 64, 65, 100, 200}) {
            std::vector<uint64_t> a(static_cast<size_t>(n)), out(1);
            for (uint64_t& x : a) x = random();
            uint64_t first = random();
            run(module, argument(n), argument(first), argument(a), argument(out));
            EXPECT_EQ(out[0], expected_reduction(a, first, lanes, block))
                << n << " " << lanes << " " << block;
        }
    }
}

// Phase 1 leaves the result of each block in memory, phase 2 reduces those with lanes 1 block 1.
TEST(Oracle, TwoPhasesGiveTheBitsOfOne) {
    std::mt19937_64 random(2);
    Module one_phase = parse_and_check(reduction_text(4, 16));
    Module pairwise = parse_and_check(reduction_text(1, 1));
    for (int64_t n : {1, 16, 17, 90, 333}) {
        std::vector<uint64_t> a(static_cast<size_t>(n)), one(1), two(1), partials;
        for (uint64_t& x : a) x = random();
        uint64_t first = random();
        run(one_phase, argument(n), argument(first), argument(a), argument(one));
        for (int64_t start = 0; start < n; start += 16) {
            std::vector<uint64_t> part(a.begin() + start, a.begin() + std::min(n, start + 16));
            std::vector<uint64_t> result(1);
            run(one_phase, argument(static_cast<int64_t>(part.size())), argument(first), argument(part),
                argument(result));
            partials.push_back(result[0]);
        }
        run(pairwise, argument(static_cast<int64_t>(partials.size())), argument(first), argument(partials),
            argument(two));
        EXPECT_EQ(one[0], two[0]) << n;
    }
}

constexpr std::string_view kSwap = R"(
function @diffuse(%n: i64, %steps: i64, %a: global f64[?], %b: global f64[?]) : global f64[?] {
  %zero = const i64 0
  %one = const i64 1
  %last = subtract %n, %one
  %half = const f64 0.5
  %u, %w = for %k = %zero to %steps step %one with (%from = %a, %to = %b) {
    for %i = %one to %last step %one {
      %before = subtract %i, %one
      %after = add %i, %one
      %l = load %from[%before]
      %r = load %from[%after]
      %s = add %l, %r
      %m = multiply %s, %half
      store %to[%i], %m
    }
    yield %to, %from
  }
  return %u
}
)";

TEST(Oracle, LoopsCarryBuffers) {
    const Module module = parse_and_check(kSwap);
    std::vector<double> a{1, 0, 0, 0, 4}, b{1, 0, 0, 0, 4};
    const std::vector<OracleArgument> arguments{
        Constant::of(ScalarType::kInt64, 5), Constant::of(ScalarType::kInt64, 3), argument(a), argument(b)};
    const std::vector<Constant> results = run_oracle(module, module.functions[0], arguments);
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].as<int64_t>(), reinterpret_cast<int64_t>(b.data()));
    EXPECT_EQ(results[1].as<int64_t>(), 8);
    EXPECT_EQ(b, (std::vector<double>{1, 1.125, 1.25, 2.625, 4}));
}

TEST(Oracle, ViewsSeeTheSameMemory) {
    const Module module = parse_and_check(R"(
function @f(%a: global f64[8], %s: i64) : i32, f64 {
  %16 = const i64 16
  %0 = const i64 0
  %1 = const i64 1
  %back = view %a at %16 as global f64[?] of (%s)
  %words = view %back at %0 as global i32[4, -8]
  %x = load %back[%1]
  %w = load %words[%1, %1]
  return %w, %x
}
)");
    std::vector<double> a{1, 2, 3};
    const auto run = [&](int64_t stride) {
        return run_oracle(module, module.functions[0],
                          std::vector<OracleArgument>{argument(a), Constant::of(ScalarType::kInt64, stride)});
    };
    const std::vector<Constant> results = run(-8);
    EXPECT_EQ(results[0].as<int32_t>(), 0x40000000);  // the upper half of 2.0
    EXPECT_EQ(results[1].as<double>(), 2);
    EXPECT_THROW(run(8), IndexError);
    const Module null = parse_and_check(
        "function @f() : f64 {\n%n = null global f64[] scope 1\n%x = load %n[]\nreturn %x\n}");
    EXPECT_THROW(run_oracle(null, null.functions[0], {}), IndexError);
}

TEST(Oracle, CountsUsersOfHeapMemory) {
    const Module module = parse_and_check(R"(
function @f(%n: i64, %more: i64) : i64, global f64[8] scope 1 {
  %none = const i64 0
  %one = const i64 1
  release %none
  %o, %a = heap %n as global f64[8] scope 1 else raise 5
  for %k = %none to %more step %one {
    release %o
  }
  %x = const f64 1.0
  store %a[%one], %x
  return %o, %a
}
)");
    OracleHeap heap;
    const auto run = [&](int64_t bytes, int64_t releases) {
        return run_oracle(module, module.functions[0],
                          std::vector<OracleArgument>{Constant::of(ScalarType::kInt64, bytes),
                                                      Constant::of(ScalarType::kInt64, releases)},
                          {.heap = &heap});
    };
    const std::vector<Constant> results = run(16, 0);
    ASSERT_EQ(heap.blocks.size(), 1U);
    EXPECT_EQ(results[1].as<int64_t>(), reinterpret_cast<int64_t>(heap.blocks.at(1)->bytes.data()));
    EXPECT_EQ(results[0].as<int64_t>(), 1);
    EXPECT_THROW(run(15, 0), IndexError);
    EXPECT_THROW(run(16, 1), RuntimeError);
    EXPECT_THROW(run(16, 2), RuntimeError);
    try {
        run(-1, 0);
        FAIL();
    } catch (const Raised& error) {
        EXPECT_EQ(error.site, 5U);
    }
}

TEST(Oracle, MemoryOwnsMemory) {
    const Module module = parse_and_check(R"(
function @f(%n: i64, %again: i64) : i64, i64 {
  %zero = const i64 0
  %one = const i64 1
  %size = const i64 8
  %more = const i64 32
  %o, %a = heap %size as global i64[8] scope 1 else raise 5
  store %a[%zero], %n
  %h, %words = heap %size owners 1 from 0 by 8 as global i64[8] scope 2 else raise 5
  store %words[%zero], %o
  %g, %grown = heap %more from %h owners 1 from 0 by 8 as global i64[8] scope 2 else raise 5
  %last = load %grown[%one]
  %at = address %a
  %same = memory %at as global i64[8] scope 3
  %x = load %same[%zero]
  for %k = %zero to %again step %one {
    release %g
    %y = load %same[%zero]
  }
  return %x, %last
}
)");
    OracleHeap heap;
    const auto run = [&](int64_t n, int64_t again) {
        return run_oracle(module, module.functions[0],
                          std::vector<OracleArgument>{Constant::of(ScalarType::kInt64, n),
                                                      Constant::of(ScalarType::kInt64, again)},
                          {.heap = &heap});
    };
    const std::vector<Constant> results = run(7, 0);
    EXPECT_EQ(results[0].as<int64_t>(), 7);
    EXPECT_EQ(results[1].as<int64_t>(), 0);
    EXPECT_EQ(heap.blocks.size(), 2U);
    EXPECT_THROW(run(7, 1), RuntimeError);  // its memory has gone with what owned it
}

TEST(Oracle, ErrorsAreCaughtAndRaisedAgain) {
    const Module module = parse_and_check(R"(
function @inner(%n: i64) : i64 {
  %zero = const i64 0
  %fits = greater %n, %zero
  check %fits else raise 3 %n
  return %n
}

function @outer(%n: i64, %again: bool) : i64, i64 {
  %error, %x = call catching @inner(%n) : i64
  if %again {
    raise again %error
  }
  return %error, %x
}
)");
    const auto run = [&](int64_t n, bool again) {
        return run_oracle(
            module, module.functions[1],
            std::vector<OracleArgument>{Constant::of(ScalarType::kInt64, n),
                                        Constant::of(ScalarType::kBool, static_cast<uint8_t>(again))});
    };
    EXPECT_EQ(run(5, false)[0].as<int64_t>(), 0);
    EXPECT_EQ(run(5, false)[1].as<int64_t>(), 5);
    EXPECT_EQ(run(-5, false)[0].as<int64_t>(), 4);
    try {
        run(-5, true);
        FAIL();
    } catch (const Raised& error) {
        EXPECT_EQ(error.site, 3U);
        EXPECT_EQ(error.payload.at(0).as<int64_t>(), -5);
    }
}

TEST(Oracle, WhatIsToldIsHeardInOrder) {
    const Module module = parse_and_check(R"(
function @f(%n: i64) {
  %zero = const i64 0
  %one = const i64 1
  for %i = %zero to %n step %one {
    tell 7 %i, %one
  }
  raise 8
}
)");
    std::vector<Told> told;
    EXPECT_THROW(run_oracle(module, module.functions[0],
                            std::vector<OracleArgument>{Constant::of(ScalarType::kInt64, int64_t{2})},
                            {.told = &told}),
                 Raised);
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[1].site, 7U);
    EXPECT_EQ(told[1].payload[0].as<int64_t>(), 1);
}

}  // namespace
}  // namespace weft::ir
