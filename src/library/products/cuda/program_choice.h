// Which of the programs for matrix units multiplies two matrices of float32, if one does: where its tiles
// keep the GPU busy (execution/product_on_gpu.h launches it).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "device/device.h"
#include "library/products/contraction.h"
#include "library/products/cuda/contraction.h"

namespace weft {

// A matrix whose neighbours lie along its second axis, or, transposed, along its first.
struct ProgramMatrix {
    bool transposed = false;
    int64_t leading = 1;  // elements
};

// A program, by the beginning of its name, and the tiles that it multiplies by.
struct ProgramChoice {
    std::string_view program;
    int64_t tiles;
    uint32_t threads, shared_bytes;
};

struct ProgramPlan {
    ProductAxes axes;
    ProgramMatrix left, right;
    ProgramChoice choice;
};

// No addresses are needed, but where they are known their alignment counts.
std::optional<ProgramPlan> choose_program(const Contraction& contraction, DeviceBackend& device);

// Whether the product is one that warpgroups multiply, in so much less time than a library does that a kernel
// of its own for what follows is worth it. No addresses are needed.
bool is_for_warpgroups(const Contraction& contraction, DeviceBackend& device);

}  // namespace weft
