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
                return stored(is_array(a.type) ? f_.copied_as_it_lies(a, a.type->scalar, where_) : a,
                              given[2]);
            return stored(operate(OpId::kRint, {a}), given[2]);
        }
        if (!is_integer(given[1].type))
            f_.fail(where_, name_ + "() takes a number of digits, not " + lang::describe(given[1].type));
        if (dtype.is_complex() && !is_array(a.type)) {
            const auto part = [&](const char* name) {
                return prelude("rounded", {f_.attribute_of(a, name, where_), given[1]});
            };
            return f_.complex_of(part("real"), part("imag"), a.type->scalar, false);
        }
        const Value wide = dtype.is_inexact() || !is_array(a.type) ? a : array(a, ScalarType::kFloat64);
        if (dtype.is_complex() && is_array(a.type)) {  // each part by itself
            const Value out = f_.copied_as_it_lies(a, a.type->scalar, where_);
            for (const bool imaginary : {false, true}) {
                const Value part = f_.part_of_complex(out, imaginary);
                f_.store_part(part, prelude("rounded", {part, given[1]}), where_);
            }
            return stored(f_.in_one_order(out, a, where_), given[2]);
        }
        Value result = prelude("rounded", {wide, given[1]});
        if (is_array(a.type)) {
            result = f_.in_one_order(array(result, a.type->scalar), a, where_);
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
    const auto copy = [&] { return f_.copied_as_it_lies(x, x.type->scalar, where_); };
    if (!dtype.is_inexact()) return copies ? element_or_array(copy()) : x;
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
    const Value out = copies ? copy() : x;
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
