#include "passes/integers/wrapped_indices.h"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

// check less(cast u64 (select (less given, 0), given + size, given)), cast u64 size) else raise ...
struct WrappedIndex {
    ValueId given, size, wrapped;
};

class Walker {
public:
    explicit Walker(Function& function) : function_(function) {}

    void run(Region& region, bool in_loop) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& instruction : old) {
            replaced_.apply(instruction.operands);
            for (Region& inner : instruction.regions) run(inner, in_loop || is_loop(instruction.opcode));
            if (in_loop && instruction.opcode == Opcode::kCheck) {
                const std::optional<WrappedIndex> index = find(instruction.operands[0]);
                if (index && region_of_[index->wrapped.index] == &region) {
                    look_twice(region, instruction, *index);
                    continue;
                }
            }
            if (is_of_interest(instruction)) {
                definitions_[instruction.results[0].index] = instruction;
                region_of_[instruction.results[0].index] = &region;
            }
            region.body.push_back(std::move(instruction));
        }
    }

private:
    static bool is_of_interest(const Instruction& instruction) {
        return instruction.opcode == Opcode::kConstant || instruction.opcode == Opcode::kCast ||
               (instruction.opcode == Opcode::kApply && instruction.results.size() == 1);
    }

    const Instruction* operation(ValueId value, OpId op) const {
        const auto found = definitions_.find(value.index);
        return found != definitions_.end() && found->second.opcode == Opcode::kApply &&
                       found->second.op->id == op
                   ? &found->second
                   : nullptr;
    }
    // What is cast to u64 from i64.
    std::optional<ValueId> as_unsigned(ValueId value) const {
        const auto found = definitions_.find(value.index);
        if (found == definitions_.end() || found->second.opcode != Opcode::kCast ||
            function_.type(value).scalar != ScalarType::kUInt64 ||
            function_.type(found->second.operands[0]).scalar != ScalarType::kInt64)
            return std::nullopt;
        return found->second.operands[0];
    }
    bool is_zero(ValueId value) const {
        const auto found = definitions_.find(value.index);
        return found != definitions_.end() && found->second.opcode == Opcode::kConstant &&
               found->second.constant.type == ScalarType::kInt64 && found->second.constant.as<int64_t>() == 0;
    }

    std::optional<WrappedIndex> find(ValueId condition) const {
        const Instruction* less = operation(condition, OpId::kLess);
        if (less == nullptr) return std::nullopt;
        const std::optional<ValueId> wrapped = as_unsigned(less->operands[0]);
        const std::optional<ValueId> size = as_unsigned(less->operands[1]);
        if (!wrapped || !size) return std::nullopt;
        const Instruction* select = operation(*wrapped, OpId::kSelect);
        if (select == nullptr) return std::nullopt;
        const ValueId given = select->operands[2];
        const Instruction* negative = operation(select->operands[0], OpId::kLess);
        const Instruction* sum = operation(select->operands[1], OpId::kAdd);
        if (negative == nullptr || sum == nullptr || negative->operands[0] != given ||
            !is_zero(negative->operands[1]))
            return std::nullopt;
        const bool adds_size = (sum->operands[0] == given && sum->operands[1] == *size) ||
                               (sum->operands[1] == given && sum->operands[0] == *size);
        if (!adds_size) return std::nullopt;
        return WrappedIndex{given, *size, *wrapped};
    }

    // An index that is not less than the size stays so with the size added: the sum of two that are less than
    // 2^63 is exact without a sign.
    void look_twice(Region& region, const Instruction& check, const WrappedIndex& index) {
        Builder builder(function_, region.body);
        const auto in_bounds = [&](Builder& into, ValueId at) {
            return into.apply(OpId::kLess, {into.cast(at, ScalarType::kUInt64),
                                            into.cast(index.size, ScalarType::kUInt64)});
        };
        const ValueId at = builder.if_else(
            in_bounds(builder, index.given),
            [&](Builder&, std::span<const ValueId>) { return std::vector<ValueId>{index.given}; },
            [&](Builder& inner, std::span<const ValueId>) {
                const ValueId sum = inner.apply(OpId::kAdd, {index.given, index.size});
                inner.check(in_bounds(inner, sum), check.site, std::span(check.operands).subspan(1));
                return std::vector<ValueId>{sum};
            },
            /*likely=*/true)[0];
        replaced_.set(index.wrapped, at);
    }

    Function& function_;
    Substitution replaced_;
    std::unordered_map<uint32_t, Instruction> definitions_;
    std::unordered_map<uint32_t, const Region*> region_of_;
};

}  // namespace

void wrapped_indices(const Module&, Function& function) {
    if (function.is_kernel) return;
    Walker(function).run(function.body, false);
}

}  // namespace weft::passes
