// switch as branches: what the parser has read of its cases becomes a chain of ifs over the value.
#pragma once

#include <vector>

#include "lang/c_source/syntax.h"

namespace weft::lang::c_source {

// Values of labels, all of which lead to the same statements; a default has none beside it.
struct Case {
    std::vector<ExpressionPtr> values{};
    bool is_default = false;
    StatementPtr body{};
};

// A block that has the value in a variable, and the branches. Throws OutsideSubset for cases that run on into
// the next, for a break that does not end its case, and for a label that is there twice.
StatementPtr branches_of(const Place& place, ExpressionPtr value, std::vector<Case> cases);

}  // namespace weft::lang::c_source
