// Views: new shapes, strides and offsets over the same storage. No data moves, nothing is recorded.
#include <algorithm>
#include <numeric>

#include "api/indexing/gather.h"
#include "core/shape.h"
#include "graph/foreign_memory.h"
#include "graph/indexed_view.h"
#include "graph/placement.h"
#include "graph/storage.h"
#include "weft/ops.h"

namespace weft {

void throw_out_of_bounds(int64_t position, size_t axis, int64_t extent) {
    throw IndexError("index " + std::to_string(position) + " is out of bounds for axis " +
                     std::to_string(axis) + " with size " + std::to_string(extent));
}

IndexedView::IndexedView(const array& input, size_t consumed)
    : input_(input), offset_(input.offset()), consumed_(consumed) {
    if (consumed > input.shape().size()) {
        throw IndexError("too many indices for array: array is " + std::to_string(input.ndim()) +
                         "-dimensional, but " + std::to_string(consumed) + " were indexed");
    }
}

void IndexedView::integer(int64_t position) {
    offset_ += element_offset(input_, axis_, position);
    ++axis_;
}

void IndexedView::slice(int64_t start, int64_t stop, int64_t step) {
    if (step == 0) throw ValueError("slice step cannot be zero");
    const int64_t extent = input_.shape()[axis_], stride = input_.strides()[axis_];
    const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? extent - 1 : extent;
    const auto clip = [&](int64_t position) {
        if (position < 0) position += extent;
        return position < low ? low : position > high ? high : position;
    };
    start = clip(start);
    stop = clip(stop);
    int64_t length = 0;
    if (step == 1) {
        if (start < stop) length = stop - start;
    } else if (step > 0) {
        if (start < stop) length = (stop - start - 1) / step + 1;
    } else if (start > stop) {
        length = (start - stop - 1) / -step + 1;
    }
    if (length > 0) offset_ += start * stride;
    int64_t reach =
        stride;  // as NumPy, which steps over nothing by one; nothing is read by one that is too large
    if (length == 0 || __builtin_mul_overflow(stride, step, &reach)) reach = stride;
    push(length, reach);
    ++axis_;
}

void IndexedView::new_axis() { push(1, 0); }

void IndexedView::ellipsis() { keep(input_.shape().size() - consumed_); }

void IndexedView::keep(size_t count) {
    for (; count > 0; --count, ++axis_) push(input_.shape()[axis_], input_.strides()[axis_]);
}

void IndexedView::push(int64_t extent, int64_t stride) {
    shape_.push_back(extent);
    strides_.push_back(stride);
}

array IndexedView::finish() {
    keep(input_.shape().size() - axis_);
    if (shape_.size() > kMaxDimensions) {
        throw IndexError("number of dimensions must be within [0, " + std::to_string(kMaxDimensions) +
                         "], indexing result would have " + std::to_string(shape_.size()));
    }
    return input_.with_view(input_.dtype(), std::move(shape_), std::move(strides_), offset_);
}

namespace {

bool has_arrays(std::span<const Index> indices) {
    return std::any_of(indices.begin(), indices.end(),
                       [](const Index& each) { return std::holds_alternative<array>(each); });
}

}  // namespace

void assign_at(const array& target, std::span<const Index> indices, const Argument& value) {
    if (has_arrays(indices)) {
        assign_by_arrays(target, indices, value);
    } else {
        assign(index(target, indices), value);
    }
}

array index(const array& input, std::span<const Index> indices) {
    if (has_arrays(indices)) return index_by_arrays(input, indices);
    size_t consumed = 0;
    bool has_ellipsis = false;
    for (const Index& each : indices) {
        if (std::holds_alternative<int64_t>(each) || std::holds_alternative<Slice>(each)) ++consumed;
        if (std::holds_alternative<Ellipsis>(each)) {
            if (has_ellipsis) throw IndexError("an index can only have a single ellipsis ('...')");
            has_ellipsis = true;
        }
    }
    IndexedView view(input, consumed);
    for (const Index& each : indices) {
        if (std::holds_alternative<Ellipsis>(each)) {
            view.ellipsis();
        } else if (std::holds_alternative<NewAxis>(each)) {
            view.new_axis();
        } else if (const auto* position = std::get_if<int64_t>(&each)) {
            view.integer(*position);
        } else {
            const Slice& slice = std::get<Slice>(each);
            const int64_t step = slice.step.value_or(1);
            view.slice(slice.start.value_or(step < 0 ? INT64_MAX : 0),
                       slice.stop.value_or(step < 0 ? INT64_MIN : INT64_MAX), step);
        }
    }
    return view.finish();
}

array strided_view(const array& input, const Dims& shape, const Dims& strides) {
    if (shape.size() != strides.size()) throw ValueError("mismatch in length of strides and shape");
    for (const int64_t extent : shape) {
        if (extent < 0) throw ValueError("negative dimensions are not allowed");
    }
    if (!is_addressable(shape, strides, input.itemsize())) {
        throw ValueError("a view of shape " + shape_text(shape) + " with strides " + shape_text(strides) +
                         " would reach beyond every address");
    }
    if (element_count(shape) != 0) {
        const ByteRange range = byte_range(shape, strides, input.offset(), input.itemsize());
        if (range.low < 0 || range.high > input.storage()->bytes) {
            throw ValueError("a view of shape " + shape_text(shape) + " with strides " + shape_text(strides) +
                             " would leave the array's memory of " + std::to_string(input.storage()->bytes) +
                             " bytes");
        }
    }
    return input.with_view(input.dtype(), shape, strides, input.offset());
}

array transpose(const array& input, std::span<const int64_t> axes) {
    const int ndim = input.ndim();
    if (!axes.empty() && static_cast<int>(axes.size()) != ndim) throw ValueError("axes don't match array");
    Dims shape, strides;
    std::vector<bool> seen(static_cast<size_t>(ndim));
    for (int d = 0; d < ndim; ++d) {
        const int axis = axes.empty() ? ndim - 1 - d : normalize_axis(axes[static_cast<size_t>(d)], ndim);
        if (seen[static_cast<size_t>(axis)]) throw ValueError("repeated axis in transpose");
        seen[static_cast<size_t>(axis)] = true;
        shape.push_back(input.shape()[static_cast<size_t>(axis)]);
        strides.push_back(input.strides()[static_cast<size_t>(axis)]);
    }
    return input.with_view(input.dtype(), std::move(shape), std::move(strides), input.offset());
}

array swapaxes(const array& input, int64_t first, int64_t second) {
    const auto normalize = [&](int64_t axis, const char* name) {
        if (axis < -input.ndim() || axis >= input.ndim())
            throw AxisError(std::string(name) + ": axis " + std::to_string(axis) +
                            " is out of bounds for array of dimension " + std::to_string(input.ndim()));
        return static_cast<size_t>(axis < 0 ? axis + input.ndim() : axis);
    };
    const size_t a = normalize(first, "axis1"), b = normalize(second, "axis2");
    Dims shape = input.shape(), strides = input.strides();
    std::swap(shape[a], shape[b]);
    std::swap(strides[a], strides[b]);
    return input.with_view(input.dtype(), std::move(shape), std::move(strides), input.offset());
}

array squeeze(const array& input, std::optional<Dims> axes) {
    std::vector<bool> drop(input.shape().size());
    if (axes) {
        for (const int64_t axis : *axes) {
            if (input.ndim() == 0 && (axis == 0 || axis == -1))
                continue;  // NumPy lets a 0-d array have one axis
            const auto d = static_cast<size_t>(normalize_axis(axis, input.ndim()));
            if (drop[d]) throw ValueError("duplicate value in 'axis'");
            if (input.shape()[d] != 1) {
                throw ValueError("cannot select an axis to squeeze out which has size not equal to one");
            }
            drop[d] = true;
        }
    } else {
        for (size_t d = 0; d < drop.size(); ++d) drop[d] = input.shape()[d] == 1;
    }
    Dims shape, strides;
    for (size_t d = 0; d < drop.size(); ++d) {
        if (drop[d]) continue;
        shape.push_back(input.shape()[d]);
        strides.push_back(input.strides()[d]);
    }
    return input.with_view(input.dtype(), std::move(shape), std::move(strides), input.offset());
}

array expand_dims(const array& input, const Dims& axes) {
    const int ndim = input.ndim() + static_cast<int>(axes.size());
    std::vector<bool> fresh(static_cast<size_t>(ndim));
    for (const int64_t axis : axes) {
        const auto d = static_cast<size_t>(normalize_axis(axis, ndim));
        if (fresh[d]) throw ValueError("repeated axis");
        fresh[d] = true;
    }
    Dims shape, strides;
    size_t old = 0;
    for (const bool is_fresh : fresh) {
        shape.push_back(is_fresh ? 1 : input.shape()[old]);
        strides.push_back(is_fresh ? 0 : input.strides()[old]);
        if (!is_fresh) ++old;
    }
    return input.with_view(input.dtype(), std::move(shape), std::move(strides), input.offset());
}

array broadcast_to(const array& input, const Shape& shape) {
    for (const int64_t extent : shape) {
        if (extent < 0) throw ValueError("all elements of broadcast shape must be non-negative");
    }
    if (!can_broadcast(input.shape(), shape)) {
        if (input.shape().size() > shape.size()) {
            throw ValueError("input operand has more dimensions than allowed by the axis remapping");
        }
        throw ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: " +
            shape_text(input.shape()) + "  and requested shape " + shape_text(shape));
    }
    array view = input.with_view(input.dtype(), shape,
                                 broadcast_strides(input.shape(), input.strides(), shape), input.offset());
    view.set_writeable(false);
    return view;
}

