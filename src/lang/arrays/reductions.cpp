// Reductions of arrays: of all elements, or along axes. The prelude's reductions/ has the loops.
#include <algorithm>
#include <array>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// What a reduction makes of elements.
enum class Makes : uint8_t {
    kElement,  // one of them
    kTotal,    // a number of at least 64 bits, or a float
    kMean,     // a float
    kBool,
    kPlace,  // the number of one of them
};
struct Reduction {
    std::string_view name;
    Makes makes;
    bool has_start = false;         // its loops are given what they start with
    std::string_view alias = name;  // NumPy's older name
};
constexpr Reduction kReductions[] = {
    {"sum", Makes::kTotal, true},
    {"prod", Makes::kTotal, true},
    {"mean", Makes::kMean},
    {"var", Makes::kMean},
    {"std", Makes::kMean},
    {"min", Makes::kElement, false, "amin"},
    {"max", Makes::kElement, false, "amax"},
    {"any", Makes::kBool},
    {"all", Makes::kBool},
    {"argmin", Makes::kPlace},
    {"argmax", Makes::kPlace},
};

const Reduction* find_reduction(std::string_view name) {
    const auto* const found =
        std::find_if(std::begin(kReductions), std::end(kReductions),
                     [&](const auto& each) { return each.name == name || each.alias == name; });
    return found == std::end(kReductions) ? nullptr : found;
}

ScalarType made_of(const Reduction& reduction, ScalarType element) {
    const DType dtype(element);
    switch (reduction.makes) {
        case Makes::kElement: return element;
        case Makes::kBool: return ScalarType::kBool;
        case Makes::kPlace: return ScalarType::kInt64;
        case Makes::kMean:
            if (dtype.is_half_float()) return ScalarType::kFloat32;
            return dtype.is_inexact() ? element : ScalarType::kFloat64;
        case Makes::kTotal: break;
    }
    if (dtype.is_unsigned_integer()) return ScalarType::kUInt64;
    return dtype.is_inexact() ? element : ScalarType::kInt64;
}

}  // namespace

// Along axes that are known only when the code runs: those become the last ones.
Value FunctionLowering::reduction_along(const Value& array, const std::string& name, const Value& axis,
                                        bool keeps, Arguments rest) {
    const NodeId where = rest.where;
    const size_t rank = array.type->rank, count = axis.type->parts.size();
    const std::vector<ValueId> from = axes_given(axis, rank, "duplicate value in 'axis'", where);
    if (count > rank) {  // which has raised
        rest.positional = {none()};
        return *array_reduction(array, name, rest);
    }
    std::vector<ValueId> to;
    std::vector<Value> last;
    for (size_t k = 0; k < count; ++k) {
        last.push_back(integer(static_cast<int64_t>(rank - count + k)));
        to.push_back(last[k].parts[0]);
    }
    const Value moved = with_axes_at(array, moved_axes(from, to, rank));
    rest.positional = {tuple(std::move(last))};
    if (keeps) rest.keywords.emplace_back("keepdims", boolean(true));
    const Value result = *array_reduction(moved, name, rest);
    return keeps ? with_axes_at(result, moved_axes(to, from, rank)) : result;
}

