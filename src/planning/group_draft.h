// A group of the plan while it is planned: what it reads, how often it computes a node and what that costs,
// and which groups are neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/index_map.h"
#include "graph/node.h"
#include "graph/write_window.h"
#include "planning/planner.h"

namespace weft::planning {

// Past these a kernel's registers and compile time grow faster than the traffic it saves.
constexpr size_t kMaxGroupNodes = 64;
constexpr size_t kMaxGroupInputs = 24;
// Work that is done again rather than stored, at each point of a kernel; in additions.
constexpr double kRepeatedCost = 8;

// A value from outside a group, as a place in memory: views that start there are one.
struct Input {
    const void* source;
    uint32_t result;
    int64_t offset;
    friend bool operator==(const Input&, const Input&) = default;
};

// A group while it is planned.
struct Draft {
    std::vector<Node*> nodes;  // from the last to the first
    std::unordered_map<const Node*, bool> stored;
    std::unordered_map<const Node*, std::vector<IndexMap>> maps;  // of a reduction: of its result
    Boundary boundary = Boundary::kNone;
    Dims shape;
    std::vector<bool> reduced;
    std::optional<ReductionSpace> walk;  // of its reductions
    size_t collapse = 0;                 // of the walk's rows (lowering/collapsed_rows.h)
    bool multiplies = false;  // its nodes are computed on the tiles of a product, which is one of them
    // Writes through which its nodes read (planning/pieces.h), and where the windows of these cut the space.
    std::unordered_map<const Node*, Frame> frames;
    std::vector<std::vector<int64_t>> cuts;
    std::vector<Input> inputs;  // read by its nodes and computed by none of them
    double repeated_cost = 0;
    std::vector<size_t> successors;
};

double cost_of(const Node& node);
bool is_full_size(const Operand& operand, const Dims& shape);
// `inputs` of a group, with those of a node that joins it, or of a group that is merged with it.
std::vector<Input> with_inputs_of(std::vector<Input> inputs, const Node& node);
std::vector<Input> with_inputs_of(std::vector<Input> inputs, const Draft& draft);
bool is_full(const Draft& draft, const Node& node);
Dims kept_axes(const std::vector<bool>& reduced);
// The result of a reduction over the axes of its own shape.
IndexMap kept_map(const Node& node);
bool moves_along_row(const IndexMap& map, const Draft& draft);
// How often the group computes the node.
double evaluations(const IndexMap& map, const Draft& draft);
// Additions that are done again at each point of the group's space when the node joins it. Infinite where
// a small value would be computed over and over.
double repeated_cost(const Node& node, const Draft& draft, const std::vector<IndexMap>& maps);
// A stored value is written once for each point of one of the group's levels.
bool covers(const IndexMap& map, const Dims& shape, const Draft& draft);
// At each point of the group's space: bytes that it computes, an addition counted as one result, and
// bytes that it reads and writes.
double work_of(const Draft& draft);
double bytes_of(const Draft& draft);

// ---- neighbours: groups over one space that share what they read ----

bool same_walk(const ReductionSpace& a, const ReductionSpace& b);
bool writes(const Draft& draft);
bool shares_input(const Node& node, const Draft& draft);
bool are_twins(const Draft& a, const Draft& b);
bool is_neighbour(const Node& node, const Draft& draft);

}  // namespace weft::planning
