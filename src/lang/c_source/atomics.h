// atomicAdd and its kin.
#pragma once

#include <string_view>

#include "lang/c_source/numbers.h"
#include "ops/op.h"

namespace weft::lang::c_source {

struct Atomic {
    const OpInfo* op = nullptr;
    Number operand{};  // of the elements' type
};

// Throws OutsideSubset where elements of this type have none.
Atomic atomic_of(Numbers& numbers, std::string_view operation, ScalarType element, const Number& value,
                 const Place& place);

}  // namespace weft::lang::c_source
