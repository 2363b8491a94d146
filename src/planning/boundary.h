// Where kernels end: why a node is not computed in the kernel of what reads it.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/node.h"

namespace weft {

enum class Boundary : uint8_t {
    kNone,  // it joins
#define WEFT_BOUNDARY(enumerator, text) enumerator,
#include "planning/boundaries.def"
#undef WEFT_BOUNDARY
};

// For weft.explain.
std::string_view text_of(Boundary boundary);

// Of all nodes of a kind, whoever reads them (graph/node_kinds.def).
Boundary boundary_of(NodeKind kind);

}  // namespace weft
