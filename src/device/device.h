// The one interface to memory, streams, and launching; cpu/ and cuda/ are equal twins behind it. Which
// devices there are is in device/devices.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "device/kernel.h"
#include "weft/dims.h"

namespace weft {

class DeviceBackend;

// What is known of a buffer: its bytes outside of a window are those of every other buffer with the same
// mark, free blocks of the pool included. Who writes there, or lets others write, takes the mark away; what
// kernels have computed is otherwise never changed (execution/run_update.cpp).
struct KnownBorder {
    int64_t bytes = 0, offset = 0, itemsize = 0;  // of the buffer; of the window in it; of its elements
    Dims shape, strides;                          // of the window

    friend bool operator==(const KnownBorder&, const KnownBorder&) = default;
};
using KnownBorderMark = std::shared_ptr<const KnownBorder>;

// What makes values unfit to be seen before it is decided (api/recording/deferred_checks.h).
struct Poison;
using PoisonPtr = std::shared_ptr<const Poison>;

// Memory of a device; freed to its pool with the last reference. Aligned to 64 bytes at least. Only what is
// on the host can be read and written through a pointer: data() of anything else is an internal error, never
// an access. What kernels are told is the address.
class Buffer {
public:
    virtual ~Buffer() {
        if (const int left = sharers_.load(std::memory_order_relaxed)) [[unlikely]]
            all_sharers.fetch_sub(left);
    }
    char* data() const {
        if (device_ != nullptr) [[unlikely]]
            throw_not_on_host();
        return data_;
    }
    uint64_t address() const { return reinterpret_cast<uint64_t>(data_); }
    bool on_host() const { return device_ == nullptr; }
    DeviceBackend& device() const;
    size_t size() const { return size_; }
    PoisonPtr poison() const { return poison_.load(std::memory_order_acquire); }
    void set_poison(PoisonPtr poison) { poison_.store(std::move(poison), std::memory_order_release); }
    const KnownBorderMark& known_border() const { return known_border_; }
    void set_known_border(KnownBorderMark mark) {
        if (!exposed_ && known_border_ != mark) known_border_ = std::move(mark);
    }
    // Others may write into it from now on.
    void expose() {
        if (exposed_) return;
        exposed_ = true;
        known_border_.reset();
    }

    // Of memory on a GPU: others read and write it too, on streams of theirs. Counted for each of them.
    void begin_sharing() {
        if (on_host()) return;
        sharers_.fetch_add(1);
        all_sharers.fetch_add(1);
    }
    void end_sharing() {
        if (on_host()) return;
        sharers_.fetch_sub(1);
        all_sharers.fetch_sub(1);
    }
    bool is_shared() const { return sharers_.load(std::memory_order_relaxed) != 0; }
    static bool any_shared() { return all_sharers.load(std::memory_order_relaxed) != 0; }

protected:
    Buffer(char* data, size_t size) : data_(data), size_(size) {}
    Buffer(DeviceBackend& device, uint64_t address, size_t size)
        : data_(reinterpret_cast<char*>(address)), size_(size), device_(&device) {}
    char* data_;
    size_t size_;
    KnownBorderMark
        known_border_;  // used under the evaluation lock, as buffers are that are pending nodes' inputs

private:
    bool exposed_ = false;
    [[noreturn]] void throw_not_on_host() const;
    DeviceBackend* device_ = nullptr;  // null: the CPU
    std::atomic<int> sharers_{0};
    std::atomic<PoisonPtr> poison_{};
    static inline std::atomic<int> all_sharers{0};  // so that a program that shares nothing pays nothing
};
using BufferPtr = std::shared_ptr<Buffer>;

// Streams of CUDA that have numbers of their own, as DLPack and the CUDA array interface give them; other
// numbers are handles.
constexpr uint64_t kDefaultStream =
    1;  // the legacy one: it waits for all streams that block, and they for it
constexpr uint64_t kDefaultStreamOfThread = 2;  // the calling thread's

// What a device's pool holds, for weft.memory_stats().
struct MemoryStats {
    int64_t in_use = 0, pooled = 0;  // bytes of live buffers; kept free for reuse
    int64_t peak = 0;                // most bytes in use at once
    int64_t allocations = 0;         // blocks asked from the system or driver so far
};

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
    // Points are computed one after another, in C order: on a CPU by one thread.
    bool in_order = false;
};