array flip(const array& input, std::optional<Dims> axes) {
    std::vector<bool> reverse(input.shape().size(), !axes);
    if (axes) {
        for (const int64_t axis : *axes) {
            const auto d = static_cast<size_t>(normalize_axis(axis, input.ndim()));
            if (reverse[d]) throw ValueError("repeated axis");
            reverse[d] = true;
        }
    }
    Dims strides = input.strides();
    int64_t offset = input.offset();
    for (size_t d = 0; d < reverse.size(); ++d) {
        if (!reverse[d]) continue;
        if (input.shape()[d] > 0) offset += (input.shape()[d] - 1) * strides[d];
        strides[d] = -strides[d];
    }
    return input.with_view(input.dtype(), input.shape(), std::move(strides), offset);
}

array view(const array& input, DType dtype) {
    const int64_t old_size = input.itemsize(), new_size = dtype.itemsize();
    Dims shape = input.shape(), strides = input.strides();
    if (old_size != new_size) {
        if (shape.empty()) {
            throw ValueError(
                "Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
        }
        const size_t last = shape.size() - 1;
        if (shape[last] != 1 && element_count(shape) != 0 && strides[last] != old_size) {
            throw ValueError("To change to a dtype of a different size, the last axis must be contiguous");
        }
        if (new_size < old_size) {
            if (old_size % new_size != 0) {
                throw ValueError(
                    "When changing to a smaller dtype, its size must be a divisor of the size of "
                    "original dtype");
            }
            shape[last] *= old_size / new_size;
        } else {
            if (shape[last] * old_size % new_size != 0) {
                throw ValueError(
                    "When changing to a larger dtype, its size must be a divisor of the total size in "
                    "bytes of the last axis of the array.");
            }
            shape[last] = shape[last] * old_size / new_size;
        }
        strides[last] = new_size;
    }
    return input.with_view(dtype, std::move(shape), std::move(strides), input.offset());
}

array real(const array& input) {
    if (!input.dtype().is_complex()) return input;
    return input.with_view(input.dtype().real(), input.shape(), input.strides(), input.offset());
}

array imag(const array& input) {
    if (!input.dtype().is_complex()) {
        const DeviceScope scope(device_of(input));
        array zeros = full(input.shape(), Integer(0), input.dtype(),
                           input.f_contiguous() && !input.c_contiguous() ? 'F' : 'C');
        zeros.set_writeable(false);
        return zeros;
    }
    return input.with_view(input.dtype().real(), input.shape(), input.strides(),
                           input.offset() + input.dtype().real().itemsize());
}

array diagonal(const array& input, int64_t offset, int64_t axis1, int64_t axis2) {
    if (input.ndim() < 2) throw ValueError("diag requires an array of at least two dimensions");
    const auto a = static_cast<size_t>(normalize_axis(axis1, input.ndim()));
    const auto b = static_cast<size_t>(normalize_axis(axis2, input.ndim()));
    if (a == b) throw ValueError("axis1 and axis2 cannot be the same");
    int64_t rows = input.shape()[a], columns = input.shape()[b], start = input.offset();
    (offset >= 0 ? columns : rows) -= offset >= 0 ? offset : -std::max(offset, -rows);
    const int64_t length = std::max<int64_t>(0, std::min(rows, columns));
    if (length > 0) start += offset >= 0 ? offset * input.strides()[b] : -offset * input.strides()[a];
    Dims shape, strides;
    for (size_t d = 0; d < input.shape().size(); ++d) {
        if (d == a || d == b) continue;
        shape.push_back(input.shape()[d]);
        strides.push_back(input.strides()[d]);
    }
    shape.push_back(length);
    strides.push_back(input.strides()[a] + input.strides()[b]);
    array result = input.with_view(input.dtype(), std::move(shape), std::move(strides), start);
    result.set_writeable(false);
    return result;
}

namespace {

Dims reshaped(const array& input, const Dims& shape) {
    Dims result = shape;
    int64_t known = 1;
    std::optional<size_t> unknown;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == -1) {
            if (unknown) throw ValueError("can only specify one unknown dimension");
            unknown = d;
        } else {
            if (shape[d] < 0) throw ValueError("negative dimensions not allowed");
            if (__builtin_mul_overflow(known, shape[d], &known)) known = -1;
        }
    }
    const int64_t size = input.size();
    const bool fits = unknown ? known > 0 && size % known == 0 : known == size;
    if (!fits) {
        std::string text = shape_text(shape);
        if (const size_t at = text.find("-1"); unknown) text.replace(at, 2, "newaxis");
        throw ValueError("cannot reshape array of size " + std::to_string(size) + " into shape " + text);
    }
    if (unknown) result[*unknown] = size / known;
    if (size == 0) check_shape(result, input.itemsize());
    return result;
}

