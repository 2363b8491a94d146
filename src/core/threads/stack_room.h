// Work that needs more stack than some threads have: programs give their threads as little as 32 KiB.
#pragma once

#include <cstddef>
#include <type_traits>

namespace weft {

// What the calling thread has left; a large number where the system does not tell.
size_t stack_left() noexcept;

// Of a main thread: the system makes its stack grow as it is used, and ends the process where it may have no
// more addresses then (RLIMIT_AS). Afterwards so many bytes below are there already; a page of them is
// touched. Does nothing on other threads, nor where less than twice as many may be had.
void grow_main_stack(size_t bytes) noexcept;

namespace detail {
void run_on_own_stack(void (*work)(void*), void* state);
}

// Runs `work` on this thread: where less than `needed` bytes of its stack are left, on a large one of its
// own. Throws what `work` throws, and std::bad_alloc where such a stack is not to be had.
template <class Work>
void run_with_stack(size_t needed, Work&& work) {
    if (stack_left() >= needed) [[likely]]
        return work();
    using Function = std::remove_reference_t<Work>;
    detail::run_on_own_stack([](void* state) { (*static_cast<Function*>(state))(); },
                             const_cast<void*>(static_cast<const void*>(&work)));
}

}  // namespace weft
