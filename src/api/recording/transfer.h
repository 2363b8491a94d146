// Transfers: an array's elements, or one element of it, on the device where an operation needs them.
#pragma once

#include "device/devices.h"
#include "graph/node.h"
#include "weft/array.h"

namespace weft {

// The same elements on the device: `input` itself if it is there; else recorded, no work done yet.
array move_to(const array& input, DeviceBackend& device);

// An operand without dimensions as `device` reads it over `shape`: a constant of `dtype` where the value is
// host-resident.
Operand moved_operand(const array& input, DeviceBackend& device, DType dtype, const Dims& shape);

}  // namespace weft
