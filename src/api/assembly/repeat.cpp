#include <algorithm>
#include <string>
#include <utility>

#include "api/recording/host_row.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/indexing/repeat_loops.h"
#include "ops/resolve.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft {

namespace {

constexpr const char* kNegative = "repeats may not contain negative values.";
constexpr const char* kNegativeExtent = "negative dimensions are not allowed";

// What is repeated, and along which of its axes.
struct Repeated {
    array value;
    int axis = 0;

    Repeated(const array& a, std::optional<int64_t> given) {
        if (!given) {
            value = ravel(a, 'C');
            return;
        }
        value = a.ndim() == 0 ? reshape(a, Dims{1}) : a;
        axis = normalize_axis(*given, value.ndim());
    }
    int64_t extent() const { return value.shape()[static_cast<size_t>(axis)]; }
    Dims shape_with(int64_t extent) const {
        Dims shape = value.shape();
        shape[static_cast<size_t>(axis)] = extent;
        return shape;
    }
};

array repeat_alike(const Repeated& repeated, int64_t count) {
    if (count < 0) throw ValueError(kNegativeExtent);
    int64_t extent = 0;
    if (__builtin_mul_overflow(repeated.extent(), count, &extent)) extent = INT64_MAX;
    const Dims shape = repeated.shape_with(extent);
    checked_bytes(shape, repeated.value.dtype());
    if (element_count(shape) == 0) return zeros(shape, repeated.value.dtype());
    Dims wide = repeated.value.shape();
    const auto place = static_cast<size_t>(repeated.axis) + 1;
    wide.insert(place, count);
    array result =
        copy(broadcast_to(expand_dims(repeated.value, Dims{static_cast<int64_t>(place)}), wide), 'C');
    result.set_layout(shape, c_strides(shape, result.itemsize()));
    return result;
}

// Throws ValueError for negative ones.
int64_t total_of(std::span<const int64_t> counts) {
    int64_t total = 0, all = 0;
    bool overflows = false;
    for (const int64_t count : counts) {
        overflows |= __builtin_add_overflow(total, count, &total);
        all |= count;
    }
    if (all < 0) throw ValueError(kNegative);
    return overflows ? INT64_MAX : total;
}

array repeat_each(const Repeated& repeated, const array& counts) {
    const HostRow numbers(counts), elements(repeated.value);
    const std::span<const int64_t> each(numbers.as<int64_t>(), static_cast<size_t>(numbers.count()));
    const int64_t total = total_of(each);
    const Dims shape = repeated.shape_with(total);
    const DType dtype = repeated.value.dtype();
    const int64_t bytes = checked_bytes(shape, dtype);
    if (bytes == 0) return zeros(shape, dtype);
    int64_t rows = 1, piece = dtype.itemsize();
    for (int d = 0; d < repeated.value.ndim(); ++d) {
        if (d != repeated.axis) (d < repeated.axis ? rows : piece) *= shape[static_cast<size_t>(d)];
    }
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(bytes));
    repeat_pieces(elements.data(), rows, piece, each, total, buffer->data());
    return array_of(std::move(buffer), dtype, shape, c_strides(shape, dtype.itemsize()));
}

// On other devices: the number of each place's element is how many elements end at or before it.
array repeat_each_on_device(const Repeated& repeated, const array& counts) {
    if (truth_of(any(less(counts, 0)))) throw ValueError(kNegative);
    const array ends = accumulate(op_info(OpId::kAdd), counts, 0);
    const int64_t total = ends.size() == 0 ? 0 : ends(-1).item<int64_t>();
    return take(repeated.value, searchsorted(ends, arange(total), true), repeated.axis, TakeMode::kRaise);
}

}  // namespace

array repeat(const array& a, int64_t count, std::optional<int64_t> axis) {
    const DeviceScope scope(device_of(a));
    return repeat_alike(Repeated(a, axis), count);
}

array repeat(const array& a, const array& counts, std::optional<int64_t> axis) {
    if (!can_cast(counts.dtype(), ScalarType::kInt64, Casting::kSafe)) {
        throw TypeError("Cannot cast array data from dtype('" + std::string(counts.dtype().name()) +
                        "') to dtype('int64') according to the rule 'safe'");
    }
    if (counts.ndim() > 1) throw ValueError("object too deep for desired array");
    const DeviceScope scope(device_of(a));
    const Repeated repeated(a, axis);
    const array numbers = astype(counts, ScalarType::kInt64, 'K', Casting::kUnsafe, false);
    if (numbers.size() == 1) return repeat_alike(repeated, reshape(numbers, Shape{}).item<int64_t>());
    if (numbers.size() != repeated.extent()) {
        throw ValueError("operands could not be broadcast together with shape (" +
                         std::to_string(repeated.extent()) + ",) (" + std::to_string(numbers.size()) + ",)");
    }
    const bool on_cpu = device_of(a).is_cpu() && device_of(counts).is_cpu();
    return on_cpu ? repeat_each(repeated, numbers) : repeat_each_on_device(repeated, numbers);
}

