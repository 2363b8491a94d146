#include "passes/loops_in_blocks.h"

#include <cstdint>
#include <utility>

#include "passes/rewrite.h"

namespace weft::passes {

using namespace ir;

namespace {

class Walker {
public:
    Walker(Function& function, const LoopReplacement& replacement, bool takes_lanes, Constants constants)
        : function_(function),
          replacement_(replacement),
          takes_lanes_(takes_lanes),
          constants_(std::move(constants)) {}

    void run(Region& region) {
        std::vector<Instruction> old = std::move(region.body);
        region.body.clear();
        for (Instruction& instruction : old) {
            apply(instruction);
            if (is_counted(instruction)) {
                Region expansion;
                Builder builder(function_, expansion.body);
                if (const auto results = replacement_(builder, instruction, constants_)) {
                    for (size_t i = 0; i < results->size(); ++i)
                        replaced_.set(instruction.results[i], (*results)[i]);
                    for (Instruction& inner : expansion.body) region.body.push_back(std::move(inner));
                    continue;
                }
            }
            for (Region& inner : instruction.regions) run(inner);
            region.body.push_back(std::move(instruction));
        }
    }

private:
    bool is_counted(const Instruction& instruction) const {
        if (instruction.opcode != Opcode::kFor || (instruction.lanes != 1 && !takes_lanes_)) return false;
        const auto step = constants_.find(instruction.operands[2].index);
        return step != constants_.end() && step->second == 1;
    }
    void apply(Instruction& instruction) {
        replaced_.apply(instruction.operands);
        for (Region& inner : instruction.regions) {
            for (Instruction& each : inner.body) apply(each);
        }
    }

    Function& function_;
    const LoopReplacement& replacement_;
    const bool takes_lanes_;
    const Constants constants_;
    Substitution replaced_;
};

}  // namespace

void replace_loops(Function& function, const LoopReplacement& replacement, bool takes_lanes) {
    Walker(function, replacement, takes_lanes, find_constants(function)).run(function.body);
}

void replace_loops(Function& function, Region& region, const LoopReplacement& replacement, bool takes_lanes) {
    Constants constants = find_constants(function);
    add_constants(region, constants);
    Walker(function, replacement, takes_lanes, std::move(constants)).run(region);
}

ValueId count_iterations(Builder& builder, ValueId lower, ValueId upper) {
    const ValueId difference = builder.apply(OpId::kSubtract, {upper, lower});
    const ValueId is_more =
        builder.apply(OpId::kLogicalAnd, {builder.apply(OpId::kLess, {lower, upper}),
                                          builder.apply(OpId::kLess, {difference, builder.index(0)})});
    return builder.apply(OpId::kSelect, {is_more, builder.index(INT64_MAX), difference});
}

std::vector<ValueId> append_in_blocks(
    Builder& builder, const Instruction& loop, ValueId width,
    const std::function<std::vector<ValueId>(Builder&, const IterationBlock&)>& body) {
    const ValueId lower = loop.operands[0], upper = loop.operands[1];
    const std::vector<ValueId> initials(loop.operands.begin() + 3, loop.operands.end());
    const ValueId none = builder.index(0), one = builder.index(1);
    const ValueId total = count_iterations(builder, lower, upper);
    return builder.for_loop(none, total, width, initials,
                            [&](Builder& outer, std::span<const ValueId> arguments) {
                                IterationBlock block;
                                block.begin = outer.apply(OpId::kAdd, {lower, arguments[0]});
                                const ValueId left = outer.apply(OpId::kSubtract, {total, arguments[0]});
                                block.count = outer.apply(OpId::kMinimum, {left, width});
                                block.end = outer.apply(OpId::kAdd, {block.begin, block.count});
                                block.last = outer.apply(OpId::kSubtract, {block.end, one});
                                block.carried.assign(arguments.begin() + 1, arguments.end());
                                return body(outer, block);
                            });
}

std::vector<ValueId> append_for_block(Builder& builder, Function& function, const Instruction& loop,
                                      const IterationBlock& block) {
    Copier copier(function);
    Instruction copy = copier.copy(loop);
    copy.operands = {block.begin, block.end, loop.operands[2]};
    copy.operands.insert(copy.operands.end(), block.carried.begin(), block.carried.end());
    return builder.append(std::move(copy)).results;
}

}  // namespace weft::passes