// The strides by which `shape` can be read from the old view without moving data, if there are any: groups of
// old dimensions that are one block of memory are cut anew.
std::optional<Dims> view_strides(const Dims& old_shape, const Dims& old_strides, const Dims& shape,
                                 bool fortran, int64_t itemsize) {
    Dims from, from_strides;
    for (size_t d = 0; d < old_shape.size(); ++d) {
        if (old_shape[d] == 1) continue;
        from.push_back(old_shape[d]);
        from_strides.push_back(old_strides[d]);
    }
    Dims strides(shape.size());
    size_t old_begin = 0, new_begin = 0;
    while (old_begin < from.size() && new_begin < shape.size()) {
        size_t old_end = old_begin + 1, new_end = new_begin + 1;
        int64_t old_count = from[old_begin], new_count = shape[new_begin];
        while (old_count != new_count) {
            if (new_count < old_count) {
                new_count *= shape[new_end++];
            } else {
                old_count *= from[old_end++];
            }
        }
        for (size_t d = old_begin; d + 1 < old_end; ++d) {
            const bool block = fortran ? from_strides[d + 1] == from[d] * from_strides[d]
                                       : from_strides[d] == from[d + 1] * from_strides[d + 1];
            if (!block) return std::nullopt;
        }
        if (fortran) {
            strides[new_begin] = from_strides[old_begin];
            for (size_t d = new_begin + 1; d < new_end; ++d) strides[d] = strides[d - 1] * shape[d - 1];
        } else {
            strides[new_end - 1] = from_strides[old_end - 1];
            for (size_t d = new_end - 1; d > new_begin; --d) strides[d - 1] = strides[d] * shape[d];
        }
        old_begin = old_end;
        new_begin = new_end;
    }
    // trailing extents of one
    int64_t last = itemsize;
    if (new_begin > 0) {
        last = strides[new_begin - 1];
        if (fortran) last *= shape[new_begin - 1];
    }
    for (size_t d = new_begin; d < shape.size(); ++d) strides[d] = last;
    return strides;
}

}  // namespace

