// On which device an operation runs: that of its arrays, which have to be on one. Python scalars and arrays
// of no dimensions go wherever they are needed.
#pragma once

#include <span>

#include "device/devices.h"
#include "graph/node.h"
#include "graph/storage.h"
#include "weft/array.h"

namespace weft {

inline DeviceBackend& device_of(const array& input) { return input.storage()->device; }

// Of the arrays with dimensions, else of the first that is not on the CPU, else the CPU. Throws ValueError
// that names both devices when arrays with dimensions are on two.
DeviceBackend& common_device(std::span<const array* const> arrays);

// The same of two arrays: in one array's memory goes what the other holds.
void check_same_device(const array& first, const array& second);

}  // namespace weft
