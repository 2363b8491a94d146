// The one interface to memory, streams, and launching; cpu/ is the twin that exists, cuda/ takes its place
// beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "device/kernel.h"

namespace weft {

// Memory of a device; freed to its pool with the last reference. Aligned to 64 bytes at least.
class Buffer {
public:
    virtual ~Buffer() = default;
    char* data() const { return data_; }
    size_t size() const { return size_; }

protected:
    Buffer(char* data, size_t size) : data_(data), size_(size) {}
    char* data_;
    size_t size_;
};
using BufferPtr = std::shared_ptr<Buffer>;

// What is worth knowing when a grid is cut; results never depend on it.
struct GridHints {
    // How many points of each dimension (0: all) make a box whose memory is worth keeping in a cache; empty:
    // none.
    std::span<const int64_t> tile;
    // The dimension along which a kernel that reduces columns goes through memory without gaps, -1: none. It
    // is cut into pieces of at least so many points while each thread has one: short pieces of rows are read
    // slowly.
    int columns = -1;
    int64_t piece = 1;
};

class DeviceBackend {
public:
    virtual ~DeviceBackend() = default;
    virtual std::string name() const = 0;          // "cpu", "cuda:0"
    virtual BufferPtr allocate(size_t bytes) = 0;  // throws OutOfMemoryError: bytes asked for, bytes held
    // Throws OutOfMemoryError when `bytes`, in one or many buffers, cannot be had now.
    virtual void require(size_t bytes) = 0;
    // Foreign memory that `owner` keeps alive.
    virtual BufferPtr wrap(char* data, size_t bytes, std::shared_ptr<void> owner) = 0;
    // Runs the kernel over grid[0..n); returns when it is done (CPU) or queued (stream devices).
    virtual void launch(const CompiledKernel& kernel, std::span<const KernelWord> words,
                        std::span<const int64_t> grid, int64_t cost_per_point,
                        const GridHints& hints = GridHints()) = 0;
    // A box of the grid, on the calling thread: for work that other work's tasks have ready in their cache.
    virtual void run_box(const CompiledKernel& kernel, std::span<const KernelWord> words,
                         const GridBox& box) = 0;
    virtual void synchronize() = 0;
    virtual int64_t cache_bytes() const = 0;  // of the largest cache: what is larger does not stay near
    virtual size_t bytes_in_use() const = 0;
    virtual size_t bytes_pooled() const = 0;
    virtual void empty_pool() = 0;
};

DeviceBackend& cpu_device();

}  // namespace weft
