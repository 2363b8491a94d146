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

// To be called for each node that is made, before any other thread can see it: sets its depth, and evaluates
// when it is time to.
void recorded(const NodePtr& node);

// The same for a node that becomes the version of a storage: made under the storage's lock, since others may
// evaluate the node, and so change its inputs, as soon as they see it; `finish`, which may evaluate, after
// it.
class Recording {
public:
    explicit Recording(const NodePtr& node, uint32_t site = site_of_call());  // kept by reference
    void finish();
    // Where the program is, while somebody profiles. It asks the host: not to be called under a lock.
    static uint32_t site_of_call();

private:
    const NodePtr& node_;
    std::vector<uint64_t> cuts_;     // before which nodes the graph is to be cut
    std::vector<NodePtr> versions_;  // of storages, that enough writes have led to
    // Of the node, which an evaluation may rewrite as soon as it is seen.
    bool is_new_ = false, is_large_ = false, makes_version_ = false;
};

// What is stored into the target's view, whose shape it broadcasts to. Throws TypeError for a cast that goes
// too far, ValueError for shapes that do not fit and for two devices.
Operand value_operand(const Argument& value, const array& target, Casting casting);

// target's view := value (already broadcast to the target's shape, any dtype). Never fails half way.
void write(const array& target, Operand value);

// Whether the array's memory is shown to others, so that operations on it run at the call.
bool is_shown(const array& input);

// Computes the target, into which `value` was written, if others may change what it was read from.
void evaluate_if_shown(const Argument& value, const array& target);

// Whether work on `elements` elements is small enough to be done at the call.
bool is_small(int64_t elements);

}  // namespace weft