std::optional<Value> FunctionLowering::array_reduction(const Value& given_array,
                                                       const std::string& given_name, const Arguments& rest) {
    const Reduction* const reduction = find_reduction(given_name);
    if (reduction == nullptr) return std::nullopt;
    const Value array =
        is_array(given_array.type) ? forced(given_array) : array_of(given_array, std::nullopt, rest.where);
    const std::string name(reduction->name);
    const NodeId where = rest.where;
    const size_t rank = array.type->rank;

    // The arguments: axis, dtype, out, keepdims, ddof; `where` and `initial` where there is an identity.
    const bool has_identity = name == "sum" || name == "prod" || name == "any" || name == "all";
    for (size_t k = 0; k < rest.keywords.size() && has_identity; ++k) {
        const auto& [keyword, value] = rest.keywords[k];
        const bool starts = keyword == "initial" && (name == "sum" || name == "prod");
        if (value.type->kind == TypeKind::kNone || (keyword != "where" && !starts)) continue;
        Arguments others = rest;
        others.keywords.erase(others.keywords.begin() + static_cast<std::ptrdiff_t>(k));
        if (keyword == "where") {
            const Value nothing =
                name == "sum" || name == "prod" ? integer(name == "sum" ? 0 : 1) : boolean(name == "all");
            return array_reduction(call_where({{value, array, nothing}, {}, where}), given_name, others);
        }
        Value out = none();
        std::erase_if(others.keywords, [&](const auto& given) {
            if (given.first != "out") return false;
            out = given.second;
            return true;
        });
        const Value found = *array_reduction(array, given_name, others);
        const std::array operands = {found, value};
        const OpInfo& op = op_info(name == "sum" ? OpId::kAdd : OpId::kMultiply);
        if (is_array(out.type)) return store_operation(op, operands, out, where);
        const std::optional<Value> both = array_operation(op, operands, where);
        return both ? *both : by_loop(op, operands, where);
    }
    Value axis = none(), ddof = integer(0), out = none();
    std::optional<ScalarType> dtype;
    bool keeps = false;
    const bool takes_dtype =
        name == "sum" || name == "prod" || name == "mean" || name == "var" || name == "std";
    if (rest.positional.size() > (takes_dtype ? 2U : 1U))
        fail(where, given_name + "() takes an array and an axis by their places in a compiled function",
             "Give keepdims= by its name; convert by .astype().");
    if (!rest.positional.empty()) axis = rest.positional[0];
    if (rest.positional.size() > 1) dtype = dtype_of(rest.positional[1], where);
    for (const auto& [keyword, value] : rest.keywords) {
        if (keyword == "axis" && rest.positional.empty()) {
            axis = value;
        } else if (keyword == "keepdims" && value.type->literal) {
            keeps = literal_integer(value.type).value_or(0) != 0;
        } else if (keyword == "dtype" && takes_dtype && rest.positional.size() < 2) {
            dtype = dtype_of(value, where);
        } else if (keyword == "out" && (is_array(value.type) || value.type->kind == TypeKind::kNone)) {
            out = value;
        } else if (keyword == "ddof" && (name == "var" || name == "std") && is_integer(value.type)) {
            ddof = value;
        } else {
            fail(where, given_name + "() takes no keyword '" + keyword + "' like this in a compiled function",
                 "axis and keepdims are taken, where they are known beforehand.");
        }
    }
    const bool totals = reduction->makes == Makes::kTotal;
    if (out.type->kind != TypeKind::kNone ||
        (dtype && (*dtype != array.type->scalar || (totals && *dtype != made_of(*reduction, *dtype))))) {
        Arguments inner{{axis}, {}, where};
        for (const auto& [keyword, value] : rest.keywords) {
            if (keyword == "keepdims" || keyword == "ddof") inner.keywords.emplace_back(keyword, value);
        }
        Value result = dtype ? *array_reduction(array_of(array, dtype, where), given_name, inner)
                             : *array_reduction(array, given_name, inner);
        // Of narrow integers, which are added up as 64 bits: the same, cut.
        if (dtype && is_array(result.type) && result.type->scalar != *dtype)
            result = array_of(result, dtype, where);
        if (dtype && is_scalar(result.type)) result = scalar(scalar_type(*dtype), cast(result, *dtype));
        if (out.type->kind == TypeKind::kNone) return result;
        if (out.type->rank != (is_array(result.type) ? result.type->rank : 0))
            refuse_rank(out, is_array(result.type) ? result.type->rank : 0, where);
        if (!can_cast(DType(result.type->scalar), DType(out.type->scalar), Casting::kSameKind))
            fail(where, lang::describe(result.type) + " is not stored in " + lang::describe(out.type),
                 "Convert it, as by .astype().");
        store_part(out, result, where);
        return out;
    }
    std::vector<size_t> axes;
    const auto add_axis = [&](TypeRef type) {
        const std::optional<int64_t> number = literal_integer(type);
        if (!number)
            fail(where, "the axis of " + given_name + "() has to be known when the function is compiled",
                 "Write it as a number, or as a default that calls leave out.");
        const auto most = static_cast<int64_t>(rank);
        if (*number < -most || *number >= most)
            fail(where, "axis " + std::to_string(*number) + " is out of bounds for array of dimension " +
                            std::to_string(rank));
        axes.push_back(static_cast<size_t>(*number < 0 ? *number + most : *number));
    };
    const bool of_all = axis.type->kind == TypeKind::kNone;
    if (has_later_items(axis) && reduction->makes != Makes::kPlace) {
        Arguments others{{}, {}, where};
        if (name == "var" || name == "std") others.keywords.emplace_back("ddof", ddof);
        return reduction_along(array, given_name, axis, keeps, std::move(others));
    }
    if (axis.type->kind == TypeKind::kTuple && reduction->makes != Makes::kPlace) {
        for (TypeRef part : axis.type->parts) add_axis(part);
    } else if (!of_all) {
        add_axis(axis.type);
    }
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) fail(where, "duplicate value in 'axis'");

    const ScalarType element = array.type->scalar, made = made_of(*reduction, element);
    const bool orders_complex = DType(element).is_complex() &&
                                (reduction->makes == Makes::kElement || reduction->makes == Makes::kPlace);
    const auto call = [&](const std::string& function, std::vector<Value> arguments) {
        return call_prelude("reductions." + function, {std::move(arguments), {}, where});
    };
    const auto operate = [&](OpId op, const Value& left, const Value& right) {
        const std::array operands = {left, right};
        const std::optional<Value> result = array_operation(op_info(op), operands, where);
        return result ? *result : by_loop(op_info(op), operands, where);
    };
    // How many elements one of the result is made of.
    const auto count = [&] {
        if (of_all) return array_attribute(array, "size", where);
        Value result = integer(1);
        for (const size_t each : axes)
            result.parts[0] = apply(OpId::kMultiply, {result.parts[0], size_of(array, each)});
        result.type = scalar_type(ScalarType::kInt64, true);
        return result;
    };
    // NumPy's count has 64 bits, so that narrow floats are divided as wide ones.
    const auto divided = [&](const Value& total, Value by) {
        by.type = scalar_type(ScalarType::kInt64);
        const auto divide = [&](std::span<const Value> values) {
            const std::array both = {values[0], by};
            const ScalarType type = total.type->scalar;
            return scalar(scalar_type(type), cast(by_loop(op_info(OpId::kDivide), both, where), type));
        };
        return is_array(total.type) ? elementwise(std::span(&total, 1), divide, where)
                                    : divide(std::span(&total, 1));
    };
    const auto as_half = [&](const Value& value) -> Value {
        if (!DType(element).is_half_float() || reduction->makes != Makes::kMean) return value;
        if (is_array(value.type)) return array_of(value, element, where);
        return scalar(scalar_type(element), cast(value, element));
    };
    const auto again = [&](const Value& of, const std::string& function, bool keeps_axes) {
        Arguments arguments{{axis}, {}, where};
        if (keeps_axes) arguments.keywords.emplace_back("keepdims", boolean(true));
        return *array_reduction(of, function, arguments);
    };

    if (name == "var" || name == "std") {
        const Value of = made == element ? array : array_of(array, made, where);
        const auto later = [&](OpId op, const Value& left, const Value& right) {
            const Deferring deferring(*this, true);
            return operate(op, left, right);
        };
        const auto squared = [&](const Value& value) { return later(OpId::kMultiply, value, value); };
        Value squares = later(OpId::kSubtract, of, again(of, "mean", !of_all));
        if (DType(made).is_complex()) {
            const Value off = forced(squares);
            squares =
                later(OpId::kAdd, squared(part_of_complex(off, false)), squared(part_of_complex(off, true)));
        } else {
            squares = squared(squares);
        }
        Value divisor = operate(OpId::kSubtract, count(), ddof);
        divisor.parts[0] = apply(OpId::kMaximum, {divisor.parts[0], integer(0).parts[0]});
        divisor.type = scalar_type(ScalarType::kInt64, true);
        Value result = divided(again(squares, "sum", keeps), divisor);
        if (name == "std") {
            const std::array operands = {result};
            const auto roots = array_operation(op_info(OpId::kSqrt), operands, where);
            result = roots ? *roots : by_loop(op_info(OpId::kSqrt), operands, where);
        }
        return as_half(result);
    }

    const std::string loop = name == "mean" ? "sum" : (orders_complex ? "complex_" : "") + name;
    std::vector<Value> start;
    if (loop == "sum" || loop == "prod") {
        const Value number = integer(loop == "prod" ? 1 : 0);
        start.push_back(scalar(scalar_type(made), cast(number, made)));
    }
    const auto with = [&](std::vector<Value> arguments) {
        arguments.insert(arguments.end(), start.begin(), start.end());
        return arguments;
    };
    const auto whole = [&](const Value& of) {
        const Value flat = reduction->makes == Makes::kPlace ? ravelled(of, where) : of;
        return scalar(scalar_type(made), cast(call(loop + "_of_array", with({flat})), made));
    };
    const auto along = [&](const Value& of, size_t given) -> Value {
        const size_t dimensions = of.type->rank;
        std::vector<int> first = {static_cast<int>(given)}, last;
        for (size_t d = 0; d < dimensions; ++d) {
            if (d == given) continue;
            first.push_back(static_cast<int>(d));
            last.push_back(static_cast<int>(d));
        }
        const Value like = with_axes(of, last);
        std::vector<ValueId> shape;
        for (size_t d = 0; d + 1 < dimensions; ++d) shape.push_back(size_of(like, d));
        last.push_back(static_cast<int>(given));
        if (reduction->makes == Makes::kElement || reduction->makes == Makes::kPlace) {
            const std::string text =
                reduction->makes == Makes::kPlace
                    ? "attempt to get " + name + " of an empty sequence"
                    : "zero-size array to reduction operation " + name + "imum which has no identity";
            check(apply(OpId::kGreater, {size_of(of, given), integer(0).parts[0]}), site("ValueError", text),
                  {}, where);
        }
        const Value out =
            reduction->makes == Makes::kPlace ? allocate(made, shape, where) : allocate_as(like, made, where);
        const bool is_last = given + 1 == dimensions;
        const auto of_any_layout = [&] {
            const Value rows = with_axes(of, first), lanes = with_axes(of, last);
            if (reduction->makes == Makes::kPlace || orders_complex || (is_last && of.type->contiguous)) {
                call(loop + "_of_lanes", with({lanes, out}));
            } else if (of.type->contiguous) {
                call(loop + "_of_rows", with({rows, out}));
            } else {  // along the axis whose elements lie closest, as NumPy
                ValueId by_lanes = boolean(true).parts[0];
                for (size_t d = 0; d < dimensions; ++d) {
                    if (d == given) continue;
                    const ValueId own = apply(OpId::kAbsolute, {stride_of(of, given)});
                    const ValueId other = apply(OpId::kAbsolute, {stride_of(of, d)});
                    by_lanes = apply(OpId::kLogicalAnd, {by_lanes, apply(OpId::kLessEqual, {own, other})});
                }
                std::vector<Value> arguments = with({rows, lanes, out});
                arguments.push_back(scalar(scalar_type(ScalarType::kBool, true), by_lanes));
                call(loop + "_along", std::move(arguments));
            }
        };
        if (dry_ || reduction->makes == Makes::kPlace || orders_complex || (is_last && dimensions == 2)) {
            of_any_layout();
            return out;
        }
        // Without gaps, the axes before and behind count as one each, so that short rows follow each other.
        // Where nothing is behind, NumPy adds as along the last axis.
        const ValueId bytes = integer(DType(element).itemsize()).parts[0];
        const ValueId one = integer(1).parts[0];
        ValueId step = bytes, before = one, behind = one, whole = boolean(true).parts[0];
        for (size_t d = dimensions; d-- > 0;) {
            const ValueId size = size_of(of, d);
            const ValueId fits = apply(OpId::kLogicalOr, {apply(OpId::kEqual, {stride_of(of, d), step}),
                                                          apply(OpId::kLessEqual, {size, one})});
            whole = apply(OpId::kLogicalAnd, {whole, fits});
            step = apply(OpId::kMultiply, {step, size});
            if (d < given) before = apply(OpId::kMultiply, {before, size});
            if (d > given) behind = apply(OpId::kMultiply, {behind, size});
        }
        const auto merged = [&](const Value& array, std::vector<ValueId> sizes) {
            std::vector<ValueId> strides(sizes.size());
            ValueId stride = integer(DType(array.type->scalar).itemsize()).parts[0];
            for (size_t d = sizes.size(); d-- > 0;) {
                strides[d] = stride;
                stride = apply(OpId::kMultiply, {stride, sizes[d]});
            }
            return view(array, integer(0).parts[0], sizes, strides, true);
        };
        const auto side = [&](const std::function<void()>& body) -> ir::Builder::Body {
            return [this, body](ir::Builder&, std::span<const ValueId>) {
                const size_t temporaries = temporaries_.size();
                body();
                end_temporaries(temporaries);
                return std::vector<ValueId>();
            };
        };
        const ValueId count = size_of(of, given);
        const std::function<void()> without_gaps = [&] {
            const std::function<void()> lanes = [&] {
                call(loop + "_of_lanes", with({merged(of, {before, count}), merged(out, {before})}));
            };
            const std::function<void()> rows = [&] {
                if (given == 0) {
                    call(loop + "_of_rows", with({merged(of, {count, behind}), merged(out, {behind})}));
                } else {
                    call(loop + "_of_blocks",
                         with({merged(of, {before, count, behind}), merged(out, {before, behind})}));
                }
            };
            if (is_last) return lanes();
            builder_->if_else(apply(OpId::kNotEqual, {behind, one}), side(rows), side(lanes),
                              /*likely=*/true);
        };
        builder_->if_else(whole, side(without_gaps), side(of_any_layout), /*likely=*/true);
        return out;
    };

    Value result = array;
    for (size_t k = of_all ? 0 : axes.size(); k-- > 0;) {
        if (result.type->rank == 1) {
            result = whole(result);
        } else {
            result = along(result, axes[k]);
        }
    }
    if (of_all) result = whole(array);
    if (name == "mean") result = divided(result, count());
    result = as_half(result);
    if (!keeps) {
        if (is_scalar(result.type) || !axes.empty()) return result;
        return copied_as_it_lies(array, array.type->scalar, where);  // along no axis
    }
    std::vector<int> kept;
    int next = 0;
    for (size_t d = 0; d < rank; ++d) {
        const bool is_gone = of_all || std::binary_search(axes.begin(), axes.end(), d);
        kept.push_back(is_gone ? -1 : next++);
    }
    if (is_scalar(result.type)) {
        if (rank == 0) return result;
        const std::vector<ValueId> shape(rank, integer(1).parts[0]);
        const Value one = allocate(result.type->scalar, shape, where);
        fill(one, result, where);
        return one;
    }
    return with_axes(result, kept);
}

}  // namespace weft::lang
