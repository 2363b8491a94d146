#include "compiled/kernels/gpu_launch.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/recording/kernel_launch.h"
#include "codegen/runtime/spread.h"
#include "compiled/arguments.h"
#include "compiled/call_record.h"
#include "compiled/dispatcher.h"
#include "compiled/kernels/gpu_arrays.h"
#include "compiled/running.h"
#include "device/cuda/driver.h"
#include "device/device.h"
#include "execution/fallback.h"
#include "jit/gpu_kernel.h"
#include "jit/specialisation.h"
#include "lang/exceptions/classes.h"
#include "weft/errors.h"

namespace weft::python {

namespace {

// What a launch may have to tell of later, on whatever thread. It has Python's objects.
LaunchErrorThrower thrower_of(const std::shared_ptr<Compiled>& compiled,
                              const std::shared_ptr<const jit::Specialisation>& code) {
    struct Kept {
        std::shared_ptr<Compiled> compiled;
        std::shared_ptr<const jit::Specialisation> code;
    };
    const std::shared_ptr<const Kept> kept(new Kept{compiled, code}, [](const Kept* each) {
        if (!may_take_gil()) return;
        const GilAcquire acquire;
        delete each;
    });
    return [kept](const LaunchError& error) {
        const GilAcquire acquire;
        if (error.status == codegen::kStopped)
            throw RuntimeError(
                kept->code->name +
                "(): the first thread of a block ended before the grid's barrier, to which all "
                "threads of a grid must come on a GPU");
        if (error.status == int64_t{ir::kTooDeep} + 1) throw_too_deep();
        const uint32_t site = lang::site_of_error(static_cast<uint32_t>(error.status - 1));
        if (site >= kept->code->sites.size()) throw RuntimeError("a kernel has failed without a reason");
        raise(*kept->compiled, kept->code->sites[site], error.values);
    };
}

// The sizes of a block as constants, with which indices of threads are known to be in bounds; null where
// there is code for many sizes already.
lang::TypeRef type_of_block(State& state, const std::array<int64_t, 3>& block) {
    constexpr size_t kMost = 8;
    if (std::find(state.block_sizes.begin(), state.block_sizes.end(), block) == state.block_sizes.end()) {
        if (state.block_sizes.size() >= kMost) return nullptr;
        state.block_sizes.push_back(block);
    }
    std::vector<lang::TypeRef> axes;
    for (const int64_t size : block)
        axes.push_back(lang::literal_type(Constant::of(ScalarType::kInt64, size)));
    return lang::tuple_type(std::move(axes));
}

constexpr size_t kOwn = 3;  // arguments of a launcher before the kernel's

// Devices with kernels that print. The GIL guards them.
std::vector<DeviceBackend*>& printing_devices() {
    static auto* const devices = new std::vector<DeviceBackend*>;
    return *devices;
}

// The driver writes what kernels have printed when somebody waits for them: at the latest when the program
// ends, which does that for these.
void wait_at_end(DeviceBackend& device) {
    std::vector<DeviceBackend*>& devices = printing_devices();
    if (std::find(devices.begin(), devices.end(), &device) == devices.end()) devices.push_back(&device);
}

// The code for arguments; where GPUs have not what it needs, the reason.
struct Found {
    std::shared_ptr<Compiled> compiled{};
    std::string refusal{};
};

// `block`: its sizes as constants, or null.
Found find_on_gpu(JitObject* self, Given given, lang::TypeRef block, GpuArrays& arrays,
                  CallArguments& arguments) {
    State& state = *self->state;
    if (DeviceBackend* const device = &arrays.device(); state.options.device != device) {
        if (state.options.device != nullptr)
            state.of_other_devices[state.options.device] = std::move(state.compiled);
        state.compiled = std::move(state.of_other_devices[device]);
        state.options.device = device;
    }
    arguments.use_gpu(arrays);
    add_arguments(state, given, arguments, block);
    if (!arguments.lists().empty() || !arguments.generators().empty())
        return {.refusal = "lists and generators cannot be arguments of kernels for GPUs yet"};
    const auto key = [&] { return std::vector<uint64_t>(arguments.key().begin(), arguments.key().end()); };
    if (!state.refusals.empty()) [[unlikely]] {
        if (const auto refused = state.refusals.find(key()); refused != state.refusals.end())
            return {.refusal = refused->second};
    }
    try {
        return {.compiled = find_code(self, arguments)};
    } catch (const NotImplementedError& error) {
        return {.refusal = state.refusals[key()] = error.what()};
    }
}

}  // namespace

nb::object launch_on_gpu(JitObject* self, std::span<PyObject* const> given, LaunchPlan& plan) {
    refresh(self);
    State& state = *self->state;
    GpuArrays arrays(device_of_launch(given.subspan(kOwn)));
    if (!plan.is_known) {
        plan.sizes = launch_sizes(given);
        plan.block = type_of_block(state, plan.sizes.block);
        plan.is_known = true;
    }
    CallArguments arguments(state.functions);
    const auto [compiled, refusal] = find_on_gpu(self, given, plan.block, arrays, arguments);
    if (compiled == nullptr) {
        record_fallback(arrays.device(), refusal.c_str(), 0);
        return nb::str(refusal.c_str());
    }
    std::shared_ptr<const jit::Specialisation> code = compiled->code;
    if (arguments.overlaps(code->written)) [[unlikely]] {
        if (compiled->overlap == nullptr)
            compiled->overlap = compile_code(self, compiled->program, arguments, true);
        code = compiled->overlap;
    }
    ++compiled->calls;
    const CallRecord record;
    {
        const LaunchTurn turn(arrays.device());
        jit::launch(*code->gpu, {arguments.words().data(), arguments.words().size()}, plan.sizes,
                    turn.number());
        LaunchErrorThrower thrower;
        if (!code->sites.empty() || code->meets_grid || code->gpu->recursive)
            thrower = thrower_of(compiled, code);
        arrays.note(code->written, turn.number(), std::move(thrower));
    }
    if (code->tells) [[unlikely]]
        wait_at_end(arrays.device());
    record.end(*compiled, *code, arguments);
    arrays.finish(code->name, code->written);
    return nb::none();
}

void finish_printing() {
    const std::vector<DeviceBackend*> devices = printing_devices();
    const GilRelease release;
    for (DeviceBackend* device : devices) {
        if (!cuda::lost_by_fork() && !device->is_lost()) device->synchronize();
    }
}

nb::object compile_on_gpu(JitObject* self, std::span<PyObject* const> given) {
    refresh(self);
    GpuArrays arrays(device_of_launch(given.subspan(kOwn)));
    if (arrays.device().is_cpu()) throw RuntimeError("there is no GPU to compile for");
    CallArguments arguments(self->state->functions);
    const Found found = find_on_gpu(self, given, nullptr, arrays, arguments);
    return found.compiled != nullptr ? nb::none() : nb::object(nb::str(found.refusal.c_str()));
}

}  // namespace weft::python
