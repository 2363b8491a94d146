// Recording: from a call to a node. Decides shapes, dtypes and errors now; computes nothing unless the values
// are at hand and few (then through graph/at_once.h), or somebody looks at the memory meanwhile.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/node.h"
#include "graph/storage.h"
#include "ops/resolve.h"
#include "weft/ops.h"

namespace weft {

// The bytes of a Python scalar as `dtype`; throws OverflowError where NumPy does.
ScalarBytes constant_bytes(const Argument& value, DType dtype);
// Beyond 64 bits: some number that is as far out of every range.
WideInteger wide_integer(const Integer& value);

// The bytes of a new array; throws ValueError for shapes that no array can have.
int64_t checked_bytes(const Dims& shape, DType dtype);

// How `input` is read by an iteration over `shape`, to which it broadcasts.
Operand read_operand(const array& input, const Dims& shape);
Operand constant_operand(const ScalarBytes& bytes, DType dtype, const Dims& shape);

// A new array that names result `result` of `node`, whose shape is `shape`.
array array_of(const NodePtr& node, uint32_t result, const Dims& shape);
array array_of(BufferPtr buffer, DType dtype, Dims shape, Dims strides);

// On the device of its inputs, which are on one; without inputs from memory, on `device` or else the current
// one.
NodePtr make_elementwise(const OpInfo* op, int loop, Operands inputs, const Dims& shape,
                         std::span<const DType> result_dtypes, const Dims* strides,
                         DeviceBackend* device = nullptr);

// To be called for each node that is made: sets its depth, and evaluates when it is time to.
void recorded(const NodePtr& node);

// What is stored into the target's view, whose shape it broadcasts to. Throws TypeError for a cast that goes
// too far, ValueError for shapes that do not fit and for two devices.
Operand value_operand(const Argument& value, const array& target, Casting casting);

// target's view := value (already broadcast to the target's shape, any dtype). Never fails half way.
void write(const array& target, Operand value);

// Whether the array's memory is shown to others, so that operations on it run at the call.
bool is_shown(const array& input);

// Whether work on `elements` elements is small enough to be done at the call.
bool is_small(int64_t elements);

}  // namespace weft
