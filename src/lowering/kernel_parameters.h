// The parameters of a kernel in a canonical form, in the order in which a launch passes them: grid sizes,
// other sizes, inputs, scalars, outputs.
#pragma once

#include <vector>

#include "ir/builder.h"
#include "lowering/lower.h"

namespace weft {

struct KernelParameters {
    using Values = std::vector<ir::ValueId>;
    struct Position {
        ir::ValueId base;
        Values strides;  // invalid where the class says which
    };
    Values grid_sizes, reduced_sizes;
    Values inputs;                    // invalid where an input is a position
    std::vector<Position> positions;  // as many as inputs
    Values scalars, outputs;
};

KernelParameters declare_parameters(ir::Builder& builder, const KernelForm& form);

}  // namespace weft
