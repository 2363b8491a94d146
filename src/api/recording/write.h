// Writes: a value into an array's view, which makes a new version of its storage, or overwrites its bytes
// where nobody else refers to them or others look at the memory.
#pragma once

#include <memory>
#include <vector>

#include "graph/node.h"
#include "graph/storage.h"
#include "weft/ops.h"

namespace weft {

// The TypeError of a cast that goes too far; `what` is cast.
[[noreturn]] void throw_cast_error(const char* what, DType from, DType to, Casting casting);
// Throws TypeError where what is stored into an array would be cast too far.
void check_stored_cast(const Argument& value, DType to, Casting casting);

// The value without leading extents of one beyond `ndim` axes, which an assignment drops, as NumPy's does.
array without_leading_ones(const array& value, int ndim);

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

}  // namespace weft
