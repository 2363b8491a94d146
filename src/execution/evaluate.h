// Evaluation: plans the pending nodes that some roots need, and runs the plan.
#pragma once

#include <span>
#include <vector>

#include "graph/node.h"

namespace weft {

class Storage;

// Computes the roots; afterwards each is done and holds its buffers. When it throws, what was not computed is
// still pending and nothing is lost.
void evaluate(std::span<const NodePtr> roots);

// The latest node, by sequence, that the calling thread has evaluated as a root.
uint64_t latest_evaluated();

// Computes what was recorded before node number `sequence`: the values that later nodes or the program refer
// to.
void evaluate_before(uint64_t sequence);

// The depth of a recorded node after some of what it reads was evaluated.
void measure_depth(Node& node);
// Computes all that is pending and that the program refers to.
void evaluate_held();
// Computes all that is pending.
void evaluate_pending();

// The storage's bytes in memory.
BufferPtr evaluate_storage(Storage& storage);

// Pins the storage, whose version `buffer` was, if no pending node reads or rewrites the buffer: from here on
// nothing is taken for granted of what it holds. False where it was written meanwhile; and where nodes were
// pending, which have run now: to be called again then. Who records a node asks afterwards whether what it
// reads is exported, and evaluates it then: one of the two sees the other.
bool pin_unread(Storage& storage, const BufferPtr& buffer);
// Both in one: its bytes, pinned, where they are in memory and no pending node uses them. Null otherwise:
// then nothing has happened.
BufferPtr pin_at_hand(Storage& storage);

}  // namespace weft
