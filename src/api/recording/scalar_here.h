// Scalars that a function gives axes to: numbers are made on the CPU, and only without axes take they part
// elsewhere.
#pragma once

#include "device/devices.h"
#include "graph/placement.h"
#include "weft/creation.h"
#include "weft/ops.h"

namespace weft {

// The same scalar on the calling thread's device; any other array as it is.
inline array scalar_here(const array& value) {
    if (value.ndim() != 0 || &device_of(value) == &current_device()) return value;
    return full(Shape{}, value, value.dtype());
}

}  // namespace weft
