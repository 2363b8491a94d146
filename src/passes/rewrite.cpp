#include "passes/rewrite.h"

#include <algorithm>

namespace weft::passes {

using namespace ir;

Instruction Copier::copy(const Instruction& instruction) {
    Instruction result = instruction;
    map_.apply(result.operands);
    for (size_t i = 0; i < result.regions.size(); i++) result.regions[i] = copy(instruction.regions[i]);
    result.results = copy_definitions(instruction.results);
    return result;
}

Region Copier::copy(const Region& region) {
    Region result;
    result.arguments = copy_definitions(region.arguments);
    result.body.reserve(region.body.size());
    for (const Instruction& instruction : region.body) result.body.push_back(copy(instruction));
    return result;
}

std::vector<ValueId> Copier::copy_definitions(const std::vector<ValueId>& values) {
    std::vector<ValueId> copies;
    for (ValueId value : values) {
        // Copied first: the source may be the target, whose table grows.
        ValueInfo info = source_.values[value.index];
        if (scopes_ != nullptr) info.type = scopes_->in_caller(std::move(info.type));
        copies.push_back(target_.add_value(std::move(info.type), std::move(info.name)));
        map_.set(value, copies.back());
    }
    return copies;
}

std::vector<ValueId> Copier::append(Builder& builder, const Region& region,
                                    std::span<const ValueId> arguments) {
    for (size_t i = 0; i < arguments.size(); i++) map(region.arguments[i], arguments[i]);
    for (size_t i = 0; i + 1 < region.body.size(); i++) builder.append(copy(region.body[i]));
    return mapped(region.body.back().operands);
}

std::vector<ValueId> append_copy(Builder& builder, const Region& region, std::span<const ValueId> arguments,
                                 const Function* source, const CallScopes* scopes) {
    return Copier(builder.function(), source, scopes).append(builder, region, arguments);
}

uint16_t unused_alias_scope(const Function& function) {
    uint16_t scope = 0;
    for (const ValueInfo& value : function.values) scope = std::max(scope, value.type.buffer.alias_scope);
    return static_cast<uint16_t>(scope + 1);
}

bool has_no_effect(const Instruction& instruction) {
    switch (opcode_info(instruction.opcode).effect) {
        case OpcodeEffect::kValue:
        case OpcodeEffect::kNone: return true;
        case OpcodeEffect::kOfRegions:
            return std::all_of(instruction.regions.begin(), instruction.regions.end(),
                               [](const Region& region) {
                                   return std::all_of(region.body.begin(), region.body.end(), has_no_effect);
                               });
        case OpcodeEffect::kWrite:
        case OpcodeEffect::kOther: break;
    }
    return false;
}

bool is_meeting(const Instruction& instruction) {
    return instruction.opcode == Opcode::kBarrier || instruction.opcode == Opcode::kIntrinsic;
}

bool has_meeting(const Region& region) {
    return std::any_of(region.body.begin(), region.body.end(), [](const Instruction& instruction) {
        return is_meeting(instruction) ||
               std::any_of(instruction.regions.begin(), instruction.regions.end(), has_meeting);
    });
}

bool divides_integers(const Function& function, const Instruction& instruction) {
    return instruction.opcode == Opcode::kApply &&
           (instruction.op->id == OpId::kFloorDivide || instruction.op->id == OpId::kRemainder ||
            instruction.op->id == OpId::kFmod) &&
           !DType(function.type(instruction.operands[0]).scalar).is_floating();
}

}  // namespace weft::passes
