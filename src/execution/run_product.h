// Runs groups with a product (NodeKind::kProduct); what it computes is library/products/contraction.h's. Its
// `shape` is the axes of the result followed by those that are summed over (`reduced_axes`); inputs are cast
// to the result's dtype before. The group is the product alone, or element-wise work on its tiles.
#pragma once

namespace weft {

struct Group;

// On the group's device. Throws NotImplementedError, with nothing done, for what a GPU's library cannot do.
void run_product(Group& group);

}  // namespace weft
