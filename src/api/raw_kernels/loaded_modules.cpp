#include "api/raw_kernels/loaded_modules.h"

#include <algorithm>
#include <list>
#include <utility>

#include "device/devices.h"
#include "execution/kernels/kernel_store.h"
#include "weft/errors.h"

namespace weft::raw {

using cuda::CudaDevice;

namespace {

// "scale, shift<float>, shift<int>".
std::string names_in(const LoadedModule& loaded) {
    std::vector<std::string> names;
    for (const std::string& symbol : loaded.symbols) names.push_back(name_of_symbol(symbol));
    constexpr size_t kMost = 20;
    std::string list;
    for (size_t k = 0; k < std::min(names.size(), kMost); ++k) list += (k == 0 ? "" : ", ") + names[k];
    return names.size() > kMost ? list + " and " + std::to_string(names.size() - kMost) + " more" : list;
}

// The symbol of a kernel or a variable by the name that the program has for it.
std::string symbol_of(const LoadedModule& loaded, const std::string& name) {
    const auto expression = loaded.code->symbols.find(name);
    if (expression != loaded.code->symbols.end()) return expression->second;
    // What is no template and is not overloaded needs no name expression.
    std::string found;
    for (const std::string& symbol : loaded.symbols) {
        if (symbol == name) return name;
        if (name_of_symbol(symbol) != name) continue;
        if (!found.empty()) return name;
        found = symbol;
    }
    return found.empty() ? name : found;
}

// Programs make kernels of the same source again and again: the last ones stay loaded.
class KeptModules {
public:
    // Those of the code on the device; null where it is not among them.
    std::shared_ptr<const LoadedModule> find(const ModuleCode* code, const CudaDevice* device) {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) {
            return each.module->code.get() == code && each.device == device;
        });
        if (found == kept_.end()) return nullptr;
        kept_.splice(kept_.begin(), kept_, found);
        return found->module;
    }
    void add(const std::shared_ptr<const LoadedModule>& module, const CudaDevice* device) {
        std::shared_ptr<const LoadedModule> last;  // unloaded without the lock, as that waits for the device
        const std::lock_guard lock(mutex_);
        kept_.push_front({module, device});
        if (kept_.size() <= kMost) return;
        last = std::move(kept_.back().module);
        kept_.pop_back();
    }

private:
    static constexpr size_t kMost = 128;
    struct Kept {
        std::shared_ptr<const LoadedModule> module;
        const CudaDevice* device;
    };
    std::mutex mutex_;
    std::list<Kept> kept_;  // the one that was used last first
};

KeptModules& kept_modules() {
    static auto* const kept = new KeptModules;  // the driver may be gone when statics are destroyed
    return *kept;
}

}  // namespace

CudaDevice& gpu_of(int number) {
    if (number >= 0) return cuda::cuda_device(number);
    DeviceBackend& current = current_device();
    return current.is_cpu() ? cuda::cuda_device(0) : static_cast<CudaDevice&>(current);
}

std::shared_ptr<const LoadedModule> Module::on(CudaDevice& device) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const LoadedModule>& place = loaded_[&device];
    if (place != nullptr) return place;
    auto made = std::make_shared<LoadedModule>();
    made->code = compile_module(source, device.context().facts().capability);
    if (auto kept = kept_modules().find(made->code.get(), &device)) return place = std::move(kept);
    try {
        made->module = std::make_unique<cuda::LoadedModule>(device.context(), made->code->image);
    } catch (const DeviceError& error) {
        if (device.context().ruined() || source.paths.empty()) throw;
        throw DeviceError(source.paths[0] + " is not for " + device.name() + ", which is sm_" +
                          std::to_string(device.context().facts().capability) + ": " + error.what());
    }
    for (const auto& [symbol, signature] : made->code->kernels) made->symbols.push_back(symbol);
    if (made->symbols.empty()) made->symbols = made->module->function_symbols();
    kept_modules().add(made, &device);
    return place = std::move(made);
}

LoadedKernel& Kernel::on(CudaDevice& device) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<LoadedKernel>& place = loaded_[&device];
    if (place != nullptr) return *place;
    auto made = std::make_unique<LoadedKernel>();
    made->module = module->on(device);
    const std::string symbol = symbol_of(*made->module, name);
    made->function = made->module->module->find_function(symbol);
    if (made->function == nullptr) {
        const std::string names = names_in(*made->module);
        throw ValueError(
            "there is no kernel " + name + (names.empty() ? "" : ": there are " + names) +
            ". Templates need name_expressions, and extern \"C\" kernels are found by their names "
            "(CUDA_ERROR_NOT_FOUND: named symbol not found)");
    }
    cuda::Context& context = device.context();
    const auto known = made->module->code->kernels.find(symbol);
    if (known != made->module->code->kernels.end()) made->parameters = known->second;
    if (const auto bytes = cuda::parameter_bytes(context, made->function)) {
        KernelSignature by_driver(bytes->size());
        for (size_t k = 0; k < bytes->size(); ++k) by_driver[k].bytes = static_cast<int64_t>((*bytes)[k]);
        const KernelSignature before =
            made->parameters.has_value() ? *made->parameters : signature_of_symbol(symbol);
        refine(by_driver, before);
        made->parameters = std::move(by_driver);
    }
    made->most_threads = cuda::attribute_of(context, made->function, cuda::kFunctionMostThreads);
    made->registers = cuda::attribute_of(context, made->function, cuda::kFunctionRegisters);
    made->shared_bytes = cuda::attribute_of(context, made->function, cuda::kFunctionSharedBytes);
    auto record = std::make_shared<StoredKernel>();
    record->name = name + "()";
    record->compile_seconds = made->module->code->seconds;
    record->is_function = true;
    made->record = std::move(record);
    place = std::move(made);
    if (most_shared_.has_value()) allow_shared(device, name, *place, *most_shared_);
    if (carveout_.has_value())
        cuda::set_attribute(context, place->function, cuda::kFunctionSharedCarveout, *carveout_,
                            "share its memory out");
    return *place;
}

void Kernel::set_most_shared(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    for (const auto& [device, loaded] : loaded_) allow_shared(*device, name, *loaded, bytes);
    most_shared_ = bytes;
}

void Kernel::set_carveout(int percent) {
    const std::lock_guard lock(mutex_);
    for (const auto& [device, loaded] : loaded_)
        cuda::set_attribute(device->context(), loaded->function, cuda::kFunctionSharedCarveout, percent,
                            "share its memory out");
    carveout_ = percent;
}

void allow_shared(CudaDevice& device, const std::string& kernel, LoadedKernel& loaded,
                  int64_t dynamic_bytes) {
    const auto most = static_cast<int64_t>(device.context().facts().shared_per_block);
    const int64_t bytes = loaded.shared_bytes + dynamic_bytes;
    if (dynamic_bytes < 0 || bytes > most)
        throw ValueError("a block of " + kernel + "() needs " + std::to_string(bytes) +
                         " bytes of shared memory (" + std::to_string(loaded.shared_bytes) +
                         " of its own and " + std::to_string(dynamic_bytes) + " of the launch), and " +
                         device.name() + " has " + std::to_string(most) + " for a block");
    if (bytes <= loaded.allowed_bytes.load(std::memory_order_relaxed)) return;
    cuda::set_attribute(device.context(), loaded.function, cuda::kFunctionMaxDynamicShared,
                        static_cast<int>(dynamic_bytes), "give a kernel its shared memory");
    loaded.allowed_bytes = bytes;
}

}  // namespace weft::raw
