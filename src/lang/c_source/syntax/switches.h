// switch as branches: what the parser has read of its cases becomes ifs over the value.
#pragma once

#include <vector>

#include "lang/c_source/syntax/syntax.h"

namespace weft::lang::c_source {

// Values of labels, all of which lead to the same statements; a default has none beside it.
struct Case {
    std::vector<ExpressionPtr> values{};
    bool is_default = false;
    StatementPtr body{};
};

// A block that has the value in a variable, and the branches; or a loop that runs once, where a case runs on
// into the next or has a break in it. Throws OutsideSubset for a label that is there twice.
StatementPtr branches_of(const Place& place, ExpressionPtr value, std::vector<Case> cases);

}  // namespace weft::lang::c_source
