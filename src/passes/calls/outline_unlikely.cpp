#include "passes/calls/outline_unlikely.h"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weft::passes {

using namespace ir;

namespace {

bool has_loop(const Region& region) {
    return std::any_of(region.body.begin(), region.body.end(), [](const Instruction& each) {
        return is_loop(each.opcode) || each.opcode == Opcode::kCall || each.opcode == Opcode::kSpread ||
               each.opcode == Opcode::kEngine ||
               std::any_of(each.regions.begin(), each.regions.end(), has_loop);
    });
}

// Whether nothing in it leaves loops around it, so many inside, or the function.
bool stays_inside(const Region& region, int loops = 0) {
    return std::all_of(region.body.begin(), region.body.end(), [&](const Instruction& each) {
        if (each.opcode == Opcode::kReturn) return false;
        if (each.opcode == Opcode::kBreak || each.opcode == Opcode::kContinue) return each.depth < loops;
        const int inside = loops + (is_loop(each.opcode) ? 1 : 0);
        return std::all_of(each.regions.begin(), each.regions.end(),
                           [&](const Region& inner) { return stays_inside(inner, inside); });
    });
}

class Outliner {
public:
    Outliner(Function& function, std::vector<Function>& parts) : function_(function), parts_(parts) {
        note_constants(function.body);
    }

    void run(Region& region) {
        for (Instruction& instruction : region.body) {
            const bool is_candidate = instruction.opcode == Opcode::kIf && instruction.likely &&
                                      has_loop(instruction.regions[1]) && yields(instruction.regions[1]) &&
                                      stays_inside(instruction.regions[1]);
            if (is_candidate && outline(instruction.regions[1])) {
                run(instruction.regions[0]);
                continue;
            }
            for (Region& inner : instruction.regions) run(inner);
        }
    }

private:
    void note_constants(const Region& region) {
        for (const Instruction& each : region.body) {
            if (each.opcode == Opcode::kConstant) constants_.emplace(each.results[0].index, &each);
            for (const Region& inner : each.regions) note_constants(inner);
        }
    }

    // The values of outside that it uses, in the order of their uses.
    std::vector<ValueId> uses_of_outside(const Region& region) const {
        std::unordered_set<uint32_t> inside, found;
        std::vector<ValueId> uses;
        const std::function<void(const Region&)> walk = [&](const Region& each) {
            for (const ValueId argument : each.arguments) inside.insert(argument.index);
            for (const Instruction& instruction : each.body) {
                for (const ValueId operand : instruction.operands) {
                    if (!inside.contains(operand.index) && found.insert(operand.index).second)
                        uses.push_back(operand);
                }
                for (const Region& inner : instruction.regions) walk(inner);
                for (const ValueId result : instruction.results) inside.insert(result.index);
            }
        };
        walk(region);
        return uses;
    }

    // Puts a call in place of what the region does.
    bool outline(Region& region) {
        Function part;
        part.name = function_.name + ".part" + std::to_string(parts_.size());
        part.is_kernel = false;
        for (const ValueId use : uses_of_outside(region)) {
            const Type& type = function_.type(use);
            if (type.is_buffer && type.buffer.space != AddressSpace::kGlobal) return false;
            const auto constant = constants_.find(use.index);
            if (constant == constants_.end()) {
                part.parameters.push_back(use);
            } else {
                part.body.body.push_back(*constant->second);
            }
        }
        Instruction call{.opcode = Opcode::kCall, .operands = part.parameters};
        call.callee = part.name;
        call.lazy = true;
        for (const ValueId result : region.body.back().operands) {
            part.result_types.push_back(function_.type(result));
            call.results.push_back(
                function_.add_value(function_.type(result), function_.values[result.index].name));
        }
        part.values = function_.values;
        std::move(region.body.begin(), region.body.end(), std::back_inserter(part.body.body));
        part.body.body.back().opcode = Opcode::kReturn;
        region.body = {call, {.opcode = Opcode::kYield, .operands = call.results}};
        parts_.push_back(std::move(part));
        return true;
    }

    Function& function_;
    std::vector<Function>& parts_;
    std::unordered_map<uint32_t, const Instruction*> constants_;
};

}  // namespace

void outline_unlikely(Function& function, std::vector<Function>& parts) {
    Outliner(function, parts).run(function.body);
}

}  // namespace weft::passes
