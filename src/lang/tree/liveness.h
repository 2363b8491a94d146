// Which variables are still read after a branch or loop, and which it assigns: only those are carried through
// it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lang/tree/syntax.h"

namespace weft::lang {

// Sets of variables.
using VariableSet = std::vector<bool>;

struct Flow {
    VariableSet assigned;            // in its bodies; of loops without their else
    VariableSet assigned_otherwise;  // in a loop's else
    VariableSet live_after;          // read behind it before they are assigned
    VariableSet live_head;           // of loops: read at the start of an iteration or behind the loop; of
                                     // tries: read where an error is caught
    VariableSet live_otherwise;      // of tries: read where none was raised
};

// For each if, while and for of the function; a try has its own for its finally, and that of its else for its
// handlers; and, or and conditional expressions have entries for the names
// that their parts assign.
std::unordered_map<NodeId, Flow> find_flows(const Tree& tree);

// One iteration of a `for`, its target included.
struct BodyFlow {
    VariableSet read_first;       // perhaps read before the iteration assigns them
    VariableSet always_assigned;  // on every way, before they are read
};
BodyFlow flow_of_iteration(const Tree& tree, NodeId loop);

// How many assignments to a variable are in a node, inner functions left out.
int count_assignments(const Tree& tree, NodeId id, size_t variable);

}  // namespace weft::lang
