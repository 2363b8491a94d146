// numpy.round and nan_to_num.
#include <array>
#include <limits>

#include "lang/arrays/functions.h"

namespace weft::lang {

std::optional<Value> FunctionLowering::ArrayFunctions::call_rounding() {
    if (name_ == "round" || name_ == "around") {
        const std::vector<Value> given = bind("a decimals? out?");
        const Value a = is_scalar(given[0].type) ? given[0] : array(given[0]);
        const DType dtype(a.type->scalar);
        const bool to_whole = is_none(given[1]) || literal_integer(given[1].type) == 0;
        if (dtype.is_bool()) f_.fail(where_, name_ + "() of bools is not compiled", "Take them as integers.");
        if (to_whole) {
            if (!dtype.is_inexact())
                return stored(is_array(a.type) ? f_.copied(a, shape_of(a), where_) : a, given[2]);
            return stored(operate(OpId::kRint, {a}), given[2]);
        }
        if (!is_integer(given[1].type))
            f_.fail(where_, name_ + "() takes a number of digits, not " + lang::describe(given[1].type));
        const Value wide = dtype.is_inexact() || !is_array(a.type) ? a : array(a, ScalarType::kFloat64);
        if (dtype.is_complex() && is_array(a.type)) {  // each part by itself
            const Value out = f_.copied(a, shape_of(a), where_);
            for (const bool imaginary : {false, true}) {
                const Value part = f_.part_of_complex(out, imaginary);
                f_.store_part(part, prelude("rounded", {part, given[1]}), where_);
            }
            return stored(out, given[2]);
        }
        Value result = prelude("rounded", {wide, given[1]});
        if (is_array(a.type)) {
            result = array(result, a.type->scalar);
        } else {
            result = f_.scalar(scalar_type(a.type->scalar), f_.cast(result, a.type->scalar));
        }
        return stored(result, given[2]);
    }
    if (name_ != "nan_to_num") return std::nullopt;
    const std::vector<Value> given = bind("x copy? nan? posinf? neginf?");
    const Value x = array(given[0]);
    const DType dtype(x.type->scalar);
    const bool copies = flag(given[1], true);
    if (!dtype.is_inexact()) return copies ? element_or_array(f_.copied(x, shape_of(x), where_)) : x;
    const auto number = [&](const Value& value, double otherwise) {
        return is_none(value) ? f_.constant(Constant::of(ScalarType::kFloat64, otherwise)) : value;
    };
    const auto replaced = [&](const Value& of) {
        const ScalarType type = of.type->scalar;
        const double most = type == ScalarType::kFloat16    ? 65504.0
                            : type == ScalarType::kBFloat16 ? 0x1.fep127
                            : type == ScalarType::kFloat32  ? double{std::numeric_limits<float>::max()}
                                                            : std::numeric_limits<double>::max();
        const double infinity = std::numeric_limits<double>::infinity();
        const auto is = [&](double value) {
            return later(OpId::kEqual, {of, f_.constant(Constant::of(ScalarType::kFloat64, value))});
        };
        Value result = choose_later(later(OpId::kIsnan, {of}), number(given[2], 0.0), of);
        result = choose_later(is(infinity), number(given[3], most), result);
        return choose_later(is(-infinity), number(given[4], -most), result);
    };
    if (copies && !dtype.is_complex()) return replaced(x);
    const Value out = copies ? f_.copied(x, shape_of(x), where_) : x;
    if (!dtype.is_complex()) {
        f_.store_part(out, f_.forced(replaced(out)), where_);
    } else {
        for (const bool imaginary : {false, true}) {
            const Value part = f_.part_of_complex(out, imaginary);
            f_.store_part(part, f_.forced(replaced(part)), where_);
        }
    }
    return copies ? element_or_array(out) : out;
}

}  // namespace weft::lang
