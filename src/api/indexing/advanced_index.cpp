// x[idx], x[idx] = value, take and take_along_axis: NumPy's rules for shapes, layouts and errors, down to one
// gather or scatter.
#include <algorithm>
#include <numeric>

#include "api/indexing/gather.h"
#include "api/indexing/nonzero.h"
#include "api/indexing/scatter.h"
#include "api/recording/write.h"
#include "core/shape.h"
#include "graph/indexed_view.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "graph/storage.h"

namespace weft {

namespace {

// uint64 beyond int64 counts as NumPy's cast counts it: the same bits. Only what is pending is cast, so that
// it is computed where it is read. Axes that repeat elements still do, since the result lies as the index
// does.
array as_int64(const array& index) {
    if (current_version(*index.storage()).in_memory()) return view(index, ScalarType::kInt64);
    Dims once = index.shape();
    for (size_t d = 0; d < once.size(); ++d) {
        if (once[d] > 1 && index.strides()[d] == 0) once[d] = 1;
    }
    const array distinct = index.with_view(index.dtype(), once, index.strides(), index.offset());
    return broadcast_to(astype(distinct, ScalarType::kInt64), index.shape());
}

array as_index(const array& index) {
    if (!index.dtype().is_integer())
        throw IndexError("arrays used as indices must be of integer (or boolean) type");
    return index.dtype().scalar_type() == ScalarType::kUInt64 ? as_int64(index) : index;
}

Dims broadcast_indices(std::span<const Dims* const> shapes) {
    try {
        return broadcast_shapes(shapes);
    } catch (const ValueError&) {
        std::string text = "shape mismatch: indexing arrays could not be broadcast together with shapes ";
        for (const Dims* shape : shapes) text += shape_text(*shape) + " ";
        throw IndexError(text);
    }
}

bool is_mask(const Index& index) {
    const auto* positions = std::get_if<array>(&index);
    return positions != nullptr && positions->dtype().is_bool();
}

// Axes of the input that an index takes.
size_t axes_of(const Index& index) {
    if (std::holds_alternative<Ellipsis>(index) || std::holds_alternative<NewAxis>(index)) return 0;
    return is_mask(index) ? std::get<array>(index).shape().size() : 1;
}

void check_mask(const Dims& shape, const Dims& mask, size_t axis) {
    for (size_t d = 0; d < mask.size(); ++d) {
        if (mask[d] == shape[axis + d] || mask[d] == 0) continue;  // NumPy takes a mask of nothing anywhere
        const std::string number = std::to_string(axis + d);
        throw IndexError("boolean index did not match indexed array along axis " + number +
                         "; size of axis is " + std::to_string(shape[axis + d]) +
                         " but size of corresponding boolean axis is " + std::to_string(mask[d]));
    }
}

// One array of positions along one dimension of a view.
struct PositionIndex {
    array positions;
    size_t dimension;  // of the view
    size_t axis;       // of the input
    bool is_proven;    // made of a mask
};

// A key with arrays, seen as a view in which each indexed axis is whole, and which of the view's dimensions
// are indexed.
struct Parsed {
    array view;
    std::vector<PositionIndex> indices;
    bool together = true;  // nothing but arrays and integers between the first and the last of these

