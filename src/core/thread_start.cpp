#include "core/thread_start.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstddef>
#include <mutex>

namespace weft {
namespace {

// The record has 32 bytes; with it come a table of the thread's libraries and pages for both, since malloc()
// maps some for a thread that it can make no arena for.
constexpr size_t kEnough = size_t{256} << 10;

constinit std::mutex one_at_a_time;
constinit void* kept_aside = nullptr;  // addresses alone: no page of it is touched

void keep_aside() noexcept {
    void* const room =
        mmap(nullptr, kEnough, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room != MAP_FAILED) kept_aside = room;
}

}  // namespace

bool prepare_thread() noexcept {
    const std::lock_guard lock(one_at_a_time);
    if (kept_aside == nullptr) keep_aside();
    if (kept_aside == nullptr) return false;
    munmap(kept_aside, kEnough);
    kept_aside = nullptr;
    const bool is_there = __cxxabiv1::__cxa_get_globals() != nullptr;
    keep_aside();
    return is_there;
}

}  // namespace weft
