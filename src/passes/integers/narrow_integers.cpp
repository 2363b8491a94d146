#include "passes/integers/narrow_integers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ops/interval.h"
#include "weft/errors.h"

namespace weft::passes {

using namespace ir;

namespace {

using Wide = __int128;

Wide value_of(const Constant& constant) {
    switch (constant.type) {
        case ScalarType::kInt8: return constant.as<int8_t>();
        case ScalarType::kInt16: return constant.as<int16_t>();
        case ScalarType::kInt32: return constant.as<int32_t>();
        case ScalarType::kInt64: return constant.as<int64_t>();
        case ScalarType::kUInt8: return constant.as<uint8_t>();
        case ScalarType::kUInt16: return constant.as<uint16_t>();
        case ScalarType::kUInt32: return constant.as<uint32_t>();
        default: return constant.as<uint64_t>();
    }
}

constexpr std::array kNarrow = {ScalarType::kInt16, ScalarType::kInt32};

class Narrowing {
public:
    explicit Narrowing(Function& function) : function_(function) {}

    void run(Region& region) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& instruction : old) {
            for (Region& inner : instruction.regions) run(inner);
            Builder builder(function_, region.body);
            if (narrow(builder, instruction)) {
                region.body.push_back({.opcode = Opcode::kCast,
                                       .operands = {narrow_.at(instruction.results[0].index)},
                                       .results = instruction.results});
                continue;
            }
            use_narrow_source(instruction);
            region.body.push_back(instruction);
            note(region.body.back());
        }
    }

private:
    DType type_of(ValueId value) const { return DType(function_.type(value).scalar); }

    std::optional<Interval> interval(ValueId value) const {
        if (function_.type(value).is_buffer) return std::nullopt;
        const auto found = intervals_.find(value.index);
        return found != intervals_.end() ? found->second : interval_of(type_of(value));
    }

    // What is known of a result that stays as wide as it is.
    void note(const Instruction& instruction) {
        if (instruction.opcode == Opcode::kConstant) {
            if (!DType(instruction.constant.type).is_integer()) return;
            const Wide value = value_of(instruction.constant);
            intervals_[instruction.results[0].index] = {value, value};
            constants_[instruction.results[0].index] = value;
        } else if (instruction.opcode == Opcode::kCast) {
            const ValueId from = instruction.operands[0], to = instruction.results[0];
            const std::optional<Interval> given = interval(from), all = interval_of(type_of(to));
            if (!given || !all || !all->contains(*given)) return;
            intervals_[to.index] = *given;
            // As it was before it was made wide, or made narrow before that.
            narrow_[to.index] = narrow_.contains(from.index) ? narrow_.at(from.index) : from;
        } else if (instruction.opcode == Opcode::kApply && instruction.results.size() == 1) {
            if (const std::optional<Interval> result = result_of(instruction))
                intervals_[instruction.results[0].index] = *result;
        }
    }

    // Of an operation that does not wrap around.
    std::optional<Interval> result_of(const Instruction& instruction) const {
        const std::optional<Interval> all = interval_of(type_of(instruction.results[0]));
        if (!all || instruction.operands.size() > 3) return std::nullopt;
        std::array<Interval, 3> operands{};
        for (size_t k = 0; k < instruction.operands.size(); ++k) {
            const std::optional<Interval> operand = interval(instruction.operands[k]);
            if (!operand) return std::nullopt;
            operands[k] = *operand;
        }
        const std::optional<Interval> result =
            interval_of(*instruction.op, {operands.data(), instruction.operands.size()});
        return result && all->contains(*result) ? result : std::nullopt;
    }

    // Where its source is a value in a narrower type, a cast takes that.
    void use_narrow_source(Instruction& instruction) const {
        if (instruction.opcode != Opcode::kCast) return;
        const auto found = narrow_.find(instruction.operands[0].index);
        if (found != narrow_.end()) instruction.operands[0] = found->second;
    }

    bool is_selection(const Instruction& instruction) const {
        return instruction.op->facts.range == RangeRule::kSelect;
    }

    // The operation in a narrower type, from operands that are made so. False where there is none.
    bool narrow(Builder& builder, const Instruction& instruction) {
        if (instruction.opcode != Opcode::kApply || instruction.results.size() != 1) return false;
        const size_t first = is_selection(instruction) ? 1 : 0;
        const size_t count = instruction.operands.size();
        if (count <= first || count > 3) return false;
        const DType own = type_of(instruction.operands[first]);
        if (!own.is_integer() || own.itemsize() <= 2) return false;
        const bool compares = instruction.op->kind == OpKind::kComparison;
        const std::optional<Interval> result = compares ? std::nullopt : result_of(instruction);
        if (!compares && !result) return false;
        bool any_narrow = false;
        for (size_t k = first; k < count; ++k) {
            if (type_of(instruction.operands[k]) != own) return false;
            any_narrow |= narrow_.contains(instruction.operands[k].index);
        }
        if (!any_narrow) return false;
        for (const ScalarType type : kNarrow) {
            if (DType(type).itemsize() >= own.itemsize()) return false;
            const Interval all = *interval_of(DType(type));
            bool fits = compares || all.contains(*result);
            for (size_t k = first; k < count; ++k) fits &= all.contains(*interval(instruction.operands[k]));
            if (!fits) continue;
            std::vector<ScalarType> types(count, type);
            if (first == 1) types[0] = ScalarType::kBool;
            const LoopInfo* const loop = find_loop(*instruction.op, types);
            if (loop == nullptr || loop->types[count] != (compares ? ScalarType::kBool : type)) return false;
            std::vector<ValueId> operands = instruction.operands;
            for (size_t k = first; k < count; ++k) operands[k] = in_type(builder, operands[k], type);
            const ValueId value = builder.apply(*instruction.op, operands);
            narrow_[instruction.results[0].index] = value;
            if (result) intervals_[instruction.results[0].index] = intervals_[value.index] = *result;
            return true;
        }
        return false;
    }

    ValueId in_type(Builder& builder, ValueId value, ScalarType type) {
        if (const auto constant = constants_.find(value.index); constant != constants_.end()) {
            const auto known = static_cast<int32_t>(constant->second);
            return builder.constant(type == ScalarType::kInt16
                                        ? Constant::of(type, static_cast<int16_t>(known))
                                        : Constant::of(type, known));
        }
        const auto found = narrow_.find(value.index);
        return builder.cast(found != narrow_.end() ? found->second : value, type);
    }

    Function& function_;
    std::unordered_map<uint32_t, Interval> intervals_;
    std::unordered_map<uint32_t, ValueId> narrow_;  // the same value in a narrower type
    std::unordered_map<uint32_t, Wide> constants_;
};

}  // namespace

void narrow_integers(const Module&, Function& function) {
    if (function.is_kernel) Narrowing(function).run(function.body);
}

}  // namespace weft::passes
