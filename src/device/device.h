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

class DeviceBackend {
public:
    virtual ~DeviceBackend() = default;
    virtual std::string name() const = 0;          // "cpu", "cuda:0"
    virtual BufferPtr allocate(size_t bytes) = 0;  // throws OutOfMemoryError: bytes asked for, bytes held
    // Throws OutOfMemoryError when `bytes`, in one or many buffers, cannot be had now.
    virtual void require(size_t bytes) = 0;
    // Foreign memory that `owner` keeps alive.
    virtual BufferPtr wrap(char* data, size_t bytes, std::shared_ptr<void> owner) = 0;
    // Runs the kernel over grid[0..n); returns when it is done (CPU) or queued (stream devices). `tile` is a
    // hint: how many points of each dimension (0: all) make a box whose memory is worth keeping in a cache;
    // empty: none.
    virtual void launch(const CompiledKernel& kernel, std::span<const KernelWord> words,
                        std::span<const int64_t> grid, int64_t cost_per_point,
                        std::span<const int64_t> tile = {}) = 0;
    virtual void synchronize() = 0;
    virtual size_t bytes_in_use() const = 0;
    virtual size_t bytes_pooled() const = 0;
    virtual void empty_pool() = 0;
};

DeviceBackend& cpu_device();

}  // namespace weft
