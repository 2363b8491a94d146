// What the generated bitcode_*.cpp are made of: one function a loop, from pointers to elements to pointers to
// elements, so that the kernel compiler calls all alike. After inlining the memory is gone.
#pragma once

#include "ops/kernel_attributes.h"
#include "ops/scalar/all.h"

namespace weft {

template <typename T>
inline T load(const void* address) {
    return scalar::read_element(static_cast<const T*>(address));
}
template <typename T>
inline void store(void* address, const T& value) {
    *static_cast<T*>(address) = value;
}

}  // namespace weft
