#include "core/threads/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/cgroup.h"
#include "core/config.h"
#include "core/threads/fork.h"
#include "core/threads/interrupt.h"
#include "core/threads/made_once.h"
#include "core/threads/thread_start.h"
#include "weft/errors.h"

namespace weft {
namespace {

constexpr auto kSpinTime = std::chrono::microseconds(200);  // a Python loop's launches follow within this
constexpr int kPausesPerClockRead = 32;

void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

// Waits until `changed()` or for kSpinTime; says whether it changed.
template <class Predicate>
bool spin_until(const Predicate& changed) {
    const auto end = std::chrono::steady_clock::now() + kSpinTime;
    do {
        for (int i = 0; i < kPausesPerClockRead; ++i) {
            if (changed()) return true;
            pause_briefly();
        }
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

thread_local bool inside_task = false;

// Thrown out of a task whose job has failed, and which is therefore of no use.
struct Useless {};

// A part of a job's tasks.
struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
};

struct Job {
    TaskFunction function;
    std::span<Share> shares;  // one a thread
    std::atomic<bool> failed{false};
    std::exception_ptr error{};

    Job(int64_t tasks, TaskFunction what, std::span<Share> parts) : function(what), shares(parts) {
        const auto count = static_cast<int64_t>(shares.size());
        const auto start = [&](int64_t i) { return tasks / count * i + std::min(i, tasks % count); };
        for (int64_t i = 0; i < count; ++i) {
            Share& share = shares[static_cast<size_t>(i)];
            share.next.store(start(i), std::memory_order_relaxed);
            share.end = start(i + 1);
        }
    }

    // The thread's own share first, then what is left of the others'.
    void work(size_t thread) {
        inside_task = true;
        current = this;
        const bool pauses = thread == 0;  // which waits for the others
        for (size_t i = 0; i < shares.size(); ++i) work_on(shares[(thread + i) % shares.size()], pauses);
        current = nullptr;
        inside_task = false;
    }

    static inline thread_local constinit const Job* current = nullptr;

    void work_on(Share& share, bool pauses) {
        while (!failed.load(std::memory_order_relaxed)) {
            if (share.next.load(std::memory_order_relaxed) >= share.end) break;
            const int64_t task = share.next.fetch_add(1, std::memory_order_relaxed);
            if (task >= share.end) break;
            try {
                function(task);
                if (pauses) pause_point();
            } catch (const Useless&) {
            } catch (...) {
                if (!failed.exchange(true)) error = std::current_exception();
            }
        }
    }
};

// A worker counts itself in `active_` before it looks at `job_`, and the caller clears `job_` before it waits
// for `active_` to fall to zero: so no worker touches a job that is gone, and the caller waits for no worker
// that sleeps.
class Pool {
public:
    ~Pool() { stop_workers(); }

    Pool* next_forgotten = nullptr;

    void run(int64_t tasks, TaskFunction function, int threads) {
        std::unique_lock lock(launch_, std::try_to_lock);
        if (!lock.owns_lock() || closed_) {
            run_alone(tasks, function);
            return;
        }
        resize(threads - 1);
        Job job(tasks, function, shares_);
        job_.store(&job);
        generation_.fetch_add(1);
        if (tasks > static_cast<int64_t>(workers_.size())) {
            generation_.notify_all();
        } else {
            for (int64_t i = 1; i < tasks; ++i) generation_.notify_one();
        }
        job.work(0);
        job_.store(nullptr);
        if (!spin_until([this] { return active_.load() == 0; })) {
            for (int busy = active_.load(); busy != 0; busy = active_.load()) active_.wait(busy);
        }
        if (job.error) std::rethrow_exception(job.error);
    }

    static void run_alone(int64_t tasks, TaskFunction function) {
        const bool outer = std::exchange(inside_task, true);
        struct Restore {
            bool value;
            ~Restore() { inside_task = value; }
        } restore{outer};
        for (int64_t task = 0; task < tasks; ++task) {
            function(task);
            if (!outer && tasks > 1) pause_point();
        }
    }

    // Joins the workers; every later call runs on its own thread.
    void close() {
        std::lock_guard lock(launch_);
        closed_ = true;
        stop_workers();
    }

private:
    void resize(int count) {
        if (count == static_cast<int>(workers_.size())) return;
        stop_workers();
        stopping_ = false;
        workers_.reserve(static_cast<size_t>(count));
        for (int i = 0; i < count; ++i) {
            beginning_.fetch_add(1);
            try {
                workers_.emplace_back([this, thread = static_cast<size_t>(i) + 1, seen = generation_.load()] {
                    serve(thread, seen);
                });
            } catch (const std::exception&) {
                beginning_.fetch_sub(1);
                break;  // no more threads to be had, or no memory for them: those that started do the work
            }
        }
        // What little memory is kept aside for their records must not go to the work that follows.
        for (int left = beginning_.load(); left != 0; left = beginning_.load()) beginning_.wait(left);
        shares_ = std::vector<Share>(workers_.size() + 1);
    }

    void stop_workers() {
        stopping_ = true;
        generation_.fetch_add(1);
        generation_.notify_all();
        for (std::thread& worker : workers_) worker.join();
        workers_.clear();
    }

    void serve(size_t thread, uint32_t seen) {
        const bool is_prepared = prepare_thread();
        if (beginning_.fetch_sub(1) == 1) beginning_.notify_one();
        if (!is_prepared) return;  // the others do its share
        for (;;) {
            if (!spin_until([&] { return generation_.load(std::memory_order_relaxed) != seen; })) {
                generation_.wait(seen);
            }
            seen = generation_.load();
            if (stopping_) return;
            active_.fetch_add(1);
            if (Job* job = job_.load()) job->work(thread);
            if (active_.fetch_sub(1) == 1) active_.notify_one();
        }
    }

    std::mutex launch_;  // held by the thread whose job the pool runs
    bool closed_ = false;
    std::atomic<bool> stopping_{false};
    alignas(64) std::atomic<Job*> job_{nullptr};
    alignas(64) std::atomic<uint32_t> generation_{0};
    alignas(64) std::atomic<int> active_{0};
    std::atomic<int> beginning_{0};  // workers that have no record yet
    std::vector<std::thread> workers_;
    std::vector<Share> shares_ = std::vector<Share>(1);  // of the job, the caller's first
};

// The pool of this process.
std::atomic<Pool*> current_pool{nullptr};

// Its threads do not survive fork(): the child forgets it (its locks may be held, so it is not destroyed,
// only kept in reach of leak checkers) and makes another at its next call.
Pool* forgotten_pools = nullptr;

[[maybe_unused]] const bool at_fork =
    on_fork(ForkRank::kThreads, {nullptr, nullptr, [] {
                                     Pool* const pool = current_pool.exchange(nullptr);
                                     if (pool == nullptr) return;
                                     pool->next_forgotten = std::exchange(forgotten_pools, pool);
                                 }});

Pool& pool() {
    static const bool registered = [] {
        std::atexit([] {
            if (Pool* last = current_pool.load()) last->close();
        });
        return true;
    }();
    (void)registered;
    return made_once(current_pool, [] { return std::make_unique<Pool>(); });
}

std::atomic<int> cached_cpus{0};

}  // namespace

int available_cpus() {
    int count = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__linux__)
    cpu_set_t* mask = nullptr;
    for (int size = 1024; size <= (1 << 20); size *= 2) {  // the kernel's mask may be larger than cpu_set_t
        mask = CPU_ALLOC(static_cast<size_t>(size));
        const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(size));
        const bool found = sched_getaffinity(0, bytes, mask) == 0;
        if (found) count = CPU_COUNT_S(bytes, mask);
        CPU_FREE(mask);
        if (found) break;
    }
#endif
    const double quota = cgroup_cpu_quota();
    if (quota > 0) count = std::min(count, static_cast<int>(std::ceil(quota)));
    return std::max(count, 1);
}

int num_threads() {
    const int asked = config().num_threads.load(std::memory_order_relaxed);
    if (asked > 0) return asked;
    int cpus = cached_cpus.load(std::memory_order_relaxed);
    if (cpus == 0) {
        cpus = available_cpus();
        cached_cpus.store(cpus, std::memory_order_relaxed);
    }
    return cpus;
}

void set_num_threads(int count) {
    if (count < 0)
        throw ValueError("the number of threads must not be negative, got " + std::to_string(count));
    cached_cpus.store(0, std::memory_order_relaxed);  // affinity may have changed since
    config().num_threads.store(count, std::memory_order_relaxed);
}

void parallel_for(int64_t tasks, TaskFunction function) {
    if (tasks <= 0) return;
    const int threads = num_threads();
    if (tasks == 1 || threads == 1 || inside_task) {
        Pool::run_alone(tasks, function);
        return;
    }
    pool().run(tasks, function, threads);
}

bool in_parallel_task() { return inside_task; }

void pause_task() {
    if (Job::current != nullptr && Job::current->failed.load(std::memory_order_relaxed)) throw Useless();
    pause_point();
}

}  // namespace weft
