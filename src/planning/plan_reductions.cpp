#include "planning/plan_reductions.h"

#include <algorithm>
#include <unordered_set>

#include "core/optimisation_switches.h"
#include "lowering/collapsed_rows.h"

namespace weft::planning {

namespace {

constexpr int64_t kRowBytes = int64_t{256} << 10;  // a row that is walked again from the second-level cache

}  // namespace

Entry entry(const Node& node, const Draft& draft, const std::vector<IndexMap>& maps) {
    if (maps.size() != 1) return Entry::kNone;
    const NodeKind last = draft.nodes.front()->kind();
    if (last == NodeKind::kUpdate || last == NodeKind::kScan || last == NodeKind::kCompress)
        return Entry::kNone;
    const IndexMap& map = maps[0];
    const Dims axes = kept_axes(node.reduced_axes()), kept = node.result_shape();
    if (draft.shape == node.shape) {
        for (size_t j = 0; j < axes.size(); ++j) {
            if (kept[j] != 1 && (map.dimension[j] != axes[j] || map.factor[j] != 1 || map.start[j] != 0))
                return Entry::kNone;
        }
        if (!draft.walk) return Entry::kBefore;
        return draft.reduced == node.reduced_axes() ? Entry::kBeside : Entry::kNone;
    }
    if (draft.walk || !is_plain(map, kept)) return Entry::kNone;
    std::vector<bool> used(draft.shape.size());
    for (size_t j = 0; j < kept.size(); ++j) {
        if (map.dimension[j] < 0) continue;
        const auto d = static_cast<size_t>(map.dimension[j]);
        if (draft.shape[d] != kept[j]) return Entry::kNone;
        used[d] = true;
    }
    for (size_t d = 0; d < used.size(); ++d) {
        if (!used[d] && draft.shape[d] != 1) return Entry::kNone;
    }
    return Entry::kUnder;
}

bool allows_phases(const Node& node, const ReductionSpace& walk) {
    if (walk.lanes == 1 || !walks_whole_rows(walk) || !is_on(OptimisationSwitch::kMultiPhase)) return false;
    const int64_t row = walk.reduced_shape.back();
    return row * node.compute_dtype().itemsize() <= kRowBytes;
}

std::optional<size_t> collapse_of_inputs(const Node& node, const ReductionSpace& walk, const Dims& shape,
                                         const std::vector<IndexMap>& maps) {
    std::optional<size_t> collapse = 0;
    for (const Operand& input : node.inputs) {
        if (input.is_constant()) continue;
        for (const IndexMap& map : maps)
            collapse = joined_collapses(
                collapse, collapse_of(strides_over_space(input.strides, map, shape.size()), walk, shape));
    }
    return collapse;
}

bool walks_results_as_one(const Node& node, const ReductionSpace& walk, const Dims& shape,
                          const IndexMap& map) {
    return std::all_of(node.results.begin(), node.results.end(), [&](const NodeResult& result) {
        return collapse_of(strides_over_space(result.strides, map, shape.size()), walk, shape) == 0;
    });
}

bool keeps_collapsed_elements(const Draft& draft, const Node* more, std::span<Node* const> others) {
    std::unordered_set<const Node*> reductions;
    const auto take = [&](const Node* node) {
        if (node->kind() == NodeKind::kReduce) reductions.insert(node);
    };
    for (const Node* node : draft.nodes) take(node);
    for (const Node* node : others) take(node);
    if (more != nullptr) take(more);
    const bool deviations = std::any_of(reductions.begin(), reductions.end(),
                                        [](const Node* node) { return node->reduction()->deviations; });
    return can_collapse(*draft.walk, reductions.size(), deviations);
}

}  // namespace weft::planning
