// Blocks with barriers, cut into parts: on the scalar oracle, which looks for races, and compiled.
#include <algorithm>
#include <numeric>
#include <string>

#include "passes/barrier_fission.h"
#include "passes/pipeline.h"
#include "support/compiled_testing.h"
#include "support/ir_testing.h"
#include "weft/errors.h"

namespace weft::ir {
namespace {

bool contains(const Region& region, Opcode opcode) {
    return std::any_of(region.body.begin(), region.body.end(), [&](const Instruction& instruction) {
        return instruction.opcode == opcode ||
               std::any_of(instruction.regions.begin(), instruction.regions.end(),
                           [&](const Region& inner) { return contains(inner, opcode); });
    });
}

// Runs @k(%points, %threads, %n, %a, %out) in all ways and compares; gives what it wrote.
std::vector<int64_t> expect_alike(const std::string& body, int64_t points, int64_t threads, int64_t n) {
    const std::string text =
        "kernel @k(%points: i64, %threads: i64, %n: i64, %a: global i64[8] scope 1 readonly, "
        "%out: global i64[?, 8] scope 2) {\n"
        "  %zero = const i64 0\n  %one = const i64 1\n  %two = const i64 2\n  %seven = const i64 7\n"
        "  parallel grid (%p) in (%points) {\n" +
        body + "  }\n}\n";
    SCOPED_TRACE(text);
    const Module module = parse_and_check(text);
    Module split = module;
    passes::barrier_fission(split, split.functions[0]);
    check(split);
    EXPECT_FALSE(contains(split.functions[0].body, Opcode::kBarrier));
    std::vector<int64_t> a(64);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int64_t>((i * 37 + 11) % 64);
    const int64_t width = std::max<int64_t>(threads, 1);
    std::vector<int64_t> expected(static_cast<size_t>(points * width), -1);
    std::vector<int64_t> found = expected;
    std::vector<int64_t> compiled = expected;
    const auto launch = [&](const auto& how, std::vector<int64_t>& out) {
        how(argument(points), argument(threads), argument(n), argument(a), argument(out, {points, width}));
    };
    launch([&](const auto&... arguments) { run(module, arguments...); }, expected);
    launch([&](const auto&... arguments) { run(split, arguments...); }, found);
    launch([&](const auto&... arguments) { run_compiled(module, arguments...); }, compiled);
    EXPECT_EQ(found, expected) << print(split);
    EXPECT_EQ(compiled, expected) << print(split);
    return expected;
}

// A value that a thread reads lives across a barrier, and one that is cheap is computed twice.
TEST(BarrierFission, KeepsValuesForTheirThreads) {
    const std::vector<int64_t> out = expect_alike(R"(
    %eight = const i64 8
    %tile = allocate shared i64[8] size [8] scope 3
    parallel block (%t) in (%eight) {
      %x = load %a[%t]
      %next = add %t, %one
      %place = remainder %next, %eight
      store %tile[%place], %x
      barrier
      %y = load %tile[%t]
      barrier
      store %tile[%t], %x
      barrier
      %z = load %tile[%place]
      %yz = multiply %y, %seven
      %sum = add %yz, %z
      %with = add %sum, %x
      store %out[%p, %t], %with
    }
)",
                                                  3, 8, 0);
    EXPECT_EQ(out[1], ((0 * 37 + 11) % 64) * 7 + (2 * 37 + 11) % 64 + (1 * 37 + 11) % 64);
}

// A loop around a barrier that carries what differs and what does not, and swaps.
TEST(BarrierFission, LoopsStandAroundTheParts) {
    for (const int64_t n : {0, 1, 2, 5}) {
        expect_alike(R"(
    %six = const i64 6
    %tile = allocate shared i64[8] size [6] scope 3
    parallel block (%t) in (%six) {
      %start = load %a[%t]
      %first, %second, %steps, %twice = for %i = %zero to %n step %one with (%x = %start, %y = %t, %s = %zero, %d = %one) {
        store %tile[%t], %x
        barrier
        %from = add %t, %i
        %place = remainder %from, %six
        %other = load %tile[%place]
        %mixed = multiply %other, %seven
        %sum = add %mixed, %y
        %more = add %s, %i
        %double = multiply %d, %two
        barrier
        yield %y, %sum, %more, %double
      }
      %all = add %first, %second
      %with = add %all, %steps
      %last = add %with, %twice
      store %out[%p, %t], %last
    }
)",
                     2, 6, n);
    }
}