array reshape(const array& input, const Shape& shape, char order, std::optional<bool> copy) {
    const Dims target = reshaped(input, shape);
    const bool fortran = order == 'F' || (order == 'A' && input.f_contiguous() && !input.c_contiguous());
    if (!copy.value_or(false)) {
        if (target == input.shape())
            return input.with_view(input.dtype(), target, input.strides(), input.offset());
        std::optional<Dims> strides;
        if (input.size() == 0 || (fortran ? input.f_contiguous() : input.c_contiguous())) {
            strides = reshaped_strides(target, input.itemsize(), fortran);
        } else {
            strides = view_strides(input.shape(), input.strides(), target, fortran, input.itemsize());
        }
        if (strides) return input.with_view(input.dtype(), target, std::move(*strides), input.offset());
        if (copy.has_value()) {
            throw ValueError("Unable to avoid creating a copy while reshaping.");
        }
    }
    const array dense = weft::copy(input, fortran ? 'F' : 'C');
    const Dims strides = reshaped_strides(target, dense.itemsize(), fortran);
    return dense.with_view(dense.dtype(), target, strides, 0);
}

// A view only where the elements lie without gaps in the order asked for; reshape finds more views.
array ravel(const array& input, char order) {
    const Dims flat{input.size()};
    const auto flat_copy = [&](const array& source, char layout) {
        array dense = copy(source, layout);
        dense.set_layout(flat, Dims{dense.itemsize()});
        return dense;
    };
    if (order == 'K' && input.c_contiguous()) order = 'C';
    if (order == 'K' && input.f_contiguous()) order = 'F';
    if (order == 'A') order = input.f_contiguous() && !input.c_contiguous() ? 'F' : 'C';
    if (order != 'K') {
        const bool dense = order == 'C' ? input.c_contiguous() : input.f_contiguous();
        return dense ? reshape(input, flat, order) : flat_copy(input, order);
    }
    // The order of memory, where an axis that repeats says nothing; each axis is walked forwards.
    const Dims* const operand_strides[1] = {&input.strides()};
    const Dims memory = k_order_strides(input.shape(), operand_strides, input.itemsize());
    std::vector<int64_t> axes(input.shape().size());
    std::iota(axes.begin(), axes.end(), 0);
    std::stable_sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) {
        return memory[static_cast<size_t>(a)] > memory[static_cast<size_t>(b)];
    });
    const array sorted = transpose(input, axes);
    return sorted.c_contiguous() ? reshape(sorted, flat, 'C') : flat_copy(sorted, 'C');
}

