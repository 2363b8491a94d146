#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/recording/moved_axis.h"
#include "api/recording/part_of_axis.h"
#include "api/recording/scalar_here.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/placement.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/memory.h"
#include "weft/operations.h"

namespace weft {

namespace {

// The array and the axis; without one the flattened array.
struct Along {
    array value;
    int axis = 0;
    int64_t extent = 0;

    Along(const array& arr, std::optional<int64_t> given) {
        value = given ? arr : ravel(arr, 'C');
        axis = given ? normalize_axis(*given, arr.ndim()) : 0;
        extent = value.shape()[static_cast<size_t>(axis)];
    }
    // A new array in Fortran's order where the array is in no other.
    array room(int64_t more) const {
        Dims shape = value.shape();
        shape[static_cast<size_t>(axis)] += more;
        const bool is_fortran = value.f_contiguous() && !value.c_contiguous();
        return empty(shape, value.dtype(), is_fortran ? 'F' : 'C');
    }
    // The indices that are `index` along the axis, and all along those before.
    std::vector<Index> at(const array& index) const {
        std::vector<Index> indices(static_cast<size_t>(axis), Slice{});
        indices.emplace_back(index);
        return indices;
    }
};

void copy_part(const array& from, int64_t start, const array& to, int64_t place, int axis, int64_t count) {
    if (count > 0) assign(part_of_axis(to, axis, place, count), part_of_axis(from, axis, start, count));
}

// Without the places from `low` to before `high`.
array without(const Along& along, int64_t low, int64_t high) {
    array result = along.room(low - high);
    copy_part(along.value, 0, result, 0, along.axis, low);
    copy_part(along.value, high, result, low, along.axis, along.extent - high);
    return result;
}

[[noreturn]] void throw_beyond(int64_t position, const Along& along) {
    throw IndexError("index " + std::to_string(position) + " is out of bounds for axis " +
                     std::to_string(along.axis) + " with size " + std::to_string(along.extent));
}

array without_place(const Along& along, int64_t position) {
    if (position < -along.extent || position >= along.extent) throw_beyond(position, along);
    position = position < 0 ? position + along.extent : position;
    return without(along, position, position + 1);
}

// What a slice names: `count` places from `first` on, `step` apart.
struct Places {
    int64_t first, step, count;

    Places(const Slice& slice, int64_t extent) {
        step = slice.step.value_or(1);
        if (step == 0) throw ValueError("slice step cannot be zero");
        const int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? extent - 1 : extent;
        const auto bound = [&](const std::optional<int64_t>& given, int64_t otherwise) {
            if (!given) return otherwise;
            return std::clamp(*given < 0 ? *given + extent : *given, lowest, highest);
        };
        first = bound(slice.start, step < 0 ? highest : lowest);
        const int64_t end = bound(slice.stop, step < 0 ? lowest : highest);
        const int64_t distance = step < 0 ? first - end : end - first;
        const auto apart = step < 0 ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
        count = distance <= 0 ? 0 : static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / apart) + 1;
    }
    int64_t last() const { return first + (count - 1) * step; }
};

array kept(const Along& along, const array& keep) { return index(along.value, along.at(keep)); }

array delete_slice(const Along& along, const Slice& slice) {
    const Places places(slice, along.extent);
    if (places.count == 0) return without(along, 0, 0);
    const int64_t low = std::min(places.first, places.last()), high = std::max(places.first, places.last());
    if (places.count == high - low + 1) return without(along, low, high + 1);
    const array keep = ones(Shape(along.extent), ScalarType::kBool);
    const int64_t step = std::abs(places.step);
    assign(keep.with_view(keep.dtype(), Dims{places.count}, Dims{step}, keep.offset() + low), false);
    array result = along.room(-places.count);
    assign(result, kept(along, keep));
    return result;
}

void check_positions(const array& positions) {
    if (!positions.dtype().is_integer())
        throw IndexError("arrays used as indices must be of integer (or boolean) type");
}

template <class T>
const T* find(const Index& obj) {
    return std::get_if<T>(&obj);
}

}  // namespace

