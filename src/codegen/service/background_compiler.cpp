#include "codegen/service/background_compiler.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "codegen/service/kernel_cache.h"
#include "core/config.h"
#include "core/threads/fork.h"
#include "core/threads/process_end.h"
#include "core/threads/thread_start.h"
#include "core/without_failing.h"

namespace weft::codegen {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNiceness = 3;  // it shall yield, but not starve: until it is done all else is slower
constexpr auto kNoMemoryInterval = std::chrono::milliseconds(20);  // between two looks for memory
constexpr auto kLongestExit = std::chrono::seconds(10);  // spent on the queue when the process exits

class Compilations {
public:
    void add(std::function<void()> work, Turn turn) {
        {
            const std::lock_guard lock(mutex_);
            queue_.insert(turn == Turn::kNext ? queue_.begin() : queue_.end(), std::move(work));
            start();
        }
        wake();
    }

    void start_if_needed() {
        if (running_.load(std::memory_order_relaxed)) return;
        const std::lock_guard lock(mutex_);
        if (!queue_.empty()) start();
    }

    void finish() {
        while (work_once()) {
        }
        for (int left = working_.load(); left != 0; left = working_.load()) working_.wait(left);
    }

    // What is queued now, for the next process, which finds nothing where nothing is kept. Threads that go on
    // may queue more.
    void end(const std::function<void()>& check) {
        size_t left = 0;
        {
            const std::lock_guard lock(mutex_);
            if (!latest_end_) latest_end_ = Clock::now() + kLongestExit;
            without_failing([&] {
                if (!queue_.empty() && keeps_kernels()) left = queue_.size();
            });
            ending_ = true;
        }
        wake();
        while (left-- > 0 && Clock::now() < *latest_end_) {
            if (check) {
                const auto before = std::exchange(latest_end_, Clock::now());  // should it throw
                check();
                latest_end_ = before;
            }
            if (!work_once()) break;
        }
        if (thread_ != nullptr && thread_->joinable()) thread_->join();
    }

    void close() {
        if (std::exchange(closing_, true)) return;
        end(nullptr);
        const std::lock_guard lock(mutex_);
        queue_.clear();
    }

    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }
    // The child has only the thread that forked; no work was in progress (ForkExclusion).
    void forget_thread() {
        if (thread_ != nullptr) forgotten_.push_back(std::move(thread_));
        running_ = false;
        mutex_.unlock();
    }

private:
    void wake() {
        generation_.fetch_add(1);
        generation_.notify_all();
    }

    // With the lock held.
    void start();

    void serve() {
        // Of this thread only. Where the system refuses, it competes like any other.
        setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
        bool is_prepared = false;
        for (;;) {
            const uint32_t seen = generation_.load();
            {
                const std::lock_guard lock(mutex_);
                if (ending_) return;
            }
            if (!is_prepared && !(is_prepared = prepare_thread())) {
                std::this_thread::sleep_for(kNoMemoryInterval);
                continue;
            }
            if (!work_once()) generation_.wait(seen);
        }
    }

    // Takes and does one piece of work; false when there is none.
    bool work_once() {
        const int delay = config().tier_delay.load(std::memory_order_relaxed);
        if (delay > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay));
        const ForkExclusion exclusion;  // a fork finds the work in the queue, or done
        std::function<void()> work;
        {
            const std::lock_guard lock(mutex_);
            if (queue_.empty()) return false;
            work = std::move(queue_.front());
            queue_.pop_front();
            ++working_;
        }
        try {
            work();
        } catch (...) {  // such as no memory to tell of a fault: what was to be replaced stays as it is
        }
        --working_;
        working_.notify_all();
        return true;
    }

    std::mutex mutex_;                        // of the queue and what else is not atomic
    std::list<std::function<void()>> queue_;  // a list: it needs no memory as long as it is empty
    bool ending_ = false;                     // of the process: there is no thread any more
    // Of the thread that ends the process.
    bool closing_ = false;
    std::optional<Clock::time_point> latest_end_;
    std::unique_ptr<std::thread> thread_;
    std::vector<std::unique_ptr<std::thread>> forgotten_;  // of the processes that this one was forked from
    std::atomic<bool> running_{false};
    std::atomic<int> working_{0};
    std::atomic<uint32_t> generation_{0};  // changes with the queue
};

// One for the process, whose kernels are everybody's.
Compilations& compilations() {
    // Never destroyed, threads may still run kernels at exit; and made without memory, since exit asks for
    // it.
    alignas(Compilations) static std::byte storage[sizeof(Compilations)];
    static auto* const instance = new (storage) Compilations;
    return *instance;
}

void Compilations::start() {
    if (ending_ || running_.load(std::memory_order_relaxed)) return;
    try {
        thread_ = std::make_unique<std::thread>([this] { serve(); });
        running_ = true;
    } catch (const std::exception&) {
        // No thread to be had, or no memory for it: whoever waits does the work.
    }
}

[[maybe_unused]] const bool at_fork = on_fork(
    ForkRank::kCompilations,
    {[] { compilations().lock(); }, [] { compilations().unlock(); }, [] { compilations().forget_thread(); }});

[[maybe_unused]] const bool at_end = on_process_end([] { compilations().close(); });

}  // namespace

void compile_in_background(std::function<void()> work, Turn turn) {
    watch_end_of_process();
    compilations().add(std::move(work), turn);
}
void finish_compilations() { compilations().finish(); }
void end_compilations(const std::function<void()>& check) { compilations().end(check); }
void keep_compiling() { compilations().start_if_needed(); }

}  // namespace weft::codegen
