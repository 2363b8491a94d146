// What passes share: copies of regions, and replacing values.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"

namespace weft::passes {

// Which value now stands for another.
class Substitution {
public:
    void set(ir::ValueId from, ir::ValueId to) { map_[from.index] = to; }
    ir::ValueId operator()(ir::ValueId value) const {
        auto found = map_.find(value.index);
        return found == map_.end() ? value : found->second;
    }
    void apply(std::vector<ir::ValueId>& values) const {
        for (ir::ValueId& value : values) value = (*this)(value);
    }
    bool empty() const { return map_.empty(); }

private:
    std::unordered_map<uint32_t, ir::ValueId> map_;
};

// Appends a copy of the region's body, but for its yield, with `arguments` in place of the region's; returns
// the values that the copy yields. `source` is the function that the region is of, when that is another.
std::vector<ir::ValueId> append_copy(ir::Builder& builder, const ir::Region& region,
                                     std::span<const ir::ValueId> arguments,
                                     const ir::Function* source = nullptr);

// The first alias scope above all that the function uses.
uint16_t unused_alias_scope(const ir::Function& function);

// Whether removing the instruction changes nothing when its results are not used.
bool has_no_effect(const ir::Instruction& instruction);

}  // namespace weft::passes
