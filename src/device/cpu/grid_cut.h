// Cuts a kernel's grid into boxes, one a task of the thread pool.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "device/kernel.h"

namespace weft {

// Outer dimensions are cut first; the innermost one only when the others are too few, and at multiples of 64
// elements, so that tasks share no cache line of a contiguous result, unless a point is much work: then it is
// a row or a tile, not an element. Results never depend on the cut.
class GridCut {
public:
    // `cost_per_point` counts additions; little work stays one task, which runs on the calling thread.
    GridCut(std::span<const int64_t> grid, int64_t cost_per_point, int threads);

    int64_t tasks() const { return tasks_; }  // 0 for an empty grid
    GridBox box(int64_t task) const;

private:
    int rank_;
    int64_t tasks_ = 1;
    int64_t inner_grain_ = 64;
    std::array<int64_t, kMaxGridDimensions> sizes_{};
    std::array<int64_t, kMaxGridDimensions> pieces_{};  // into how many each dimension is cut
};

}  // namespace weft