    bool only_masks() const {
        return std::all_of(indices.begin(), indices.end(),
                           [](const PositionIndex& index) { return index.is_proven; });
    }
};

Parsed parse(const array& input, std::span<const Index> indices) {
    size_t consumed = 0, ellipses = 0;
    for (const Index& each : indices) {
        consumed += axes_of(each);
        if (std::holds_alternative<Ellipsis>(each)) ++ellipses;
    }
    if (ellipses > 1) throw IndexError("an index can only have a single ellipsis ('...')");
    Parsed parsed;
    IndexedView view(input, consumed);
    size_t dimension = 0, axis = 0;
    enum class Run { kNone, kIn, kAfter } run = Run::kNone;
    for (const Index& each : indices) {
        const bool advanced = std::holds_alternative<array>(each) || std::holds_alternative<int64_t>(each);
        if (advanced) {
            if (run == Run::kAfter) parsed.together = false;
            run = Run::kIn;
        } else if (run == Run::kIn) {
            run = Run::kAfter;
        }
        if (is_mask(each)) {
            array mask = std::get<array>(each);
            check_mask(input.shape(), mask.shape(), axis);
            const size_t count = mask.shape().size();
            if (count == 0) {  // of an axis that is new
                mask = reshape(mask, Dims{1});
                view.new_axis();
            }
            for (array& positions : nonzero_positions(mask)) {
                parsed.indices.push_back({std::move(positions), dimension++, axis, true});
                if (count == 0) continue;
                view.slice(0, INT64_MAX, 1);
                ++axis;
            }
        } else if (const auto* index = std::get_if<array>(&each)) {
            parsed.indices.push_back({as_index(*index), dimension++, axis++, false});
            view.slice(0, INT64_MAX, 1);
        } else if (const auto* position = std::get_if<int64_t>(&each)) {
            view.integer(*position);
            ++axis;
        } else if (const auto* slice = std::get_if<Slice>(&each)) {
            const int64_t step = slice->step.value_or(1);
            view.slice(slice->start.value_or(step < 0 ? INT64_MAX : 0),
                       slice->stop.value_or(step < 0 ? INT64_MIN : INT64_MAX), step);
            ++dimension;
            ++axis;
        } else if (std::holds_alternative<NewAxis>(each)) {
            view.new_axis();
            ++dimension;
        } else {
            view.ellipsis();
            dimension += input.shape().size() - consumed;
            axis += input.shape().size() - consumed;
        }
    }
    parsed.view = view.finish();
    return parsed;
}

// Without sliced axes (of more than one element) the result lies as the indices do; else the indices come in
// C order, and each names a piece that lies as it does in the data.
Dims layout(const GatherRequest& request, size_t first, const Dims& indexed, int64_t itemsize) {
    const size_t rank = request.shape.size();
    if (checked_bytes(request.shape, itemsize) == 0) return Dims(rank);
    Dims piece_shape, piece_strides;
    for (size_t d = 0; d < rank; ++d) {
        if (d >= first && d < first + indexed.size()) continue;
        piece_shape.push_back(request.shape[d]);
        piece_strides.push_back(request.data_strides[d]);
    }
    const Dims piece = copy_strides(piece_shape, piece_strides, itemsize, 'K');
    const int64_t piece_count = element_count(piece_shape);
    Dims places = c_strides(indexed, std::max<int64_t>(piece_count, 1) * itemsize);
    if (piece_count == 1) {
        std::vector<Dims> strides;
        for (const GatherAxis& axis : request.axes)
            strides.push_back(broadcast_strides(axis.index.shape(), axis.index.strides(), indexed));
        std::vector<const Dims*> operands;
        for (const Dims& each : strides) operands.push_back(&each);
        places = k_order_strides(indexed, operands, itemsize);
    }
    Dims result;
    size_t at = 0;
    for (size_t d = 0; d < rank; ++d) {
        const bool of_index = d >= first && d < first + indexed.size();
        result.push_back(of_index ? places[d - first] : piece[at++]);
    }
    return result;
}

void check_dimensions(size_t count) {
    if (count <= kMaxDimensions) return;
    throw IndexError("number of dimensions must be within [0, " + std::to_string(kMaxDimensions) +
                     "], indexing result would have " + std::to_string(count));
}

// Where a key leads to: all of a request but the result's strides.
struct Places {
    GatherRequest request;
    Dims indexed;      // the shape that the indices have together
    size_t first = 0;  // of its dimensions in the result
    bool distinct = false;
};

Places places_of(const array& input, std::span<const Index> indices) {
    const Parsed parsed = parse(input, indices);
    const array& view = parsed.view;
    std::vector<const Dims*> shapes;
    for (const PositionIndex& index : parsed.indices) shapes.push_back(&index.positions.shape());
    Places places;
    const Dims indexed = places.indexed = broadcast_indices(shapes);
    check_dimensions(view.shape().size() - parsed.indices.size() + indexed.size());
    const size_t first = places.first = parsed.together ? parsed.indices[0].dimension : 0;
    places.distinct = parsed.only_masks();
    GatherRequest& request = places.request;
    request.data = input;
    request.offset = view.offset();
    std::vector<bool> is_indexed(view.shape().size());
    for (const PositionIndex& index : parsed.indices) is_indexed[index.dimension] = true;
    const auto place_indexed = [&] {
        for (const int64_t extent : indexed) {
            request.shape.push_back(extent);
            request.data_strides.push_back(0);
        }
    };
    for (size_t d = 0; d < is_indexed.size(); ++d) {
        if (request.shape.size() == first && d == first && parsed.together) place_indexed();
        if (d == 0 && !parsed.together) place_indexed();
        if (is_indexed[d]) continue;
        request.shape.push_back(view.shape()[d]);
        request.data_strides.push_back(view.strides()[d]);
    }
    for (const PositionIndex& index : parsed.indices) {
        const size_t d = index.dimension;
        request.axes.push_back({index.positions, first, indexed.size(), view.shape()[d], view.strides()[d],
                                index.axis, index.is_proven});
    }
    return places;
}

// The mask of a key that is nothing but one mask of all axes.
const array* whole_mask(const array& input, std::span<const Index> indices) {
    if (indices.size() != 1 || !is_mask(indices[0])) return nullptr;
    const auto& mask = std::get<array>(indices[0]);
    if (mask.ndim() == 0 || mask.ndim() != input.ndim()) return nullptr;
    check_mask(input.shape(), mask.shape(), 0);
    if (mask.shape() != input.shape()) return nullptr;  // one without elements
    check_same_device(input, mask);
    return &mask;
}

void write_to(const GatherRequest& request, const Argument& value, const ScatterOptions& options) {
    const array& data = request.data;
    if (const auto* source = std::get_if<array>(&value)) {
        Dims shape = source->shape();
        while (shape.size() > request.shape.size() && shape[0] == 1) shape.erase(0);
        if (!can_broadcast(shape, request.shape)) {
            throw ValueError("shape mismatch: value array of shape " + shape_text(source->shape()) +
                             " could not be broadcast to indexing result of shape " +
                             shape_text(request.shape));
        }
    }
    const array place = data.with_view(data.dtype(), request.shape, request.data_strides, request.offset);
    ScatterOptions chosen = options;
    chosen.now |= is_exported(value);
    scatter(request, value_operand(value, place, Casting::kUnsafe), chosen);
}

}  // namespace

array index_by_arrays(const array& input, std::span<const Index> indices) {
    if (const array* mask = whole_mask(input, indices)) return compressed(input, *mask);
    Places places = places_of(input, indices);
    places.request.strides = layout(places.request, places.first, places.indexed, input.itemsize());
    const array result = gather(places.request);
    // NumPy moves the axes of the indices from the front to where they belong: what it gives is a view.
    return places.first == 0 ? result : result.with_view(result.dtype(), result.shape(), result.strides(), 0);
}

void assign_by_arrays(const array& target, std::span<const Index> indices, const Argument& value) {
    if (!target.writeable()) throw ValueError("assignment destination is read-only");
    const auto* source = std::get_if<array>(&value);
    const array* mask = whole_mask(target, indices);
    if (mask != nullptr && (source == nullptr || source->ndim() == 0)) {
        assign_where(target, value, Argument(*mask), Casting::kUnsafe);
        return;
    }
    if (mask != nullptr && source->ndim() > 1) {
        throw TypeError(
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has " +
            std::to_string(source->ndim()) + " dimensions");
    }
    const Places places = places_of(target, indices);
    const GatherRequest& request = places.request;
    if (mask != nullptr && source->size() != 1 && source->shape() != request.shape) {
        throw ValueError("NumPy boolean array indexing assignment cannot assign " +
                         std::to_string(source->size()) + " input values to the " +
                         std::to_string(request.shape[0]) + " output values where the mask is true");
    }
    write_to(request, value, {.distinct = places.distinct});
}

namespace {

// Positions that are never out of bounds, by arithmetic that is recorded.
array into_bounds(const array& indices, int64_t extent, TakeMode mode) {
    if (mode == TakeMode::kRaise) return indices;
    const array wide = astype(indices, ScalarType::kInt64, 'K', Casting::kUnsafe, false);
    if (mode == TakeMode::kWrap) return call_binary(op_info(OpId::kRemainder), wide, Integer(extent));
    const array at_most = call_binary(op_info(OpId::kMinimum), wide, Integer(extent - 1));
    return call_binary(op_info(OpId::kMaximum), at_most, Integer(0));
}

}  // namespace

array take(const array& input, const array& indices, std::optional<int64_t> axis, TakeMode mode,
           const array& out) {
    array data = input;
    size_t along = 0;
    if (!axis) {
        data = ravel(input);
    } else {
        if (data.ndim() == 0) data = reshape(data, Dims{1});
        along = static_cast<size_t>(normalize_axis(*axis, data.ndim()));
    }
    const int64_t extent = data.shape()[along];
    GatherRequest request;
    for (size_t d = 0; d < along; ++d) request.shape.push_back(data.shape()[d]);
    for (const int64_t each : indices.shape()) request.shape.push_back(each);
    for (size_t d = along + 1; d < data.shape().size(); ++d) request.shape.push_back(data.shape()[d]);
    check_dimensions(request.shape.size());
    if (out.valid() && out.shape() != request.shape)
        throw ValueError("output array does not match result of ndarray.take");
    if (out.valid() && !out.writeable()) throw ValueError("output array is read-only");
    if (out.valid() && !can_cast(out.dtype(), data.dtype(), Casting::kSafe)) {
        throw TypeError("Cannot cast array data from dtype('" + std::string(out.dtype().name()) +
                        "') to dtype('" + std::string(data.dtype().name()) +
                        "') according to the rule 'safe'");
    }
    if (extent == 0 && element_count(request.shape) != 0)
        throw IndexError("cannot do a non-empty take from an empty axes.");
    request.data_strides = Dims(request.shape.size());
    for (size_t d = 0; d < along; ++d) request.data_strides[d] = data.strides()[d];
    for (size_t d = along + 1; d < data.shape().size(); ++d)
        request.data_strides[d - 1 + indices.shape().size()] = data.strides()[d];
    check_shape(request.shape, data.itemsize());
    request.strides = c_strides(request.shape, data.itemsize());
    request.data = data;
    request.offset = data.offset();
    const size_t rank = indices.shape().size();
    array result;
    // NumPy checks the indices once for each place before the axis.
    const bool looks = std::all_of(data.shape().begin(), data.shape().begin() + along,
                                   [](int64_t each) { return each != 0; });
    if (element_count(request.shape) == 0 && (mode != TakeMode::kRaise || !looks)) {
        const DeviceScope scope(device_of(data));
        result = empty(request.shape, data.dtype());
    } else {
        request.axes.push_back({into_bounds(as_index(indices), extent, mode), along, rank, extent,
                                data.strides()[along], along});
        result = gather(request);
    }
    if (!out.valid()) return result;
    assign(out, result, Casting::kUnsafe);
    return out;
}

namespace {

// Of the element at indices[i] along `axis` and at i along the others.
GatherRequest request_along_axis(const array& input, const array& indices, int64_t axis) {
    const auto along = static_cast<size_t>(normalize_axis(axis, input.ndim()));
    if (indices.ndim() != input.ndim())
        throw ValueError("`indices` and `arr` must have the same number of dimensions");
    GatherRequest request;
    request.data = input;
    request.offset = input.offset();
    const size_t rank = input.shape().size();
    request.data_strides = Dims(rank);
    const Dims& own = indices.shape();
    for (size_t d = 0; d < rank; ++d) {
        const int64_t extent = input.shape()[d];
        if (d == along) {
            request.shape.push_back(own[d]);
            continue;
        }
        if (own[d] != extent && own[d] != 1 && extent != 1) {
            std::string text = "shape mismatch: indexing arrays could not be broadcast together with shapes ";
            for (size_t k = 0; k < rank; ++k) {
                Dims place(rank, 1);
                place[k] = input.shape()[k];
                text += shape_text(k == along ? own : place) + " ";
            }
            throw IndexError(text);
        }
        request.shape.push_back(own[d] == 1 ? extent : own[d]);
        request.data_strides[d] = extent == 1 ? 0 : input.strides()[d];
    }
    check_shape(request.shape, input.itemsize());
    const array index = as_index(indices);
    const Dims read = broadcast_strides(index.shape(), index.strides(), request.shape);
    // As NumPy's indices lie, which count along the other axes.
    std::vector<Dims> counters;
    for (size_t d = 0; d < rank; ++d) {
        if (d == along) continue;
        counters.emplace_back(rank);
        if (input.shape()[d] != 1) counters.back()[d] = sizeof(int64_t);
    }
    std::vector<const Dims*> operands;
    for (size_t d = 0, k = 0; d < rank; ++d) operands.push_back(d == along ? &read : &counters[k++]);
    request.strides = k_order_strides(request.shape, operands, input.itemsize());
    request.axes.push_back({index, 0, rank, input.shape()[along], input.strides()[along], along});
    return request;
}

}  // namespace

array take_along_axis(const array& input, const array& indices, int64_t axis) {
    return gather(request_along_axis(input, indices, axis));
}

void put_along_axis(const array& target, const array& indices, const Argument& value, int64_t axis) {
    if (!target.writeable()) throw ValueError("assignment destination is read-only");
    write_to(request_along_axis(target, indices, axis), value, {});
}

}  // namespace weft
