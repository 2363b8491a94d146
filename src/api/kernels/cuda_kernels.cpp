#include "api/kernels/cuda_kernels.h"

#include <memory>

#include "execution/kernels/kernel_store.h"
#include "lang/c_source/syntax/source.h"
#include "weft/errors.h"

namespace weft {

namespace {

std::vector<KernelArgument> arguments_of(const CudaKernels::Launch& how, const TakenArguments& taken) {
    std::vector<KernelArgument> arguments;
    for (const int64_t size : how.sizes) arguments.emplace_back(size);
    for (const Taken& one : taken.all()) {
        if (one.is_number()) {
            const DType type = one.value.dtype();
            arguments.emplace_back(
                KernelArgument::Bytes{bytes_of_number(one.value), "a " + std::string(type.name()), type});
            continue;
        }
        arguments.emplace_back(one.value);
        if (!one.is_raw()) continue;
        arguments.emplace_back(one.value.size());
        for (const int64_t extent : one.value.shape()) arguments.emplace_back(extent);
    }
    return arguments;
}

void count_among_fallbacks(const CudaKernels::Launch& how, DeviceBackend& device) {
    LaunchRecord record;
    record.device = &device;
    record.fallback = "NVRTC compiles it, since it is outside of weft's subset: " + how.reason;
    auto kernel = std::make_shared<StoredKernel>();  // none, so that nothing counts as compiled
    kernel->name = how.name + "()";
    record.kernel = std::move(kernel);
    record_launch(std::move(record));
}

}  // namespace

std::string Refusals::try_without(const std::string& key, const DeviceBackend& device,
                                  const std::function<void()>& work) {
    const std::string place = device.name() + "|" + key;
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = reasons_.find(place); found != reasons_.end()) return found->second;
    }
    std::string reason;
    try {
        work();
        return {};
    } catch (const lang::c_source::OutsideSubset& error) {
        if (device.is_cpu()) throw CompileError(error.what(), error.what());
        reason = error.reason();
    } catch (const NotImplementedError& error) {
        if (device.is_cpu()) throw;
        reason = error.what();
    }
    const std::lock_guard lock(mutex_);
    return reasons_.emplace(place, std::move(reason)).first->second;
}

void CudaKernels::launch(const Launch& how, const std::string& key, const std::function<std::string()>& text,
                         const TakenArguments& arguments, DeviceBackend& device) {
    std::unique_lock lock(mutex_);
    auto found = kernels_.find(key);
    if (found == kernels_.end()) {
        RawModuleOptions options;
        options.options = how.options;
        options.name = how.name + ".cu";
        found = kernels_.emplace(key, RawKernel(text(), how.name, std::move(options))).first;
    }
    const RawKernel kernel = found->second;
    lock.unlock();
    try {
        kernel.launch({how.blocks}, {how.threads}, arguments_of(how, arguments), 0, how.stream);
    } catch (const CompileError& error) {
        throw CompileError(std::string(error.what()) + "\nNVRTC compiles it, since: " + how.reason,
                           error.log());
    } catch (const DeviceError& error) {
        throw DeviceError(std::string(error.what()) + "\nNVRTC is needed, since: " + how.reason);
    }
    count_among_fallbacks(how, device);
}

}  // namespace weft
