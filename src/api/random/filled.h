// Random numbers that the host makes.
#pragma once

#include <utility>

#include "api/recording/transfer.h"
#include "core/shape.h"
#include "execution/fallback.h"
#include "graph/operand.h"

namespace weft {

// Fills memory of the host, and moves it to where arrays are made.
template <class Fill>
array filled(const Dims& shape, DType dtype, const Fill& fill) {
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(checked_bytes(shape, dtype)));
    fill(buffer->data(), element_count(shape));
    DeviceBackend& device = current_device();
    const array result = array_of(std::move(buffer), dtype, shape, c_strides(shape, dtype.itemsize()));
    if (device.is_cpu()) return result;
    record_fallback(device, "random numbers", result.nbytes());
    return move_to(result, device);
}

}  // namespace weft
