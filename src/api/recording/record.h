// Recording: from a call to a node. Decides shapes, dtypes and errors now; computes nothing unless the values
// are at hand and few (then through library/loops/strided_loops.h), or somebody looks at the memory
// meanwhile.
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
    template <class Work>
    void evaluate_ahead(Work work);

    const NodePtr& node_;
    std::vector<uint64_t> cuts_;     // before which nodes the graph is to be cut
    std::vector<NodePtr> versions_;  // of storages, that enough writes have led to
    // Of the node, which an evaluation may rewrite as soon as it is seen.
    bool is_new_ = false, is_large_ = false, makes_version_ = false;
};

// What is stored into the target's view, whose shape it broadcasts to. Throws TypeError for a cast that goes
// too far, ValueError for shapes that do not fit and for two devices.
Operand value_operand(const Argument& value, const array& target, Casting casting);

// What an operation wrote, until the whole of it has succeeded: otherwise the storages get their versions
// back. One that is computed meanwhile stays, unless the version before was to be held, so that nothing is
// written in place over it.
class WriteUndo {
public:
    explicit WriteUndo(bool hold_versions = false) : hold_versions_(hold_versions) {}
    ~WriteUndo();
    WriteUndo(const WriteUndo&) = delete;
    WriteUndo& operator=(const WriteUndo&) = delete;

    void reserve() { written_.reserve(written_.size() + 1); }  // before a write, which then cannot fail here
    // Under the storage's lock, when `node` becomes its version; `before` is the one before, whole if `node`
    // is no kUpdate.
    void add(const std::shared_ptr<Storage>& storage, const NodePtr& node, Source before);
    bool holds_versions() const { return hold_versions_; }
    void succeeded() { written_.clear(); }

private:
    struct Written {
        std::shared_ptr<Storage> storage;
        NodePtr node;
        Source before;
    };
    std::vector<Written> written_;
    bool hold_versions_;
};

// target's view := value (already broadcast to the target's shape, any dtype). Never fails half way; with
// `undo` what is recorded can be taken back.
void write(const array& target, Operand value, WriteUndo* undo = nullptr);
// The same, computed at the call if `now`; what fails then is taken back.
void write_and_compute(const array& target, Operand value, bool now);

// Whether the array's memory is shown to others, so that operations on it run at the call.
bool is_shown(const array& input);

// Whether what is written from it has to be computed at the call: others may change it meanwhile.
bool is_shown(const Argument& value);

// Whether work on `elements` elements is small enough to be done at the call.
bool is_small(int64_t elements);

}  // namespace weft
