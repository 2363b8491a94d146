// The CPU as a device: pooled memory, and kernels run on the thread pool.
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "core/config.h"
#include "core/threads/thread_pool.h"
#include "device/cpu/available_memory.h"
#include "device/cpu/grid_cut.h"
#include "device/cpu/memory_pool.h"
#include "device/cpu/memory_speed.h"
#include "device/device.h"

namespace weft {
namespace {

class ForeignBuffer final : public Buffer {
public:
    ForeignBuffer(char* data, size_t bytes, std::shared_ptr<void> owner)
        : Buffer(data, bytes), owner_(std::move(owner)) {
        expose();
    }

private:
    std::shared_ptr<void> owner_;
};

// Non-temporal stores are not ordered with others: before a thread says that its task is done, they are to
// be seen by all.
struct FinishStreams {
    ~FinishStreams() {
#if defined(__x86_64__)
        __builtin_ia32_sfence();
#endif
    }
};

// As the kernel says, of one cache: sysconf() adds up those of the whole processor.
struct Caches {
    int64_t largest = 0, of_core = 0;
};

Caches find_caches() {
    Caches caches;
    for (int index = 0; index < 8; ++index) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
        std::ifstream size(folder + "/size"), level(folder + "/level");
        int64_t kilobytes = 0;
        int number = 0;
        if (!(size >> kilobytes)) continue;
        caches.largest = std::max(caches.largest, kilobytes << 10);
        if (level >> number && number <= 2) caches.of_core = std::max(caches.of_core, kilobytes << 10);
    }
    constexpr int64_t kUsual = int64_t{32} << 20, kUsualOfCore = int64_t{1} << 20;  // where nothing is said
    if (caches.largest == 0) caches.largest = kUsual;
    if (caches.of_core == 0) caches.of_core = kUsualOfCore;
    return caches;
}

const Caches& caches() {
    static const Caches found = find_caches();
    return found;
}

// The extents of tiles that walk a box in its own order and end so often that the work can be stopped; none
// where it is done soon anyway.
Dims pieces_of(const GridBox& box, size_t rank, int64_t cost_per_point) {
    constexpr double kSoon = 1 << 27;  // some tens of milliseconds
    double points = static_cast<double>(cost_per_point);
    for (size_t d = 0; d < rank; ++d) points *= static_cast<double>(box.upper[d] - box.lower[d]);
    if (points <= kSoon) return {};
    Dims tile(rank, 1);
    double inner = static_cast<double>(cost_per_point);
    for (size_t d = rank; d-- > 0;) {
        const auto extent = static_cast<double>(box.upper[d] - box.lower[d]);
        if (inner * extent <= kSoon) {
            tile[d] = 0;  // all of it
            inner *= extent;
            continue;
        }
        tile[d] = static_cast<int64_t>(std::max(kSoon / inner, 1.0));
        if (d + 1 == rank && tile[d] >= 64) tile[d] -= tile[d] % 64;  // as the boxes are cut
        break;
    }
    return tile;
}

class CpuDevice final : public DeviceBackend {
public:
    std::string name() const override { return "cpu"; }

    BufferPtr allocate(size_t bytes) override {
        if (config().guard.load(std::memory_order_relaxed)) return allocate_guarded(bytes);
        return allocate_pooled(bytes);
    }
    BufferPtr allocate_marked(size_t bytes, const KnownBorder* mark) override {
        if (config().guard.load(std::memory_order_relaxed)) return allocate_guarded(bytes);
        return allocate_pooled(bytes, mark);
    }

    BufferPtr wrap(char* data, size_t bytes, std::shared_ptr<void> owner) override {
        return std::make_shared<ForeignBuffer>(data, bytes, std::move(owner));
    }

    void copy_in(const Buffer& to, size_t offset, const char* from, size_t bytes) override {
        std::memcpy(to.data() + offset, from, bytes);
    }
    void copy_out(char* to, const Buffer& from, size_t offset, size_t bytes) override {
        std::memcpy(to, from.data() + offset, bytes);
    }
    void copy(const Buffer& to, size_t to_offset, const Buffer& from, size_t from_offset,
              size_t bytes) override {
        if (from.on_host()) {
            std::memmove(to.data() + to_offset, from.data() + from_offset, bytes);
        } else {
            from.device().copy_out(to.data() + to_offset, from, from_offset, bytes);
        }
    }

    void launch(const CompiledKernel& kernel, std::span<const ArgumentWord> words,
                std::span<const int64_t> grid, int64_t cost_per_point, const GridHints& hints) override {
        const auto& code = static_cast<const CpuKernel&>(kernel);
        const GridCut cut(grid, cost_per_point, num_threads(), hints);
        if (cut.tasks() == 0) return;
        parallel_for(cut.tasks(), [&](int64_t task) {
            const GridBox box = cut.box(task);
            const Dims pieces = hints.tile.empty() ? pieces_of(box, grid.size(), cost_per_point) : Dims();
            const std::span<const int64_t> tile =
                hints.tile.empty() ? std::span<const int64_t>(pieces) : hints.tile;
            const FinishStreams finish;
            for_each_tile(box, tile, [&](const GridBox& part) {
                code.run(words.data(), part.lower.data(), part.upper.data());
                if (!tile.empty()) pause_task();
            });
        });
    }

    void run_box(const CompiledKernel& kernel, std::span<const ArgumentWord> words,
                 const GridBox& box) override {
        static_cast<const CpuKernel&>(kernel).run(words.data(), box.lower.data(), box.upper.data());
    }

    int64_t memory_bytes() const override {
        static const auto bytes = static_cast<int64_t>(std::min<size_t>(available_memory(), size_t{1} << 50));
        return bytes;
    }
    int64_t cache_bytes() const override { return caches().largest; }
    int64_t core_cache_bytes() const override { return caches().of_core; }
    double peak_bandwidth() override { return measured_memory_speed(); }
    void synchronize() override {}  // launch returns when the kernel is done
    void require(size_t bytes) override { require_pool_bytes(bytes); }
    MemoryStats memory_stats() const override {
        MemoryStats stats;
        stats.in_use = static_cast<int64_t>(pool_bytes_in_use());
        stats.pooled = static_cast<int64_t>(pool_bytes_held());
        return stats;
    }
    size_t bytes_in_use() const override { return pool_bytes_in_use(); }
    size_t bytes_pooled() const override { return pool_bytes_held(); }
    void empty_pool() override { empty_memory_pool(); }
};

}  // namespace

DeviceBackend& cpu_device() {
    static CpuDevice* const device = new CpuDevice;  // never destroyed: arrays may outlive static destruction
    return *device;
}

}  // namespace weft
