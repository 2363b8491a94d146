// Recording writes at computed positions (x[idx] = value): a kUpdate node with indices, which writes, at each
// point i of its shape, value(i) to
//     target.offset + Σ target.strides · i + Σ gathered[k].stride · (the value of index k at i)
// of its storage. Where several points write one element, the last in C order stays. The bounds of indices
// are checked before anything is written.
#pragma once

#include "api/indexing/gather.h"
#include "graph/node.h"

namespace weft {

struct ScatterOptions {
    bool distinct = false;               // no two points write one element: they may run side by side
    const Operand* condition = nullptr;  // a bool over the request's shape: nothing is written where it is
                                         // false, nor are positions checked, which have to be proven
    bool now = false;                    // computed at the call: others may change the value
};

// `request` says where, as for reading; its data is what is written to. Throws IndexError for positions out
// of bounds.
void scatter(const GatherRequest& request, Operand value, const ScatterOptions& options = {});

}  // namespace weft
