#include "core/threads/thread_start.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>

namespace weft {
namespace {

// The record has 32 bytes; with it come a table of the thread's libraries and pages for both, since malloc()
// maps some for a thread that it can make no arena for.
constexpr size_t kEnough = size_t{256} << 10;

// Addresses alone: no page of it is touched. Without a lock, which a fork could find taken.
constinit std::atomic<void*> kept_aside = nullptr;

void* ask() noexcept {
    void* const room =
        mmap(nullptr, kEnough, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room == MAP_FAILED ? nullptr : room;
}

}  // namespace

bool prepare_thread() noexcept {
    void* room = kept_aside.exchange(nullptr);
    if (room == nullptr) room = ask();
    if (room == nullptr) return false;
    munmap(room, kEnough);
    const bool is_there = __cxxabiv1::__cxa_get_globals() != nullptr;
    void* before = nullptr;
    room = ask();
    if (room != nullptr && !kept_aside.compare_exchange_strong(before, room)) munmap(room, kEnough);
    return is_there;
}

}  // namespace weft
