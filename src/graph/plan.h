// Planning: which pending nodes share a kernel, and in which order the kernels run.
//
// A group is computed by one kernel (two for long reductions). Its last node is its root; the others are
// element-wise nodes that only the group reads, so that groups can never wait for each other in a circle.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/node.h"

namespace weft {

struct Group {
    std::vector<Node*> nodes;   // in order of recording; the last is the root
    std::vector<bool> stored;   // which of them somebody reads later; the root always
    std::string reason;         // why the root is not part of its consumer's kernel
    std::vector<NodePtr> keep;  // the stored nodes, from planning until they are computed

    Node& root() const { return *nodes.back(); }
};

// The pending nodes that `roots` need, in order of recording. Sources are settled on the way.
std::vector<Node*> collect_pending(std::span<const NodePtr> roots);

// Groups in an order in which they can run. `fuse` false gives the naive plan: a kernel a node.
std::vector<Group> make_plan(std::span<Node* const> nodes, std::span<const NodePtr> roots, bool fuse);

}  // namespace weft
