#include "planning/pieces.h"

#include <algorithm>

#include "core/config.h"
#include "core/shape.h"
#include "device/kernel.h"

namespace weft::planning {

namespace {

// Each box is a launch, and perhaps a kernel.
constexpr int64_t kMostBoxes = 32;

}  // namespace

bool can_be_read_through(const Node& node) {
    return node.kind() == NodeKind::kUpdate && node.device->is_cpu() && !node.update().in_place &&
           node.gathered().empty() && element_count(node.shape) != 0;
}

int64_t box_count(const std::vector<std::vector<int64_t>>& cuts) {
    int64_t count = 1;
    for (const std::vector<int64_t>& own : cuts) {
        if (__builtin_mul_overflow(count, static_cast<int64_t>(own.size()) + 1, &count)) return INT64_MAX;
    }
    return count;
}

std::vector<SpaceBox> boxes_between(const std::vector<std::vector<int64_t>>& cuts, const Dims& shape) {
    std::vector<SpaceBox> boxes = {{Dims(), Dims()}};
    for (size_t d = 0; d < shape.size(); ++d) {
        std::vector<SpaceBox> cut;
        for (const SpaceBox& box : boxes) {
            int64_t lower = 0;
            for (size_t k = 0; k <= cuts[d].size(); ++k) {
                const int64_t upper = k < cuts[d].size() ? cuts[d][k] : shape[d];
                cut.push_back(box);
                cut.back().lower.push_back(lower);
                cut.back().upper.push_back(upper);
                lower = upper;
            }
        }
        boxes = std::move(cut);
    }
    return boxes;
}

bool runs_by_boxes(const Draft& draft) {
    const Node& last = *draft.nodes.front();
    const bool writes = last.kind() == NodeKind::kUpdate && last.gathered().empty();
    return (writes || is_pointwise(last.kind())) && !draft.walk && !draft.multiplies &&
           !draft.shape.empty() && draft.shape.size() <= static_cast<size_t>(kMaxGridDimensions) &&
           element_count(draft.shape) != 0 &&
           std::none_of(draft.nodes.begin(), draft.nodes.end(),
                        [](const Node* node) { return node->kind() == NodeKind::kDraw; });
}

bool is_worth_boxes(const std::vector<std::vector<int64_t>>& cuts, const Dims& shape) {
    const int64_t boxes = box_count(cuts);
    if (boxes > kMostBoxes) return false;
    const int64_t few = config().small_limit.load(std::memory_order_relaxed) / 2;
    return few == 0 || element_count(shape) / few >= boxes;
}

}  // namespace weft::planning