array delete_(const array& arr, const Index& obj, std::optional<int64_t> axis) {
    const DeviceScope scope(device_of(arr));
    const Along along(arr, axis);
    if (const auto* position = find<int64_t>(obj)) return without_place(along, *position);
    if (const auto* slice = find<Slice>(obj)) return delete_slice(along, *slice);
    const auto* named = find<array>(obj);
    if (named == nullptr) throw IndexError("arrays used as indices must be of integer (or boolean) type");
    if (named->dtype().is_bool()) {
        if (named->shape() != Dims{along.extent}) {
            throw ValueError(
                "boolean array argument obj to delete must be one dimensional and match the axis length "
                "of " +
                std::to_string(along.extent));
        }
        return kept(along, logical_not(*named));
    }
    if (named->size() == 1 && named->dtype().is_integer())
        return without_place(along, reshape(*named, Shape{}).item<int64_t>());
    check_positions(*named);
    const array keep = ones(Shape(along.extent), ScalarType::kBool);
    const Index places[] = {*named};
    assign_at(keep, places, false);
    return kept(along, keep);
}

namespace {

array insert_at(const Along& along, int64_t position, const array& values) {
    const int64_t count = values.shape()[static_cast<size_t>(along.axis)];
    array result = along.room(count);
    copy_part(along.value, 0, result, 0, along.axis, position);
    assign(part_of_axis(result, along.axis, position, count), values);
    copy_part(along.value, position, result, position + count, along.axis, along.extent - position);
    return result;
}

// For one position: with the array's dtype and as many axes at least. The first of its axes lies along the
// axis, unless the position came in a list.
array values_of(const Along& along, const Argument& values, bool is_listed) {
    const DType dtype = along.value.dtype();
    const bool is_integer = std::holds_alternative<Integer>(values);  // that must fit
    array value = is_integer ? from_argument(values, dtype)
                             : astype(from_argument(values), dtype, 'K', Casting::kUnsafe, false);
    value = scalar_here(value);
    if (value.ndim() < along.value.ndim()) {
        Dims shape = value.shape();
        while (shape.size() < static_cast<size_t>(along.value.ndim())) shape.insert(0, 1);
        value = reshape(value, shape);
    }
    return is_listed ? value : move_axis(value, 0, along.axis);
}

std::vector<int64_t> listed(const array& positions) {
    std::vector<int64_t> list(static_cast<size_t>(positions.size()));
    copy_out(astype(positions, ScalarType::kInt64, 'C'), list.data());
    return list;
}

array insert_several(const Along& along, std::vector<int64_t> positions, const Argument& values) {
    for (int64_t& position : positions) position += position < 0 ? along.extent : 0;
    std::vector<size_t> order(positions.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::stable_sort(order, {}, [&](size_t k) { return positions[k]; });
    // Those that come earlier in the result move the later ones.
    for (size_t before = 0; before < order.size(); ++before)
        positions[order[before]] += static_cast<int64_t>(before);
    array result = along.room(static_cast<int64_t>(positions.size()));
    const array taken = array(positions);
    const array keep = ones(Shape(result.shape()[static_cast<size_t>(along.axis)]), ScalarType::kBool);
    const Index places[] = {taken};
    assign_at(keep, places, false);
    assign_at(result, along.at(taken), values);
    assign_at(result, along.at(keep), along.value);
    return result;
}

}  // namespace

array insert(const array& arr, const Index& obj, const Argument& values, std::optional<int64_t> axis) {
    const DeviceScope scope(device_of(arr));
    const Along along(arr, axis);
    std::vector<int64_t> positions;
    bool is_listed = true;
    if (const auto* position = find<int64_t>(obj)) {
        positions = {*position};
        is_listed = false;
    } else if (const auto* slice = find<Slice>(obj)) {
        const Places places(*slice, along.extent);
        for (int64_t k = 0; k < places.count; ++k) positions.push_back(places.first + k * places.step);
    } else if (const auto* named = find<array>(obj)) {
        is_listed = named->ndim() != 0;
        if (named->dtype().is_bool()) {
            if (named->ndim() != 1)
                throw ValueError("boolean array argument obj to insert must be one dimensional");
            positions = listed(nonzero(*named)[0]);
        } else {
            if (named->ndim() > 1)
                throw ValueError("index array argument obj to insert must be one dimensional or scalar");
            check_positions(*named);
            positions = listed(*named);
        }
    } else {
        throw IndexError("arrays used as indices must be of integer (or boolean) type");
    }
    if (positions.size() != 1) return insert_several(along, std::move(positions), values);
    const int64_t position = positions[0];
    if (position < -along.extent || position > along.extent) throw_beyond(position, along);
    return insert_at(along, position < 0 ? position + along.extent : position,
                     values_of(along, values, is_listed));
}

}  // namespace weft
