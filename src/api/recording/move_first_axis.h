// np.moveaxis of the first axis of what is made along it, with its error.
#pragma once

#include <cstdint>
#include <string>

#include "api/recording/moved_axis.h"
#include "weft/errors.h"

namespace weft {

inline array with_first_axis_at(const array& values, int64_t axis) {
    const int ndim = values.ndim();
    if (axis < -ndim || axis >= ndim) {
        throw AxisError("destination: axis " + std::to_string(axis) +
                        " is out of bounds for array of dimension " + std::to_string(ndim));
    }
    return axis == 0 ? values : move_axis(values, 0, axis);
}

}  // namespace weft