// What a loop carries changes places: all is read before any is written.
TEST(BarrierFission, CarriedValuesChangePlaces) {
    for (const int64_t n : {0, 1, 2, 3}) {
        expect_alike(R"(
    %three = const i64 3
    parallel block (%t) in (%three) {
      %start = load %a[%t]
      %x, %y, %z = for %i = %zero to %n step %one with (%u = %start, %v = %t, %w = %one) {
        barrier
        yield %v, %w, %u
      }
      %xs = multiply %x, %seven
      %xy = add %xs, %y
      %xys = multiply %xy, %seven
      %all = add %xys, %z
      store %out[%p, %t], %all
    }
)",
                     2, 3, n);
    }
}

// What is the same for all threads is read where it stands: a block of one thread sees what it wrote.
TEST(BarrierFission, CommonLoadsComeAfterTheWritesBeforeThem) {
    expect_alike(R"(
    %cell = allocate shared i64[8] size [1] scope 3
    parallel block (%t) in (%one) {
      %first = load %a[%p]
      store %cell[%zero], %first
      %x = load %cell[%zero]
      %xx = multiply %x, %seven
      store %cell[%zero], %xx
      %y = load %cell[%zero]
      barrier
      %old = atomic add %cell[%zero], %one sequential device
      %z = load %cell[%zero]
      barrier
      %sum = add %x, %y
      %all = subtract %sum, %z
      store %out[%p, %t], %all
    }
)",
                 3, 1, 0);
}

// Loops in loops and in branches; the inner loop's length is the outer's counter.
TEST(BarrierFission, Nest) {
    for (const int64_t n : {0, 1, 4}) {
        expect_alike(R"(
    %five = const i64 5
    %tile = allocate shared i64[8] size [5] scope 3
    parallel block (%t) in (%five) {
      %start = load %a[%t]
      %result = for %i = %zero to %n step %one with (%x = %start) {
        %even = remainder %i, %two
        %odd = equal %even, %one
        %chosen = if %odd {
          %inner = for %j = %zero to %i step %one with (%y = %x) {
            store %tile[%t], %y
            barrier
            %next = add %t, %one
            %place = remainder %next, %five
            %other = load %tile[%place]
            %sum = add %other, %t
            barrier
            yield %sum
          }
          yield %inner
        } else {
          store %tile[%t], %x
          barrier
          %first = load %tile[%zero]
          %plus = add %first, %x
          barrier
          yield %plus
        }
        yield %chosen
      }
      store %out[%p, %t], %result
    }
)",
                     2, 5, n);
    }
}

// Whether it goes on is in shared memory, written by one thread; barriers stand in both halves.
TEST(BarrierFission, WhileAsksMemory) {
    expect_alike(R"(
    %four = const i64 4
    %hundred = const i64 100
    %sum = allocate shared i64[8] size [1] scope 3
    parallel block (%t) in (%four) {
      %first = equal %t, %zero
      store %sum[%zero], %p if %first
      barrier
      %x, %turns = while (%v = %t, %k = %zero) {
        %total = load %sum[%zero]
        %more = less %total, %hundred
        %grown = add %v, %total
        barrier
        yield %more, %grown, %k
      } do (%w, %m) {
        %old = atomic add %sum[%zero], %w relaxed block
        barrier
        %doubled = multiply %w, %two
        %next = add %m, %one
        yield %doubled, %next
      }
      %result = multiply %x, %seven
      %with = add %result, %turns
      store %out[%p, %t], %with
    }
)",
                 3, 4, 0);
}