// The time that work takes on a device where it is queued (execution/profile.h).
class Stopwatch {
public:
    struct Times {
        double start, seconds;  // from the epoch of std::chrono::steady_clock
    };
    virtual ~Stopwatch() = default;
    virtual void stop() noexcept = 0;  // after what was queued since it was started
    // Waits for that; none where the device cannot tell: that is no reason to fail.
    virtual std::optional<Times> read() noexcept = 0;
};

class DeviceBackend {
public:
    virtual ~DeviceBackend() = default;
    virtual std::string name() const = 0;  // "cpu", "cuda:0"
    bool is_cpu() const;
    virtual BufferPtr allocate(size_t bytes) = 0;  // throws OutOfMemoryError: bytes asked for, bytes held
    // One with that mark, if there is one free; otherwise any, without a mark.
    virtual BufferPtr allocate_marked(size_t bytes, const KnownBorder* mark) {
        (void)mark;
        return allocate(bytes);
    }
    // Throws OutOfMemoryError when `bytes`, in one or many buffers, cannot be had now.
    virtual void require(size_t bytes) = 0;
    // Foreign memory that `owner` keeps alive.
    virtual BufferPtr wrap(char* data, size_t bytes, std::shared_ptr<void> owner) = 0;
    // Copies between the host and this device's memory, in the order of its work. What is copied in has been
    // read when the call returns; what is copied out is there then.
    virtual void copy_in(const Buffer& to, size_t offset, const char* from, size_t bytes) = 0;
    virtual void copy_out(char* to, const Buffer& from, size_t offset, size_t bytes) = 0;
    // Between buffers of this device, or from another device's to this one's.
    virtual void copy(const Buffer& to, size_t to_offset, const Buffer& from, size_t from_offset,
                      size_t bytes) = 0;
    // Runs the kernel over grid[0..n); returns when it is done (CPU) or queued (stream devices).
    virtual void launch(const CompiledKernel& kernel, std::span<const ArgumentWord> words,
                        std::span<const int64_t> grid, int64_t cost_per_point,
                        const GridHints& hints = GridHints()) = 0;
    // What is launched between these two belongs together: it may be queued as late as at the end, if nobody
    // needs it before. For launches that were made before and went well; one thread at a time.
    virtual void begin_launches() {}
    virtual void end_launches() {}
    // A box of the grid, on the calling thread: for work that other work's tasks have ready in their cache.
    virtual void run_box(const CompiledKernel& kernel, std::span<const ArgumentWord> words,
                         const GridBox& box) = 0;
    // Of a GPU: the address of kMostTickets counters of 32 bits for kernels that another one follows in the
    // same launch (CudaKernelImage). They are zero between launches, of which one runs at a time.
    virtual uint64_t tickets() { return 0; }
    virtual void synchronize() = 0;
    virtual bool is_lost() const { return false; }  // after a fault, with all that is in its memory
    virtual std::unique_ptr<Stopwatch> start_stopwatch() {
        return nullptr;
    }  // null: calls return when work is done
    virtual double peak_bandwidth() = 0;  // bytes a second of its memory; measured where nothing else tells
    // Order with work that others queue on streams of theirs. What weft queues from now on comes after what
    // is queued on `stream` now …
    virtual void wait_for_stream(uint64_t) {}
    // … or the other way round.
    virtual void make_stream_wait(uint64_t) {}
    virtual void synchronize_with_others() {}      // everybody's work on the device is done
    virtual uint64_t stream() const { return 0; }  // weft's own, as others name it; 0: none
    virtual int ordinal() const { return 0; }      // among devices of its kind
    virtual int64_t memory_bytes() const = 0;      // all that this process could have, in the beginning
    virtual int64_t cache_bytes() const = 0;       // of the largest cache: what is larger does not stay near
    virtual int64_t core_cache_bytes() const { return cache_bytes(); }  // of the largest that is a core's own
    virtual MemoryStats memory_stats() const = 0;
    virtual size_t bytes_in_use() const = 0;
    virtual size_t bytes_pooled() const = 0;
    virtual void empty_pool() = 0;
};

DeviceBackend& cpu_device();

inline bool DeviceBackend::is_cpu() const { return this == &cpu_device(); }
inline DeviceBackend& Buffer::device() const { return device_ != nullptr ? *device_ : cpu_device(); }

}  // namespace weft
