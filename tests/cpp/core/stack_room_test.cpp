#include "core/threads/stack_room.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdlib>
#include <stdexcept>

namespace weft {
namespace {

constexpr size_t kSmall = size_t{64} << 10, kNeeded = size_t{1} << 20;

// Whether the stack goes so far down: the process ends where it does not.
[[gnu::noinline]] void touch(size_t bytes) {
    auto* const lowest = static_cast<volatile char*>(__builtin_alloca(bytes));
    for (size_t at = bytes; at >= 4096; at -= 4096) lowest[at - 1] = 0;
}

// Runs a function on a thread with a small stack.
template <class Work>
void on_small_stack(Work work) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kSmall);
    pthread_t thread{};
    const auto run = [](void* state) -> void* {
        (*static_cast<Work*>(state))();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

TEST(StackRoom, WorkThatNeedsMoreHasAStackOfItsOwn) {
    bool ran = false;
    on_small_stack([&] {
        EXPECT_LT(stack_left(), kSmall);
        run_with_stack(kNeeded, [&] {
            EXPECT_GE(stack_left(), kNeeded);
            touch(kNeeded);
            ran = true;
        });
        EXPECT_LT(stack_left(), kSmall);
    });
    EXPECT_TRUE(ran);
}

TEST(StackRoom, ExceptionsComeBackFromTheOtherStack) {
    on_small_stack([] {
        const auto fail = [] { run_with_stack(kNeeded, [] { throw std::runtime_error("on its way"); }); };
        EXPECT_THROW(fail(), std::runtime_error);
        EXPECT_LT(stack_left(), kSmall);
    });
}

TEST(StackRoom, WorkThatHasEnoughStaysWhereItIs) {
    const void* const here = __builtin_frame_address(0);
    run_with_stack(4096, [&] {
        const auto distance =
            static_cast<const char*>(here) - static_cast<const char*>(__builtin_frame_address(0));
        EXPECT_LT(std::abs(distance), 1 << 16);
    });
}

}  // namespace
}  // namespace weft
