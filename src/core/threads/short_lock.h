// A lock that is held for moments and hardly ever waited for: one for each storage (graph/storage.h), taken
// by every small operation. As std::mutex, in four bytes and without a call.
#pragma once

#include <atomic>

namespace weft {

class ShortLock {
public:
    ShortLock() = default;
    ShortLock(const ShortLock&) = delete;
    ShortLock& operator=(const ShortLock&) = delete;

    void lock() {
        if (!try_lock()) wait();
    }
    bool try_lock() {
        int expected = kFree;
        return state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    void unlock() {
        if (state_.exchange(kFree, std::memory_order_release) == kAwaited) state_.notify_one();
    }

private:
    static constexpr int kFree = 0, kHeld = 1, kAwaited = 2;  // awaited: held, and others may sleep for it

    [[gnu::noinline]] void wait() {
        while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) state_.wait(kAwaited);
    }

    std::atomic<int> state_ = kFree;
};

}  // namespace weft
