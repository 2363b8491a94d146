// What an expression of a compiled function is while lowering.h walks: a type, with values of the IR.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ir/ir.h"
#include "lang/tree/syntax.h"
#include "lang/types.h"

namespace weft::lang {

// A value of the function. Its parts are values of the IR; while types are being found they are invalid.
struct Value {
    TypeRef type = nullptr;
    std::vector<ir::ValueId> parts{};
    NodeId origin = 0;   // of a variable's value: the assignment
    bool fresh = false;  // it counts as a user of the memory that it owns, and is nobody's yet
    std::shared_ptr<const struct DeferredArray> deferred{};  // of an array that is not computed yet
};

// What an array of `shape` is computed of, element by element (arrays/deferred.cpp).
struct DeferredArray {
    std::vector<Value> operands;  // may be deferred, too
    std::function<Value(std::span<const Value>)> each;
    std::vector<ir::ValueId> shape;
    NodeId where = 0;
};

using Environment = std::vector<Value>;  // by variable

}  // namespace weft::lang
