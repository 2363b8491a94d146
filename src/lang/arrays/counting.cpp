// What counts, selects and looks up: the prelude's loops, for arguments of the types that NumPy makes of
// them.
#include <algorithm>
#include <array>

#include "lang/arrays/functions.h"

namespace weft::lang {

using ir::ValueId;

Value FunctionLowering::ArrayFunctions::call_unique() {
    const std::vector<Value> given = bind("ar return_index? return_inverse? return_counts? axis! equal_nan!");
    const Value a = array(given[0]);
    const bool index = flag(given[1], false), inverse = flag(given[2], false), counts = flag(given[3], false);
    if (!index && !inverse && !counts) return prelude("unique_of", {a});
    const Value all = prelude("unique_with", {a});
    std::vector<Value> items = {f_.tuple_item(all, 0)};
    if (index) items.push_back(f_.tuple_item(all, 1));
    if (inverse) {
        Value places = f_.tuple_item(all, 2);
        if (a.type->rank != 1) places = f_.reshaped(places, {f_.shape_of(a)}, where_);
        items.push_back(places);
    }
    if (counts) items.push_back(f_.tuple_item(all, 3));
    return f_.tuple(std::move(items));
}

Value FunctionLowering::ArrayFunctions::call_interp() {
    const std::vector<Value> given = bind("x xp fp left? right? period!");
    const Value xp = array(given[1], ScalarType::kFloat64);
    const ScalarType type =
        DType(array(given[2]).type->scalar).is_complex() ? ScalarType::kComplex128 : ScalarType::kFloat64;
    const Value fp = array(given[2], type);
    if (xp.type->rank != 1 || fp.type->rank != 1)
        f_.fail(where_, "interp() takes sample points of one dimension");
    const Value x = array(given[0], ScalarType::kFloat64);
    const Value out = f_.allocate(type, shape_of(x), where_);
    const auto end = [&](const Value& value, bool first) {
        if (!is_none(value)) return f_.scalar(scalar_type(type), f_.cast(value, type));
        return prelude(first ? "first_of" : "last_of", {fp});
    };
    const Value left = end(given[3], true), right = end(given[4], false);
    prelude("interp_of", {f_.ravelled(x, where_), xp, fp, f_.ravelled(out, where_), left, right});
    return element_or_array(out);
}

Value FunctionLowering::ArrayFunctions::call_quantile(bool percents) {
    const std::vector<Value> given =
        bind("a q axis? out! overwrite_input! method! keepdims? weights! interpolation!");
    Value a = array(given[0]);
    if (DType(a.type->scalar).is_complex())
        f_.fail(where_, "a must be an array of real numbers: Not supported for complex dtype");
    if (!DType(a.type->scalar).is_inexact()) a = array(a, ScalarType::kFloat64);
    const bool of_all = is_none(given[2]);
    if (of_all && flag(given[6], false))
        f_.fail(where_, name_ + "() keeps the dimension of an axis alone in a compiled function");
    const size_t along = of_all ? 0 : axis(given[2], a.type->rank);
    if (of_all) a = f_.ravelled(a, where_);
    const bool skips = name_.starts_with("nan");
    if (skips && of_all) a = prelude("numbers_of", {a});
    Value q = given[1];
    if (!is_scalar(q.type)) q = array(q);
    if (is_array(q.type) || !q.type->weak) {
        const std::array types = {OperandType(DType(a.type->scalar)), OperandType(DType(q.type->scalar))};
        a = array(a, result_type(types).scalar_type());
    }
    const Value ordered = sorted(a, along, false);
    if (percents) {
        Value fits = operate(OpId::kLogicalAnd, {operate(OpId::kGreaterEqual, {q, f_.integer(0)}),
                                                 operate(OpId::kLessEqual, {q, f_.integer(100)})});
        if (is_array(fits.type)) fits = reduce("all", fits, f_.none());
        f_.check(fits.parts[0], f_.site("ValueError", "Percentiles must be in the range [0, 100]"), {},
                 where_);
    }
    if (!skips)
        f_.check(f_.apply(OpId::kGreater, {f_.size_of(a, along), f_.integer(0).parts[0]}),
                 f_.site("IndexError", "index -1 is out of bounds for axis 0 with size 0"), {}, where_);
    if (percents) q = operate(OpId::kDivide, {q, f_.constant(Constant::of(ScalarType::kFloat64, 100.0))});
    if (of_all && is_scalar(q.type)) {
        const Value found = prelude("quantile_of", {ordered, q});
        return f_.scalar(scalar_type(a.type->scalar), f_.cast(found, a.type->scalar));
    }
    // Of each row, by the axes of `q` and those that are left of `a`.
    q = array(q);
    const bool keeps = flag(given[6], false);
    std::vector<ValueId> shape = shape_of(q);
    std::vector<Value> lanes = {whole(f_.integer(-1).parts[0])};
    for (size_t d = 0; d < a.type->rank; ++d) {
        if (d == along && !keeps) continue;
        shape.push_back(d == along ? f_.integer(1).parts[0] : f_.size_of(a, d));
    }
    const Value out = f_.allocate(a.type->scalar, shape, where_);
    const Value flat = f_.ravelled(q, where_);
    lanes[0] = whole(f_.size_of(flat, 0));
    for (size_t d = 0; d < a.type->rank; ++d) {
        if (d != along) lanes.push_back(whole(f_.size_of(a, d)));
    }
    prelude(skips && !of_all ? "quantiles_of_numbers" : "quantiles_along",
            {last(ordered, along), flat, f_.reshaped(out, std::move(lanes), where_)});
    return element_or_array(out);
}

Value FunctionLowering::ArrayFunctions::call_median(bool skips) {
    const std::vector<Value> given = bind("a axis? out! overwrite_input! keepdims?");
    Value a = array(given[0]);
    if (!DType(a.type->scalar).is_inexact()) a = array(a, ScalarType::kFloat64);
    const bool of_all = is_none(given[1]), keeps = flag(given[4], false);
    if (of_all && keeps)
        f_.fail(where_, name_ + "() keeps the dimension of an axis alone in a compiled function");
    if (of_all) a = f_.ravelled(a, where_);
    const size_t along = of_all ? 0 : axis(given[1], a.type->rank);
    std::vector<ValueId> shape, left, strides;
    for (size_t d = 0; d < a.type->rank; ++d) {
        if (d != along || keeps) shape.push_back(d == along ? f_.integer(1).parts[0] : f_.size_of(a, d));
    }
    const Value out = f_.allocate(a.type->scalar, shape, where_);
    for (size_t d = 0; d < shape.size(); ++d) {
        if (d == along && keeps) continue;
        left.push_back(shape[d]);
        strides.push_back(f_.stride_of(out, d));
    }
    prelude(skips ? "medians_without_nan" : "medians_into",
            {last(a, along), f_.view(out, f_.integer(0).parts[0], left, strides, false)});
    return element_or_array(out);
}

std::optional<Value> FunctionLowering::ArrayFunctions::call_counting() {
    if (name_ == "nonzero" ||
        (name_ == "where" && given_.positional.size() == 1 && given_.keywords.empty())) {
        const Value a = array(bind("a")[0]);
        if (a.type->rank == 0)
            f_.fail(
                where_,
                "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.");
        return f_.tuple(places(a));
    }
    if (name_ == "repeat") {
        const std::vector<Value> given = bind("a repeats axis?");
        Value a = array(given[0]);
        if (is_none(given[2])) a = f_.ravelled(a, where_);
        const size_t along = is_none(given[2]) ? 0 : axis(given[2], a.type->rank);
        std::vector<int> first = {static_cast<int>(along)}, back;
        for (size_t d = 0; d < a.type->rank; ++d) {
            if (d != along) first.push_back(static_cast<int>(d));
        }
        for (size_t d = 0; d < a.type->rank; ++d)
            back.push_back(static_cast<int>(d == along ? 0 : d < along ? d + 1 : d));
        const bool each = !is_scalar(given[1].type);
        const Value found =
            each ? prelude("repeated_each", {f_.with_axes(a, first), array(given[1])})
                 : prelude("repeated", {f_.with_axes(a, first), whole(f_.as_index(given[1], where_))});
        return f_.with_axes(found, back);
    }
    if (name_ == "bincount") {
        const std::vector<Value> given = bind("x weights? minlength?");
        const Value x = array(given[0]);
        if (x.type->rank != 1) f_.fail(where_, "object of too small depth for desired array");
        if (!DType(x.type->scalar).is_integer() && !DType(x.type->scalar).is_bool())
            f_.fail(where_, "Cannot cast array data to int64 according to the rule 'safe'");
        const Value places = array(x, ScalarType::kInt64);
        const Value least = is_none(given[2]) ? f_.integer(0) : whole(f_.as_index(given[2], where_));
        if (is_none(given[1])) return prelude("bincount_of", {places, least});
        return prelude("bincount_with", {places, array(given[1], ScalarType::kFloat64), least});
    }
    if (name_ == "unique") return call_unique();
    if (name_ == "interp") return call_interp();
    if (name_.ends_with("quantile") || name_.ends_with("percentile"))
        return call_quantile(name_.ends_with("percentile"));
    if (name_ == "median" || name_ == "nanmedian") return call_median(name_ == "nanmedian");
    if (name_ == "digitize") {
        const std::vector<Value> given = bind("x bins right?");
        const Value x = array(given[0]), bins = array(given[1]);
        if (DType(x.type->scalar).is_complex()) f_.fail(where_, "x may not be complex");
        if (bins.type->rank != 1) f_.fail(where_, "object of too small depth for desired array");
        const Value found = prelude(
            "digitize_of", {f_.ravelled(x, where_), bins, is_none(given[2]) ? f_.boolean(false) : given[2]});
        if (x.type->rank == 1) return found;
        return element_or_array(f_.reshaped(found, {f_.shape_of(x)}, where_));
    }
    if (name_ == "histogram") {
        const std::vector<Value> given = bind("a bins? range? normed! weights! density!");
        const Value a = f_.ravelled(array(given[0]), where_);
        if (!is_none(given[1]) && !is_scalar(given[1].type)) {
            const Value edges = array(given[1]);
            return f_.tuple({prelude("histogram_in", {a, edges}), edges});
        }
        const Value bins = is_none(given[1]) ? f_.integer(10) : whole(f_.as_index(given[1], where_));
        if (is_none(given[2])) return prelude("histogram_over_all", {a, bins});
        if (given[2].type->kind != TypeKind::kTuple || given[2].type->parts.size() != 2)
            f_.fail(where_, "histogram() takes a tuple of two numbers as its range");
        return prelude("histogram_of", {a, bins, f_.tuple_item(given[2], 0), f_.tuple_item(given[2], 1)});
    }
    if (name_ == "tril" || name_ == "triu") {
        const std::vector<Value> given = bind("m k?");
        Value m = array(given[0]);
        if (m.type->rank == 0) f_.fail(where_, name_ + "() takes an array with dimensions");
        if (m.type->rank == 1) m = broadcast(m, std::array{f_.size_of(m, 0), f_.size_of(m, 0)});
        const Value out = f_.allocate(m.type->scalar, shape_of(m), where_);
        const Value k = is_none(given[1]) ? f_.integer(0) : whole(f_.as_index(given[1], where_));
        prelude("fill_triangle", {m, out, k, f_.boolean(name_ == "tril")});
        return out;
    }
    if (name_ == "take") {
        const std::vector<Value> given = bind("a indices axis? out? mode!");
        Value a = array(given[0]);
        const auto found = [&](const Value& taken) {
            return stored(taken, given[3], "output array does not match result of ndarray.take");
        };
        if (is_none(given[2])) a = f_.ravelled(a, where_);
        const size_t along = is_none(given[2]) ? 0 : axis(given[2], a.type->rank);
        std::vector<IndexItem> items(along, {where_, f_.make_slice("an index", {{f_.none()}, {}, where_})});
        items.push_back({where_, is_scalar(given[1].type) ? given[1] : array(given[1])});
        if (has_array(items)) return found(f_.selected(where_, a, items));
        if (const auto element = f_.element_of(where_, a, items)) return found(f_.load(*element));
        const Value view = f_.sliced(where_, a, items);
        return found(f_.copied(view, shape_of(view), where_));
    }
    if (name_ == "roll") {
        const std::vector<Value> given = bind("a shift axis?");
        const Value a = array(given[0]);
        const auto parts = [](const Value& value) {
            return value.type->kind == TypeKind::kTuple ? value.type->parts.size() : 0;
        };
        if (const size_t shifts = parts(given[1]), axes = parts(given[2]); shifts > 0 || axes > 0) {
            if (shifts > 0 && axes > 0 && shifts != axes && shifts != 1 && axes != 1)
                f_.fail(where_, "'shift' and 'axis' should be scalars or 1D sequences of one length");
            const auto item = [&](const Value& value, size_t count, size_t k) {
                return count == 0 ? value : f_.tuple_item(value, count == 1 ? 0 : k);
            };
            Value rolled = a;
            for (size_t k = 0; k < std::max(shifts, axes); ++k) {
                const Arguments each{
                    {rolled, item(given[1], shifts, k), item(given[2], axes, k)}, {}, where_};
                rolled = *ArrayFunctions(f_, "roll", each).call_counting();
            }
            return rolled;
        }
        const Value shift = whole(f_.as_index(given[1], where_));
        const Value out = is_none(given[2]) ? f_.allocate(a.type->scalar, shape_of(a), where_)
                                            : f_.allocate_as(a, a.type->scalar, where_);
        const auto first = [&](const Value& value) {
            if (is_none(given[2])) return f_.ravelled(value, where_);
            const size_t along = axis(given[2], a.type->rank);
            std::vector<int> axes = {static_cast<int>(along)};
            for (size_t d = 0; d < a.type->rank; ++d) {
                if (d != along) axes.push_back(static_cast<int>(d));
            }
            return f_.with_axes(value, axes);
        };
        prelude("roll_of", {first(a), shift, first(out)});
        return out;
    }
    if (name_ == "convolve" || name_ == "correlate") {
        const std::vector<Value> given = bind(name_ == "convolve" ? "a v mode?" : "a v mode?");
        Value a = array(given[0]), v = array(given[1]);
        if (a.type->rank != 1 || v.type->rank != 1)
            f_.fail(where_,
                    "object too deep for desired array: " + name_ + "() is only supported on 1D arrays");
        const bool convolves = name_ == "convolve";
        const std::string mode = text(given[2], convolves ? "full" : "valid");
        if (mode != "full" && mode != "valid" && mode != "same")
            f_.fail(where_, "mode must be one of 'full', 'same' or 'valid'");
        const std::array types = {OperandType(DType(a.type->scalar)), OperandType(DType(v.type->scalar))};
        const ScalarType common = result_type(types).scalar_type();
        a = array(a, common);
        v = array(v, common);
        const ValueId one = f_.integer(1).parts[0];
        if (!convolves) {
            const ValueId rest = f_.apply(OpId::kSubtract, {f_.size_of(v, 0), one});
            const ValueId offset = f_.apply(OpId::kMultiply, {rest, f_.stride_of(v, 0)});
            v = f_.view(v, offset, std::array{f_.size_of(v, 0)},
                        std::array{f_.apply(OpId::kNegative, {f_.stride_of(v, 0)})}, false);
            if (DType(common).is_complex()) v = operate(OpId::kConjugate, {v});
        }
        const ValueId longest = f_.apply(OpId::kMaximum, {f_.size_of(a, 0), f_.size_of(v, 0)});
        const ValueId shortest = f_.apply(OpId::kMinimum, {f_.size_of(a, 0), f_.size_of(v, 0)});
        for (const Value* each : {&a, &v}) {
            f_.check(f_.apply(OpId::kGreater, {f_.size_of(*each, 0), f_.integer(0).parts[0]}),
                     f_.site("ValueError", std::string(each == &a ? "a" : "v") + " cannot be empty"), {},
                     where_);
        }
        const ValueId less = f_.apply(OpId::kSubtract, {shortest, one});
        const ValueId full = f_.apply(OpId::kAdd, {longest, less});
        const ValueId count = mode == "full"   ? full
                              : mode == "same" ? longest
                                               : f_.apply(OpId::kSubtract, {longest, less});
        // "same" is about the middle; of correlate() that is counted from the end where the first one is
        // shorter.
        const ValueId half = f_.apply(OpId::kFloorDivide, {less, f_.integer(2).parts[0]});
        const ValueId of_same =
            convolves ? half
                      : f_.apply(OpId::kSelect, {f_.apply(OpId::kLess, {f_.size_of(a, 0), f_.size_of(v, 0)}),
                                                 f_.apply(OpId::kSubtract, {less, half}), half});
        const ValueId skipped = mode == "full" ? f_.integer(0).parts[0] : mode == "valid" ? less : of_same;
        const Value out = f_.allocate(common, std::array{count}, where_);
        f_.fill(out, f_.integer(0), where_);
        prelude("convolve_of", {a, v, out, whole(skipped)});
        return out;
    }
    return std::nullopt;
}

}  // namespace weft::lang
