#include "api/kernels/taken_arguments.h"

#include "core/shape.h"
#include "device/devices.h"
#include "graph/placement.h"
#include "graph/storage.h"
#include "weft/errors.h"
#include "weft/ops.h"

namespace weft {

namespace {

using lang::c_source::ArgumentKind;

array in_c_order(const array& value) { return value.c_contiguous() ? value : copy(value, 'C'); }

}  // namespace

DeviceBackend& device_of_kernel(const std::string& name, const KernelArguments& arguments) {
    DeviceBackend* device = nullptr;
    const auto meet = [&](const array& one) {
        if (device != nullptr && device != &device_of(one))
            throw ValueError("arrays of " + name + "() are on " + device->name() + " and on " +
                             device_of(one).name() + ": move one with x.to_device(...)");
        device = &device_of(one);
    };
    for (const std::optional<array>& one : arguments.inputs) {
        if (one) meet(*one);
    }
    for (const array& one : arguments.outputs) meet(one);
    return device != nullptr ? *device : current_device();
}

TakenArguments::TakenArguments(std::span<const lang::c_source::Parameter> inputs,
                               std::span<const lang::c_source::Parameter> outputs,
                               const KernelArguments& arguments, const KernelTypes& types,
                               const Dims& shape) {
    for (size_t k = 0; k < inputs.size(); ++k) {
        Taken& taken = all_.emplace_back();
        if (!arguments.inputs[k]) {
            const DeviceScope on_cpu(cpu_device());
            taken.how.kind = ArgumentKind::kNumber;
            taken.value = converted_number(arguments.numbers[k], types.inputs[k]);
        } else if (inputs[k].is_raw) {
            taken.how = {ArgumentKind::kRaw, static_cast<size_t>(arguments.inputs[k]->ndim())};
            taken.value = in_c_order(*arguments.inputs[k]);
        } else {
            taken.value = in_c_order(broadcast_to(*arguments.inputs[k], shape));
        }
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
        Taken& taken = all_.emplace_back();
        taken.is_output = true;
        array output =
            arguments.outputs.empty() ? full(shape, Integer(0), types.outputs[k]) : arguments.outputs[k];
        if (outputs[k].is_raw) taken.how = {ArgumentKind::kRaw, static_cast<size_t>(output.ndim())};
        taken.value = in_c_order(output);
        if (!output.c_contiguous()) taken.target = output;
        results_.push_back(std::move(output));
    }
}

std::string TakenArguments::key() const {
    std::string key;
    for (const Taken& one : all_)
        key += "|" + std::to_string(static_cast<int>(one.how.kind)) + ":" + std::to_string(one.how.rank);
    return key;
}

bool TakenArguments::share_memory() const {
    for (size_t k = 0; k < all_.size(); ++k) {
        if (!all_[k].is_output) continue;
        for (size_t j = 0; j < all_.size(); ++j) {
            if (j != k && !all_[j].is_number() && all_[j].value.storage() == all_[k].value.storage())
                return true;
        }
    }
    return false;
}

void TakenArguments::write_back() const {
    for (const Taken& one : all_) {
        if (one.target.valid()) assign(one.target, one.value, Casting::kUnsafe);
    }
}

std::vector<char> bytes_of_number(const array& number) {
    std::vector<char> bytes(static_cast<size_t>(number.itemsize()));
    copy_out(number, bytes.data());
    return bytes;
}

}  // namespace weft
