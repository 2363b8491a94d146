// Operands: how an array, or a number of the host language, is read by a node; and arrays made of what nodes
// and buffers hold.
#pragma once

#include <memory>
#include <utility>

#include "device/cpu/memory_pool.h"
#include "graph/node.h"
#include "graph/storage.h"
#include "ops/resolve.h"
#include "weft/ops.h"

namespace weft {

// How an argument takes part in promotion: with the dtype of an array, or as a kind of number.
OperandType operand_type(const Argument& argument);

// The bytes of a Python scalar as `dtype`; throws OverflowError where NumPy does.
ScalarBytes constant_bytes(const Argument& value, DType dtype);
// Beyond 64 bits: some number that is as far out of every range.
WideInteger wide_integer(const Integer& value);

// How `input` is read by an iteration over `shape`, to which it broadcasts.
Operand read_operand(const array& input, const Dims& shape);
Operand constant_operand(const ScalarBytes& bytes, DType dtype, const Dims& shape);

// A new array that names result `result` of `node`, whose shape is `shape`.
array array_of(const NodePtr& node, uint32_t result, const Dims& shape);
array array_of(BufferPtr buffer, DType dtype, Dims shape, Dims strides);

// Whether the array's memory is exported, so that operations on it run at the call.
bool is_exported(const array& input);

// Whether what is written from it has to be computed at the call: others may change it meanwhile.
bool is_exported(const Argument& value);

// Whether work on `elements` elements is small enough to be done at the call.
bool is_small(int64_t elements);

// Storages are small and many: their memory comes from the lists of small objects.
inline std::shared_ptr<Storage> make_storage(BufferPtr buffer) {
    return std::allocate_shared<Storage>(ObjectAllocator<Storage>(), std::move(buffer));
}

}  // namespace weft
