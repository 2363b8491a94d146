#include <string>
#include <vector>

#include "api/indexing/fast_index.h"
#include "api/recording/scalar_here.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "ops/resolve.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"
#include "weft/selection.h"

namespace weft {

namespace {

array as_bool(const array& value) {
    return value.dtype().is_bool() ? value : astype(value, ScalarType::kBool);
}

// So many values: the given ones, a row, over and over.
array repeated(const array& values, int64_t count) {
    if (values.size() == count) return values;
    return take(values, remainder(arange(count), values.size()), 0, TakeMode::kRaise);
}

array as_safely(const array& values, DType dtype) {
    if (values.dtype() == dtype) return values;
    if (!can_cast(values.dtype(), dtype, Casting::kSafe)) {
        throw TypeError("Cannot cast array data from dtype('" + std::string(values.dtype().name()) +
                        "') to dtype('" + std::string(dtype.name()) + "') according to the rule 'safe'");
    }
    return astype(values, dtype);
}

void check_writeable(const array& target, const std::string& function) {
    if (!target.writeable()) throw ValueError(function + ": output array is read-only");
}

array mask_of(const array& target, const array& mask, const std::string& function) {
    if (mask.size() != target.size()) throw ValueError(function + ": mask and data must be the same size");
    const array truths = as_bool(mask);
    return truths.shape() == target.shape() ? truths : reshape(truths, target.shape());
}

array as_row(const array& values) { return values.ndim() == 1 ? values : ravel(values, 'C'); }

// The elements of a row where a mask, which may be shorter, is true.
array where_true(const array& row, const array& mask) {
    const Index begin[] = {Slice{0, mask.size(), 1}};
    const array part = mask.size() == row.size() ? row : index(row, begin);
    array found;
    if (try_compress(part, mask, found)) return found;
    const Index masked[] = {mask};
    return index(part, masked);
}

}  // namespace

array argwhere(const array& a) {
    if (a.ndim() == 0) {
        const array found = argwhere(reshape(a, Dims{1}));
        return found.with_view(found.dtype(), Dims{found.shape()[0], 0}, found.strides(), found.offset());
    }
    return transpose(stack(nonzero(a)));
}

array flatnonzero(const array& a) { return nonzero(as_row(a))[0]; }

array compress(const array& condition, const array& a, std::optional<int64_t> axis, const array& out) {
    if (condition.ndim() != 1) throw ValueError("condition must be a 1-d array");
    if (!axis || a.ndim() == 1) {
        if (axis) normalize_axis(*axis, a.ndim());
        const array row = as_row(a);
        if (condition.size() <= row.size() && !out.valid()) return where_true(row, as_bool(condition));
    }
    return take(a, nonzero(condition)[0], axis, TakeMode::kRaise, out);
}

array extract(const array& condition, const array& arr) {
    const array row = as_row(arr), truths = as_row(condition);
    if (truths.size() > row.size()) return take(row, nonzero(truths)[0], 0, TakeMode::kRaise);
    return where_true(row, as_bool(truths));
}

void place(const array& target, const array& mask, const array& values) {
    check_writeable(target, "place");
    const array truths = mask_of(target, mask, "place");
    const array row = as_row(as_safely(values, target.dtype()));
    if (try_fill(target, truths, row, Along::kChosen)) return;
    if (row.size() == 1) {
        assign_where(target, reshape(row, Shape{}), truths, Casting::kUnsafe);
        return;
    }
    const DeviceScope scope(device_of(target));
    const int64_t count = sum(truths).item<int64_t>();
    if (count == 0) return;
    if (row.size() == 0) throw ValueError("Cannot insert from an empty array!");
    const Index where_true[] = {truths};
    assign_at(target, where_true, repeated(row, count));
}

void putmask(const array& target, const array& mask, const array& values) {
    const array truths = mask_of(target, mask, "putmask");
    check_writeable(target, "putmask");
    const array row = as_row(as_safely(values, target.dtype()));
    if (row.size() == 0 || try_fill(target, truths, row, Along::kAll)) return;
    const DeviceScope scope(device_of(target));
    const array all =
        row.size() == 1 ? reshape(row, Shape{}) : reshape(repeated(row, target.size()), target.shape());
    assign_where(target, all, truths, Casting::kUnsafe);
}

namespace {

// The positions along each axis; those that are counted are checked.
std::vector<Index> unravelled(const array& counted, const array& target) {
    const int64_t size = target.size();
    const array wrong = logical_or(less(counted, -size), greater_equal(counted, size));
    if (truth_of(any(wrong))) {
        const Index where_true[] = {wrong};
        const Index first[] = {Index(int64_t{0})};
        const auto position = index(index(counted, where_true), first).item<int64_t>();
        throw IndexError("index " + std::to_string(position) + " is out of bounds for axis 0 with size " +
                         std::to_string(size));
    }
    array rest = remainder(counted, size);
    std::vector<Index> places(static_cast<size_t>(target.ndim()));
    for (size_t d = places.size(); d-- > 0;) {
        places[d] = remainder(rest, target.shape()[d]);
        rest = floor_divide(rest, target.shape()[d]);
    }
    return places;
}

}  // namespace

void put(const array& target, const array& indices, const array& values, TakeMode mode) {
    check_writeable(target, "put");
    const DeviceScope scope(device_of(target));
    array places = as_row(scalar_here(as_safely(indices, ScalarType::kInt64)));
    if (places.size() == 0) return;
    const int64_t size = target.size();
    if (size == 0) throw IndexError("cannot replace elements of an empty array");
    if (values.size() == 0) return;
    if (mode == TakeMode::kWrap) {
        places = remainder(places, size);
    } else if (mode == TakeMode::kClip) {
        places = maximum(minimum(places, size - 1), 0);
    }
    array row = as_row(values.dtype() == target.dtype() ? values : astype(values, target.dtype()));
    row = row.size() == 1 ? reshape(row, Shape{}) : repeated(row, places.size());
    if (!target.c_contiguous()) {
        assign_at(target, unravelled(places, target), row);
        return;
    }
    const array flat = target.ndim() == 1 ? target : reshape(target, Dims{size});
    GivenOperand given;
    given.set(row);
    const Index at[] = {places};
    if (!try_scatter(flat, places, given)) assign_at(flat, at, row);
}

}  // namespace weft
