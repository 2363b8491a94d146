// Nodes of products (NodeKind::kProduct): what they compute is library/contraction.h's. Such a node is a
// group of its own. Its `shape` is the axes of the result followed by those that are summed over
// (`reduced_axes`); inputs are cast to the result's dtype before.
#pragma once

namespace weft {

struct Group;

// A group that is a product; see graph/run_group.h.
void run_product(const Group& group);

}  // namespace weft
