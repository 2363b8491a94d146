#include "passes/threads/computed_values.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

bool only_computes(const Instruction& instruction) {
    return instruction.opcode == Opcode::kConstant || instruction.opcode == Opcode::kApply ||
           instruction.opcode == Opcode::kCast || instruction.opcode == Opcode::kView;
}

const Instruction* ComputedValues::source_of(ValueId value) const {
    const auto found = sources_.find(value.index);
    return found == sources_.end() ? nullptr : found->second;
}

bool ComputedValues::is_argument(ValueId value) const {
    return std::ranges::find(arguments_, value) != arguments_.end();
}

bool ComputedValues::varies(ValueId value) {
    if (is_argument(value)) return true;
    const Instruction* const source = source_of(value);
    if (source == nullptr) return false;
    if (const auto known = varies_.find(value.index); known != varies_.end()) return known->second;
    // What stands in its regions may follow from anything.
    bool result = !source->regions.empty();
    for (const ValueId operand : source->operands) result |= varies(operand);
    return varies_[value.index] = result;
}

bool ComputedValues::is_computed(ValueId value) {
    const Instruction* const source = is_argument(value) ? nullptr : source_of(value);
    if (source == nullptr) return true;
    if (const auto known = is_computed_.find(value.index); known != is_computed_.end()) return known->second;
    bool result = only_computes(*source);
    for (const ValueId operand : source->operands) result = result && is_computed(operand);
    return is_computed_[value.index] = result;
}

bool ComputedValues::rises(ValueId value) {
    if (value == arguments_.front()) return true;
    const Instruction* const source = source_of(value);
    if (source == nullptr || source->opcode != Opcode::kApply || source->op->id != OpId::kAdd ||
        function_.type(value).scalar != ScalarType::kInt64)
        return false;
    const ValueId a = source->operands[0], b = source->operands[1];
    if (!varies(b)) return rises(a);
    return !varies(a) && rises(b);
}

ValueId ComputedValues::append(Builder& builder, ValueId value, ValueId first) {
    Copier copier(function_);
    copier.map(arguments_.front(), first);
    std::unordered_set<uint32_t> copied;
    const std::function<void(ValueId)> bring = [&](ValueId needed) {
        const Instruction* const source = is_argument(needed) ? nullptr : source_of(needed);
        if (source == nullptr || copied.contains(needed.index)) return;
        for (const ValueId operand : source->operands) bring(operand);
        for (const ValueId result : source->results) copied.insert(result.index);
        builder.append(copier.copy(*source));
    };
    bring(value);
    return copier.mapped({value})[0];
}

}  // namespace weft::passes
