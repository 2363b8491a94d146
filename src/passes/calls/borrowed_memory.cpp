#include "passes/calls/borrowed_memory.h"

#include <algorithm>
#include <vector>

namespace weft::passes {

using namespace ir;

namespace {

bool counts(const Instruction& instruction) {
    return instruction.opcode == Opcode::kRetain || instruction.opcode == Opcode::kRelease;
}

// What is known of a value that may be an owner.
struct Owner {
    bool is_counted = false;
    bool is_kept = false;  // it is more than counted and given to calls, which keep what they need themselves
    bool is_parameter = false, is_made = false;
};

class Owners {
public:
    explicit Owners(const Function& function) : owners_(function.values.size()) {
        for (const ValueId parameter : function.parameters) of(parameter).is_parameter = true;
        look(function.body);
    }

    bool any() const {
        return std::any_of(owners_.begin(), owners_.end(), [](const Owner& each) {
            return each.is_counted && !each.is_kept && (each.is_parameter || each.is_made);
        });
    }
    bool is_borrowed(ValueId value) const {
        const Owner& owner = owners_[value.index];
        return owner.is_parameter && !owner.is_kept;
    }
    bool is_own(ValueId value) const {
        const Owner& owner = owners_[value.index];
        return owner.is_made && !owner.is_kept;
    }

private:
    Owner& of(ValueId value) { return owners_[value.index]; }

    void look(const Region& region) {
        for (const Instruction& each : region.body) {
            for (const ValueId operand : each.operands) {
                if (counts(each)) {
                    of(operand).is_counted = true;
                } else if (each.opcode != Opcode::kCall) {
                    of(operand).is_kept = true;
                }
            }
            if (each.opcode == Opcode::kHeap || each.opcode == Opcode::kCall) {
                for (const ValueId result : each.results) of(result).is_made = true;
            }
            for (const Region& inner : each.regions) look(inner);
        }
    }

    std::vector<Owner> owners_;
};

bool releases(const Instruction& instruction, ValueId owner) {
    if (instruction.opcode == Opcode::kRelease && instruction.operands[0] == owner) return true;
    return std::any_of(instruction.regions.begin(), instruction.regions.end(), [&](const Region& region) {
        return std::any_of(region.body.begin(), region.body.end(),
                           [&](const Instruction& each) { return releases(each, owner); });
    });
}

void leave_out(Region& region, const Owners& owners) {
    for (Instruction& each : region.body) {
        for (Region& inner : each.regions) leave_out(inner, owners);
    }
    std::vector<bool> gone(region.body.size());
    for (size_t i = 0; i < region.body.size(); ++i) {
        const Instruction& each = region.body[i];
        if (gone[i] || !counts(each)) continue;
        const ValueId owner = each.operands[0];
        if (owners.is_borrowed(owner)) {
            gone[i] = true;
        } else if (each.opcode == Opcode::kRetain && owners.is_own(owner)) {
            // With the next release, where that stands beside it.
            for (size_t k = i + 1; k < region.body.size(); ++k) {
                if (gone[k] || !releases(region.body[k], owner)) continue;
                gone[i] = gone[k] = region.body[k].opcode == Opcode::kRelease;
                break;
            }
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < region.body.size(); ++i) {
        if (gone[i]) continue;
        if (kept != i) region.body[kept] = std::move(region.body[i]);
        ++kept;
    }
    region.body.resize(kept);
}

}  // namespace

void borrowed_memory(const Module&, Function& function) {
    const Owners owners(function);
    if (owners.any()) leave_out(function.body, owners);
}

}  // namespace weft::passes
