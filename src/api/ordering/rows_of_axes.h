// Some axes of an array joined as rows along the last axis, and results put back in the place of the axes.
#pragma once

#include <algorithm>
#include <string>

#include "weft/assembly.h"
#include "weft/options.h"

namespace weft {

class RowsOfAxes {
public:
    // Throws AxisError, and ValueError for an axis named twice.
    RowsOfAxes(const array& a, const Axes& axis) : all_(!axis.list()), rank_(a.ndim()) {
        if (all_) {
            for (int64_t d = 0; d < rank_; ++d) axes_.push_back(d);
        } else {
            for (const int64_t each : *axis.list()) {
                if (each < -rank_ || each >= rank_)
                    throw AxisError("axis: axis " + std::to_string(each) +
                                    " is out of bounds for array of dimension " + std::to_string(rank_));
                const int64_t d = each < 0 ? each + rank_ : each;
                if (is_joined(d)) throw ValueError("repeated axis in `axis` argument");
                axes_.push_back(d);
            }
        }
        for (int64_t d = 0; d < rank_; ++d) {
            if (!is_joined(d)) rest_.push_back(a.shape()[static_cast<size_t>(d)]);
        }
        rows_ = rows_of(a);
    }

    const Dims& axes() const { return axes_; }
    const array& rows() const { return rows_; }
    const Dims& result_shape() const { return rest_; }  // without keepdims

    // Of another array of the same shape.
    array rows_of(const array& a) const {
        if (all_) return ravel(a);
        Dims order, shape = rest_;
        for (int64_t d = 0; d < rank_; ++d) {
            if (!is_joined(d)) order.push_back(d);
        }
        int64_t joined = 1;
        for (const int64_t d : axes_) {
            order.push_back(d);
            joined *= a.shape()[static_cast<size_t>(d)];
        }
        shape.push_back(joined);
        const array moved = rank_ != 0 ? transpose(a, order) : a;
        return reshape(moved, shape);
    }

    // The result of each row, behind `before` axes: with axes of one where axes were joined, in `out` where
    // that is given.
    array finish(array result, bool keepdims, const array& out, int64_t before) const {
        if (keepdims) {
            Dims sorted = axes_;
            std::sort(sorted.begin(), sorted.end());
            for (const int64_t d : sorted) result = expand_dims(result, Dims{d + before});
        }
        if (!out.valid()) return result;
        assign_where(out, result, true, Casting::kUnsafe);
        return out;
    }

private:
    bool is_joined(int64_t d) const { return std::find(axes_.begin(), axes_.end(), d) != axes_.end(); }

    bool all_;
    int64_t rank_;
    Dims axes_, rest_;
    array rows_;
};

}  // namespace weft
