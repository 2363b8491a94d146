#include "execution/kernels/gpu_programs.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <unordered_map>

#include "codegen/service/kernel_cache.h"
#include "core/log.h"
#include "device/cuda/cuda_device.h"
#include "execution/evaluate.h"
#include "execution/kernels/kernel_store.h"
#include "execution/profile.h"
#include "execution/stream_order.h"
#include "library/gpu/programs.h"
#include "weft/errors.h"
#include "weft/ops.h"

namespace weft {

namespace {

using cuda::CudaDevice;
using cuda::CudaKernel;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kUsualSharedBytes = 48 << 10;  // what a kernel has without asking for more

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct MachineCode {
    std::string code;
    std::string cache_key;  // where it is from the cache on disk
};

struct Store {
    std::mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<CudaKernel>> kernels;
    std::unordered_map<std::string, MachineCode> machine_code;  // of programs
};

Store& store() {
    static auto* instance = new Store;  // arrays may be used while the process exits
    return *instance;
}

void log_assembly(const std::string& name, const CudaDevice& device, double seconds) {
    if (!debug_enabled(DebugLevel::kLaunches)) return;
    log_line("assembled " + name + " for " + device.name() + " in " + std::to_string(seconds * 1e3) + " ms");
}

// Of the whole program, for this device; or its text, which the driver assembles as it loads it.
MachineCode& machine_code_of(const GpuProgram& program, CudaDevice& device) {
    MachineCode& made = store().machine_code[device.name() + " " + std::string(program.name)];
    if (!made.code.empty()) return made;
    if (program.is_whole) {
        made.code = std::string(program.ptx);
        return made;
    }
    const std::string target = device.context().facts().name + " sm_" +
                               std::to_string(device.context().facts().capability) + " driver " +
                               std::to_string(device.context().driver().version);
    const std::string key = codegen::gpu_cache_key("program " + std::string(program.name), target);
    if (auto cached = codegen::find_gpu_kernel_in_cache(key)) {
        made = {std::move(cached->machine_code), key};
        return made;
    }
    const auto start = Clock::now();
    codegen::CachedGpuKernel kept;
    kept.image.name = std::string(program.name);
    kept.image.ptx = std::string(program.ptx);
    kept.machine_code = device.assemble(kept.image);
    kept.image.ptx.clear();
    kept.image.compile_seconds = seconds_since(start);
    codegen::keep_gpu_kernel_in_cache(key, kept);
    log_assembly(kept.image.name, device, kept.image.compile_seconds);
    made.code = std::move(kept.machine_code);
    return made;
}

// Of the cache on disk it may be what this driver does not take any more: then it is made anew, once.
std::shared_ptr<CudaKernel> load(const GpuProgram& program, const CudaKernelImage& image,
                                 CudaDevice& device) {
    MachineCode& made = machine_code_of(program, device);
    try {
        return std::make_shared<CudaKernel>(device.context(), image, made.code);
    } catch (const DeviceError&) {
        if (device.context().ruined() || made.cache_key.empty()) throw;
    }
    codegen::drop_from_cache(made.cache_key);
    made = {};
    return std::make_shared<CudaKernel>(device.context(), image, machine_code_of(program, device).code);
}

std::shared_ptr<const CudaKernel> find(CudaDevice& device, const std::string& program,
                                       const std::string& entry, size_t words, uint32_t shared_bytes) {
    const std::lock_guard lock(store().mutex);
    std::shared_ptr<CudaKernel>& kernel = store().kernels[device.name() + " " + entry];
    if (kernel != nullptr) return kernel;
    const auto programs = gpu_programs();
    const auto found = std::find_if(programs.begin(), programs.end(),
                                    [&](const GpuProgram& each) { return each.name == program; });
    WEFT_CHECK(found != programs.end(), program);
    CudaKernelImage image;
    image.name = image.symbol = entry;
    image.words = static_cast<int>(words);
    const auto start = Clock::now();
    std::shared_ptr<CudaKernel> loaded = load(*found, image, device);
    if (found->is_whole) log_assembly(program, device, seconds_since(start));
    loaded->name = entry;
    if (shared_bytes > kUsualSharedBytes) loaded->function.allow_shared(shared_bytes);
    return kernel = std::move(loaded);
}

}  // namespace

void launch_program(DeviceBackend& device, const std::string& program, const std::string& entry,
                    std::span<const ArgumentWord> words, const CudaLaunchShape& shape) {
    auto& gpu = static_cast<CudaDevice&>(device);
    const auto kernel = find(gpu, program, entry, words.size(), shape.shared_bytes);
    WEFT_CHECK(words.size() == static_cast<size_t>(kernel->description.words), entry);
    gpu.launch_now(*kernel, words, shape);
}

ProgramInput::ProgramInput(const array& input)
    : buffer_(evaluate_storage(*input.storage())),
      address_(buffer_->address() + static_cast<uint64_t>(input.offset())) {
    wait_for_others(*buffer_);
}

void clear_on_gpu(const Buffer& buffer, size_t offset, size_t bytes) {
    static_cast<CudaDevice&>(buffer.device()).clear(buffer, offset, bytes);
}

int64_t multiprocessors(DeviceBackend& device) {
    return static_cast<CudaDevice&>(device).context().facts().multiprocessors;
}

struct ProgramRecord::State {
    LaunchRecord record;
    DeviceBackend& device;
    Clock::time_point start = Clock::now();
};

ProgramRecord::ProgramRecord(DeviceBackend& device, std::string name, int64_t bytes_read,
                             int64_t bytes_written, int64_t elements)
    : state_(std::make_shared<State>(State{LaunchRecord(), device})) {
    auto kernel = std::make_shared<StoredKernel>();  // weft's own, so that nothing counts as compiled
    kernel->name = std::move(name);
    LaunchRecord& record = state_->record;
    record.kernel = std::move(kernel);
    record.device = &device;
    record.operations = 1;
    record.bytes_read = bytes_read;
    record.bytes_written = bytes_written;
    record.elements = elements;
    if (profiling()) record.stopwatch = device.start_stopwatch();
}

void ProgramRecord::finish() {
    LaunchRecord& record = state_->record;
    if (record.stopwatch != nullptr) record.stopwatch->stop();
    if (debug_enabled(DebugLevel::kLaunches)) state_->device.synchronize();  // so that its time is its own
    record.seconds = seconds_since(state_->start);
    if (debug_enabled(DebugLevel::kLaunches, record.kernel->name)) {
        log_line(record.kernel->name + " " + std::to_string(record.elements) + " elements " +
                 std::to_string(record.seconds * 1e3) + " ms");
    }
    record_launch(std::move(record));
}

}  // namespace weft
