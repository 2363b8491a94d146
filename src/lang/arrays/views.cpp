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

std::optional<Value> FunctionLowering::ArrayFunctions::call_shown() {
    if (name_ == "ascontiguousarray") {
        const Value a = array(bind("a dtype! like!")[0]);
        if (a.type->rank == 1 && a.type->contiguous) return a;
        return f_.copied(a, shape_of(a), where_);
    }
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
        for (const Value& each : given_.positional) arrays.push_back(array(each));
        const std::vector<ValueId> shape = f_.broadcast_shape(arrays, where_);
        for (Value& each : arrays) each = broadcast(each, shape);
        return f_.tuple(std::move(arrays));
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
