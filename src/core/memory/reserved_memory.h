// Memory set aside for work that cannot bear to be refused any: LLVM, which is built without exceptions and
// ends the process instead. It is address space until it is needed, and handed out by
// core/memory/wrapped_allocation.cpp only where the system gives nothing and the calling thread is inside a
// LastResort.
#pragma once

#include <atomic>
#include <cstddef>

namespace weft {

// Where it is; asked for by every call that frees memory.
struct ReserveRange {
    std::atomic<const char*> begin{nullptr};
    std::atomic<size_t> size{0};
};
extern ReserveRange reserve_range;

constexpr size_t kReservedBytes = size_t{64} << 20;

// Asks the system for the reserve, or for less of it, unless it is there; false when there is none to be had.
bool prepare_reserve() noexcept;

// `alignment` is a power of two; null when the reserve is used up.
void* take_reserved(size_t bytes, size_t alignment) noexcept;
void give_back_reserved(void* block) noexcept;
inline bool is_reserved(const void* block) noexcept {
    const char* const begin = reserve_range.begin.load(std::memory_order_relaxed);
    return static_cast<size_t>(static_cast<const char*>(block) - begin) <
           reserve_range.size.load(std::memory_order_relaxed);
}
size_t reserved_size(const void* block) noexcept;  // what was asked for

size_t reserve_in_use() noexcept;  // bytes, rounded as they are handed out

}  // namespace weft
