#include "graph/evaluation_lock.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "core/host.h"

namespace weft {

namespace {

// A recursive mutex whose owner is still the owner in the child of a fork, where std::recursive_mutex knows
// it no more (a thread's number changes).
class EvaluationMutex {
public:
    bool try_lock() {
        if (owner_.load(std::memory_order_relaxed) != std::this_thread::get_id()) {
            if (!mutex_.try_lock()) return false;
            owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
        }
        ++depth_;
        return true;
    }
    void lock() {  // by a thread that does not hold it
        mutex_.lock();
        owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
        depth_ = 1;
    }
    void unlock() {
        if (--depth_ > 0) return;
        owner_.store(std::thread::id(), std::memory_order_relaxed);
        mutex_.unlock();
    }
    void abandon() {
        if (owner_.load() != std::this_thread::get_id()) return;
        depth_ = 1;
        unlock();
    }
    // A thread that is not in the child had begun an evaluation: what it did not come to is still pending.
    void restart_in_child() {
        std::construct_at(&mutex_);
        if (owner_.load() == std::this_thread::get_id()) {
            mutex_.lock();
        } else {
            owner_.store(std::thread::id());
            depth_ = 0;
        }
    }

private:
    std::mutex mutex_;
    std::atomic<std::thread::id> owner_;
    int depth_ = 0;
};

EvaluationMutex& evaluation_mutex() {
    static auto* mutex = new EvaluationMutex;
    return *mutex;
}

[[maybe_unused]] const bool at_fork =
    on_fork(ForkRank::kEvaluation, {nullptr, nullptr, [] { evaluation_mutex().restart_in_child(); }});

// Of another thread's evaluation, which may in turn wait for a fork or for the GIL.
void wait_for_evaluation() {
    const ForkWindow window;
    evaluation_mutex().lock();
}

}  // namespace

EvaluationLock::EvaluationLock() {
    if (evaluation_mutex().try_lock()) return;
    if (host_hooks().wait_unlocked == nullptr) {
        wait_for_evaluation();
    } else {
        host_hooks().wait_unlocked([](void*) { wait_for_evaluation(); }, nullptr);
    }
}

EvaluationLock::~EvaluationLock() { evaluation_mutex().unlock(); }

void abandon_evaluation() { evaluation_mutex().abandon(); }

bool inspect(const std::function<void()>& look) {
    const ForkExclusion exclusion;
    if (!evaluation_mutex().try_lock()) return false;
    const std::lock_guard<EvaluationMutex> lock(evaluation_mutex(), std::adopt_lock);
    look();
    return true;
}

}  // namespace weft
