// Recording reads at computed positions (x[idx], take, take_along_axis). A kGather node gives, at each point
// i of its shape, the element of its data at
//     offset + Σ strides · i + Σ gathered[k].stride · (the value of index k at i)
// so axes that are sliced are strides as in every operand, and only indexed axes are computed. The bounds of
// bounds are checked before anything is recorded, in the very version that the node will read.
#pragma once

#include <span>
#include <vector>

#include "weft/ops.h"

namespace weft {

struct GatherAxis {
    array index;  // integers that broadcast to the result's shape from where `dimension` says
    size_t dimension = 0, ndim = 0;  // of the result: which it stands along
    int64_t extent = 0, stride = 0;  // of the indexed axis
    size_t axis = 0;                 // its number, for messages
    bool is_proven = false;          // all positions are in [0, extent)
};

struct GatherRequest {
    array data;
    int64_t offset = 0;
    Dims shape, data_strides;  // of the result; 0 where the result moves by an index
    Dims strides;              // of the result, dense
    std::vector<GatherAxis> axes;
};

// Throws IndexError for positions out of bounds.
array gather(const GatherRequest& request);

// weft::index and weft::assign_at where some of the indices are arrays.
array index_by_arrays(const array& input, std::span<const Index> indices);
void assign_by_arrays(const array& target, std::span<const Index> indices, const Argument& value);

}  // namespace weft
