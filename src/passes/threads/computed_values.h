// Values of a loop's body that only follow from what stands before it and from its arguments, as the place of
// an element follows from a thread's number: how they go with these, and copies of them for a certain number.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"

namespace weft::passes {

// What defines a value.
using Sources = std::unordered_map<uint32_t, const ir::Instruction*>;

// Whether it only computes.
bool only_computes(const ir::Instruction& instruction);

// Each value is looked at once, however many ways lead to it.
class ComputedValues {
public:
    // `sources`: of the body; all others stand before it, but for `arguments`.
    ComputedValues(ir::Function& function, Sources sources, std::vector<ir::ValueId> arguments)
        : function_(function), sources_(std::move(sources)), arguments_(std::move(arguments)) {}

    // Whether it follows from an argument.
    bool varies(ir::ValueId value);
    // Whether all that it follows from in the body only computes.
    bool is_computed(ir::ValueId value);
    // Whether it is the first argument, and to that what does not vary is added.
    bool rises(ir::ValueId value);
    // Appends copies of what it follows from, with `first` in the place of the first argument; gives its own.
    ir::ValueId append(ir::Builder& builder, ir::ValueId value, ir::ValueId first);

private:
    const ir::Instruction* source_of(ir::ValueId value) const;
    bool is_argument(ir::ValueId value) const;

    ir::Function& function_;
    const Sources sources_;
    const std::vector<ir::ValueId> arguments_;
    std::unordered_map<uint32_t, bool> varies_, is_computed_;
};

}  // namespace weft::passes
