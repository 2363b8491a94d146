// Memory of others: whether what they say of it can be true, and an array over it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "device/device.h"
#include "weft/array.h"

namespace weft {

// Whether the bytes of all elements, and those between the first and the last, are a number that addresses
// can have: of what others say about memory of theirs. Strides, in bytes, are
// left out where elements are dense; no extent is negative.
bool is_addressable(std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t itemsize);

// What is wrong with memory that somebody describes, as words behind its name; empty where there can be such
// memory, though nobody can say whether there is. Strides are in bytes, and left out where elements are
// dense.
std::string fault_of_memory(uint64_t first_element, std::span<const int64_t> shape,
                            std::span<const int64_t> strides, int64_t itemsize);
// Throws ValueError where something is.
void check_memory(std::string_view name, uint64_t first_element, std::span<const int64_t> shape,
                  std::span<const int64_t> strides, int64_t itemsize);

// Another's memory as an array: `first_element` is where it is, and `owner` keeps it alive. Strides may be of
// any sign. Throws ValueError for what cannot be memory.
array array_over(DeviceBackend& device, uint64_t first_element, DType dtype, const Dims& shape,
                 const Dims& strides, bool writeable, std::shared_ptr<void> owner);

}  // namespace weft
