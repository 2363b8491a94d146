#include "core/threads/fork.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

namespace weft {
namespace {

constexpr size_t kRanks = static_cast<size_t>(ForkRank::kThreadRecords) + 1;
constinit std::array<ForkHandler, kRanks> handlers;  // written while the library is loaded, then only read

constinit std::mutex forking;  // one fork at a time
constinit std::atomic<int> closed{0};
constinit std::atomic<int> inside{0};  // threads with an exclusion
constinit std::atomic<bool> ended{false};
constinit thread_local int exclusions = 0;

void leave() {
    inside.fetch_sub(1);
    if (closed.load() != 0) inside.notify_all();
}

void enter() {
    for (;;) {
        inside.fetch_add(1);
        if (closed.load() == 0) return;
        if (ended.load() && gettid() == getpid()) return;
        leave();
        closed.wait(1);
    }
}

void close() {
    closed.store(1);
    const int own = exclusions > 0 ? 1 : 0;
    for (int count = inside.load(); count != own; count = inside.load()) inside.wait(count);
}

void prepare() {
    forking.lock();
    close();
    for (const ForkHandler& handler : handlers) {
        if (handler.prepare != nullptr) handler.prepare();
    }
}

void after(void (*ForkHandler::*step)()) {
    for (size_t rank = kRanks; rank-- > 0;) {
        if (handlers[rank].*step != nullptr) (handlers[rank].*step)();
    }
    if (!ended.load()) {
        closed.store(0);
        closed.notify_all();
    }
    forking.unlock();
}

[[maybe_unused]] const int registered = pthread_atfork(
    &prepare, [] { after(&ForkHandler::parent); },
    [] {
        // Those that came to a closed gate had counted themselves for a moment.
        inside.store(exclusions > 0 ? 1 : 0);
        after(&ForkHandler::child);
    });

}  // namespace

bool on_fork(ForkRank rank, ForkHandler handler) {
    handlers[static_cast<size_t>(rank)] = handler;
    return true;
}

void end_exclusions() {
    const std::lock_guard lock(forking);
    ended.store(true);
    close();
}

ForkExclusion::ForkExclusion() {
    if (exclusions++ == 0) enter();
}
ForkExclusion::~ForkExclusion() {
    if (--exclusions == 0) leave();
}

ForkWindow::ForkWindow() : exclusions_(std::exchange(exclusions, 0)) {
    if (exclusions_ > 0) leave();
}
ForkWindow::~ForkWindow() {
    if (exclusions_ > 0) enter();
    exclusions += exclusions_;
}

}  // namespace weft
