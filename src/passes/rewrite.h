// What passes share: copies of regions, and replacing values.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "ir/calls.h"
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

// Copies instructions into `target` with new values for what they define, of a function that it calls with
// what becomes of its alias scopes.
class Copier {
public:
    explicit Copier(ir::Function& target, const ir::Function* source = nullptr,
                    const ir::CallScopes* scopes = nullptr)
        : target_(target), source_(source != nullptr ? *source : target), scopes_(scopes) {}

    // From now on, copies use `to` where the original uses `from`.
    void map(ir::ValueId from, ir::ValueId to) { map_.set(from, to); }
    std::vector<ir::ValueId> mapped(std::vector<ir::ValueId> values) const {
        map_.apply(values);
        return values;
    }

    ir::Instruction copy(const ir::Instruction& instruction);

    // Appends a copy of the region's body, but for its yield, with `arguments` in place of the region's;
    // returns the values that the copy yields.
    std::vector<ir::ValueId> append(ir::Builder& builder, const ir::Region& region,
                                    std::span<const ir::ValueId> arguments);

private:
    ir::Region copy(const ir::Region& region);
    std::vector<ir::ValueId> copy_definitions(const std::vector<ir::ValueId>& values);

    ir::Function& target_;
    const ir::Function& source_;
    const ir::CallScopes* scopes_;
    Substitution map_;
};

// The same for one region of the function that is being built, or of `source`.
std::vector<ir::ValueId> append_copy(ir::Builder& builder, const ir::Region& region,
                                     std::span<const ir::ValueId> arguments,
                                     const ir::Function* source = nullptr,
                                     const ir::CallScopes* scopes = nullptr);

// The first alias scope above all that the function uses.
uint16_t unused_alias_scope(const ir::Function& function);

// Whether removing the instruction changes nothing when its results are not used.
bool has_no_effect(const ir::Instruction& instruction);

// Whether threads of a block wait for each other there: behind it is seen what others have written.
bool is_meeting(const ir::Instruction& instruction);
bool has_meeting(const ir::Region& region);

// Whether it is a division of integers, which vectors do not have.
bool divides_integers(const ir::Function& function, const ir::Instruction& instruction);

}  // namespace weft::passes
