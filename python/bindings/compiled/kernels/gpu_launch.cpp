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
#include "device/device.h"
#include "execution/fallback.h"
#include "jit/gpu_kernel.h"
#include "jit/specialisation.h"
#include "lang/exceptions/classes.h"
#include "weft/errors.h"

namespace weft::python {

namespace {

nb::object refuse(DeviceBackend& device, const std::string& reason) {
    record_fallback(device, reason.c_str(), 0);
    return nb::str(reason.c_str());
}

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

}  // namespace

nb::object launch_on_gpu(JitObject* self, std::span<PyObject* const> given, LaunchPlan& plan) {
    constexpr size_t kOwn = 3;
    refresh(self);
    State& state = *self->state;
    GpuArrays arrays(device_of_launch(given.subspan(kOwn)));
    if (DeviceBackend* const device = &arrays.device(); state.options.device != device) {
        if (state.options.device != nullptr)
            state.of_other_devices[state.options.device] = std::move(state.compiled);
        state.compiled = std::move(state.of_other_devices[device]);
        state.options.device = device;
    }
    if (!plan.is_known) {
        plan.sizes = launch_sizes(given);
        plan.block = type_of_block(state, plan.sizes.block);
        plan.is_known = true;
    }
    CallArguments arguments(state.functions);
    arguments.use_gpu(arrays);
    add_arguments(state, given, arguments, plan.block);
    if (!arguments.lists().empty() || !arguments.generators().empty())
        return refuse(arrays.device(), "lists and generators cannot be arguments of kernels for GPUs yet");
    const auto key = [&] { return std::vector<uint64_t>(arguments.key().begin(), arguments.key().end()); };
    if (!state.refusals.empty()) [[unlikely]] {
        if (const auto refused = state.refusals.find(key()); refused != state.refusals.end())
            return refuse(arrays.device(), refused->second);
    }
    std::shared_ptr<Compiled> compiled;
    try {
        compiled = find_code(self, arguments);
    } catch (const NotImplementedError& error) {
        return refuse(arrays.device(), state.refusals[key()] = error.what());
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
        if (!code->sites.empty() || code->meets_grid) thrower = thrower_of(compiled, code);
        arrays.note(code->written, turn.number(), std::move(thrower));
    }
    record.end(*compiled, *code, arguments);
    arrays.finish(code->name, code->written);
    return nb::none();
}

}  // namespace weft::python
