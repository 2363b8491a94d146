#include "core/threads/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/config.h"
#include "weft/errors.h"

namespace weft {
namespace {

// Sets the number of threads for one test.
class ThreadCount {
public:
    explicit ThreadCount(int count) : before_(config().num_threads) { set_num_threads(count); }
    ~ThreadCount() { set_num_threads(before_); }
    ThreadCount(const ThreadCount&) = delete;
    ThreadCount& operator=(const ThreadCount&) = delete;

private:
    int before_;
};

int64_t sum_on_pool(int64_t tasks) {
    std::atomic<int64_t> sum{0};
    parallel_for(tasks, [&](int64_t task) { sum += task; });
    return sum;
}

TEST(ThreadPool, RunsEveryTaskOnce) {
    for (int threads : {1, 2, 5}) {
        const ThreadCount count(threads);
        for (int64_t tasks : {0, 1, 2, 7, 1000}) {
            std::vector<std::atomic<int>> seen(static_cast<size_t>(tasks));
            parallel_for(tasks, [&](int64_t task) { ++seen[static_cast<size_t>(task)]; });
            for (const auto& times : seen) EXPECT_EQ(times, 1);
        }
    }
}

TEST(ThreadPool, UsesSeveralThreads) {
    const ThreadCount count(3);
    std::mutex mutex;
    std::set<std::thread::id> ids;
    // Tasks wait for one another, so that one thread cannot run them all; a worker may start late.
    std::atomic<int> arrived{0};
    parallel_for(3, [&](int64_t) {
        ++arrived;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (arrived < 3 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        const std::lock_guard lock(mutex);
        ids.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(ids.size(), 3u);
    EXPECT_TRUE(ids.contains(std::this_thread::get_id()));
}

template <class Condition>
bool becomes_true(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

TEST(ThreadPool, EachThreadBeginsWithItsOwnShare) {
    const ThreadCount count(2);
    for (int turn = 0; turn < 20; ++turn) {
        std::mutex mutex;
        std::map<std::thread::id, int64_t> first;
        std::atomic<int> threads{0};
        parallel_for(8, [&](int64_t task) {
            {
                const std::lock_guard lock(mutex);
                if (!first.emplace(std::this_thread::get_id(), task).second) return;
                ++threads;
            }
            EXPECT_TRUE(becomes_true([&] { return threads == 2; }));
        });
        EXPECT_EQ(first.at(std::this_thread::get_id()), 0);
        for (const auto& [id, task] : first) EXPECT_EQ(task, id == std::this_thread::get_id() ? 0 : 4);
    }
}

TEST(ThreadPool, WhoIsDoneTakesFromTheOthers) {
    const ThreadCount count(2);
    std::atomic<int> done{0};
    parallel_for(8, [&](int64_t task) {
        if (task == 0) EXPECT_TRUE(becomes_true([&] { return done == 7; }));
        ++done;
    });
    EXPECT_EQ(done, 8);
}

TEST(ThreadPool, NestedCallsRunInline) {
    const ThreadCount count(4);
    EXPECT_FALSE(in_parallel_task());
    std::atomic<int64_t> sum{0};
    parallel_for(8, [&](int64_t) {
        EXPECT_TRUE(in_parallel_task());
        const std::thread::id outer = std::this_thread::get_id();
        parallel_for(8, [&](int64_t inner) {
            EXPECT_EQ(std::this_thread::get_id(), outer);
            sum += inner;
        });
        EXPECT_TRUE(in_parallel_task());
    });
    EXPECT_EQ(sum, 8 * 28);
    EXPECT_FALSE(in_parallel_task());
}

TEST(ThreadPool, ThrowsTheFirstExceptionAndGoesOn) {
    for (int threads : {1, 4}) {
        const ThreadCount count(threads);
        for (int round = 0; round < 20; ++round) {
            std::atomic<int> running{0};
            try {
                parallel_for(100, [&](int64_t task) {
                    ++running;
                    if (task == 3) {
                        --running;
                        throw std::runtime_error("task 3");
                    }
                    --running;
                });
                FAIL() << "no exception";
            } catch (const std::runtime_error& error) {
                EXPECT_STREQ(error.what(), "task 3");
            }
            EXPECT_EQ(running, 0);
            EXPECT_FALSE(in_parallel_task());
            EXPECT_EQ(sum_on_pool(10), 45);
        }
    }
}

TEST(ThreadPool, ManySmallLaunches) {
    const ThreadCount count(4);
    int64_t sum = 0;
    for (int i = 0; i < 20000; ++i) sum += sum_on_pool(4);
    EXPECT_EQ(sum, 20000 * 6);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
    const ThreadCount count(3);
    std::vector<std::thread> callers;
    std::atomic<int64_t> sum{0};
    for (int i = 0; i < 4; ++i) {
        callers.emplace_back([&] {
            for (int k = 0; k < 500; ++k) sum += sum_on_pool(10);
        });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(sum, 4 * 500 * 45);
}

TEST(ThreadPool, CountFollowsSettings) {
    const ThreadCount count(0);
    EXPECT_EQ(num_threads(), available_cpus());
    set_num_threads(7);
    EXPECT_EQ(num_threads(), 7);
    EXPECT_EQ(sum_on_pool(100), 4950);
    set_num_threads(2);
    EXPECT_EQ(sum_on_pool(100), 4950);
    EXPECT_THROW(set_num_threads(-1), ValueError);
    EXPECT_EQ(num_threads(), 2);
}

TEST(ThreadPool, HonoursAffinity) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
    const ThreadCount count(0);
    int first = 0;
    while (!CPU_ISSET(first, &before)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    set_num_threads(0);
    EXPECT_EQ(available_cpus(), 1);
    EXPECT_EQ(num_threads(), 1);
    ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
    set_num_threads(0);
    EXPECT_EQ(num_threads(), available_cpus());
}

// What the child of a fork finds: 0 when its pool works.
int child_result() {
    const pid_t child = fork();
    if (child == 0) {
        const bool right = sum_on_pool(1000) == 499500 && sum_on_pool(1000) == 499500;
        _exit(right ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

TEST(ThreadPool, WorksInTheChildOfAFork) {
    const ThreadCount count(3);
    EXPECT_EQ(sum_on_pool(1000), 499500);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(child_result(), 0);
    EXPECT_EQ(sum_on_pool(1000), 499500);
}

TEST(ThreadPool, WorksInTheChildOfAForkDuringALaunch) {
    const ThreadCount count(3);
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        while (!stop) sum_on_pool(100);
    });
    for (int i = 0; i < 10; ++i) EXPECT_EQ(child_result(), 0);
    stop = true;
    busy.join();
}

TEST(ThreadPool, ExitsCleanlyInTheChild) {
    const ThreadCount count(3);
    EXPECT_EXIT(
        {
            sum_on_pool(100);
            std::exit(7);  // runs the handlers that join the workers
        },
        testing::ExitedWithCode(7), "");
}

TEST(ThreadPool, LaunchLatency) {
    const ThreadCount count(2);
    sum_on_pool(2);
    constexpr int kLaunches = 5000;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) sum_on_pool(2);
    const double each =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() /
        kLaunches;
    RecordProperty("microseconds_per_launch", std::to_string(each));
    EXPECT_LT(each, 100) << "a launch must cost little beside the smallest task worth handing out";
}

}  // namespace
}  // namespace weft
