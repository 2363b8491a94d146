#include "planning/pieces.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "core/config.h"
#include "core/shape.h"
#include "device/kernel.h"

namespace weft::planning {

namespace {

// Each box is a launch, and perhaps a kernel.
constexpr int64_t kMostBoxes = 32, kFewBoxes = 4;

// Elements of a row for each of its pieces: shorter ones are no loops.
constexpr int64_t kShortestPiece = 16;

// Elements of a space for each of its boxes. Tests that compile everything have boxes of any size.
int64_t least_of_box() { return config().small_limit.load(std::memory_order_relaxed) / 8; }

// The dimension along which the group writes memory without gaps, or nearly so.
std::optional<size_t> innermost(const Draft& draft) {
    const Node& last = *draft.nodes.front();
    const Dims& strides =
        last.kind() == NodeKind::kUpdate ? last.update().target.strides : last.results[0].strides;
    std::optional<size_t> found;
    for (size_t d = 0; d < draft.shape.size(); ++d) {
        if (draft.shape[d] != 1 && (!found || std::abs(strides[d]) <= std::abs(strides[*found]))) found = d;
    }
    return found;
}

}  // namespace

bool can_be_read_through(const Node& node) {
    return node.kind() == NodeKind::kUpdate && node.device->is_cpu() && !node.update().in_place &&
           node.gathered().empty() && element_count(node.shape) != 0;
}

bool is_written_over(const Node& node, const NodeSet& nodes) {
    int64_t written = 0;
    const Node* at = &node;
    for (size_t k = 0; k < kMaxGroupNodes && at != nullptr && can_be_read_through(*at); ++k) {
        if (at != &node && nodes.is_held(*at)) break;
        written += element_count(at->shape) * at->update().target.dtype.itemsize();
        at = at->inputs[0].source.node.get();
    }
    return written >= node.results[0].bytes / 2;
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

bool is_worth_boxes(const std::vector<std::vector<int64_t>>& cuts, const Draft& draft) {
    const Dims& shape = draft.shape;
    const auto inner = innermost(draft);
    if (inner && least_of_box() != 0 && !cuts[*inner].empty() &&
        shape[*inner] < kShortestPiece * (static_cast<int64_t>(cuts[*inner].size()) + 1))
        return false;
    const int64_t boxes = box_count(cuts);
    if (boxes > kMostBoxes) return false;
    return element_count(shape) >= boxes * least_of_box();
}

bool can_share_boxes(const Draft& a, const Draft& b) {
    if (!runs_by_boxes(a) || !runs_by_boxes(b)) return false;
    for (const auto& [node, frame] : a.frames) {
        const auto other = b.frames.find(node);
        if (other != b.frames.end() && other->second.strides != frame.strides) return false;
        if (other == b.frames.end() && b.maps.contains(node)) return false;
    }
    for (const auto& [node, frame] : b.frames) {
        if (!a.frames.contains(node) && a.maps.contains(node)) return false;
    }
    return is_worth_boxes(all_cuts(a, b), a);
}

std::vector<std::vector<int64_t>> all_cuts(const Draft& a, const Draft& b) {
    std::vector<std::vector<int64_t>> cuts(a.shape.size());
    for (size_t d = 0; d < cuts.size(); ++d) {
        const std::vector<int64_t> none;
        const std::vector<int64_t>& left = d < a.cuts.size() ? a.cuts[d] : none;
        const std::vector<int64_t>& right = d < b.cuts.size() ? b.cuts[d] : none;
        std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(cuts[d]));
    }
    return cuts;
}

std::unordered_map<const Node*, int64_t> bytes_read_through(const NodeSet& nodes) {
    std::unordered_map<const Node*, int64_t> bytes;
    for (const Node* node : nodes) {
        if (node->kind() != NodeKind::kElementwise || element_count(node->shape) < kFewBoxes * least_of_box())
            continue;
        int64_t all = 0;
        for (const Operand& input : node->inputs) {
            const Node* const read = input.source.node.get();
            if (read == nullptr || nodes.is_held(*read)) continue;
            if (can_be_read_through(*read)) {
                if (is_written_over(*read, nodes)) all += read->results[0].bytes;
            } else if (const auto found = bytes.find(read); found != bytes.end()) {
                all += found->second;
            }
        }
        if (all != 0) bytes[node] = all;
    }
    return bytes;
}

}  // namespace weft::planning
