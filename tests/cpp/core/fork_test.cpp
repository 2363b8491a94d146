// fork() beside threads that hold exclusions, evaluate and compile.
#include "core/threads/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "ops/op.h"
#include "weft/ops.h"

namespace weft {
namespace {

// Forks; the child's exit status: 0 when `check` holds there. A child that hangs is ended by its alarm.
int child_status(const std::function<bool()>& check) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(check() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

TEST(Fork, WaitsForAnExclusion) {
    std::atomic<int> value{0};
    std::atomic<bool> entered{false};
    std::thread writer([&] {
        const ForkExclusion outer;
        const ForkExclusion inner;
        value = 1;
        entered = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        value = 2;
    });
    while (!entered) std::this_thread::yield();
    EXPECT_EQ(child_status([&] { return value == 2; }), 0);
    writer.join();
}

TEST(Fork, HappensInAWindow) {
    std::atomic<bool> open{false}, close{false}, closed{false};
    std::thread waiter([&] {
        const ForkExclusion outer;
        const ForkExclusion inner;
        {
            const ForkWindow window;
            open = true;
            while (!close) std::this_thread::yield();
        }
        closed = true;
    });
    while (!open) std::this_thread::yield();
    EXPECT_EQ(child_status([&] {
                  const ForkExclusion exclusion;  // the thread in the window is not here
                  return !closed;
              }),
              0);
    close = true;
    waiter.join();
    EXPECT_EQ(child_status([] { return true; }), 0);
}

TEST(Fork, WithinAnExclusionOfTheSameThread) {
    const ForkExclusion exclusion;
    EXPECT_EQ(child_status([] { return child_status([] { return true; }) == 0; }), 0);
}

// Compiles a kernel of its own for each `turn`.
bool computes(int turn) {
    const array x = arange(0.0, 50000.0, 1.0);
    array result = x;
    for (int bit = 0; bit < 12; ++bit) {
        const bool add = (turn >> bit) % 2 == 0;
        result = call_binary(op_info(add ? OpId::kAdd : OpId::kMultiply), result, add ? Argument(x) : 0.5);
    }
    double first = -1;
    const int64_t origin[1] = {0};
    read_element(result, origin, &first);
    return first == 0;
}

TEST(Fork, BesideThreadsThatCompileAndEvaluate) {
    ASSERT_TRUE(computes(0));
    std::atomic<bool> stop{false}, right{true};
    std::atomic<int> turn{0};
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) {
        threads.emplace_back([&] {
            while (!stop) right = right && computes(turn++ % 2000);
        });
    }
    for (int k = 0; k < 20; ++k) EXPECT_EQ(child_status([&] { return computes(2000 + k); }), 0);
    stop = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(right);
}

}  // namespace
}  // namespace weft
