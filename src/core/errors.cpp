// The parts of errors that need not be inlined.
#include "weft/errors.h"

#include <string_view>

namespace weft {

void throw_axis_error(int64_t axis, int64_t ndim) {
    throw AxisError("axis " + std::to_string(axis) + " is out of bounds for array of dimension " +
                    std::to_string(ndim));
}

void throw_internal_error(const char* file, int line, const std::string& message) {
    std::string_view path(file);
    // Only the part below the source root: the rest is the build machine's.
    if (auto at = path.rfind("/src/"); at != std::string_view::npos) path.remove_prefix(at + 1);
    throw InternalError("internal error in weft (" + std::string(path) + ":" + std::to_string(line) +
                        "): " + message + ". Please report it with the program that caused it.");
}

}  // namespace weft
