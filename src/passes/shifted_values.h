// What a loop computes again in later iterations: expressions of its counter, of memory that it does not
// write and of what does not change in it. Two of the same shape differ in how far along they are alone:
// a[i + 1] * b[i + 1] is what a[i] * b[i] is in the next iteration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/ir.h"
#include "passes/conditions_at_ends.h"
#include "passes/rewrite.h"

namespace weft::passes {

struct ShiftedValue {
    uint32_t shape = 0;
    std::optional<int64_t>
        shift{};             // iterations from where the shape is; none: it is the same in all of them
    int cost = 0;            // additions that it takes
    bool reads = false;      // memory
    bool is_linear = false;  // it goes up or down by the same in each iteration
    bool is_unit = false;    // by one
};

class ShiftedValues {
public:
    // Of an innermost loop that steps by one and whose body does nothing but compute, read and write.
    // `is_known` is false of others, which have no shifted values.
    ShiftedValues(const ir::Function& function, const Constants& constants, const ir::Instruction& loop);

    bool is_known() const { return is_known_; }
    // Whether it writes memory that it reads, too, as far as the alias scopes tell.
    bool writes_what_it_reads() const;
    // Null of what hangs on other iterations, on a condition or on memory that the loop writes.
    const ShiftedValue* find(ir::ValueId value) const;
    // The instruction of the loop's body that defines it, or null.
    const ir::Instruction* definition(ir::ValueId value) const;
    std::optional<int64_t> constant(ir::ValueId value) const;

    // Appends the instructions that `value` needs in an iteration with the counter that `copier` maps to it.
    // What `copied` names is there already.
    ir::ValueId append(ir::Builder& builder, Copier& copier, std::unordered_set<uint32_t>& copied,
                       ir::ValueId value) const;

private:
    bool note_effects(const ir::Region& region);
    void add(const ir::Instruction& instruction);
    ShiftedValue outside(ir::ValueId value);
    std::optional<ShiftedValue> counter_plus(const ir::Instruction& instruction);
    uint32_t shape_of(const std::string& key);

    const ir::Function& function_;
    const Constants& constants_;
    const ir::ValueId counter_;
    bool is_known_ = false;
    std::unordered_set<uint16_t> written_, read_;
    std::unordered_set<uint32_t> carried_;
    std::unordered_map<uint32_t, const ir::Instruction*> definitions_;
    std::unordered_map<uint32_t, int64_t> own_constants_;
    std::unordered_map<uint32_t, ShiftedValue> values_;
    std::unordered_map<std::string, uint32_t> shapes_;
};

}  // namespace weft::passes