namespace {

// Where a storage's bytes are, if they are in memory: only then others can lie in the same place.
std::optional<uint64_t> address_of(Storage& storage) {
    const Source version = current_version(storage);
    if (!version.in_memory()) return {};
    return version.buffer->address();
}

// Bytes from the first storage's begin to that of the second; nothing where they cannot share memory. Two
// storages may lie over the same memory of somebody else.
std::optional<int64_t> distance(const array& first, const array& second) {
    Storage &one = *first.storage(), &two = *second.storage();
    if (&one == &two) return 0;
    if (&one.device != &two.device) return {};
    const std::optional<uint64_t> from = address_of(one), to = address_of(two);
    if (!from || !to) return {};
    return static_cast<int64_t>(*to - *from);
}

}  // namespace

bool may_share_memory(const array& first, const array& second) {
    const std::optional<int64_t> apart = distance(first, second);
    if (!apart) return false;
    const ByteRange a = byte_range(first.shape(), first.strides(), first.offset(), first.itemsize());
    const ByteRange b =
        byte_range(second.shape(), second.strides(), *apart + second.offset(), second.itemsize());
    return !a.empty() && !b.empty() && a.low < b.high && b.low < a.high;
}

bool shares_memory(const array& first, const array& second) {
    const std::optional<int64_t> apart = distance(first, second);
    if (!apart) return false;
    return views_overlap({&first.shape(), &first.strides(), first.offset(), first.itemsize()},
                         {&second.shape(), &second.strides(), *apart + second.offset(), second.itemsize()});
}

}  // namespace weft
