// A GPU as a device of weft: pooled memory, copies, kernels queued on one stream.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "device/cuda/launch_error.h"
#include "device/cuda/memory_pool.h"
#include "device/cuda/module.h"
#include "device/cuda/transfer.h"
#include "device/device.h"

namespace weft::cuda {

// A kernel as one GPU has loaded it.
class CudaKernel final : public CompiledKernel {
public:
    CudaKernel(Context& context, CudaKernelImage description, std::string_view image)
        : description(std::move(description)), function(context, image, this->description.symbol) {}

    const CudaKernelImage description;
    LoadedFunction function;
};

struct Epoch;

class CudaDevice final : public DeviceBackend {
public:
    // Throws DeviceError.
    CudaDevice(const Driver& driver, int ordinal);
    ~CudaDevice() override;

    std::string name() const override { return context_.name(); }
    BufferPtr allocate(size_t bytes) override;
    BufferPtr allocate_marked(size_t bytes, const KnownBorder* mark) override;
    void require(size_t bytes) override { pool_.require(bytes); }
    BufferPtr wrap(char* data, size_t bytes, std::shared_ptr<void> owner) override;
    void copy_in(const Buffer& to, size_t offset, const char* from, size_t bytes) override;
    void copy_out(char* to, const Buffer& from, size_t offset, size_t bytes) override;
    void copy(const Buffer& to, size_t to_offset, const Buffer& from, size_t from_offset,
              size_t bytes) override;
    // Queues the kernel, which `fits` what it is launched with. The words are its arguments: they are read
    // before the call returns.
    void launch(const CompiledKernel& kernel, std::span<const ArgumentWord> words,
                std::span<const int64_t> grid, int64_t cost_per_point, const GridHints& hints) override;
    // The same with a shape that the caller knows; of any thread, after what has been collected.
    void launch_now(const CudaKernel& kernel, std::span<const ArgumentWord> words,
                    const CudaLaunchShape& shape);
    // The same for a function of CUDA C++, whose parameters the pointers are of.
    void launch_function(FunctionHandle function, void** parameters, const CudaLaunchShape& shape);
    // Queued as copies on the device are.
    void clear(const Buffer& buffer, size_t offset, size_t bytes);
    // What a thread of the launch of this number has raised, for as long as the process lives.
    LaunchError& launch_error(int64_t number);
    void begin_launches() override { context_.batch().open(); }
    void end_launches() override { context_.batch().close(); }
    void run_box(const CompiledKernel& kernel, std::span<const ArgumentWord> words,
                 const GridBox& box) override;
    uint64_t tickets() override;
    // A word behind the tickets, and used as these are: how many blocks of a kernel wait for each other
    // (CudaLaunchShape::together), and whether a thread has raised, a half each. Each launch begins with 0.
    uint64_t grid_word() { return tickets() + kTicketBytes; }
    // How many blocks of so many threads and so much shared memory run at the same time.
    int64_t most_blocks_together(FunctionHandle function, int64_t threads, int64_t shared_bytes);
    struct MemoryInfo {
        size_t free_bytes = 0, all_bytes = 0;
    };
    MemoryInfo memory_info();  // of the whole device, whoever has what is not free
    // Tells NVIDIA's profilers that what comes now is to be looked at, or no more; nothing to drivers without
    // such.
    void tell_profilers(bool look);
    void synchronize() override;
    bool is_lost() const override { return context_.ruined(); }
    std::unique_ptr<Stopwatch> start_stopwatch() override;
    double peak_bandwidth() override { return context_.facts().peak_bandwidth; }
    void wait_for_stream(uint64_t stream) override;
    void make_stream_wait(uint64_t stream) override;
    void synchronize_with_others() override;
    uint64_t stream() const override { return reinterpret_cast<uint64_t>(context_.stream()); }
    int ordinal() const override { return context_.ordinal(); }
    int64_t memory_bytes() const override { return static_cast<int64_t>(context_.facts().memory); }
    int64_t cache_bytes() const override { return context_.facts().l2_bytes; }
    MemoryStats memory_stats() const override { return pool_.stats(); }
    size_t bytes_in_use() const override { return static_cast<size_t>(pool_.stats().in_use); }
    size_t bytes_pooled() const override { return static_cast<size_t>(pool_.stats().pooled); }
    void empty_pool() override { pool_.empty(); }

    // The image's machine code for this device, and the kernel made of it.
    std::string assemble(const CudaKernelImage& image) {
        return cuda::assemble(context_, image.ptx, image.has_lines);
    }
    std::shared_ptr<CudaKernel> load(CudaKernelImage description, std::string_view machine_code);

    Context& context() { return context_; }
    MemoryPool& pool() { return pool_; }

    // Others' memory that work may still touch which could not be waited for: kept until all work is done.
    using Owners = std::list<std::shared_ptr<void>>;
    void keep(Owners& owners) noexcept;

private:
    void copy_from_peer(const Buffer& to, size_t to_offset, const Buffer& from, size_t from_offset,
                        size_t bytes);

    Context context_;
    MemoryPool pool_;
    Transfers transfers_;
    static constexpr size_t kTicketBytes = kMostTickets * sizeof(uint32_t);
    static constexpr size_t kGridBytes = sizeof(uint64_t);
    DeviceAddress tickets_ = 0;  // used under the evaluation lock
    std::mutex mutex_;           // of what follows
    LaunchError* launch_errors_ = nullptr;
    std::shared_ptr<Epoch> epoch_;  // that stopwatches count from
    Owners kept_;
};

// Device `ordinal` of this process, opened at first need; it lives as long as the process. Throws
// DeviceError.
CudaDevice& cuda_device(int ordinal);
// The device that has memory at `address`; null where the driver knows of none.
CudaDevice* device_of_address(DeviceAddress address);
bool any_device_opened();
int cuda_device_count();  // 0 without a usable driver

}  // namespace weft::cuda
