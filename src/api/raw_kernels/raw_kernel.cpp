#include "weft/cuda/raw_kernel.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/raw_kernels/loaded_modules.h"
#include "api/raw_kernels/packed_arguments.h"
#include "core/config.h"
#include "core/log.h"
#include "device/cuda/launch_shape.h"
#include "execution/kernels/kernel_store.h"
#include "execution/profile.h"
#include "graph/foreign_memory.h"
#include "weft/errors.h"

namespace weft {

namespace {

using cuda::CudaDevice;

constexpr int64_t kMostOfBlock = 1024;
constexpr std::array<int64_t, 3> kMostBlocks{INT32_MAX, 65535, 65535}, kMostThreads{1024, 1024, 64};

std::string with_commas(const LaunchSize& size) {
    return "(" + std::to_string(size[0]) + ", " + std::to_string(size[1]) + ", " + std::to_string(size[2]) +
           ")";
}

void check_size(const LaunchSize& size, const char* what, const std::array<int64_t, 3>& most) {
    for (size_t axis = 0; axis < 3; ++axis) {
        if (size[axis] < 1)
            throw ValueError(std::string("a ") + what + " of " + std::to_string(size[axis]) + " along axis " +
                             std::to_string(axis) + ": there is nothing to launch");
        if (size[axis] > most[axis])
            throw ValueError(std::string("a ") + what + " of " + std::to_string(size[axis]) + " along axis " +
                             std::to_string(axis) + ": " + std::to_string(most[axis]) + " is the most");
    }
}

void check_block(const raw::Kernel& kernel, const raw::LoadedKernel& loaded, const LaunchSize& block) {
    const int64_t threads = block[0] * block[1] * block[2];
    if (threads > kMostOfBlock)
        throw ValueError("a block of " + std::to_string(threads) + " threads, " + with_commas(block) + ": " +
                         std::to_string(kMostOfBlock) + " is the most");
    if (threads > loaded.most_threads)
        throw ValueError("a block of " + std::to_string(threads) + " threads, " + with_commas(block) + ": " +
                         kernel.name + "() has " + std::to_string(loaded.most_threads) +
                         " at most, with its launch bounds and " + std::to_string(loaded.registers) +
                         " registers of each thread");
}

void check_blocks_at_once(const raw::Kernel& kernel, const raw::LoadedKernel& loaded, CudaDevice& device,
                          const LaunchSize& grid, const LaunchSize& block, int64_t shared_bytes) {
    const int64_t most =
        device.most_blocks_together(loaded.function, block[0] * block[1] * block[2], shared_bytes);
    const int64_t blocks = grid[0] * grid[1] * grid[2];
    if (blocks > most)
        throw ValueError("a grid of " + std::to_string(blocks) + " blocks, " + with_commas(grid) +
                         ", that wait for each other: " + device.name() + " runs " + std::to_string(most) +
                         " blocks of " + kernel.name + "() with so many threads at once");
}

// Told of at its first launch, and while somebody profiles.
void note_in_history(const raw::Kernel& kernel, raw::LoadedKernel& loaded, CudaDevice& device,
                     int64_t bytes) {
    const bool is_first = !loaded.is_recorded.exchange(true);
    if (!is_first && !profiling()) return;
    if (debug_enabled(DebugLevel::kLaunches, kernel.name)) log_line("launch " + kernel.name + "()");
    LaunchRecord record;
    record.kernel = loaded.record;
    record.device = &device;
    record.fresh = is_first && !loaded.module->code->from_disk;
    record.bytes_read = bytes;
    record_launch(std::move(record));
}

ModuleSource source_of(std::vector<std::string> sources, std::vector<std::string> paths,
                       RawModuleOptions options) {
    return {std::move(sources), std::move(paths), std::move(options)};
}

}  // namespace

LaunchSize::LaunchSize(std::span<const int64_t> sizes) {
    if (sizes.empty() || sizes.size() > 3)
        throw ValueError("a grid or a block has one to three sizes, not " + std::to_string(sizes.size()));
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
}

RawKernel::RawKernel(std::string code, std::string name, RawModuleOptions options)
    : kernel_(std::make_shared<raw::Kernel>(
          std::make_shared<raw::Module>(source_of({std::move(code)}, {}, std::move(options))),
          std::move(name))) {}

void RawKernel::launch(const LaunchSize& grid, const LaunchSize& block,
                       std::span<const KernelArgument> arguments, int64_t shared_bytes,
                       uint64_t stream) const {
    raw::Kernel& kernel = *kernel_;
    DeviceBackend* place = PackedArguments::device_of(kernel.name, arguments);
    CudaDevice& device = place != nullptr ? static_cast<CudaDevice&>(*place) : raw::gpu_of(-1);
    check_size(grid, "grid", kMostBlocks);
    check_size(block, "block", kMostThreads);
    raw::LoadedKernel& loaded = kernel.on(device);
    PackedArguments packed(kernel.name, loaded.parameters.has_value() ? &*loaded.parameters : nullptr,
                           arguments);
    check_block(kernel, loaded, block);
    raw::allow_shared(device, kernel.name, loaded, shared_bytes);
    const bool together = kernel.module->source.options.cooperative;
    if (together) check_blocks_at_once(kernel, loaded, device, grid, block, shared_bytes);
    packed.take_arrays();
    if (stream != 0) device.wait_for_stream(stream);
    {
        const LaunchTurn turn(device);
        device.launch_function(loaded.function, packed.pointers(),
                               shape_of_blocks(grid.all(), block.all(), shared_bytes, together));
        note_launch(device, turn.number(), packed.read(), packed.written(), nullptr);
    }
    if (stream != 0) device.make_stream_wait(stream);
    note_in_history(kernel, loaded, device, packed.bytes_of_arrays());
}

std::string RawKernel::compile(int device) const {
    return kernel_->on(raw::gpu_of(device)).module->code->log;
}

const std::string& RawKernel::name() const { return kernel_->name; }

KernelAttributes RawKernel::attributes(int number) const {
    CudaDevice& device = raw::gpu_of(number);
    const raw::LoadedKernel& loaded = kernel_->on(device);
    const auto ask = [&](int which) { return cuda::attribute_of(device.context(), loaded.function, which); };
    KernelAttributes attributes;
    attributes.max_threads_per_block = loaded.most_threads;
    attributes.shared_size_bytes = static_cast<int>(loaded.shared_bytes);
    attributes.const_size_bytes = ask(cuda::kFunctionConstantBytes);
    attributes.local_size_bytes = ask(cuda::kFunctionLocalBytes);
    attributes.num_regs = loaded.registers;
    attributes.ptx_version = ask(cuda::kFunctionPtxVersion);
    attributes.binary_version = ask(cuda::kFunctionBinaryVersion);
    attributes.cache_mode_ca = ask(cuda::kFunctionCacheModeCa);
    attributes.max_dynamic_shared_size_bytes = ask(cuda::kFunctionMaxDynamicShared);
    attributes.preferred_shared_memory_carveout = ask(cuda::kFunctionSharedCarveout);
    return attributes;
}

std::vector<KernelParameter> RawKernel::parameters(int device) const {
    const raw::LoadedKernel& loaded = kernel_->on(raw::gpu_of(device));
    return loaded.parameters.value_or(KernelSignature{});
}

void RawKernel::set_max_dynamic_shared_size_bytes(int64_t bytes) const { kernel_->set_most_shared(bytes); }

void RawKernel::set_preferred_shared_memory_carveout(int percent) const { kernel_->set_carveout(percent); }

std::pair<int64_t, int64_t> RawKernel::suggest(std::optional<int64_t> count, int64_t shared_bytes,
                                               int number) const {
    CudaDevice& device = raw::gpu_of(number);
    raw::LoadedKernel& loaded = kernel_->on(device);
    raw::allow_shared(device, kernel_->name, loaded, shared_bytes);
    int blocks = 0, threads = 0;
    {
        const cuda::Context::Scope scope(device.context());
        device.context().check(
            device.context().driver().best_block(&blocks, &threads, loaded.function, nullptr,
                                                 static_cast<size_t>(shared_bytes), 0),
            "ask how large a kernel's blocks may be");
    }
    if (!count.has_value()) return {blocks, threads};
    return {std::max<int64_t>((*count + threads - 1) / threads, 1), threads};
}

RawModule::RawModule(std::string code, RawModuleOptions options)
    : RawModule(std::vector<std::string>{std::move(code)}, std::move(options)) {}

RawModule::RawModule(std::vector<std::string> sources, RawModuleOptions options) {
    if (sources.empty()) throw ValueError("a module has a source at least");
    module_ = std::make_shared<raw::Module>(source_of(std::move(sources), {}, std::move(options)));
}

RawModule RawModule::from_files(std::vector<std::string> paths, RawModuleOptions options) {
    if (paths.empty()) throw ValueError("a module has a file at least");
    return RawModule(std::make_shared<raw::Module>(source_of({}, std::move(paths), std::move(options))));
}

std::string RawModule::compile(int device) const { return module_->on(raw::gpu_of(device))->code->log; }

RawKernel RawModule::get_function(const std::string& name) const {
    RawKernel kernel(std::make_shared<raw::Kernel>(module_, name));
    // Where there is a GPU, a wrong name is an error here.
    if (cuda::cuda_device_count() > 0) kernel.compile();
    return kernel;
}

array RawModule::get_global(const std::string& name, int number) const {
    CudaDevice& device = raw::gpu_of(number);
    const std::shared_ptr<const raw::LoadedModule> loaded = module_->on(device);
    // Of a variable the expression is its address: "&table".
    const ModuleCode& code = *loaded->code;
    const auto expression =
        code.symbols.contains(name) ? code.symbols.find(name) : code.symbols.find("&" + name);
    const std::string symbol = expression != code.symbols.end() ? expression->second : name;
    const cuda::LoadedModule::Global global = loaded->module->find_global(symbol);
    if (global.address == 0)
        throw ValueError("there is no variable " + name +
                         " in the module. One in a namespace needs the name expression \"&" + name + "\"");
    const std::shared_ptr<void> owner = std::const_pointer_cast<raw::LoadedModule>(loaded);
    return array_over(device, global.address, DType(ScalarType::kUInt8),
                      Dims{static_cast<int64_t>(global.bytes)}, Dims{1}, true, owner);
}

std::string RawModule::machine_code(int device) const {
    return module_->on(raw::gpu_of(device))->code->image;
}

std::vector<std::string> RawModule::function_names(int device) const {
    const std::shared_ptr<const raw::LoadedModule> loaded = module_->on(raw::gpu_of(device));
    std::vector<std::string> names;
    for (const std::string& symbol : loaded->symbols) names.push_back(name_of_symbol(symbol));
    return names;
}

const RawModuleOptions& RawModule::options() const { return module_->source.options; }

}  // namespace weft