// A thread's own array is used before and after a barrier, in a loop as well.
TEST(BarrierFission, LocalMemoryStaysItsThreads) {
    expect_alike(R"(
    %four = const i64 4
    parallel block (%t, %u) in (%two, %four) {
      %own = allocate local i64[8] size [3] scope 3
      %three = const i64 3
      for %i = %zero to %three step %one {
        %ti = multiply %t, %i
        %tu = add %ti, %u
        store %own[%i], %tu
      }
      barrier
      for %i = %zero to %three step %one {
        %x = load %own[%i]
        %y = multiply %x, %seven
        barrier
        store %own[%i], %y
      }
      %a0 = load %own[%zero]
      %a1 = load %own[%one]
      %a2 = load %own[%two]
      %s = add %a0, %a1
      %all = add %s, %a2
      %row = multiply %t, %four
      %at = add %row, %u
      store %out[%p, %at], %all
    }
)",
                 2, 8, 0);
}

// Without threads nothing of a block runs, neither what it would read.
TEST(BarrierFission, EmptyBlocksDoNothing) {
    for (const int64_t threads : {-2, 0, 3}) {
        expect_alike(R"(
    %tile = allocate shared i64[8] size [8] scope 3
    parallel block (%t) in (%threads) {
      %far = multiply %n, %threads
      %x = load %a[%n]
      store %tile[%t], %x
      barrier
      %next = add %t, %one
      %place = remainder %next, %threads
      %y = load %tile[%place]
      store %out[%p, %t], %y
    }
)",
                     2, threads, threads > 0 ? 5 : 1000);
    }
}

// Blocks of any size: shared memory of the size of arguments, values that cross barriers, threads' own
// memory.
TEST(BarrierFission, SizesMayBeArguments) {
    for (const int64_t threads : {0, 1, 6, 33, 5000}) {
        expect_alike(R"(
    %tile = allocate shared i64[?, ?, 8] size [2, ?, ?] scope 3 of (%threads, %two)
    parallel block (%t) in (%threads) {
      %own = allocate local i64[8] size [2] scope 4
      %forty = const i64 40
      %at = remainder %t, %forty
      %x = load %a[%at]
      store %own[%one], %x
      store %tile[%one, %t, %zero], %x
      store %tile[%zero, %t, %one], %t
      barrier
      %next = add %t, %one
      %place = remainder %next, %threads
      %y = load %tile[%one, %place, %zero]
      %z = load %tile[%zero, %place, %one]
      %mixed = multiply %x, %y
      barrier
      store %tile[%one, %t, %zero], %mixed
      barrier
      %w = load %tile[%one, %place, %zero]
      %v = load %own[%one]
      %s = add %w, %z
      %all = add %s, %v
      store %out[%p, %t], %all
    }
)",
                     2, threads, 0);
    }
}

TEST(BarrierFission, BlocksOfSeveralDimensionsMayHaveAnySize) {
    for (const int64_t n : {0, 1, 3, 70}) {
        expect_alike(R"(
    for %size = %one to %n step %seven {
      %tile = allocate shared i64[?, 8] size [?, ?] scope 3 of (%size, %size)
      parallel block (%t, %f, %u) in (%size, %one, %size) {
        %row = multiply %t, %size
        %k = add %row, %u
        %forty = const i64 40
        %at = remainder %k, %forty
        %x = load %a[%at]
        store %tile[%t, %u], %x
        barrier
        %y = load %tile[%u, %t]
        %xx = multiply %x, %seven
        %sum = add %xx, %y
        barrier
        store %tile[%t, %u], %sum
        barrier
        %back = load %tile[%u, %t]
        %all = add %back, %sum
        store %out[%p, %k], %all
      }
    }
)",
                     2, 70 * 70, n);
    }
}

TEST(BarrierFission, BlocksWithoutBarriersAreLoops) {
    const std::vector<int64_t> out = expect_alike(R"(
    parallel block (%t) in (%threads) {
      %x = load %a[%t]
      %y = add %x, %p
      store %out[%p, %t], %y
    }
)",
                                                  4, 19, 0);
    EXPECT_EQ(out[19 + 2], (2 * 37 + 11) % 64 + 1);
}

}  // namespace
}  // namespace weft::ir
