#include "device/cuda/memory_pool.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>

#include "core/config.h"
#include "core/without_failing.h"
#include "weft/errors.h"

namespace weft::cuda {

namespace {

constexpr size_t kLeast = 512;              // bytes; also the alignment that the driver gives
constexpr size_t kLarge = size_t{2} << 20;  // from here on in steps of that
constexpr size_t kWholeSteps = size_t{64} << 20;

// Eight sizes for each power of two, so that blocks fit again while at most an eighth is wasted; large ones
// lose less than 2 MiB.
size_t rounded(size_t bytes) {
    if (bytes <= kLeast) return kLeast;
    const size_t step = bytes >= kWholeSteps ? kLarge : std::max(std::bit_floor(bytes) / 8, kLeast / 2);
    return (bytes + step - 1) / step * step;
}

// The largest block that may serve a request: an eighth more, for large ones.
size_t acceptable(size_t bytes) { return bytes + bytes / 8; }

}  // namespace

size_t MemoryPool::limit() const {
    const int64_t limit = config().device_memory_limit.load(std::memory_order_relaxed);
    return limit > 0 ? static_cast<size_t>(limit) : SIZE_MAX;
}

bool MemoryPool::take_free(size_t bytes, const KnownBorder* mark, Block& block) {
    for (auto size = free_.lower_bound(bytes); size != free_.end() && size->first <= acceptable(bytes);
         ++size) {
        std::vector<Block>& blocks = size->second;
        if (blocks.empty()) continue;
        if (mark != nullptr) {
            const auto marked = std::find_if(blocks.rbegin(), blocks.rend(), [&](const Block& other) {
                return other.known_border.get() == mark;
            });
            if (marked != blocks.rend()) std::swap(*marked, blocks.back());
        }
        block = std::move(blocks.back());
        blocks.pop_back();
        if (block.known_border.get() != mark) block.known_border.reset();
        return true;
    }
    return false;
}

Block MemoryPool::take(size_t bytes, const KnownBorder* mark) {
    const std::lock_guard lock(mutex_);
    if (bytes > SIZE_MAX / 2) throw_out_of_memory(bytes);
    const size_t size = rounded(bytes);
    Block block;
    if (take_free(size, mark, block)) {
        pooled_ -= block.bytes;
    } else {
        block = allocate(size);
        if (block.address == 0) throw_out_of_memory(bytes);
    }
    in_use_ += block.bytes;
    peak_ = std::max(peak_, in_use_);
    return block;
}

void MemoryPool::give_back(Block block) noexcept {
    const std::lock_guard lock(mutex_);
    in_use_ -= block.bytes;
    block.used_until = queued_.load();
    const DeviceAddress address = block.address;
    const size_t bytes = block.bytes;
    try {
        free_[bytes].push_back(std::move(block));
        pooled_ += bytes;
    } catch (const std::bad_alloc&) {  // it goes back to the driver, which waits for its work
        without_failing([&] {
            const Context::Scope scope(context_);
            (void)context_.driver().free(address);
        });
    }
}

Block MemoryPool::allocate(size_t bytes) {
    const Context::Scope scope(context_);
    const Driver& driver = context_.driver();
    for (const bool emptied : {false, true}) {
        if (emptied) empty_locked();
        if (in_use_ + pooled_ + bytes > limit()) continue;
        DeviceAddress address = 0;
        const Result result = driver.allocate(&address, bytes);
        if (result == kSuccess) {
            ++allocations_;
            return {address, bytes, 0, nullptr};
        }
        if (result != kOutOfMemory) context_.check(result, "allocate memory");
    }
    return {};
}

void MemoryPool::require(size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (pooled_ >= bytes) return;
    const Context::Scope scope(context_);
    const auto can_have = [&] {
        size_t free_bytes = 0, total = 0;
        context_.check(context_.driver().memory_info(&free_bytes, &total), "ask for the free memory");
        const size_t below_limit = limit() - std::min(limit(), in_use_ + pooled_);
        return std::min(free_bytes, below_limit);
    };
    if (can_have() + pooled_ >= bytes) return;
    empty_locked();
    if (can_have() < bytes) throw_out_of_memory(bytes);
}

void MemoryPool::empty() {
    const std::lock_guard lock(mutex_);
    empty_locked();
}

bool MemoryPool::reclaim() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || pooled_ == 0) return false;
    empty_locked();
    return true;
}

void MemoryPool::empty_locked() {
    if (pooled_ == 0) return;
    const Context::Scope scope(context_);
    context_.synchronize();
    for (auto size = free_.begin(); size != free_.end(); size = free_.erase(size)) {
        for (std::vector<Block>& blocks = size->second; !blocks.empty(); blocks.pop_back()) {
            context_.check(context_.driver().free(blocks.back().address), "free memory");
            pooled_ -= blocks.back().bytes;
        }
    }
}

void MemoryPool::throw_out_of_memory(size_t bytes) {
    std::string text = "cannot allocate " + std::to_string(bytes) + " bytes on " + context_.name() +
                       ": weft holds " + std::to_string(in_use_ + pooled_) + " bytes there, " +
                       std::to_string(in_use_) + " of them in use";
    size_t free_bytes = 0, total = 0;
    const Context::Scope scope(context_);
    if (context_.driver().memory_info(&free_bytes, &total) == kSuccess) {
        text +=
            "; the device has " + std::to_string(free_bytes) + " of " + std::to_string(total) + " bytes free";
    }
    if (limit() != SIZE_MAX) text += "; WEFT_DEVICE_MEMORY_LIMIT is " + std::to_string(limit());
    text += ". Nothing is lost: let go of arrays, or compute in smaller parts";
    throw OutOfMemoryError(text);
}

MemoryStats MemoryPool::stats() const {
    // In the child of a fork the lock may be another thread's that is not there, and there is no device.
    if (lost_by_fork()) return {};
    const std::lock_guard lock(mutex_);
    MemoryStats stats;
    stats.in_use = static_cast<int64_t>(in_use_);
    stats.pooled = static_cast<int64_t>(pooled_);
    stats.peak = static_cast<int64_t>(peak_);
    stats.allocations = allocations_;
    return stats;
}

}  // namespace weft::cuda
