// The memory of the CPU device: aligned blocks in size classes, kept for reuse since fresh pages are dear.
//
// Small buffers (of operations that run eagerly) live in one block with their reference counts and come from
// lists of the calling thread, without a lock. Larger ones come from a common pool; from 2 MB on they are
// mappings of their own that ask for huge pages, as far as they are filled. Linux promises memory that it
// does not have, so what is asked for beyond the pool is first compared with what the machine and the control
// group have left.
#pragma once

#include <cstddef>
#include <new>
#include <string>

#include "device/device.h"

namespace weft {

constexpr size_t kBufferAlignment = 64;

// Thread safe. Throws OutOfMemoryError with the bytes asked for and held, after it has emptied the pool and
// tried again. With a mark: a free block that has it, if there is one; else any, without a mark.
BufferPtr allocate_pooled(size_t bytes, const KnownBorder* mark = nullptr);

// Throws the same when so many bytes, in one or many buffers, could not be had.
void require_pool_bytes(size_t bytes);

// A buffer in a mapping of its own between inaccessible pages (WEFT_GUARD): in turn it ends where a page
// begins or begins where one ends, so that every access beyond it faults. Its bytes are filled with a
// pattern.
BufferPtr allocate_guarded(size_t bytes);

// Memory of the engine's own small objects, from the calling thread's lists. `bytes` is at most kSmallObject
// and the same both times.
constexpr size_t kSmallObject = 1024;
void* take_object(size_t bytes);
void give_back_object(void* object, size_t bytes);

// The above as an allocator, for std::allocate_shared.
template <class T>
struct ObjectAllocator {
    using value_type = T;

    ObjectAllocator() = default;
    template <class U>
    ObjectAllocator(const ObjectAllocator<U>&) {}
    T* allocate(size_t) {
        static_assert(sizeof(T) <= kSmallObject);
        return static_cast<T*>(take_object(sizeof(T)));
    }
    void deallocate(T* object, size_t) { give_back_object(object, sizeof(T)); }
    template <class U>
    bool operator==(const ObjectAllocator<U>&) const {
        return true;
    }
};

// The same for short lists of small objects (std::vector).
template <class T>
struct ShortListAllocator {
    using value_type = T;

    ShortListAllocator() = default;
    template <class U>
    ShortListAllocator(const ShortListAllocator<U>&) {}
    T* allocate(size_t count) {
        const size_t bytes = count * sizeof(T);
        return static_cast<T*>(bytes <= kSmallObject ? take_object(bytes) : ::operator new(bytes));
    }
    void deallocate(T* list, size_t count) {
        const size_t bytes = count * sizeof(T);
        if (bytes <= kSmallObject) {
            give_back_object(list, bytes);
        } else {
            ::operator delete(list);
        }
    }
    template <class U>
    bool operator==(const ShortListAllocator<U>&) const {
        return true;
    }
};

size_t pool_bytes_in_use();
size_t pool_bytes_held();  // free blocks kept for reuse
void empty_memory_pool();

}  // namespace weft
