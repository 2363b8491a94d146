// NumPy's functions that show an array with another shape, and those that ask for what its type tells.
#include <algorithm>
#include <array>

#include "lang/arrays/functions.h"

namespace weft::lang {

using ir::ValueId;

// A shape: a tuple of sizes, or one.
std::vector<ValueId> FunctionLowering::ArrayFunctions::sizes_of(const Value& shape) {
    if (shape.type->kind != TypeKind::kTuple) return {f_.as_index(shape, where_)};
    std::vector<ValueId> sizes;
    for (size_t i = 0; i < shape.type->parts.size(); ++i)
        sizes.push_back(f_.as_index(f_.tuple_item(shape, i), where_));
    return sizes;
}

// A view that nothing may write, with dimensions of one element repeated; it has to fit.
Value FunctionLowering::ArrayFunctions::broadcast(const Value& a, std::span<const ValueId> shape) {
    const ValueId zero = f_.integer(0).parts[0], one = f_.integer(1).parts[0];
    std::vector<ValueId> strides(shape.size() - a.type->rank, zero);
    for (size_t d = 0; d < a.type->rank; ++d)
        strides.push_back(f_.apply(
            OpId::kSelect, {f_.apply(OpId::kEqual, {f_.size_of(a, d), one}), zero, f_.stride_of(a, d)}));
    Value result = f_.view(a, zero, shape, strides, false);
    Type type = *result.type;
    type.readonly = true;
    result.type = intern(std::move(type));
    return result;
}

// numpy.frombuffer of an array: its bytes as elements of another dtype.
Value FunctionLowering::ArrayFunctions::from_buffer() {
    const std::vector<Value> given = bind("buffer dtype? count? offset? like!");
    if (!is_array(given[0].type))
        f_.fail(where_,
                "Argument \"buffer\" must be buffer-like: frombuffer() takes an array in a compiled "
                "function, not " +
                    lang::describe(given[0].type));
    const Value a = f_.forced(given[0]);
    const ScalarType element = f_.dtype_of(given[1], where_).value_or(ScalarType::kFloat64);
    f_.check(f_.lies_in_order(a, false).parts[0], f_.site("ValueError", "ndarray is not C-contiguous"), {},
             where_);
    const Value row = f_.reshaped(a, {f_.integer(-1)}, where_, /*lies=*/true);
    const Value bytes = f_.viewed(row, ScalarType::kUInt8, where_);
    const ValueId size = f_.size_of(bytes, 0), zero = f_.integer(0).parts[0];
    const ValueId itemsize = f_.integer(DType(element).itemsize()).parts[0];
    const ValueId offset = is_none(given[3]) ? zero : f_.as_index(given[3], where_);
    check_sizes(f_.apply(OpId::kLogicalAnd, {f_.apply(OpId::kGreaterEqual, {offset, zero}),
                                             f_.apply(OpId::kLessEqual, {offset, size})}),
                "offset must be non-negative and no greater than buffer length ({})", {size});
    const ValueId rest = f_.apply(OpId::kSubtract, {size, offset});
    const ValueId most = f_.apply(OpId::kFloorDivide, {rest, itemsize});
    ValueId count = is_none(given[2]) ? f_.integer(-1).parts[0] : f_.as_index(given[2], where_);
    const ValueId takes_all = f_.apply(OpId::kLess, {count, zero});
    const ValueId is_whole = f_.apply(OpId::kEqual, {f_.apply(OpId::kRemainder, {rest, itemsize}), zero});
    f_.check(f_.apply(OpId::kLogicalOr, {f_.negation(takes_all).parts[0], is_whole}),
             f_.site("ValueError", "buffer size must be a multiple of element size"), {}, where_);
    f_.check(f_.apply(OpId::kLessEqual, {count, most}),
             f_.site("ValueError", "buffer is smaller than requested size"), {}, where_);
    count = f_.apply(OpId::kSelect, {takes_all, most, count});
    const std::array shape = {f_.apply(OpId::kMultiply, {count, itemsize})};
    const std::array strides = {f_.integer(1).parts[0]};
    if (!f_.dry_) f_.note(shape[0], {0, int64_t{1} << 62, {}, 0});
    return f_.viewed(f_.view(bytes, offset, shape, strides, true), element, where_);
}

// The axes that windows slide along: all of them, or one for each window.
std::vector<size_t> FunctionLowering::ArrayFunctions::axes_of_windows(const Value& given, size_t count,
                                                                      size_t rank) {
    std::vector<size_t> axes;
    if (is_none(given)) {
        for (size_t d = 0; d < rank; ++d) axes.push_back(d);
    } else if (given.type->kind == TypeKind::kTuple) {
        for (size_t k = 0; k < given.type->parts.size(); ++k)
            axes.push_back(axis(f_.tuple_item(given, k), rank));
    } else {
        axes.push_back(axis(given, rank));
    }
    if (axes.size() == count) return axes;
    const std::string windows = std::to_string(count) + " window_shape elements and ";
    f_.fail(where_, is_none(given)
                        ? "Since axis is `None`, must provide window_shape for all dimensions of `x`; got " +
                              windows + "`x.ndim` is " + std::to_string(rank) + "."
                        : "Must provide matching length window_shape and axis; got " + windows +
                              std::to_string(axes.size()) + " axes elements.");
}

std::optional<Value> FunctionLowering::ArrayFunctions::call_shown() {
    if (name_ == "ascontiguousarray") {
        const Value a = array(bind("a dtype! like!")[0]);
        if (a.type->rank == 0) return f_.with_axes(a, std::array{-1});
        if (a.type->rank == 1 && a.type->contiguous) return a;
        const std::vector<ValueId> shape = shape_of(a);
        std::vector<ValueId> strides;
        for (size_t d = 0; d < shape.size(); ++d) strides.push_back(f_.stride_of(a, d));
        return f_.one_of(
            where_, f_.lies_in_order(a, false).parts[0],
            [&] { return f_.view(a, f_.integer(0).parts[0], shape, strides, true, true); },
            [&] { return f_.copied(a, shape, where_); });
    }
    if (name_ == "frombuffer") return from_buffer();
    if (name_ == "atleast_1d" || name_ == "atleast_2d" || name_ == "atleast_3d") {
        const size_t least = name_ == "atleast_1d" ? 1 : name_ == "atleast_2d" ? 2 : 3;
        std::vector<Value> arrays;
        for (const Value& each : given_.positional) {
            const Value a = array(each);
            std::vector<int> axes(a.type->rank < least ? least - a.type->rank : 0, -1);
            if (!axes.empty()) {
                for (size_t d = 0; d < a.type->rank; ++d) axes.push_back(static_cast<int>(d));
            }
            if (least == 3 && a.type->rank > 0 && !axes.empty()) {  // the last one is new
                axes.erase(axes.begin());
                axes.push_back(-1);
            }
            arrays.push_back(axes.empty() ? a : f_.with_axes(a, axes));
        }
        if (arrays.size() == 1) return arrays[0];
        return f_.tuple(std::move(arrays));
    }
    if (name_ == "broadcast_to") {
        const std::vector<Value> given = bind("array shape subok!");
        const Value a = array(given[0]);
        const std::vector<ValueId> shape = sizes_of(given[1]);
        for (const ValueId size : shape)
            f_.check(f_.apply(OpId::kGreaterEqual, {size, f_.integer(0).parts[0]}),
                     f_.site("ValueError", "all elements of broadcast shape must be non-negative"), {},
                     where_);
        if (shape.empty() && a.type->rank > 0)
            f_.fail(where_, "cannot broadcast a non-scalar to a scalar array");
        if (shape.size() < a.type->rank)
            f_.fail(where_, "input operand has more dimensions than allowed by the axis remapping");
        for (size_t d = 0; d < a.type->rank; ++d) {
            const ValueId size = f_.size_of(a, d), wanted = shape[shape.size() - a.type->rank + d];
            f_.check(f_.apply(OpId::kLogicalOr, {f_.apply(OpId::kEqual, {size, f_.integer(1).parts[0]}),
                                                 f_.apply(OpId::kEqual, {size, wanted})}),
                     f_.site("ValueError", "operands could not be broadcast together with remapped shapes"),
                     {}, where_);
        }
        return broadcast(a, shape);
    }
    if (name_ == "broadcast_arrays") {
        if (!given_.keywords.empty())
            f_.fail(where_, "broadcast_arrays() takes arrays alone in a compiled function");
        std::vector<Value> arrays;
        for (const Value& each : given_.positional) {
            if (is_text(each.type))
                f_.fail(where_, "broadcast_arrays(): Argument \"" + std::to_string(arrays.size()) +
                                    "\" must be array-like, not str");
            arrays.push_back(array(each));
        }
        const std::vector<ValueId> shape = f_.broadcast_shape(arrays, where_);
        for (Value& each : arrays) each = broadcast(each, shape);
        return f_.tuple(std::move(arrays));
    }
    if (name_ == "tile") {
        const std::vector<Value> given = bind("A reps");
        Value a = array(given[0]);
        const std::vector<ValueId> times = sizes_of(given[1]);
        const size_t rank = std::max<size_t>(a.type->rank, times.size());
        // Each axis as two: which copy, and where in it.
        std::vector<int> axes;
        std::vector<ValueId> copies, sizes;
        std::vector<Value> both;
        const ValueId one = f_.integer(1).parts[0];
        for (size_t d = 0; d < rank; ++d) {
            const bool is_new = d + a.type->rank < rank;
            const ValueId size = is_new ? one : f_.size_of(a, d + a.type->rank - rank);
            const ValueId count = d + times.size() < rank ? one : times[d + times.size() - rank];
            axes.push_back(-1);
            axes.push_back(is_new ? -1 : static_cast<int>(d + a.type->rank - rank));
            copies.insert(copies.end(), {count, size});
            both.push_back(whole(f_.apply(OpId::kMultiply, {count, size})));
        }
        if (rank == 0) return a;
        const Value spread = broadcast(f_.with_axes(a, axes), copies);
        return f_.reshaped(f_.copied(spread, copies, where_), both, where_);
    }
    if (name_ == "meshgrid") {
        bool swaps = true;
        for (const auto& [keyword, value] : given_.keywords) {
            if (keyword != "indexing")
                f_.fail(where_, "meshgrid() takes no '" + keyword + "' in a compiled function",
                        "Leave it out.");
            const std::string indexing = text(value, "xy");
            if (indexing != "xy" && indexing != "ij")
                f_.fail(where_, "Valid values for `indexing` are 'xy' and 'ij'.");
            swaps = indexing == "xy";
        }
        const size_t count = given_.positional.size();
        const auto axis_of = [&](size_t k) { return swaps && count > 1 && k < 2 ? 1 - k : k; };
        std::vector<Value> rows;
        std::vector<ValueId> shape(count);
        for (size_t k = 0; k < count; ++k) {
            rows.push_back(f_.ravelled(array(given_.positional[k]), where_));
            shape[axis_of(k)] = f_.size_of(rows[k], 0);
        }
        for (size_t k = 0; k < count; ++k) {
            std::vector<int> axes(count, -1);
            axes[axis_of(k)] = 0;
            rows[k] = f_.copied(broadcast(f_.with_axes(rows[k], axes), shape), shape, where_);
        }
        return f_.tuple(std::move(rows));
    }
    if (name_ == "ix_") {
        std::vector<Value> rows;
        for (size_t k = 0; k < given_.positional.size(); ++k) {
            Value row = array(given_.positional[k]);
            if (row.type->rank != 1) f_.fail(where_, "Cross index must be 1 dimensional");
            if (DType(row.type->scalar).is_bool()) row = places(row)[0];
            std::vector<int> axes(given_.positional.size(), -1);
            axes[k] = 0;
            rows.push_back(f_.with_axes(row, axes));
        }
        return f_.tuple(std::move(rows));
    }
    if (name_ == "unravel_index") {
        const std::vector<Value> given = bind("indices shape");
        const std::vector<ValueId> sizes = sizes_of(given[1]);
        Value rest = is_scalar(given[0].type) ? given[0] : array(given[0]);
        Value total = f_.integer(1);
        for (const ValueId size : sizes) total = whole(f_.apply(OpId::kMultiply, {total.parts[0], size}));
        const Value beyond = operate(OpId::kLogicalOr, {operate(OpId::kLess, {rest, f_.integer(0)}),
                                                        operate(OpId::kGreaterEqual, {rest, total})});
        const Value any = is_array(beyond.type) ? reduce("any", beyond, f_.none()) : beyond;
        check_sizes(f_.negation(any.parts[0]).parts[0],
                    "an index of unravel_index() is out of bounds for array with size {}", {total.parts[0]});
        std::vector<Value> found(sizes.size());
        for (size_t d = sizes.size(); d-- > 0;) {
            found[d] = operate(OpId::kRemainder, {rest, whole(sizes[d])});
            rest = operate(OpId::kFloorDivide, {rest, whole(sizes[d])});
        }
        return f_.tuple(std::move(found));
    }
    if (name_ == "sliding_window_view") {
        const std::vector<Value> given = bind("x window_shape axis? subok! writeable?");
        const Value a = array(given[0]);
        const std::vector<ValueId> windows = sizes_of(given[1]);
        const std::vector<size_t> axes = axes_of_windows(given[2], windows.size(), a.type->rank);
        std::vector<ValueId> shape = shape_of(a), strides;
        for (size_t d = 0; d < shape.size(); ++d) strides.push_back(f_.stride_of(a, d));
        for (size_t k = 0; k < windows.size(); ++k) {
            f_.check(f_.apply(OpId::kGreaterEqual, {windows[k], f_.integer(0).parts[0]}),
                     f_.site("ValueError", "`window_shape` cannot contain negative values"), {}, where_);
        }
        for (size_t k = 0; k < windows.size(); ++k) {
            ValueId& size = shape[axes[k]];
            const ValueId last = f_.apply(OpId::kSubtract, {size, windows[k]});
            f_.check(f_.apply(OpId::kGreaterEqual, {last, f_.integer(0).parts[0]}),
                     f_.site("ValueError", "window shape cannot be larger than input array shape"), {},
                     where_);
            size = f_.apply(OpId::kAdd, {last, f_.integer(1).parts[0]});
        }
        for (size_t k = 0; k < windows.size(); ++k) {
            shape.push_back(windows[k]);
            strides.push_back(f_.stride_of(a, axes[k]));
        }
        Value result = f_.view(a, f_.integer(0).parts[0], shape, strides, false);
        Type type = *result.type;
        type.readonly |= !flag(given[4], false);
        result.type = intern(std::move(type));
        return result;
    }
    if (name_ == "as_strided") {
        const std::vector<Value> given = bind("x shape? strides? subok! writeable!");
        const Value a = array(given[0]);
        std::vector<ValueId> shape = shape_of(a), strides;
        for (size_t d = 0; d < shape.size(); ++d) strides.push_back(f_.stride_of(a, d));
        if (!is_none(given[1])) shape = sizes_of(given[1]);
        if (!is_none(given[2])) strides = sizes_of(given[2]);
        if (shape.size() != strides.size())
            f_.fail(where_, "mismatch in length of strides and shape", "Give one of each for each axis.");
        for (const ValueId size : shape)
            f_.check(f_.apply(OpId::kGreaterEqual, {size, f_.integer(0).parts[0]}),
                     f_.site("ValueError", "negative dimensions are not allowed"), {}, where_);
        if (f_.compilation_.options().check_bounds) {
            const auto real = [&](ValueId whole_number) {
                return f_.cast(whole(whole_number), ScalarType::kFloat64);
            };
            const auto number = [&](double value) {
                return f_.constant(Constant::of(ScalarType::kFloat64, value)).parts[0];
            };
            const ValueId zero = f_.integer(0).parts[0], none = number(0), one = number(1);
            // The first and the last byte that elements begin at, from the first element on: as floats, which
            // do not wrap and are exact for what memory holds.
            const auto ends = [&](std::span<const ValueId> sizes, std::span<const ValueId> steps) {
                std::array<ValueId, 2> found = {none, none};
                for (size_t d = 0; d < sizes.size(); ++d) {
                    const ValueId count = f_.apply(OpId::kSubtract, {real(sizes[d]), one});
                    const ValueId last = f_.apply(OpId::kMultiply, {count, real(steps[d])});
                    found[0] = f_.apply(OpId::kAdd, {found[0], f_.apply(OpId::kMinimum, {last, none})});
                    found[1] = f_.apply(OpId::kAdd, {found[1], f_.apply(OpId::kMaximum, {last, none})});
                }
                return found;
            };
            std::vector<ValueId> own;
            for (size_t d = 0; d < a.type->rank; ++d) own.push_back(f_.stride_of(a, d));
            const auto given_ends = ends(shape_of(a), own), wanted = ends(shape, strides);
            ValueId fits =
                f_.apply(OpId::kLogicalAnd, {f_.apply(OpId::kGreaterEqual, {wanted[0], given_ends[0]}),
                                             f_.apply(OpId::kLessEqual, {wanted[1], given_ends[1]})});
            for (const ValueId size : shape_of(a))
                fits = f_.apply(OpId::kLogicalAnd, {fits, f_.apply(OpId::kGreater, {size, zero})});
            for (const ValueId size : shape)
                fits = f_.apply(OpId::kLogicalOr, {fits, f_.apply(OpId::kEqual, {size, zero})});
            f_.check(fits, f_.site("ValueError", "as_strided() would leave the array that it is given"), {},
                     where_);
        }
        return f_.view(a, f_.integer(0).parts[0], shape, strides, false);
    }
    if (name_ == "broadcast_shapes") {
        std::vector<std::vector<ValueId>> shapes;
        size_t rank = 0;
        for (const Value& each : given_.positional) {
            shapes.push_back(sizes_of(each));
            rank = std::max(rank, shapes.back().size());
        }
        const ValueId one = f_.integer(1).parts[0];
        std::vector<Value> sizes;
        for (size_t d = 0; d < rank; ++d) {
            ValueId both = one;
            for (const auto& shape : shapes) {
                if (d + shape.size() < rank) continue;
                const ValueId size = shape[d + shape.size() - rank];
                f_.check(f_.apply(OpId::kGreaterEqual, {size, f_.integer(0).parts[0]}),
                         f_.site("ValueError", "negative dimensions are not allowed"), {}, where_);
                both = f_.apply(OpId::kSelect, {f_.apply(OpId::kEqual, {both, one}), size, both});
                f_.check(
                    f_.apply(OpId::kLogicalOr,
                             {f_.apply(OpId::kEqual, {size, one}), f_.apply(OpId::kEqual, {size, both})}),
                    f_.site("ValueError", "shape mismatch: objects cannot be broadcast to a single shape"),
                    {}, where_);
            }
            sizes.push_back(whole(both));
        }
        return f_.tuple(std::move(sizes));
    }
    if (name_ == "squeeze") {
        const std::vector<Value> given = bind("a axis?");
        const Value a = array(given[0]);
        if (is_none(given[1]))
            f_.fail(where_,
                    "squeeze() needs an axis in a compiled function, where dimensions are counted before",
                    "Write the axes that have one element: np.squeeze(a, axis=...).");
        std::vector<bool> gone(a.type->rank);
        if (given[1].type->kind == TypeKind::kTuple) {
            for (size_t i = 0; i < given[1].type->parts.size(); ++i)
                gone[axis(f_.tuple_item(given[1], i), a.type->rank)] = true;
        } else {
            gone[axis(given[1], a.type->rank)] = true;
        }
        std::vector<int> axes;
        for (size_t d = 0; d < gone.size(); ++d) {
            if (!gone[d]) {
                axes.push_back(static_cast<int>(d));
                continue;
            }
            f_.check(
                f_.apply(OpId::kEqual, {f_.size_of(a, d), f_.integer(1).parts[0]}),
                f_.site("ValueError", "cannot select an axis to squeeze out which has size not equal to one"),
                {}, where_);
        }
        return f_.with_axes(a, axes);
    }
    if (name_ == "iscomplexobj" || name_ == "isrealobj") {
        const Value x = bind("x")[0];
        const bool complex = (is_array(x.type) || is_scalar(x.type)) && DType(x.type->scalar).is_complex();
        return f_.boolean(complex == (name_ == "iscomplexobj"));
    }
    if (name_ == "isscalar") {
        const TypeRef type = bind("element")[0].type;
        return f_.boolean(is_scalar(type) || type->kind == TypeKind::kString);
    }
    if (name_ == "finfo" || name_ == "iinfo") return limits_of(bind("dtype")[0]);
    return std::nullopt;
}

}  // namespace weft::lang
