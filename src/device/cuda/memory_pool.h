// The memory of one GPU: blocks that were freed are kept and given out again, in the order of the device's
// stream, so that nothing has to wait. Everything that touches a block is queued on one stream, or ordered
// with it by events; what was freed while a kernel still uses it can therefore be reused by later work at
// once. See docs/decisions/0006-gpu-memory.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/cuda/context.h"
#include "device/device.h"

namespace weft::cuda {

struct Block {
    DeviceAddress address = 0;
    size_t bytes = 0;         // at least what was asked for
    uint64_t used_until = 0;  // MemoryPool::mark() when it was freed: earlier work may still touch it
    KnownBorderMark known_border = nullptr;
};

class MemoryPool {
public:
    explicit MemoryPool(Context& context) : context_(context) {}

    // Throws OutOfMemoryError (bytes asked for and held) after the pool was emptied and the request tried
    // again. A block with that mark is preferred; any other has none.
    Block take(size_t bytes, const KnownBorder* mark = nullptr);
    void give_back(Block block) noexcept;

    // Throws OutOfMemoryError when so many bytes cannot be had.
    void require(size_t bytes);
    // Returns free blocks to the driver; waits for the work that uses them.
    void empty();
    // Whether it gave some back, where nobody uses the pool.
    bool reclaim();

    // Counts work that is queued on the stream; to be called for each kernel and copy.
    void mark() { ++queued_; }
    // Counts what is queued while it lives, whatever becomes of it: a call that fails may have queued a part.
    class Queueing {
    public:
        explicit Queueing(MemoryPool& pool) : pool_(pool) {}
        ~Queueing() { pool_.mark(); }
        Queueing(const Queueing&) = delete;
        Queueing& operator=(const Queueing&) = delete;

    private:
        MemoryPool& pool_;
    };
    uint64_t queued() const { return queued_.load(); }
    // Work that was counted when queued() said so is done.
    void completed(uint64_t mark) { completed_ = mark; }
    // Whether queued work may still touch a block that was just taken.
    bool may_be_in_use(const Block& block) const { return block.used_until > completed_.load(); }

    MemoryStats stats() const;

private:
    bool take_free(size_t bytes, const KnownBorder* mark, Block& block);  // these with the lock held
    Block allocate(size_t bytes);
    void empty_locked();
    [[noreturn]] void throw_out_of_memory(size_t bytes);
    size_t limit() const;

    Context& context_;
    std::atomic<uint64_t> queued_{0}, completed_{0};
    mutable std::mutex mutex_;                   // of what follows
    std::map<size_t, std::vector<Block>> free_;  // by size, newest last: that one may be in a cache yet
    size_t in_use_ = 0, pooled_ = 0, peak_ = 0;
    int64_t allocations_ = 0;  // from the driver
};

}  // namespace weft::cuda
