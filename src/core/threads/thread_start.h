// What libraries allocate for a thread at its first use, and end the process where they cannot: the C++
// library's record of exceptions. Asked for while there is memory, it is there when there is none.
#pragma once

#include <atomic>

namespace weft {

// Makes the record of the calling thread, if it has none yet. Some memory is kept aside for it, of which many
// threads' records can be made. False where there is none of that left either; then the thread should not
// throw.
bool prepare_thread() noexcept;

// Calls `make`, which has a library allocate such a record, with the memory that is kept aside; false where
// there is none, and `make` was not called. `make` must not throw.
bool with_room(void (*make)()) noexcept;

// For every allocation of the engine: waits while that memory is free for another thread's record.
inline std::atomic<bool> room_is_free = false;
void wait_until_room_is_used() noexcept;
inline void leave_room() noexcept {
    if (room_is_free.load(std::memory_order_relaxed)) [[unlikely]]
        wait_until_room_is_used();
}

}  // namespace weft
