// Planning: which pending nodes share a kernel, and in which order the kernels run.
//
// A group has a space, the points of which its kernel walks. Its nodes are element-wise ones over the space,
// perhaps read through views (graph/index_map.h), and reductions over the same axes of the space with what
// follows them. A node may be computed in several groups when that costs less than to store it.
#pragma once

#include <span>
#include <vector>

#include "graph/index_map.h"
#include "graph/node_set.h"
#include "graph/write_window.h"
#include "library/loops/reduction_order.h"
#include "planning/boundary.h"

namespace weft {

class LaunchMemo;

// A part of a group's space.
struct SpaceBox {
    Dims lower, upper;
};

// Of an element that is read at a computed position, in additions.
constexpr int kGatherCost = 10;

struct Group {
    std::vector<Node*> nodes;             // in order of recording
    std::vector<bool> stored;             // which of them somebody reads later, by position in `nodes`
    std::vector<bool> repeated;           // which are computed in other groups too
    std::vector<bool> streamed;           // results of non-temporal stores: large, read by no later kernel
    std::vector<IndexMap> maps;           // how the space reads each (the first way, where there are several)
    DeviceBackend* device = nullptr;      // where all of them run
    Boundary boundary = Boundary::kNone;  // why the root is not part of its consumer's kernel
    Dims shape;                           // the space
    bool reduces = false;                 // it has reductions
    bool collapsed = false;     // its rows are merged axes, walked row by row (lowering/collapsed_rows.h)
    bool multiplies = false;    // it works on the tiles of a product, one of its nodes
    std::vector<bool> reduced;  // which axes of the space these reduce
    // Where it reads through writes (planning/pieces.h): the frames of these, by position, whose maps lead
    // into them; and the boxes of the space, each of which is on one side of every window.
    std::vector<Frame> frames;
    std::vector<SpaceBox> boxes;
    std::vector<NodePtr> keep;         // the stored nodes, from planning until they are computed
    std::shared_ptr<LaunchMemo> memo;  // of a plan that is kept (execution/plan_cache.h)
    // While it runs; kept for their memory. Buffers of each node's results, by position; what was read.
    std::vector<std::vector<BufferPtr>> buffers;
    std::vector<Operands> released;

    Node& root() const { return *nodes.back(); }  // the last node; a write to a storage is always that
};

// Groups in an order in which they can run. `fuse` false gives the naive plan: a kernel a node.
std::vector<Group> make_plan(const NodeSet& nodes, std::span<const NodePtr> roots, bool fuse);

// The walk of a kReduce node (library/loops/reduction_order.h).
ReductionSpace space_of(const Node& reduction);

// Whether one kernel walks whole rows, a point of the grid each: there are rows enough for every core, or
// each is short. Otherwise rows are cut into chunks, and a second kernel combines their results.
bool walks_whole_rows(const ReductionSpace& space);

// Whether a kScan node's rows are cut into chunks, for want of rows to keep all cores busy: a first kernel
// finds what each chunk comes to, a second one the results.
bool scan_reads_twice(const Node& scan);

}  // namespace weft