namespace {

// Of so many elements, what reads the result may read the parts of which it is made
// (docs/decisions/0029-reading-through-writes.md), where these are few.
constexpr int64_t kFewCopies = 8, kManyElements = int64_t{1} << 14;

array tile_by_parts(const array& a, const Dims& reps, const Dims& shape) {
    array result = empty(shape, a.dtype());
    Dims place(reps.size());
    while (true) {
        int64_t offset = result.offset();
        for (size_t d = 0; d < reps.size(); ++d) offset += place[d] * a.shape()[d] * result.strides()[d];
        assign(result.with_view(a.dtype(), a.shape(), result.strides(), offset), a);
        size_t d = reps.size();
        while (d-- > 0) {
            if (++place[d] < reps[d]) break;
            place[d] = 0;
        }
        if (d == SIZE_MAX) return result;
    }
}

}  // namespace

array tile(const array& a, const Shape& given) {
    const DeviceScope scope(device_of(a));
    Dims reps = given, own = a.shape();
    while (reps.size() < own.size()) reps.insert(0, 1);
    while (own.size() < reps.size()) own.insert(0, 1);
    Dims shape, narrow, wide;
    int64_t copies = 1;
    for (size_t d = 0; d < reps.size(); ++d) {
        if (reps[d] < 0) throw ValueError(kNegativeExtent);
        int64_t extent = 0;
        if (__builtin_mul_overflow(reps[d], own[d], &extent) ||
            __builtin_mul_overflow(copies, reps[d], &copies))
            extent = copies = INT64_MAX;
        shape.push_back(extent);
        narrow.push_back(1);
        narrow.push_back(own[d]);
        wide.push_back(reps[d]);
        wide.push_back(own[d]);
    }
    if (copies == 1 && std::ranges::all_of(reps, [](int64_t each) { return each == 1; }))
        return reshape(copy(a, 'K'), own);
    checked_bytes(shape, a.dtype());
    if (element_count(shape) == 0) {
        array nothing = empty(shape, a.dtype());
        Dims strides = shape;  // as of an array that NumPy has reshaped
        int64_t step = nothing.itemsize();
        for (size_t d = shape.size(); d-- > 0;) {
            strides[d] = step;
            step *= std::max<int64_t>(shape[d], 1);
        }
        nothing.set_layout(shape, strides);
        return nothing;
    }
    if (copies <= kFewCopies && element_count(shape) >= kManyElements && device_of(a).is_cpu())
        return tile_by_parts(reshape(a, own), reps, shape);
    array result = copy(broadcast_to(reshape(a, narrow), wide), 'C');
    result.set_layout(shape, c_strides(shape, result.itemsize()));
    return result;
}

array resize(const array& a, const Shape& new_shape) {
    for (const int64_t extent : new_shape) {
        if (extent < 0) throw ValueError("all elements of `new_shape` must be non-negative");
    }
    const DeviceScope scope(device_of(a));
    checked_bytes(new_shape, a.dtype());
    const int64_t count = element_count(new_shape);
    if (a.size() == 0 || count == 0) return zeros(new_shape, a.dtype());
    const array flat = ravel(a, 'C');
    array result = empty(Shape(count), a.dtype());
    const auto piece = [](const array& row, int64_t start, int64_t length) {
        return row.with_view(row.dtype(), Dims{length}, row.strides(),
                             row.offset() + start * row.strides()[0]);
    };
    const int64_t whole = count / flat.size(), rest = count % flat.size();
    if (whole == 1) {
        assign(piece(result, 0, flat.size()), flat);
    } else if (whole > 1) {
        assign(reshape(piece(result, 0, whole * flat.size()), {whole, flat.size()}), flat);
    }
    if (rest != 0) assign(piece(result, whole * flat.size(), rest), piece(flat, 0, rest));
    return reshape(result, Dims(new_shape));
}

array append(const array& arr, const array& values, std::optional<int64_t> axis) {
    return concatenate({arr, values}, axis);
}

}  // namespace weft
