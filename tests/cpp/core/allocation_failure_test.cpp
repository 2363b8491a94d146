// Memory that is refused: the reserve, who gets it, and what everybody else is told.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "codegen/runtime/llvm_guard.h"
#include "core/memory/allocation_failure.h"
#include "core/memory/reserved_memory.h"
#include "weft/errors.h"

namespace weft {
namespace {

TEST(ReservedMemory, BlocksAreApartAndAligned) {
    ASSERT_TRUE(prepare_reserve());
    std::mt19937 random(1);
    struct Block {
        char* data;
        size_t bytes;
        char mark;
    };
    std::vector<Block> blocks;
    const auto give_back = [&](size_t k) {
        for (size_t i = 0; i < blocks[k].bytes; ++i) ASSERT_EQ(blocks[k].data[i], blocks[k].mark);
        give_back_reserved(blocks[k].data);
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(k));
    };
    for (int turn = 0; turn < 3000; ++turn) {
        if (blocks.size() > 200 || (!blocks.empty() && random() % 3 == 0))
            give_back(random() % blocks.size());
        const size_t bytes = random() % 7 == 0 ? random() % 100'000 : random() % 300;
        const size_t alignment = size_t{1} << (random() % 13);
        auto* const data = static_cast<char*>(take_reserved(bytes, alignment));
        ASSERT_NE(data, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0U);
        EXPECT_TRUE(is_reserved(data));
        EXPECT_EQ(reserved_size(data), bytes);
        const auto mark = static_cast<char>(turn);
        std::memset(data, mark, bytes);
        blocks.push_back({data, bytes, mark});
    }
    while (!blocks.empty()) give_back(blocks.size() - 1);
    EXPECT_EQ(reserve_in_use(), 0U);
}

TEST(ReservedMemory, ComesToAnEndAndBack) {
    ASSERT_TRUE(prepare_reserve());
    std::vector<void*> blocks;
    for (void* block = nullptr; (block = take_reserved(1 << 20, 16)) != nullptr;) blocks.push_back(block);
    EXPECT_GT(blocks.size(), kReservedBytes / 4 >> 20);
    EXPECT_EQ(take_reserved(1 << 20, 16), nullptr);
    for (void* block : blocks) give_back_reserved(block);
    EXPECT_EQ(reserve_in_use(), 0U);
    void* const again = take_reserved(kReservedBytes / 2, 64);
    EXPECT_NE(again, nullptr);
    give_back_reserved(again);
}

TEST(LastResort, GivesTheReserveToItsThreadAlone) {
    ASSERT_TRUE(prepare_reserve());
    EXPECT_EQ(LastResort::take(100, 16), nullptr);
    const LastResort outer;
    {
        const LastResort inner;
        void* const block = LastResort::take(100, 16);
        EXPECT_TRUE(is_reserved(block));
        EXPECT_TRUE(inner.was_needed());
        give_back_reserved(block);
    }
    EXPECT_FALSE(outer.was_needed());
}

TEST(AllocationFailure, SaysWhatWasAskedForIsHeldAndTheLimit) {
    const std::string text = AllocationFailure(48000).what();
    EXPECT_TRUE(text.starts_with("cannot allocate 46.9 KiB (48000 bytes asked for); weft holds ")) << text;
    for (const char* part : {" in arrays and ", " in its pool, the system has ", " left, and the limit is "})
        EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(AllocationFailure, IsWhatTheEnginesOperatorNewThrows) {
    // More than there are addresses: nobody can have that.
    EXPECT_THROW(codegen::run_llvm([] { throw AllocationFailure(1); }), std::bad_alloc);
    try {
        throw_allocation_failure(SIZE_MAX);
    } catch (const std::bad_alloc& failure) {
        EXPECT_NE(std::string(failure.what()).find("(18446744073709551615 bytes asked for)"),
                  std::string::npos);
    }
}

TEST(LlvmGuard, LetsErrorsThroughAndReturns) {
    bool ran = false;
    EXPECT_FALSE(codegen::run_llvm([&] { ran = true; }));
    EXPECT_TRUE(ran);
    EXPECT_THROW(codegen::run_llvm([] { throw ValueError("one of weft's"); }), ValueError);
    EXPECT_TRUE(codegen::run_llvm([] { give_back_reserved(LastResort::take(10, 16)); }));
}

// In a process of its own, which compiles no more afterwards.
TEST(LlvmGuardDeathTest, LeavesACallThatFindsNoMemory) {
    EXPECT_EXIT(
        {
            try {
                codegen::run_llvm([] {
                    while (LastResort::take(1 << 20, 16) != nullptr) {
                    }
                    std::abort();  // not reached
                });
            } catch (const codegen::LlvmGaveUp& failure) {
                try {
                    failure.throw_as_error();
                } catch (const OutOfMemoryError&) {
                    try {
                        codegen::run_llvm([] { std::abort(); });
                    } catch (const OutOfMemoryError& error) {
                        std::fputs(error.what(), stderr);
                        std::exit(7);
                    }
                }
            }
        },
        testing::ExitedWithCode(7), "compiles no more");
}

}  // namespace
}  // namespace weft
