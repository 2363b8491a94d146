#include "codegen/runtime/block_threads.h"

#include <gtest/gtest.h>

#include <exception>
#include <vector>

#include "codegen/runtime/heap.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

constexpr int64_t kThreads = 70;  // two warps and a part of one

struct Told {
    std::vector<int64_t> first = std::vector<int64_t>(kThreads), second = std::vector<int64_t>(kThreads);
    std::vector<int64_t> order{};
};

Told& told(const void* captures) { return **static_cast<Told* const*>(captures); }

int64_t run(SpreadBody body, Told& into) {
    const HeapFrame frame;
    Told* const captures = &into;
    char error[256] = {};
    return spread_together(body, static_cast<const void*>(&captures), kThreads, 1, error, sizeof(error), 0);
}

TEST(BlockThreads, WhatIsWrittenBeforeABarrierIsSeenBehindIt) {
    Told into;
    const int64_t status = run(
        [](const void* captures, int64_t number, int64_t, int64_t, char*) -> int64_t {
            Told& all = told(captures);
            for (int64_t turn = 0; turn < 3; ++turn) {
                all.first[static_cast<size_t>(number)] = 100 * turn + number;
                if (const int64_t stops = block_barrier()) return stops;
                all.second[static_cast<size_t>(number)] =
                    all.first[static_cast<size_t>((number + 1) % kThreads)];
                if (const int64_t stops = block_barrier()) return stops;
            }
            return 0;
        },
        into);
    EXPECT_EQ(status, 0);
    for (int64_t t = 0; t < kThreads; ++t)
        EXPECT_EQ(into.second[static_cast<size_t>(t)], 200 + (t + 1) % kThreads);
}

TEST(BlockThreads, ThreadsThatHaveEndedAreNotWaitedFor) {
    Told into;
    const int64_t status = run(
        [](const void* captures, int64_t number, int64_t, int64_t, char*) -> int64_t {
            if (number % 3 == 0) return 0;
            int64_t count = 0;
            if (const int64_t stops = block_vote(BlockVote::kCount, number % 2, &count)) return stops;
            told(captures).first[static_cast<size_t>(number)] = count;
            return 0;
        },
        into);
    EXPECT_EQ(status, 0);
    int64_t odd = 0;
    for (int64_t t = 0; t < kThreads; ++t) odd += t % 3 != 0 && t % 2 == 1 ? 1 : 0;
    for (int64_t t = 0; t < kThreads; ++t)
        EXPECT_EQ(into.first[static_cast<size_t>(t)], t % 3 == 0 ? 0 : odd);
}

TEST(BlockThreads, LanesOfAWarpTellEachOther) {
    Told into;
    const int64_t status = run(
        [](const void* captures, int64_t number, int64_t, int64_t, char*) -> int64_t {
            Told& all = told(captures);
            const auto t = static_cast<size_t>(number);
            const int64_t everybody = 0xFFFFFFFF;
            if (const int64_t stops =
                    warp_exchange(WarpExchange::kShuffle, everybody, 10 * number, 3, &all.first[t]))
                return stops;
            return warp_exchange(WarpExchange::kBallot, everybody, number % 2, 0, &all.second[t]);
        },
        into);
    EXPECT_EQ(status, 0);
    for (int64_t t = 0; t < kThreads; ++t) {
        const auto at = static_cast<size_t>(t);
        EXPECT_EQ(into.first[at], 10 * (t / 32 * 32 + 3));
        EXPECT_EQ(into.second[at], t < 64 ? 0xAAAAAAAA : 0x2A);  // of the last warp there are six lanes
    }
}

TEST(BlockThreads, TheFirstThatFailsEndsTheOthers) {
    Told into;
    const int64_t status = run(
        [](const void* captures, int64_t number, int64_t, int64_t, char*) -> int64_t {
            told(captures).order.push_back(number);
            if (number == 5) return 42;
            return block_barrier();
        },
        into);
    EXPECT_EQ(status, 42);
    EXPECT_EQ(into.order, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(BlockThreads, ThreadsThatNeverMeetAreAnError) {
    const HeapFrame frame;
    Told into;
    Told* const captures = &into;
    char error[16] = {};
    const int64_t status = spread_together(
        [](const void*, int64_t number, int64_t, int64_t, char*) -> int64_t {
            int64_t result = 0;
            return number == 0 ? block_barrier() : warp_exchange(WarpExchange::kBarrier, 3, 0, 0, &result);
        },
        static_cast<const void*>(&captures), 2, 1, error, sizeof(error), 0);
    EXPECT_EQ(status, kStopped);
    const std::exception_ptr reason = HeapFrame::take_stopped();
    ASSERT_TRUE(reason);
    EXPECT_THROW(std::rethrow_exception(reason), Error);
}

}  // namespace
}  // namespace weft::codegen
