#include "passes/conditions_at_ends.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

void add_constants(const Region& region, Constants& constants) {
    for (const Instruction& each : region.body) {
        if (each.opcode == Opcode::kConstant && each.constant.type == ScalarType::kInt64)
            constants[each.results[0].index] = each.constant.as<int64_t>();
        for (const Region& inner : each.regions) add_constants(inner, constants);
    }
}

Constants find_constants(const Function& function) {
    Constants constants;
    add_constants(function.body, constants);
    return constants;
}

bool ConditionsAtEnds::add(ValueId condition) {
    const std::optional<bool> varying = add_code(condition);
    std::vector<std::pair<ValueId, bool>> lines;
    if (!varying || !find_lines(condition, lines)) return false;
    conditions_.push_back(condition);
    lines_.insert(lines_.end(), lines.begin(), lines.end());
    return true;
}

bool ConditionsAtEnds::add_uniform(ValueId condition) {
    if (add_code(condition) != std::optional(false)) return false;
    conditions_.push_back(condition);
    return true;
}

ValueId ConditionsAtEnds::build(Builder& builder, Function& function, ValueId first, ValueId last) const {
    ValueId holds = builder.constant(Constant::of(ScalarType::kBool, uint8_t{1}));
    const auto conjoin = [&](ValueId condition) {
        holds = builder.apply(OpId::kLogicalAnd, {holds, condition});
    };
    Copier at_first(function), at_last(function);
    at_first.map(counter_, first);
    at_last.map(counter_, last);
    for (const auto& [instruction, varying] : code_) {
        Instruction copy = at_first.copy(*instruction);
        if (!varying) {
            for (size_t i = 0; i < copy.results.size(); ++i)
                at_last.map(instruction->results[i], copy.results[i]);
        }
        builder.append(std::move(copy));
        if (varying) builder.append(at_last.copy(*instruction));
    }
    for (const auto& [value, rises] : lines_) {
        const ValueId low = at_first.mapped({value})[0], high = at_last.mapped({value})[0];
        conjoin(builder.apply(rises ? OpId::kLessEqual : OpId::kGreaterEqual, {low, high}));
    }
    for (const ValueId condition : conditions_) {
        conjoin(at_first.mapped({condition})[0]);
        conjoin(at_last.mapped({condition})[0]);
    }
    return holds;
}

// The instructions behind a value; whether it varies.
std::optional<bool> ConditionsAtEnds::add_code(ValueId value) {
    if (value == counter_) return true;
    if (const auto known = varies_.find(value.index); known != varies_.end()) return known->second;
    const std::optional<const Instruction*> source = source_(value);
    if (!source) return std::nullopt;
    if (*source == nullptr) return false;
    const Instruction& instruction = **source;
    const bool is_pure = instruction.opcode == Opcode::kConstant || instruction.opcode == Opcode::kApply ||
                         instruction.opcode == Opcode::kCast;
    if (!is_pure) return std::nullopt;
    if (divides_integers(function_, instruction) && constant_or_zero(instruction.operands[1]) <= 0)
        return std::nullopt;
    bool varying = false;
    for (const ValueId operand : instruction.operands) {
        const std::optional<bool> of_operand = add_code(operand);
        if (!of_operand) return std::nullopt;
        varying |= *of_operand;
    }
    code_.emplace_back(&instruction, varying);
    for (const ValueId result : instruction.results) varies_[result.index] = varying;
    return varying;
}

bool ConditionsAtEnds::varies(ValueId value) const {
    if (value == counter_) return true;
    const auto found = varies_.find(value.index);
    return found != varies_.end() && found->second;
}

bool ConditionsAtEnds::find_lines(ValueId condition, std::vector<std::pair<ValueId, bool>>& lines) const {
    if (!varies(condition)) return true;
    const Instruction& instruction = **source_(condition);
    if (instruction.opcode != Opcode::kApply) return false;
    switch (instruction.op->id) {
        case OpId::kLogicalAnd:
            return find_lines(instruction.operands[0], lines) && find_lines(instruction.operands[1], lines);
        case OpId::kLess:
        case OpId::kLessEqual:
        case OpId::kGreater:
        case OpId::kGreaterEqual:
            return std::all_of(instruction.operands.begin(), instruction.operands.end(),
                               [&](ValueId side) { return add_line(side, lines); });
        default: return false;
    }
}

// An int64 that goes up or down with the counter, as it is or without its sign.
bool ConditionsAtEnds::add_line(ValueId value, std::vector<std::pair<ValueId, bool>>& lines) const {
    if (!varies(value)) return true;
    const std::optional<const Instruction*> source = value == counter_ ? std::nullopt : source_(value);
    if (source && (*source)->opcode == Opcode::kCast && function_.type(value).scalar == ScalarType::kUInt64)
        return add_line((*source)->operands[0], lines);
    return function_.type(value).scalar == ScalarType::kInt64 && slope_of(value, lines) != 0;
}

// 1 or -1; 0 where it is not known. Sums rise as long as they do not run over the end of int64, which their
// ends tell: an iteration adds one, so there are fewer than 2**64 steps between them.
int ConditionsAtEnds::slope_of(ValueId value, std::vector<std::pair<ValueId, bool>>& lines) const {
    if (value == counter_) return 1;
    const Instruction& instruction = **source_(value);
    if (instruction.opcode != Opcode::kApply) return 0;
    const bool left = varies(instruction.operands[0]), right = varies(instruction.operands[1]);
    if (left == right) return 0;
    switch (instruction.op->id) {
        case OpId::kAdd:
        case OpId::kSubtract: {
            const int inner = slope_of(instruction.operands[left ? 0 : 1], lines);
            if (inner == 0) return 0;
            const int slope = right && instruction.op->id == OpId::kSubtract ? -inner : inner;
            lines.emplace_back(value, slope > 0);
            return slope;
        }
        case OpId::kRightShift:
        case OpId::kFloorDivide:
            if (right || constant_or_zero(instruction.operands[1]) <= 0) return 0;
            return slope_of(instruction.operands[0], lines);
        default: return 0;
    }
}

bool ConditionsAtEnds::goes_in_steps(ValueId value) const {
    const std::optional<const Instruction*> source = value == counter_ ? std::nullopt : source_(value);
    if (!source || *source == nullptr) return false;
    const Instruction& instruction = **source;
    if (instruction.opcode == Opcode::kApply &&
        (instruction.op->id == OpId::kRightShift || instruction.op->id == OpId::kFloorDivide))
        return true;
    return std::any_of(instruction.operands.begin(), instruction.operands.end(),
                       [&](ValueId operand) { return goes_in_steps(operand); });
}

int64_t ConditionsAtEnds::constant_or_zero(ValueId value) const {
    const auto found = constants_.find(value.index);
    return found == constants_.end() ? 0 : found->second;
}

}  // namespace weft::passes
