#include "passes/threads/thread_walks.h"

#include <algorithm>
#include <span>
#include <utility>

namespace weft::passes {

using namespace ir;

namespace {

using Values = std::vector<ValueId>;

constexpr int64_t kWeightOfLoop = 8;

}  // namespace

bool is_operation(const Instruction* instruction, OpId op) {
    return instruction != nullptr && instruction->opcode == Opcode::kApply && instruction->op->id == op;
}

void for_each_operand(const Instruction& instruction, const std::function<void(ValueId)>& visit) {
    for (const ValueId operand : instruction.operands) visit(operand);
    for (const Region& region : instruction.regions) {
        for (const Instruction& inner : region.body) for_each_operand(inner, visit);
    }
}

bool returns(const Region& region) {
    return std::ranges::any_of(region.body, [](const Instruction& each) {
        return each.opcode == Opcode::kReturn || std::ranges::any_of(each.regions, returns);
    });
}

ThreadLines::ThreadLines(const Function& function, const Instruction& threads, const Instruction& walk)
    : function_(function), walk_(walk) {
    set(threads.regions[0].arguments[0], {1, 1});
    follow(threads.regions[0], 1);
}

ThreadLines::Line ThreadLines::line(ValueId value) const {
    const auto found = lines_.find(value.index);
    return found == lines_.end() ? Line{} : found->second;
}

ThreadLines::Line ThreadLines::line_of(const Instruction& instruction) const {
    Line all;
    for_each_operand(instruction, [&](ValueId operand) { all.depends |= line(operand).depends; });
    if (instruction.opcode == Opcode::kCast) all.rises = line(instruction.operands[0]).rises;
    if (is_operation(&instruction, OpId::kAdd) || is_operation(&instruction, OpId::kSubtract)) {
        const Line a = line(instruction.operands[0]), b = line(instruction.operands[1]);
        all.rises = a.rises & ~b.depends;
        if (instruction.op->id == OpId::kAdd) all.rises |= b.rises & ~a.depends;
    }
    return all;
}

void ThreadLines::follow(const Region& region, int64_t weight) {
    for (const Instruction& each : region.body) {
        const Line known = line_of(each);
        for (const Region& inner : each.regions) {
            for (const ValueId argument : inner.arguments) set(argument, {known.depends, 0});
            if (each.opcode == Opcode::kFor)
                set(inner.arguments[0], {known.depends, line(each.operands[0]).rises});
            if (&each == &walk_ && each.opcode == Opcode::kFor) {
                const Line first = line(each.operands[0]);
                set(inner.arguments[0], {first.depends | 2, first.rises | 2});
            }
            follow(inner, is_loop(each.opcode) ? weight * kWeightOfLoop : weight);
        }
        for (const ValueId result : each.results) set(result, known);
        vote(each, weight);
    }
}

void ThreadLines::vote(const Instruction& instruction, int64_t weight) {
    const size_t first = opcode_info(instruction.opcode).index;
    if (first == 0 || instruction.operands.empty()) return;
    const Type& type = function_.type(instruction.operands[0]);
    if (!type.is_buffer || type.buffer.space != AddressSpace::kGlobal) return;
    for (size_t d = 0; d < type.buffer.strides.size(); ++d) {
        if (type.buffer.strides[d] != DType(type.buffer.element).itemsize()) continue;
        const unsigned rises = line(instruction.operands[first + d]).rises;
        votes_ += (rises & 1U) != 0 ? weight : 0;
        votes_ -= (rises & 2U) != 0 ? weight : 0;
    }
}

void CountedWalk::append(Builder& builder, Substitution& results) {
    const ValueId start = loop_.operands[place_], zero = builder.index(0), one = builder.index(1);
    ComputedValues values(function_, sources_, loop_.regions.back().arguments);
    const ValueId end = values.append(builder, end_, {}), step = values.append(builder, step_, {});
    const ValueId distance = builder.apply(OpId::kSubtract, {end, start});
    const ValueId by = builder.apply(OpId::kMaximum, {step, one});
    const ValueId steps =
        builder.apply(OpId::kFloorDivide, {builder.apply(OpId::kSubtract, {distance, one}), by});
    const ValueId count = builder.apply(OpId::kSelect, {builder.apply(OpId::kLess, {start, end}),
                                                        builder.apply(OpId::kAdd, {steps, one}), zero});
    Values initials;
    for (size_t k = 0; k < carried_.size(); ++k) initials.push_back(loop_.operands[carried_[k]]);
    builder.set_loop_site(loop_.site);
    const Region& body = loop_.regions.back();
    const size_t shift = loop_.opcode == Opcode::kFor ? 2 : 0;  // of operands against arguments
    const Values found = builder.for_loop(
        zero, count, one, initials, [&](Builder& inner, std::span<const ValueId> arguments) -> Values {
            Copier copier(function_);
            copier.map(body.arguments[place_],
                       inner.apply(OpId::kAdd, {start, inner.apply(OpId::kMultiply, {arguments[0], step})}));
            for (size_t k = 0; k < carried_.size(); ++k)
                copier.map(body.arguments[carried_[k] - shift], arguments[k + 1]);
            for (size_t i = 0; i + 1 < body.body.size(); ++i) {
                if (&body.body[i] != test_) inner.append(copier.copy(body.body[i]));
            }
            const Values yielded = copier.mapped(body.body.back().operands);
            Values result;
            for (const size_t k : carried_)
                result.push_back(yielded[loop_.opcode == Opcode::kFor ? k - 3 : k]);
            return result;
        });
    for (size_t k = 0; k < carried_.size(); ++k)
        results.set(loop_.results[loop_.opcode == Opcode::kFor ? carried_[k] - 3 : carried_[k]], found[k]);
    if (loop_.opcode == Opcode::kWhile) {
        const ValueId moved = builder.apply(OpId::kMultiply, {count, step});
        results.set(loop_.results[place_], builder.apply(OpId::kAdd, {start, moved}));
    }
}

bool CountedWalk::find_in_for(const ThreadLines& lines) {
    end_ = loop_.operands[1];
    step_ = loop_.operands[2];
    for (size_t k = 3; k < loop_.operands.size(); ++k) carried_.push_back(k);
    return !is_left(loop_) && !returns(loop_.regions[0]) && !lines.varies(end_) && !lines.varies(step_) &&
           lines.varies(loop_.operands[0]);
}

bool CountedWalk::find(const ThreadLines& lines) {
    const Region &condition = loop_.regions[0], &body = loop_.regions[1];
    const size_t count = loop_.operands.size();
    const std::vector<Instruction>& first = condition.body;
    const bool is_plain =
        first.size() == 2 && first[0].opcode == Opcode::kConstant && yields(condition) &&
        first[0].constant.as<uint8_t>() != 0 && yields(body) && first[1].operands.size() == count + 1 &&
        std::equal(condition.arguments.begin(), condition.arguments.end(), first[1].operands.begin() + 1);
    if (!is_plain || exits_of(loop_).size() != 1 || returns(body)) return false;
    Sources& sources = sources_;
    for (const Instruction& each : body.body) {
        for (const ValueId result : each.results) sources[result.index] = &each;
        if (each.opcode == Opcode::kIf && test_ == nullptr) {
            test_ = &each;
        } else if (test_ == nullptr && !only_computes(each)) {
            return false;
        }
    }
    if (test_ == nullptr || test_->regions[0].body.size() != 1 || !yields(test_->regions[0])) return false;
    const std::vector<Instruction>& leaves = test_->regions[1].body;
    if (leaves.size() != 1 || leaves[0].opcode != Opcode::kBreak || leaves[0].depth != 0 ||
        leaves[0].operands != body.arguments)
        return false;
    const auto source_of = [&](ValueId value) {
        const auto found = sources.find(value.index);
        return found == sources.end() ? nullptr : found->second;
    };
    const Instruction* const holds = source_of(test_->operands[0]);
    const bool is_less = is_operation(holds, OpId::kLess);
    if (!is_less && !is_operation(holds, OpId::kGreater)) return false;
    const ValueId counter = holds->operands[is_less ? 0 : 1];
    end_ = holds->operands[is_less ? 1 : 0];
    place_ = static_cast<size_t>(std::ranges::find(body.arguments, counter) - body.arguments.begin());
    if (place_ == count || function_.type(counter).scalar != ScalarType::kInt64) return false;
    const Instruction* const next = source_of(body.body.back().operands[place_]);
    if (!is_operation(next, OpId::kAdd)) return false;
    step_ = next->operands[next->operands[0] == counter ? 1 : 0];
    if (next->operands[next->operands[0] == counter ? 0 : 1] != counter) return false;
    ComputedValues values(function_, sources_, body.arguments);
    for (const ValueId value : {end_, step_}) {
        if (lines.varies(value) || values.varies(value) || !values.is_computed(value)) return false;
    }
    for (size_t k = 0; k < count; ++k) {
        if (k != place_) carried_.push_back(k);
    }
    return lines.varies(loop_.operands[place_]);
}

std::optional<WalkSteps> steps_of(const Sources& sources, ValueId count) {
    const auto source_of = [&](ValueId value) -> const Instruction* {
        const auto found = sources.find(value.index);
        return found == sources.end() ? nullptr : found->second;
    };
    const auto without_casts = [&](ValueId value) {
        for (const Instruction* source = source_of(value);
             source != nullptr && source->opcode == Opcode::kCast; source = source_of(value))
            value = source->operands[0];
        return value;
    };
    // `value` as an operation whose second operand is the least that it may be, or so.
    const auto first_of = [&](ValueId& value, OpId op) {
        const Instruction* const source = source_of(without_casts(value));
        if (!is_operation(source, op)) return false;
        value = source->operands[0];
        return true;
    };
    const Instruction* const select = source_of(count);
    if (!is_operation(select, OpId::kSelect)) return std::nullopt;
    const Instruction* const holds = source_of(select->operands[0]);
    if (!is_operation(holds, OpId::kLess)) return std::nullopt;
    ValueId steps = select->operands[1];
    if (!first_of(steps, OpId::kAdd)) return std::nullopt;
    first_of(steps, OpId::kMinimum);
    const Instruction* const quotient = source_of(without_casts(steps));
    if (!is_operation(quotient, OpId::kFloorDivide)) return std::nullopt;
    ValueId distance = quotient->operands[0], step = quotient->operands[1];
    if (!first_of(distance, OpId::kSubtract)) return std::nullopt;
    const Instruction* const difference = source_of(without_casts(distance));
    if (!is_operation(difference, OpId::kSubtract)) return std::nullopt;
    const WalkSteps result{holds->operands[0], holds->operands[1], step};
    if (difference->operands[0] != result.end || difference->operands[1] != result.start) return std::nullopt;
    if (!first_of(step, OpId::kMaximum)) return std::nullopt;
    return WalkSteps{result.start, result.end, step};
}

}  // namespace weft::passes
