#include "core/threads/thread_start.h"

#include <cxxabi.h>
#include <sched.h>
#include <sys/mman.h>

#include <cstddef>
#include <mutex>

#include "core/threads/fork.h"
#include "core/threads/short_lock.h"

namespace weft {
namespace {

// The record has 32 bytes; with it come a table of the thread's libraries and pages for both, since malloc()
// maps some for a thread that it can make no arena for.
constexpr size_t kEnough = size_t{256} << 10;

// Addresses alone: no page of it is touched.
constinit void* kept_aside = nullptr;
constinit ShortLock guard;  // one thread at a time: what one lets go of, the next would keep aside

[[maybe_unused]] const bool at_fork =
    on_fork(ForkRank::kThreadRecords, {[] { guard.lock(); }, [] { guard.unlock(); }, [] { guard.unlock(); }});

void* ask() noexcept {
    void* const room =
        mmap(nullptr, kEnough, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room == MAP_FAILED ? nullptr : room;
}

}  // namespace

bool with_room(void (*make)()) noexcept {
    const std::lock_guard lock(guard);
    void* const room = kept_aside != nullptr ? kept_aside : ask();
    if (room == nullptr) return false;
    room_is_free.store(true);
    munmap(room, kEnough);
    make();
    kept_aside = ask();
    room_is_free.store(false);
    return true;
}

void wait_until_room_is_used() noexcept {
    while (room_is_free.load()) sched_yield();
}

bool prepare_thread() noexcept {
    return with_room([] {
        // By a pointer: the function is declared to have no effect, so a direct call could be moved or left
        // out.
        auto* const volatile make_record = &__cxxabiv1::__cxa_get_globals;
        (void)make_record();
    });
}

}  // namespace weft
