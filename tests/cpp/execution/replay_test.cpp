// A plan that is met again: its launches are repeated with other addresses and constants, and nothing is
// allocated but the results.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>
#include <vector>

#include "api/random/random.h"
#include "ops/op.h"
#include "random/bit_generator.h"
#include "weft/ops.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef WEFT_COUNTS_ALLOCATIONS
#define WEFT_COUNTS_ALLOCATIONS 1
#endif

namespace {
thread_local int64_t allocations = 0;
}  // namespace

#if WEFT_COUNTS_ALLOCATIONS
void* operator new(size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace weft {
namespace {

array multiply(const array& left, const Argument& right) {
    return call_binary(op_info(OpId::kMultiply), left, right);
}
array add(const array& left, const Argument& right) { return call_binary(op_info(OpId::kAdd), left, right); }

std::vector<double> values_of(const array& input) {
    const HostView view(input);
    const auto* data = reinterpret_cast<const double*>(view.data());
    return {data, data + input.size()};
}

// What evaluating `pending` allocates on this thread.
int64_t allocations_of(const array& pending) {
    const std::array roots{pending};
    const int64_t before = allocations;
    eval(roots);
    return allocations - before;
}

TEST(Replay, AllocatesNothingButResults) {
    if (WEFT_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "the sanitizer has an operator new of its own";
    const array field = full({300, 500}, 1.5);
    eval(std::array{field});
    const Index inner[1] = {Slice{1, -1, {}}};
    ReduceOptions along_rows;
    along_rows.axes = Dims{1};
    array q = full({300, 500}, 0.5), total = q;
    eval(std::array{q});
    for (int turn = 0; turn < 30; ++turn) {
        q = add(multiply(q, 1.0 + turn * 1e-3), field);
        const int64_t element_wise = allocations_of(q);
        total = reduce("sum", multiply(q, q), along_rows);
        const int64_t rows = allocations_of(total);
        const array all = reduce("sum", q, {});
        const int64_t chunks = allocations_of(all);
        call_in_place(op_info(OpId::kAdd), index(q, inner), 1.0 * turn);
        const int64_t in_place = allocations_of(q);
        if (turn < 5) continue;
        EXPECT_LE(element_wise, 1) << turn;
        EXPECT_LE(rows, 1) << turn;
        EXPECT_LE(chunks, 2) << turn;  // and what the chunks come to
        EXPECT_EQ(in_place, 0) << turn;
    }
}

// Numbers that differ from turn to turn are no part of the plan, be they integers or where a stream is.
TEST(Replay, MeetsAPlanWithOtherIntegersAgain) {
    const array counts = full({300, 500}, 7, ScalarType::kInt64), field = full({300, 500}, 0.5);
    eval(std::array{counts, field});
    BitGenerator generator;
    generator.words = {1, 2, 3, 4};
    for (int turn = 0; turn < 12; ++turn) {
        const int64_t shifted = allocations_of(add(multiply(counts, turn), turn + 1));
        const array drawn =
            draw(source_of(generator), Distribution::kUniform, {300, 500}, ScalarType::kFloat64);
        const int64_t random = allocations_of(call_binary(op_info(OpId::kLess), drawn, field));
        if (turn < 5) continue;
        EXPECT_LE(shifted, 2) << turn;
        EXPECT_LE(random, 2) << turn;
    }
}

TEST(Replay, TakesConstantsAndAddressesAnew) {
    for (int turn = 0; turn < 8; ++turn) {
        const array x = full({20000}, 1.0 + turn), y = full({20000}, 10.0 * turn);
        eval(std::array{x, y});
        const array z = add(multiply(x, 2.0 + turn), multiply(y, x));
        const double expected = (1.0 + turn) * (2.0 + turn) + 10.0 * turn * (1.0 + turn);
        const std::vector<double> values = values_of(z);
        EXPECT_EQ(values.front(), expected);
        EXPECT_EQ(values.back(), expected);
    }
}

// The old version is somebody's in some turns: then the write must not be in place, and the other way round.
TEST(Replay, KnowsWhoSeesTheOldVersion) {
    const Index inner[1] = {Slice{1, -1, {}}}, right[1] = {Slice{2, {}, {}}};
    array x = full({20000}, 1.0);
    eval(std::array{x});
    double value = 1;
    for (int turn = 0; turn < 12; ++turn) {
        array kept;
        if (turn % 3 == 1) kept = multiply(x, 4.0);  // reads the old version, and is computed later
        assign(index(x, inner), add(multiply(index(x, right), 2.0), 1.0));
        call_in_place(op_info(OpId::kSubtract), x, 0.5);
        eval(std::array{x});
        if (turn % 3 == 1) EXPECT_EQ(values_of(kept)[5], 4 * value) << turn;
        value = 2 * value + 0.5;
        EXPECT_EQ(values_of(x)[5], value) << turn;
        if (turn % 3 == 2) {  // the elements on the right were not written
            x = full({20000}, value);
            eval(std::array{x});
        }
    }
}

// Two arrays over one piece of foreign memory are two buffers, as two apart are: one plan, two kernels' worth
// of addresses.
TEST(Replay, BuffersThatLieInOnePlaceAreStillTwo) {
    std::vector<double> first(20000, 1.0), second(20000, 5.0);
    const auto over = [](std::vector<double>& memory) {
        return share(memory.data(), DType(ScalarType::kFloat64), {20000}, {8}, true, [] {});
    };
    const auto difference = [&](std::vector<double>& a, std::vector<double>& b) {
        return values_of(call_binary(op_info(OpId::kSubtract), over(a), over(b)))[7];
    };
    for (int turn = 0; turn < 3; ++turn) {
        EXPECT_EQ(difference(first, first), 0.0);
        EXPECT_EQ(difference(first, second), -4.0);
        EXPECT_EQ(difference(second, first), 4.0);
    }
}

}  // namespace
}  // namespace weft
