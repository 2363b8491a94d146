// What is put around an array: np.pad.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "weft/array.h"
#include "weft/ops.h"

namespace weft {

enum class PadMode {
    kConstant,    // `values`
    kEdge,        // the element at the edge
    kLinearRamp,  // from the edge to `values`
    kMaximum,     // of the `lengths` elements next to the edge
    kMean,
    kMedian,
    kMinimum,
    kReflect,    // the mirror image, without the edge
    kSymmetric,  // with the edge
    kWrap,       // the elements at the other end
    kEmpty,      // whatever is there
};

/// Elements before and behind an axis.
struct PadWidth {
    int64_t before = 0, after = 0;
};

struct PadOptions {
    PadMode mode = PadMode::kConstant;
    // Of each axis, before it and behind it; one pair serves all axes, none is 0.
    std::vector<std::array<Argument, 2>> values = {};
    // Likewise; none, or no number, is the whole axis.
    std::vector<std::array<std::optional<int64_t>, 2>> lengths = {};
    bool odd = false;  // mirror images are turned round the edge: 2 * edge - element
};

/// np.pad: the array with more elements around it; one width serves all axes. The result has a's dtype, and
/// its order of axes where that is Fortran's. Throws ValueError for other numbers of widths than axes, for
/// negative ones, for an empty axis that is to be continued, and for maxima and minima of no elements.
///
///     pad(array{1, 2, 3}, {{2, 1}}, {.mode = PadMode::kReflect}) is {3, 2, 1, 2, 3, 2}
array pad(const array& a, const std::vector<PadWidth>& widths, const PadOptions& options = {});

}  // namespace weft
