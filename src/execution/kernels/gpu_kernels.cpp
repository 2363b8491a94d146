#include "execution/kernels/gpu_kernels.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "codegen/ptx/compiler.h"
#include "codegen/service/kernel_cache.h"
#include "core/config.h"
#include "core/log.h"
#include "core/optimisation_switches.h"
#include "device/cuda/cuda_device.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "weft/errors.h"

namespace weft {

namespace {

using cuda::CudaDevice;
using cuda::CudaKernel;

constexpr int kNewestTarget = 90;  // of the code generator; the driver takes it on to newer devices
constexpr size_t kMaxKernels = 4096;

// What a variant takes for granted, from the most to the least.
struct Variant {
    bool wide, unaligned;
    const char* name;
};
constexpr std::array<Variant, 4> kVariants{{{false, false, "narrow"},
                                            {false, true, "narrow unaligned"},
                                            {true, false, "wide"},
                                            {true, true, "wide unaligned"}}};

struct Entry {
    std::shared_ptr<const StoredKernel> kernel;
    std::string refusal;  // why there is none
};

// Of the process, by the device they are loaded on; used under the evaluation lock, which lets one thread
// find and compile at a time, and by those who forget them.
struct Store {
    std::mutex mutex;
    std::unordered_map<std::string, Entry> kernels;
    uint64_t generation = 0;
};

Store& store() {
    static auto* instance = new Store;  // arrays may be evaluated while the process exits
    return *instance;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::shared_ptr<const StoredKernel> make(const KernelForm& form, const std::string& form_key,
                                         CudaDevice& device, const Variant& variant, bool& fresh) {
    const int capability = device.context().facts().capability;
    const std::string libdevice = codegen::find_libdevice();
    // The device's name keeps what a fake driver assembled apart from what a driver did.
    const std::string target = device.context().facts().name + " sm_" + std::to_string(capability) + " " +
                               variant.name + " driver " + std::to_string(device.context().driver().version) +
                               " libdevice " + libdevice;
    const std::string disk_key = codegen::gpu_cache_key(form_key, target);
    auto stored = std::make_shared<StoredKernel>();
    stored->name = form.name();
    const bool printed = debug_enabled(DebugLevel::kIr, stored->name);
    if (!printed) {
        if (auto cached = codegen::find_gpu_kernel_in_cache(disk_key)) {
            try {
                stored->compiled = device.load(std::move(cached->image), cached->machine_code);
                stored->ir = std::move(cached->ir);
                return stored;
            } catch (const DeviceError&) {
                if (device.context().ruined()) throw;
                codegen::drop_from_cache(disk_key);
            }
        }
    }
    const ir::Module module = lower(form, KernelTarget::kGpu);
    stored->ir = ir::print(module);
    for (const ir::Function& kernel : module.functions) {
        if (config().verify.load(std::memory_order_relaxed)) ir::check(kernel, &module);
    }
    if (printed) log_line("kernel IR\n" + stored->ir);
    const auto start = std::chrono::steady_clock::now();
    codegen::PtxOptions options;
    options.sm = std::min(capability, kNewestTarget);
    options.wide = variant.wide;
    options.unaligned = variant.unaligned;
    options.libdevice = libdevice;
    if (form.then != nullptr) options.second = module.functions[1].name;
    options.fast_math = config().fast_math.load(std::memory_order_relaxed);
    CudaKernelImage image = codegen::compile_ptx(module, module.functions[0].name, options);
    image.ptx.insert(0, codegen::as_comments(ir::print(lower(form))));
    codegen::CachedGpuKernel kept;
    kept.machine_code = device.assemble(image);
    image.ptx.clear();
    image.compile_seconds = seconds_since(start);
    stored->compile_seconds = image.compile_seconds;
    kept.image = image;
    kept.ir = stored->ir;
    stored->compiled = device.load(std::move(image), kept.machine_code);
    codegen::keep_gpu_kernel_in_cache(disk_key, kept);
    fresh = true;
    return stored;
}

}  // namespace

std::shared_ptr<const StoredKernel> find_or_compile_for_gpu(const KernelForm& form, DeviceBackend& device,
                                                            std::span<const ArgumentWord> words,
                                                            std::span<const int64_t> grid, bool& fresh) {
    fresh = false;
    Store& all = store();
    const std::lock_guard lock(all.mutex);
    if (all.generation != kernel_generation() || all.kernels.size() > kMaxKernels) {
        all.kernels.clear();
        all.generation = kernel_generation();
    }
    const std::string form_key = form.key() + "-" + settings_key();
    std::string refusal;
    for (const Variant& variant : kVariants) {
        const auto [position, inserted] =
            all.kernels.try_emplace(form_key + "@" + device.name() + " " + variant.name);
        Entry& entry = position->second;
        if (inserted) {
            try {
                entry.kernel = make(form, form_key, static_cast<CudaDevice&>(device), variant, fresh);
            } catch (const NotImplementedError& error) {
                entry.refusal = error.what();
            } catch (...) {
                all.kernels.erase(position);
                throw;
            }
        }
        if (entry.kernel == nullptr) throw NotImplementedError(entry.refusal);
        if (fits(*entry.kernel, words, grid)) return entry.kernel;
    }
    throw NotImplementedError("a grid, or strides, of more than a kernel for GPUs can count");
}

bool fits(const StoredKernel& kernel, std::span<const ArgumentWord> words, std::span<const int64_t> grid) {
    return fits(static_cast<const CudaKernel&>(*kernel.compiled).description, words, grid);
}

}  // namespace weft
