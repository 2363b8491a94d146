// Conditions that hold for all iterations of a loop between two for which they hold, as those that an index
// is in bounds: comparisons of what goes up or down with the loop's counter. Passes look at both ends of a
// block of iterations.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"

namespace weft::passes {

// The int64 constants of a function, by value.
using Constants = std::unordered_map<uint32_t, int64_t>;
Constants find_constants(const ir::Function& function);
void add_constants(const ir::Region& region, Constants& constants);

class ConditionsAtEnds {
public:
    // What defines a value in the loop: null for those from outside of it, nothing for those that are not
    // known ahead.
    using Source = std::function<std::optional<const ir::Instruction*>(ir::ValueId)>;

    ConditionsAtEnds(const ir::Function& function, const Constants& constants, ir::ValueId counter,
                     Source source)
        : function_(function), constants_(constants), counter_(counter), source_(std::move(source)) {}

    // False where the condition is none of that kind; then nothing is added.
    bool add(ir::ValueId condition);
    // The same, if it does not vary at all.
    bool add_uniform(ir::ValueId condition);
    bool empty() const { return conditions_.empty(); }
    // Whether what is compared goes up in steps, as a quotient of the counter does.
    bool goes_in_steps(ir::ValueId condition) const;

    // Appends whether all hold from the iteration with the counter `first` to that with `last`.
    ir::ValueId build(ir::Builder& builder, ir::Function& function, ir::ValueId first,
                      ir::ValueId last) const;

private:
    std::optional<bool> add_code(ir::ValueId value);
    bool varies(ir::ValueId value) const;
    bool find_lines(ir::ValueId condition, std::vector<std::pair<ir::ValueId, bool>>& lines) const;
    bool add_line(ir::ValueId value, std::vector<std::pair<ir::ValueId, bool>>& lines) const;
    int slope_of(ir::ValueId value, std::vector<std::pair<ir::ValueId, bool>>& lines) const;
    int64_t constant_or_zero(ir::ValueId value) const;

    const ir::Function& function_;
    const Constants& constants_;
    const ir::ValueId counter_;
    const Source source_;
    std::vector<ir::ValueId> conditions_;
    std::vector<std::pair<ir::ValueId, bool>> lines_;  // sums with the counter, and whether they rise with it
    std::vector<std::pair<const ir::Instruction*, bool>> code_;  // in order, and whether it varies
    std::unordered_map<uint32_t, bool> varies_;
};

}  // namespace weft::passes
