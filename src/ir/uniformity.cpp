#include "ir/uniformity.h"

#include <algorithm>
#include <span>
#include <string>

#include "weft/errors.h"

namespace weft::ir {

namespace {

// Marks only grow, so sweeping until nothing changes ends.
class Uniformity {
public:
    explicit Uniformity(const Function& function) : function_(function), varying_(function.values.size()) {}

    std::vector<bool> run() {
        do {
            changed_ = false;
            sweep(function_.body);
        } while (changed_);
        return std::move(varying_);
    }

private:
    bool varies(ValueId value) const { return varying_[value.index]; }
    bool any_varies(const std::vector<ValueId>& values) const {
        return std::any_of(values.begin(), values.end(), [&](ValueId value) { return varies(value); });
    }
    void mark(ValueId value, bool varying) {
        if (varying && !varying_[value.index]) varying_[value.index] = changed_ = true;
    }
    void mark(const std::vector<ValueId>& values, bool varying) {
        for (ValueId value : values) mark(value, varying);
    }
    static const std::vector<ValueId>& yielded(const Region& region) { return region.body.back().operands; }

    // Whether a condition in the loop varies, so that any of its exits may be some threads' alone.
    bool any_condition_varies(const Instruction& loop) const {
        return std::any_of(loop.regions.begin(), loop.regions.end(), [&](const Region& region) {
            return std::any_of(region.body.begin(), region.body.end(), [&](const Instruction& each) {
                const std::vector<ValueId>& operands = each.operands;
                if (each.opcode == Opcode::kIf && varies(operands[0])) return true;
                if (each.opcode == Opcode::kFor &&
                    (varies(operands[0]) || varies(operands[1]) || varies(operands[2])))
                    return true;
                if (each.opcode == Opcode::kWhile && varies(yielded(each.regions[0])[0])) return true;
                return any_condition_varies(each);
            });
        });
    }

    // What exits of the loop bring along; whether it is left by some threads before others.
    bool sweep_exits(const Instruction& loop, std::span<const ValueId> carried) {
        if (!is_left(loop)) return false;
        for (const Instruction* exit : exits_of(loop)) {
            const bool breaks = exit->opcode == Opcode::kBreak;
            for (size_t i = 0; i < exit->operands.size(); i++)
                mark(breaks ? loop.results[i] : carried[i], varies(exit->operands[i]));
        }
        return any_condition_varies(loop);
    }

    void sweep(const Region& region) {
        for (const Instruction& instruction : region.body) sweep(instruction);
    }

    void sweep(const Instruction& instruction) {
        const std::vector<ValueId>& operands = instruction.operands;
        const std::vector<ValueId>& results = instruction.results;
        switch (opcode_info(instruction.opcode).uniformity) {
            case OpcodeUniformity::kWithOperands: return mark(results, any_varies(operands));
            case OpcodeUniformity::kInBlock: return mark(results, in_block_);
            case OpcodeUniformity::kOwn: break;
        }
        switch (instruction.opcode) {
            case Opcode::kParallel:
                in_block_ = instruction.level == ParallelLevel::kBlock;
                if (in_block_) mark(instruction.regions[0].arguments, true);
                sweep(instruction.regions[0]);
                in_block_ = false;
                break;
            case Opcode::kFor: {
                const Region& body = instruction.regions[0];
                bool trip = varies(operands[0]) || varies(operands[1]) || varies(operands[2]);
                mark(body.arguments[0], trip);
                if (sweep_exits(instruction, std::span(body.arguments).subspan(1))) trip = true;
                for (size_t i = 0; i < results.size(); i++) {
                    bool varying = varies(operands[3 + i]) || (yields(body) && varies(yielded(body)[i]));
                    mark(body.arguments[1 + i], varying);
                    mark(results[i], varying || trip || varies(body.arguments[1 + i]));
                }
                sweep(body);
                break;
            }
            case Opcode::kWhile: {
                const Region& condition = instruction.regions[0];
                const Region& body = instruction.regions[1];
                bool trip = varies(yielded(condition)[0]);
                if (sweep_exits(instruction, condition.arguments)) trip = true;
                for (size_t i = 0; i < operands.size(); i++) {
                    mark(condition.arguments[i],
                         varies(operands[i]) || (yields(body) && varies(yielded(body)[i])));
                }
                for (size_t i = 0; i < results.size(); i++) {
                    bool varying = varies(yielded(condition)[1 + i]);
                    mark(body.arguments[i], varying);
                    mark(results[i], varying || trip);
                }
                sweep(condition);
                sweep(body);
                break;
            }
            case Opcode::kIf:
                for (size_t i = 0; i < results.size(); i++) {
                    mark(results[i], varies(operands[0]));
                    for (const Region& region : instruction.regions)
                        mark(results[i], yields(region) && varies(yielded(region)[i]));
                }
                sweep(instruction.regions[0]);
                sweep(instruction.regions[1]);
                break;
            case Opcode::kReduce:
            case Opcode::kScan: {
                bool size = varies(operands[0]);
                mark(instruction.regions[0].arguments[0], size);
                bool varying = any_varies(operands) || any_varies(yielded(instruction.regions[0])) ||
                               any_varies(yielded(instruction.regions[1]));
                for (size_t i = 1; i < instruction.regions.size(); i++)
                    mark(instruction.regions[i].arguments, varying);
                mark(results, varying);
                for (const Region& region : instruction.regions) sweep(region);
                break;
            }
            case Opcode::kAllocate:
                mark(results, in_block_ && function_.type(results[0]).buffer.space == AddressSpace::kLocal);
                break;
            default:
                throw InternalError(std::string(opcode_name(instruction.opcode)) +
                                    ": its uniformity is not written out");
        }
    }

    const Function& function_;
    std::vector<bool> varying_;
    bool changed_ = false;
    bool in_block_ = false;
};

}  // namespace

std::vector<bool> varying_in_block(const Function& function) { return Uniformity(function).run(); }

}  // namespace weft::ir
