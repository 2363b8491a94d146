#include "api/recording/record_fast.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "api/fast/power_shortcuts.h"
#include "api/recording/record.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/storage.h"

namespace weft {

namespace {

constexpr size_t kMaxInputs = 3;

// The first array, if all have its shape, are on its device and not exported, and the call is not one for
// try_call.
const array* layout_operand_of(std::span<const GivenOperand> inputs) {
    const array* layout_operand = nullptr;
    for (const GivenOperand& input : inputs) {
        const array* value = input.value;
        if (value == nullptr) continue;
        if (value->storage()->exported()) return nullptr;
        if (layout_operand == nullptr) {
            layout_operand = value;
        } else if (&value->storage()->device != &layout_operand->storage()->device ||
                   !(value->shape() == layout_operand->shape())) {
            return nullptr;
        }
    }
    if (layout_operand == nullptr || layout_operand->ndim() == 0) return nullptr;
    const int64_t count = layout_operand->size();
    return count == 0 || (layout_operand->storage()->device.is_cpu() && is_small(count)) ? nullptr
                                                                                         : layout_operand;
}

// Whether all operands lie as the first does, in C order without gaps, with elements of the result's size.
bool is_plain(const array& layout_operand, std::span<const Dims* const> strides, int64_t itemsize) {
    if (itemsize != layout_operand.itemsize()) return false;
    int64_t expected = itemsize;
    for (size_t d = layout_operand.shape().size(); d-- > 0; expected *= layout_operand.shape()[d]) {
        if (layout_operand.strides()[d] != expected) return false;
    }
    return std::all_of(strides.begin() + 1, strides.end(),
                       [&](const Dims* other) { return *other == layout_operand.strides(); });
}

bool read(const array& value, Operand& operand) {
    {
        Storage& storage = *value.storage();
        const std::lock_guard lock(storage.mutex);
        if (storage.exported()) return false;
        storage.current.resolve();
        operand.source = storage.current;
    }
    operand.dtype = value.dtype();
    operand.strides = value.strides();
    operand.offset = value.offset();
    return true;
}

}  // namespace

bool record_call(const OpInfo& op, std::span<GivenOperand> inputs, array& result) {
    if (op.nout != 1 || inputs.size() > kMaxInputs || may_be_strength_reduced(op, inputs)) return false;
    const array* layout_operand = layout_operand_of(inputs);
    if (layout_operand == nullptr) return false;
    OperandType types[kMaxInputs] = {DType(), DType(), DType()};
    for (size_t k = 0; k < inputs.size(); ++k) types[k] = inputs[k].type;
    const LoopInfo& loop = find_loop_cached(op, {types, inputs.size()});
    if (op.flags.checks_negative_exponent && DType(loop.types[1]).is_signed_integer()) return false;
    const Dims& shape = layout_operand->shape();
    const NodePtr node = unnumbered_node();
    node->inputs.reserve(inputs.size());
    const Dims* strides[kMaxInputs];
    size_t arrays = 0;
    for (size_t k = 0; k < inputs.size(); ++k) {
        Operand& operand = node->inputs.emplace_back();
        if (inputs[k].value != nullptr) {
            if (!read(*inputs[k].value, operand)) return false;
            strides[arrays++] = &inputs[k].value->strides();
            continue;
        }
        if (!inputs[k].convert(loop.types[k])) return false;
        operand.dtype = loop.types[k];
        std::memcpy(operand.constant.data(), inputs[k].number, static_cast<size_t>(operand.dtype.itemsize()));
        operand.strides = Dims(shape.size());
    }
    assign_number(*node);
    node->device = &layout_operand->storage()->device;
    node->op = &op;
    node->loop = static_cast<int>(&loop - op.loops.data());
    node->shape = shape;
    node->results.reserve(1);
    NodeResult& stored = node->results.emplace_back();
    stored.dtype = loop.types[inputs.size()];
    stored.bytes = checked_bytes(shape, stored.dtype);
    stored.strides = is_plain(*layout_operand, {strides, arrays}, stored.dtype.itemsize())
                         ? layout_operand->strides()
                         : k_order_strides(shape, {strides, arrays}, stored.dtype.itemsize());
    result = array_of(node, 0, shape);
    recorded(node);
    // Another thread may have begun to show an operand's memory since it was read above.
    for (const GivenOperand& input : inputs) {
        if (input.value == nullptr || !is_exported(*input.value)) [[likely]]
            continue;
        evaluate({&node, 1});
        break;
    }
    return true;
}

}  // namespace weft
