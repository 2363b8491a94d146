#include "device/cpu/grid_cut.h"

#include <algorithm>
#include <string>

#include "weft/errors.h"

namespace weft {
namespace {

constexpr double kTaskCost =
    32768;  // additions: some ten microseconds, against one or two for handing out a task
constexpr int64_t kTasksPerThread = 4;  // more than one, so that threads that started late get less
constexpr int64_t kMuchWork = 2048;     // additions; no element has as many
constexpr int64_t kGrain = 64;          // elements
constexpr int64_t kLeastGrain = 8;      // of columns, where there are few

int64_t tasks_of(double points, int64_t cost_per_point) {
    const double cost = points * static_cast<double>(std::max<int64_t>(cost_per_point, 1));
    return static_cast<int64_t>(std::min(cost / kTaskCost, 1e9));
}

}  // namespace

bool GridCut::is_one_task(int64_t points, int64_t cost_per_point) {
    return tasks_of(static_cast<double>(points), cost_per_point) < 2;
}

GridCut::GridCut(std::span<const int64_t> grid, int64_t cost_per_point, int threads, const GridHints& hints)
    : rank_(static_cast<int>(grid.size())) {
    WEFT_CHECK(grid.size() <= kMaxGridDimensions, "a grid of " + std::to_string(grid.size()) + " dimensions");
    double points = 1;
    for (size_t d = 0; d < grid.size(); ++d) {
        sizes_[d] = std::max<int64_t>(grid[d], 0);
        grains_[d] = 1;
        pieces_[d] = 1;
        points *= static_cast<double>(sizes_[d]);
    }
    if (points == 0) {
        tasks_ = 0;
        return;
    }
    const int64_t wanted = std::min(tasks_of(points, cost_per_point), kTasksPerThread * threads);
    if (threads == 1 || hints.in_order || wanted < 2) return;
    const int columns = hints.columns;
    if (columns < 0 && rank_ > 0 && cost_per_point < kMuchWork)
        grains_[static_cast<size_t>(rank_ - 1)] = kGrain;
    const auto cut = [&](int d, int64_t most) {
        const auto dimension = static_cast<size_t>(d);
        const int64_t grains = (sizes_[dimension] + grains_[dimension] - 1) / grains_[dimension];
        pieces_[dimension] = std::min({grains, (wanted + tasks_ - 1) / tasks_, most});
        tasks_ *= pieces_[dimension];
    };
    for (int d = 0; d < rank_ && tasks_ < wanted; ++d) {
        if (d != columns) cut(d, INT64_MAX);
    }
    if (columns < 0 || tasks_ >= wanted) return;
    const int64_t size = sizes_[static_cast<size_t>(columns)];
    const int64_t for_all = (threads + tasks_ - 1) / tasks_;
    const int64_t long_ones = size / std::max<int64_t>(hints.piece, 1) / for_all * for_all;
    grains_[static_cast<size_t>(columns)] =
        std::clamp(size / for_all / kLeastGrain * kLeastGrain, kLeastGrain, kGrain);
    cut(columns, std::max(for_all, long_ones));
}

GridBox GridCut::box(int64_t task) const {
    GridBox result;
    for (int d = rank_ - 1; d >= 0; --d) {
        const auto dimension = static_cast<size_t>(d);
        const int64_t pieces = pieces_[dimension];
        const int64_t piece = task % pieces;
        task /= pieces;
        const int64_t grain = pieces > 1 ? grains_[dimension] : 1;
        const int64_t grains = (sizes_[dimension] + grain - 1) / grain;
        // The first grains % pieces pieces get one grain more.
        const auto start = [&](int64_t i) {
            return std::min((grains / pieces * i + std::min(i, grains % pieces)) * grain, sizes_[dimension]);
        };
        result.lower[dimension] = start(piece);
        result.upper[dimension] = start(piece + 1);
    }
    return result;
}

}  // namespace weft
