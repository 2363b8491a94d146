#include "core/memory/reserved_memory.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <utility>

#include "core/threads/fork.h"

namespace weft {
namespace {

constexpr size_t kLeastReserve = size_t{8} << 20;
constexpr size_t kUnit = 16;  // every block begins at a multiple of it
constexpr int kClasses = 128;

// Before what a block holds.
struct Header {
    uint32_t size_class;
    uint32_t distance;  // from the block's begin to the header
    uint64_t asked;     // bytes
};
static_assert(sizeof(Header) == kUnit);

struct FreeBlock {
    FreeBlock* next;
};

// Four sizes a doubling, from 64 bytes on.
constexpr size_t class_bytes(int index) {
    return (size_t{64} << (index / 4)) / 4 * (4 + static_cast<size_t>(index % 4));
}
constexpr int class_of(size_t bytes) {
    if (bytes <= 64) return 0;
    const int doubling = std::bit_width(bytes - 1) - 7;
    int index = 4 * doubling;
    while (class_bytes(index) < bytes) ++index;
    return index;
}

// Of the process; what is not atomic under its lock.
struct Reserve {
    std::mutex mutex;
    char* begin = nullptr;
    size_t fresh = 0;  // bytes from `begin` on that were handed out at least once
    std::array<FreeBlock*, kClasses> free{};
    std::atomic<size_t> in_use{0};
};
constinit Reserve reserve;

[[maybe_unused]] const bool at_fork =
    on_fork(ForkRank::kReservedMemory,
            {[] { reserve.mutex.lock(); }, [] { reserve.mutex.unlock(); }, [] { reserve.mutex.unlock(); }});

Header* header_of(const void* block) {
    return reinterpret_cast<Header*>(static_cast<char*>(const_cast<void*>(block)) - sizeof(Header));
}

}  // namespace

constinit ReserveRange reserve_range;

bool prepare_reserve() noexcept {
    if (reserve_range.begin.load(std::memory_order_acquire) != nullptr) return true;
    const std::lock_guard lock(reserve.mutex);
    if (reserve.begin != nullptr) return true;
    for (size_t size = kReservedBytes; size >= kLeastReserve; size /= 2) {
        void* const mapped =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) continue;
        reserve.begin = static_cast<char*>(mapped);
        reserve_range.size.store(size, std::memory_order_relaxed);
        reserve_range.begin.store(reserve.begin, std::memory_order_release);
        return true;
    }
    return false;
}

void* take_reserved(size_t bytes, size_t alignment) noexcept {
    const size_t extra = sizeof(Header) + (alignment > kUnit ? alignment : 0);
    if (bytes > kReservedBytes - extra) return nullptr;
    const int index = class_of(bytes + extra);
    const size_t whole = class_bytes(index);
    const std::lock_guard lock(reserve.mutex);
    char* begin = reinterpret_cast<char*>(reserve.free[static_cast<size_t>(index)]);
    if (begin != nullptr) {
        reserve.free[static_cast<size_t>(index)] = reserve.free[static_cast<size_t>(index)]->next;
    } else {
        if (reserve.begin == nullptr ||
            whole > reserve_range.size.load(std::memory_order_relaxed) - reserve.fresh)
            return nullptr;
        begin = reserve.begin + std::exchange(reserve.fresh, reserve.fresh + whole);
    }
    reserve.in_use.fetch_add(whole, std::memory_order_relaxed);
    auto place = reinterpret_cast<uintptr_t>(begin) + sizeof(Header);
    if (alignment > kUnit) place = (place + alignment - 1) & ~(alignment - 1);
    auto* const block = reinterpret_cast<char*>(place);
    *header_of(block) = {static_cast<uint32_t>(index), static_cast<uint32_t>(block - sizeof(Header) - begin),
                         bytes};
    return block;
}

void give_back_reserved(void* block) noexcept {
    const Header header = *header_of(block);
    auto* const freed =
        reinterpret_cast<FreeBlock*>(static_cast<char*>(block) - sizeof(Header) - header.distance);
    const std::lock_guard lock(reserve.mutex);
    const size_t whole = class_bytes(static_cast<int>(header.size_class));
    if (reserve.in_use.fetch_sub(whole, std::memory_order_relaxed) == whole) {
        // All of it is free: it is address space again.
        reserve.free.fill(nullptr);
        madvise(reserve.begin, reserve.fresh, MADV_DONTNEED);
        reserve.fresh = 0;
        return;
    }
    freed->next = reserve.free[header.size_class];
    reserve.free[header.size_class] = freed;
}

size_t reserved_size(const void* block) noexcept { return header_of(block)->asked; }

size_t reserve_in_use() noexcept { return reserve.in_use.load(std::memory_order_relaxed); }

}  // namespace weft
