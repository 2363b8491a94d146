#include <vector>

#include "core/shape.h"
#include "weft/assembly.h"
#include "weft/errors.h"

namespace weft {

namespace {

// What comes before and behind the seam of one axis: where it is in the input and in the result.
struct Part {
    int64_t from, to, count;
};

array part_of(const array& whole, const Dims& begin, const Dims& extents) {
    int64_t offset = whole.offset();
    for (size_t d = 0; d < begin.size(); ++d) offset += begin[d] * whole.strides()[d];
    return whole.with_view(whole.dtype(), extents, whole.strides(), offset);
}

}  // namespace

array roll(const array& input, std::span<const int64_t> shifts, std::span<const int64_t> axes) {
    if (shifts.size() != axes.size())
        throw ValueError("'shift' and 'axis' should be scalars or 1D sequences");
    const Dims& shape = input.shape();
    Dims steps(shape.size());
    for (size_t k = 0; k < axes.size(); ++k) {
        const auto axis = static_cast<size_t>(normalize_axis(axes[k], input.ndim()));
        if (shape[axis] != 0) steps[axis] = (steps[axis] + shifts[k] % shape[axis]) % shape[axis];
    }
    std::vector<std::vector<Part>> parts;
    bool moves = false;
    for (size_t d = 0; d < shape.size(); ++d) {
        const int64_t step = steps[d] < 0 ? steps[d] + shape[d] : steps[d];
        parts.push_back({{0, step, shape[d] - step}});
        if (step == 0) continue;
        moves = true;
        parts.back().push_back({shape[d] - step, 0, step});
    }
    if (!moves || input.size() == 0) return copy(input, 'K');
    array result = empty_like(input, {}, 'K', {}, {});
    // Each axis has one part or two: all combinations, the last axis first.
    std::vector<size_t> which(shape.size());
    while (true) {
        Dims from, to, extents;
        for (size_t d = 0; d < shape.size(); ++d) {
            const Part& part = parts[d][which[d]];
            from.push_back(part.from);
            to.push_back(part.to);
            extents.push_back(part.count);
        }
        assign(part_of(result, to, extents), part_of(input, from, extents));
        size_t d = shape.size();
        while (d-- > 0) {
            if (++which[d] < parts[d].size()) break;
            which[d] = 0;
        }
        if (d == SIZE_MAX) return result;
    }
}

array roll(const array& input, int64_t shift, int64_t axis) {
    return roll(input, std::span<const int64_t>(&shift, 1), std::span<const int64_t>(&axis, 1));
}

array roll(const array& input, int64_t shift) {
    return reshape(roll(ravel(input, 'C'), shift, 0), input.shape());
}

}  // namespace weft
