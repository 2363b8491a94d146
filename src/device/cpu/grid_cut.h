// Cuts a kernel's grid into boxes, one a task of the thread pool.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "device/device.h"
#include "device/kernel.h"

namespace weft {

// Outer dimensions are cut first; the innermost one only when the others are too few, and at multiples of 64
// elements, so that tasks share no cache line of a contiguous result, unless a point is much work: then it is
// a row or a tile, not an element. A dimension of columns comes last of all, see GridHints. Results never
// depend on the cut.
class GridCut {
public:
    // `cost_per_point` counts additions; work below the serial cutoff stays one task, which runs on the
    // calling thread.
    GridCut(std::span<const int64_t> grid, int64_t cost_per_point, int threads,
            const GridHints& hints = GridHints());

    // Whether so little is not shared, however many threads there are.
    static bool is_one_task(int64_t points, int64_t cost_per_point);

    int64_t tasks() const { return tasks_; }  // 0 for an empty grid
    GridBox box(int64_t task) const;

private:
    int rank_;
    int64_t tasks_ = 1;
    std::array<int64_t, kMaxGridDimensions> sizes_{};
    std::array<int64_t, kMaxGridDimensions> grains_{};  // it is cut at multiples of so many points
    std::array<int64_t, kMaxGridDimensions> pieces_{};  // into how many each dimension is cut
};

// Calls `body` for each tile of `box`, neighbours along the last dimension after each other. `tile` holds the
// extent of a tile for each dimension, 0 for all of it; an empty one makes the box one tile.
template <class Body>
void for_each_tile(const GridBox& box, std::span<const int64_t> tile, const Body& body) {
    GridBox part = box;
    const auto start = [&](size_t d, int64_t lower) {
        part.lower[d] = lower;
        part.upper[d] = tile[d] == 0 ? box.upper[d] : std::min(lower + tile[d], box.upper[d]);
    };
    for (size_t d = 0; d < tile.size(); ++d) start(d, box.lower[d]);
    while (true) {
        body(part);
        size_t d = tile.size();
        while (d-- > 0) {
            if (part.upper[d] < box.upper[d]) {
                start(d, part.upper[d]);
                break;
            }
            start(d, box.lower[d]);
        }
        if (d == SIZE_MAX) return;
    }
}

}  // namespace weft
