#include "planning/boundary.h"

namespace weft {

std::string_view text_of(Boundary boundary) {
    switch (boundary) {
        case Boundary::kNone: return "";
#define WEFT_BOUNDARY(enumerator, text) \
    case Boundary::enumerator: return text;
#include "planning/boundaries.def"
#undef WEFT_BOUNDARY
    }
    return "";
}

Boundary boundary_of(NodeKind kind) {
    static constexpr Boundary kBoundaries[] = {
#define WEFT_NODE_KIND(enumerator, payload, pointwise, layout, boundary) Boundary::boundary,
#include "graph/node_kinds.def"
#undef WEFT_NODE_KIND
    };
    return kBoundaries[static_cast<size_t>(kind)];
}

}  // namespace weft
