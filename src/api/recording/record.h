// Recording: from a call to a node. Decides shapes, dtypes and errors now; computes nothing unless the values
// are host-resident and few (then through library/loops/strided_loops.h), or somebody looks at the memory
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

}  // namespace weft
