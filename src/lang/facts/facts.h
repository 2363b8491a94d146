// What is known of the integers of a function while it is lowered, and how that is found: of results by their
// operands (facts/values.cpp), in branches and iterations by their conditions (facts/conditions.cpp). So
// checks of indices are left out or done once before a loop.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/builder.h"
#include "lang/facts/known.h"
#include "lang/types.h"
#include "lang/value.h"

namespace weft::lang {

struct Hoist;

// Of FunctionLowering, which walks the function.
class Facts {
protected:
    // `stops_at_zero`: a division by zero is an error, and nothing comes behind it.
    explicit Facts(bool stops_at_zero) : stops_at_zero_(stops_at_zero) {}

    Fact fact(ir::ValueId value) const;
    void note(ir::ValueId value, const Fact& known);
    void note_operator(OpId op, ir::ValueId result, ir::ValueId left, ir::ValueId right);
    void number_operation(OpId op, ir::ValueId result, ir::ValueId left, ir::ValueId right);
    Sum as_sum(ir::ValueId value) const;
    bool is_exact(const Sum& sum, bool only_below = false) const;
    bool is_positive_unless_wrapped(ir::ValueId value) const;
    bool is_in_bounds(ir::ValueId index, ir::ValueId size) const;
    std::vector<ir::ValueId> factors_below(ir::ValueId number, ir::ValueId divisor) const;
    bool is_below(ir::ValueId value, ir::ValueId limit, Wide offset, int depth, int& steps) const;
    // What conditions tell (facts/conditions.cpp).
    void note_comparison(OpId op, ir::ValueId result, const Value& left, const Value& right);
    void note_junction(bool is_and, ir::ValueId result, ir::ValueId left, ir::ValueId right);
    void note_choices(ir::ValueId condition, std::span<const ir::ValueId> results,
                      std::span<const ir::ValueId> yes, std::span<const ir::ValueId> no);
    std::optional<bool> known_truth(ir::ValueId value) const;
    void learn(ir::ValueId condition, bool holds);
    void learn(ir::ValueId condition, bool holds, int& steps);
    void learn_different(ir::ValueId left, ir::ValueId right);
    void learn_less(ir::ValueId left, ir::ValueId right, int64_t more);
    void add_upper(const Upper& upper);
    void refine(ir::ValueId value, Wide least, Wide most);
    std::vector<Upper> uppers_of(ir::ValueId value) const;
    Outcome::Side side_of(ir::ValueId value) const;
    std::vector<Upper> common_uppers(ir::ValueId value, std::span<const Outcome::Side> sides,
                                     size_t first) const;
    void meet(Outcome& outcome, ir::ValueId value) const;
    void meet(std::vector<Outcome>& outcomes, std::span<const TypeRef> types,
              std::span<const ir::ValueId> parts) const;
    // `first`: values from this one on may be those of one side only.
    void note(ir::ValueId result, const Outcome& outcome, size_t first);
    void note(std::span<const ir::ValueId> parts, std::span<const TypeRef> types,
              std::span<const Outcome> outcomes, size_t first = 0);

    ir::Builder* builder_ = nullptr;
    bool dry_ = true;  // only types are found, so nothing is known
    Known known_;
    Hoist* hoist_ = nullptr;  // of the loop around whose checks are done before it

private:
    bool stops_at_zero_;
};

}  // namespace weft::lang
