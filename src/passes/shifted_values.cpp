#include "passes/shifted_values.h"

#include <algorithm>
#include <vector>

namespace weft::passes {

using namespace ir;

namespace {

constexpr int64_t kFarthest = int64_t{1} << 20;  // so that sums of shifts stay exact
constexpr int kMostCost = 1 << 20;

}  // namespace

ShiftedValues::ShiftedValues(const Function& function, const Constants& constants, const Instruction& loop)
    : function_(function), constants_(constants), counter_(loop.regions[0].arguments[0]) {
    const Region& body = loop.regions[0];
    if (!yields(body) || !note_effects(body)) return;
    is_known_ = true;
    for (size_t i = 1; i < body.arguments.size(); i++) carried_.insert(body.arguments[i].index);
    values_[counter_.index] = {.shape = shape_of("counter"), .shift = 0, .is_linear = true, .is_unit = true};
    for (const Instruction& instruction : body.body) {
        for (const ValueId result : instruction.results) definitions_.emplace(result.index, &instruction);
    }
    for (const Instruction& instruction : body.body) add(instruction);
}

// False of loops that do more than compute, read and write.
bool ShiftedValues::note_effects(const Region& region) {
    return std::all_of(region.body.begin(), region.body.end(), [&](const Instruction& instruction) {
        if (instruction.opcode == Opcode::kStore)
            written_.insert(function_.type(instruction.operands[0]).buffer.alias_scope);
        if (instruction.opcode == Opcode::kLoad)
            read_.insert(function_.type(instruction.operands[0]).buffer.alias_scope);
        const bool is_simple = is_value(instruction.opcode) || instruction.opcode == Opcode::kLoad ||
                               instruction.opcode == Opcode::kStore || instruction.opcode == Opcode::kIf ||
                               instruction.opcode == Opcode::kYield;
        return is_simple && std::all_of(instruction.regions.begin(), instruction.regions.end(),
                                        [&](const Region& inner) { return note_effects(inner); });
    });
}

bool ShiftedValues::writes_what_it_reads() const {
    return std::any_of(written_.begin(), written_.end(),
                       [&](uint16_t scope) { return read_.contains(scope); });
}

uint32_t ShiftedValues::shape_of(const std::string& key) {
    return shapes_.emplace(key, static_cast<uint32_t>(shapes_.size())).first->second;
}

const ShiftedValue* ShiftedValues::find(ValueId value) const {
    const auto found = values_.find(value.index);
    return found == values_.end() ? nullptr : &found->second;
}

const Instruction* ShiftedValues::definition(ValueId value) const {
    const auto found = definitions_.find(value.index);
    return found == definitions_.end() ? nullptr : found->second;
}

std::optional<int64_t> ShiftedValues::constant(ValueId value) const {
    if (const auto own = own_constants_.find(value.index); own != own_constants_.end()) return own->second;
    const auto found = constants_.find(value.index);
    return found == constants_.end() ? std::nullopt : std::optional(found->second);
}

ShiftedValue ShiftedValues::outside(ValueId value) {
    return {.shape = shape_of("value " + std::to_string(value.index))};
}

std::optional<ShiftedValue> ShiftedValues::counter_plus(const Instruction& instruction) {
    if (instruction.opcode != Opcode::kApply ||
        (instruction.op->id != OpId::kAdd && instruction.op->id != OpId::kSubtract))
        return std::nullopt;
    ValueId moved = instruction.operands[0], by = instruction.operands[1];
    if (instruction.op->id == OpId::kAdd && constant(moved)) std::swap(moved, by);
    const ShiftedValue* from = find(moved);
    const std::optional<int64_t> distance = constant(by);
    if (from == nullptr || !from->is_unit || !distance || *distance < -kFarthest || *distance > kFarthest)
        return std::nullopt;
    ShiftedValue result = *from;
    *result.shift += instruction.op->id == OpId::kAdd ? *distance : -*distance;
    if (*result.shift < -kFarthest || *result.shift > kFarthest) return std::nullopt;
    return result;
}

void ShiftedValues::add(const Instruction& instruction) {
    const Opcode opcode = instruction.opcode;
    if (opcode == Opcode::kConstant && instruction.constant.type == ScalarType::kInt64)
        own_constants_.emplace(instruction.results[0].index, instruction.constant.as<int64_t>());
    const bool is_expression = opcode == Opcode::kConstant || opcode == Opcode::kCast ||
                               opcode == Opcode::kLoad || opcode == Opcode::kApply;
    if (!is_expression || instruction.results.size() != 1 || instruction.predicated) return;
    // In between two places a divisor may be zero.
    if (divides_integers(function_, instruction) && !constant(instruction.operands[1])) return;
    if (opcode == Opcode::kLoad &&
        written_.contains(function_.type(instruction.operands[0]).buffer.alias_scope))
        return;
    if (const auto moved = counter_plus(instruction)) {
        values_.emplace(instruction.results[0].index, *moved);
        return;
    }

    std::vector<ShiftedValue> operands;
    ShiftedValue result;
    size_t shifted = 0;
    for (const ValueId operand : instruction.operands) {
        const ShiftedValue* known = find(operand);
        if (known == nullptr && (definition(operand) != nullptr || carried_.contains(operand.index))) return;
        operands.push_back(known != nullptr ? *known : outside(operand));
        const ShiftedValue& last = operands.back();
        if (last.shift) result.shift = std::min(result.shift.value_or(*last.shift), *last.shift);
        if (last.shift) shifted++;
        // Between two places that are read, any other may be read, too.
        if (opcode == Opcode::kLoad && last.shift && !last.is_linear) return;
        // Where to read follows the counter, which costs next to nothing.
        if (opcode != Opcode::kLoad) result.cost += last.cost;
        result.reads |= last.reads;
    }
    if (opcode == Opcode::kApply && shifted == 1 &&
        function_.type(instruction.results[0]).scalar == ScalarType::kInt64) {
        const OpId op = instruction.op->id;
        const bool adds = op == OpId::kAdd || op == OpId::kSubtract;
        const bool is_first = operands[0].shift.has_value();
        const ShiftedValue& moving = operands[is_first ? 0 : 1];
        result.is_linear = moving.is_linear && (adds || op == OpId::kMultiply);
        result.is_unit = moving.is_unit && (op == OpId::kAdd || (op == OpId::kSubtract && is_first));
    }
    result.reads |= opcode == Opcode::kLoad;
    if (opcode == Opcode::kApply && result.reads) result.cost += instruction.op->cost;
    if (opcode == Opcode::kApply && !result.reads && instruction.op->cost > 1)
        result.cost += instruction.op->cost;
    if (opcode == Opcode::kLoad || (opcode == Opcode::kCast && result.reads)) result.cost++;
    result.cost = std::min(result.cost, kMostCost);

    std::string key;
    const auto append = [&](const auto& part) {
        key.append(reinterpret_cast<const char*>(&part), sizeof(part));
    };
    append(opcode);
    append(function_.type(instruction.results[0]).scalar);
    append(instruction.op);
    append(instruction.loop);
    if (opcode == Opcode::kConstant) append(instruction.constant.bytes);
    for (const ShiftedValue& operand : operands) {
        append(operand.shape);
        append(operand.shift ? *operand.shift - *result.shift : int64_t{-1});
    }
    result.shape = shape_of(key);
    values_.emplace(instruction.results[0].index, result);
}

ValueId ShiftedValues::append(Builder& builder, Copier& copier, std::unordered_set<uint32_t>& copied,
                              ValueId value) const {
    const Instruction* instruction = definition(value);
    if (instruction != nullptr && copied.insert(value.index).second) {
        for (const ValueId operand : instruction->operands) append(builder, copier, copied, operand);
        builder.append(copier.copy(*instruction));
    }
    return copier.mapped({value})[0];
}

}  // namespace weft::passes
