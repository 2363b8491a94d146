// Functions and constants that are there without a declaration.
#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <optional>

#include "lang/c_source/numbers.h"
#include "ops/op.h"

namespace weft::lang::c_source {

namespace {

using Single = ScalarType;

struct MathFunction {
    OpId op;
    size_t arguments;
};

const std::map<std::string_view, MathFunction>& math_functions() {
    static const std::map<std::string_view, MathFunction> functions = {
        {"sqrt", {OpId::kSqrt, 1}},         {"cbrt", {OpId::kCbrt, 1}},
        {"exp", {OpId::kExp, 1}},           {"exp2", {OpId::kExp2, 1}},
        {"exp10", {OpId::kExp10, 1}},       {"expm1", {OpId::kExpm1, 1}},
        {"log", {OpId::kLog, 1}},           {"log2", {OpId::kLog2, 1}},
        {"log10", {OpId::kLog10, 1}},       {"log1p", {OpId::kLog1p, 1}},
        {"sin", {OpId::kSin, 1}},           {"cos", {OpId::kCos, 1}},
        {"tan", {OpId::kTan, 1}},           {"asin", {OpId::kArcsin, 1}},
        {"acos", {OpId::kArccos, 1}},       {"atan", {OpId::kArctan, 1}},
        {"sinh", {OpId::kSinh, 1}},         {"cosh", {OpId::kCosh, 1}},
        {"tanh", {OpId::kTanh, 1}},         {"asinh", {OpId::kArcsinh, 1}},
        {"acosh", {OpId::kArccosh, 1}},     {"atanh", {OpId::kArctanh, 1}},
        {"erf", {OpId::kErf, 1}},           {"erfc", {OpId::kErfc, 1}},
        {"floor", {OpId::kFloor, 1}},       {"ceil", {OpId::kCeil, 1}},
        {"trunc", {OpId::kTrunc, 1}},       {"rint", {OpId::kRint, 1}},
        {"nearbyint", {OpId::kRint, 1}},    {"fabs", {OpId::kFabs, 1}},
        {"atan2", {OpId::kArctan2, 2}},     {"hypot", {OpId::kHypot, 2}},
        {"fmod", {OpId::kFmod, 2}},         {"pow", {OpId::kPower, 2}},
        {"copysign", {OpId::kCopysign, 2}}, {"nextafter", {OpId::kNextafter, 2}},
        {"fmax", {OpId::kFmax, 2}},         {"fmin", {OpId::kFmin, 2}},
        {"fma", {OpId::kFma, 3}},
    };
    return functions;
}

// Those that numbers of <complex> have.
bool is_of_complex(std::string_view name) {
    static const std::map<std::string_view, bool> kNames = {
        {"sqrt", true}, {"exp", true},   {"log", true},   {"log10", true}, {"sin", true},  {"cos", true},
        {"tan", true},  {"asin", true},  {"acos", true},  {"atan", true},  {"sinh", true}, {"cosh", true},
        {"tanh", true}, {"asinh", true}, {"acosh", true}, {"atanh", true}, {"pow", true}};
    return kNames.contains(name);
}

// Made of several operations.
bool is_composed(std::string_view name) {
    static const std::map<std::string_view, bool> kNames = {
        {"rsqrt", true},  {"rcbrt", true},   {"fdim", true},  {"round", true},  {"ldexp", true},
        {"lround", true}, {"llround", true}, {"lrint", true}, {"llrint", true}, {"scalbn", true}};
    return kNames.contains(name);
}

// Without a form that ends in f.
bool is_of_any_type(std::string_view name) {
    static const std::map<std::string_view, bool> kNames = {
        {"abs", true},    {"labs", true},    {"llabs", true},    {"min", true},     {"max", true},
        {"isnan", true},  {"isinf", true},   {"isfinite", true}, {"signbit", true}, {"real", true},
        {"imag", true},   {"conj", true},    {"arg", true},      {"norm", true},    {"polar", true},
        {"__popc", true}, {"__popcll", true}};
    return kNames.contains(name);
}

std::string_view without_f(std::string_view name) {
    return name.ends_with('f') && name != "erf" ? name.substr(0, name.size() - 1) : std::string_view();
}

template <class T>
Constant constant_of(ScalarType type, T value) {
    return Constant::of(type, value);
}

const std::map<std::string_view, Constant>& constants() {
    constexpr auto kInt = ScalarType::kInt32, kUInt = ScalarType::kUInt32, kLong = ScalarType::kInt64,
                   kULong = ScalarType::kUInt64, kFloat = ScalarType::kFloat32,
                   kDouble = ScalarType::kFloat64;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr double kPi = std::numbers::pi;
    static const std::map<std::string_view, Constant> values = {
        {"INFINITY", constant_of(kFloat, kInfinity)},
        {"NAN", constant_of(kFloat, kNan)},
        {"HUGE_VAL", constant_of(kDouble, double{kInfinity})},
        {"HUGE_VALF", constant_of(kFloat, kInfinity)},
        {"CUDART_INF", constant_of(kDouble, double{kInfinity})},
        {"CUDART_INF_F", constant_of(kFloat, kInfinity)},
        {"CUDART_NAN", constant_of(kDouble, double{kNan})},
        {"CUDART_NAN_F", constant_of(kFloat, kNan)},
        {"CUDART_PI", constant_of(kDouble, kPi)},
        {"CUDART_PI_F", constant_of(kFloat, static_cast<float>(kPi))},
        {"M_PI", constant_of(kDouble, kPi)},
        {"M_PI_2", constant_of(kDouble, kPi / 2)},
        {"M_PI_4", constant_of(kDouble, kPi / 4)},
        {"M_1_PI", constant_of(kDouble, std::numbers::inv_pi)},
        {"M_2_PI", constant_of(kDouble, 2 * std::numbers::inv_pi)},
        {"M_2_SQRTPI", constant_of(kDouble, 2 * std::numbers::inv_sqrtpi)},
        {"M_E", constant_of(kDouble, std::numbers::e)},
        {"M_LN2", constant_of(kDouble, std::numbers::ln2)},
        {"M_LN10", constant_of(kDouble, std::numbers::ln10)},
        {"M_LOG2E", constant_of(kDouble, std::numbers::log2e)},
        {"M_LOG10E", constant_of(kDouble, std::numbers::log10e)},
        {"M_SQRT2", constant_of(kDouble, std::numbers::sqrt2)},
        {"M_SQRT1_2", constant_of(kDouble, std::numbers::sqrt2 / 2)},
        {"CHAR_BIT", constant_of(kInt, int32_t{CHAR_BIT})},
        {"SCHAR_MIN", constant_of(kInt, int32_t{SCHAR_MIN})},
        {"SCHAR_MAX", constant_of(kInt, int32_t{SCHAR_MAX})},
        {"CHAR_MIN", constant_of(kInt, int32_t{SCHAR_MIN})},
        {"CHAR_MAX", constant_of(kInt, int32_t{SCHAR_MAX})},
        {"UCHAR_MAX", constant_of(kInt, int32_t{UCHAR_MAX})},
        {"SHRT_MIN", constant_of(kInt, int32_t{SHRT_MIN})},
        {"SHRT_MAX", constant_of(kInt, int32_t{SHRT_MAX})},
        {"USHRT_MAX", constant_of(kInt, int32_t{USHRT_MAX})},
        {"INT_MIN", constant_of(kInt, int32_t{INT_MIN})},
        {"INT_MAX", constant_of(kInt, int32_t{INT_MAX})},
        {"UINT_MAX", constant_of(kUInt, uint32_t{UINT_MAX})},
        {"LONG_MIN", constant_of(kLong, int64_t{LONG_MIN})},
        {"LONG_MAX", constant_of(kLong, int64_t{LONG_MAX})},
        {"ULONG_MAX", constant_of(kULong, uint64_t{ULONG_MAX})},
        {"LLONG_MIN", constant_of(kLong, int64_t{LLONG_MIN})},
        {"LLONG_MAX", constant_of(kLong, int64_t{LLONG_MAX})},
        {"ULLONG_MAX", constant_of(kULong, uint64_t{ULLONG_MAX})},
        {"FLT_MAX", constant_of(kFloat, FLT_MAX)},
        {"FLT_MIN", constant_of(kFloat, FLT_MIN)},
        {"FLT_EPSILON", constant_of(kFloat, FLT_EPSILON)},
        {"DBL_MAX", constant_of(kDouble, DBL_MAX)},
        {"DBL_MIN", constant_of(kDouble, DBL_MIN)},
        {"DBL_EPSILON", constant_of(kDouble, DBL_EPSILON)},
    };
    return values;
}

}  // namespace

bool Numbers::is_constant(std::string_view name) const { return constants().contains(name); }

Number Numbers::constant(std::string_view name) {
    const Constant& value = constants().at(name);
    return {value.type, builder_->constant(value)};
}

namespace {

template <class T>
std::optional<T> limit_of(std::string_view name) {
    using Limits = std::numeric_limits<T>;
    if (name == "max") return Limits::max();
    if (name == "min") return Limits::min();
    if (name == "lowest") return Limits::lowest();
    if (name == "epsilon") return Limits::epsilon();
    if (name == "infinity" && Limits::has_infinity) return Limits::infinity();
    if (name == "quiet_NaN" && Limits::has_quiet_NaN) return Limits::quiet_NaN();
    return {};
}

}  // namespace

Number Numbers::limit(ScalarType type, std::string_view name, const Place& place) {
    const auto number = [&](auto value) -> Number {
        if (!value)
            throw OutsideSubset(place, "a " + c_name(type) + " has no limit '" + std::string(name) + "'");
        return {type, builder_->constant(Constant::of(type, *value))};
    };
    switch (type) {
        case ScalarType::kBool: return number(limit_of<bool>(name));
        case ScalarType::kInt8: return number(limit_of<int8_t>(name));
        case ScalarType::kUInt8: return number(limit_of<uint8_t>(name));
        case ScalarType::kInt16: return number(limit_of<int16_t>(name));
        case ScalarType::kUInt16: return number(limit_of<uint16_t>(name));
        case ScalarType::kInt32: return number(limit_of<int32_t>(name));
        case ScalarType::kUInt32: return number(limit_of<uint32_t>(name));
        case ScalarType::kInt64: return number(limit_of<int64_t>(name));
        case ScalarType::kUInt64: return number(limit_of<uint64_t>(name));
        case ScalarType::kFloat32: return number(limit_of<float>(name));
        case ScalarType::kFloat64: return number(limit_of<double>(name));
        default: break;
    }
    throw OutsideSubset(place, "the limits of " + c_name(type) + " are outside of the subset");
}

bool Numbers::is_function(std::string_view name) const {
    const auto has = [](std::string_view one) { return math_functions().contains(one) || is_composed(one); };
    return has(name) || is_of_any_type(name) || (!without_f(name).empty() && has(without_f(name)));
}

Number Numbers::rounded(const Number& value) {
    // Halves go away from zero: what lies behind the point is exact.
    const Number whole = op(OpId::kTrunc, {value});
    const Number rest = op(OpId::kFabs, {op(OpId::kSubtract, {value, whole})});
    const Number half{
        value.type, builder_->cast(builder_->constant(Constant::of(ScalarType::kFloat32, 0.5F)), value.type)};
    const Number one = integer(value.type, 1);
    const Number step = op(OpId::kCopysign, {one, value});
    const Number is_far = apply(OpId::kGreaterEqual, {rest, half}, ScalarType::kBool);
    return apply(OpId::kSelect, {is_far, op(OpId::kAdd, {whole, step}), whole}, value.type);
}

Number Numbers::least_or_most(bool least, std::span<const Number> arguments, const Place& place) {
    const ScalarType type = common_type(arguments[0].type, arguments[1].type);
    if (DType(type).is_complex()) throw OutsideSubset(place, "complex numbers have no order");
    const Number a = convert(arguments[0], type, place), b = convert(arguments[1], type, place);
    return op(least ? OpId::kFmin : OpId::kFmax, {a, b});
}

Number Numbers::magnitude(const Number& value, const Place& place) {
    if (DType(value.type).is_complex())
        return apply(OpId::kAbsolute, {value}, DType(value.type).real().scalar_type());
    const Number wide = convert(value, promoted(value.type), place);
    if (DType(wide.type).is_unsigned_integer())
        throw OutsideSubset(place, "abs() of a " + c_name(wide.type) + " is ambiguous in C++");
    return op(OpId::kAbsolute, {wide});
}

Number Numbers::math(std::string_view name, bool is_single, std::span<const Number> arguments,
                     const Place& place) {
    const auto found = math_functions().find(name);
    const bool is_exponent_whole = name == "ldexp" || name == "scalbn";
    const size_t count = found != math_functions().end()       ? found->second.arguments
                         : name == "fdim" || is_exponent_whole ? 2
                                                               : 1;
    if (arguments.size() != count)
        throw OutsideSubset(place, std::string(name) + "() takes " + std::to_string(count) +
                                       (count == 1 ? " argument, not " : " arguments, not ") +
                                       std::to_string(arguments.size()));
    ScalarType type = ScalarType::kFloat32;
    if (!is_single) {
        // Integers count as double.
        const auto kind_of = [](ScalarType of) {
            const bool is_whole = DType(of).is_integer() || DType(of).is_bool();
            return is_whole ? ScalarType::kFloat64 : promoted(of);
        };
        type = kind_of(arguments[0].type);
        if (!is_exponent_whole) {
            for (const Number& one : arguments) type = common_type(type, kind_of(one.type));
        }
    }
    if (DType(type).is_complex() && !is_of_complex(name))
        throw OutsideSubset(place, std::string(name) + "() takes no complex numbers");
    std::vector<Number> given;
    for (const Number& one : arguments) {
        const bool is_exponent = is_exponent_whole && !given.empty();
        given.push_back(convert(one, is_exponent ? ScalarType::kInt32 : type, place));
    }
    if (found != math_functions().end()) {
        std::vector<ir::ValueId> ids;
        for (const Number& one : given) ids.push_back(one.id);
        return {type, builder_->apply(op_info(found->second.op), ids)};
    }
    if (is_exponent_whole) return apply(OpId::kLdexp, {given[0], given[1]}, type);
    if (name == "rsqrt" || name == "rcbrt") {
        const Number root = op(name == "rsqrt" ? OpId::kSqrt : OpId::kCbrt, {given[0]});
        return op(OpId::kDivide, {integer(type, 1), root});
    }
    if (name == "fdim") {
        const Number is_less = apply(OpId::kLessEqual, {given[0], given[1]}, ScalarType::kBool);
        return apply(OpId::kSelect, {is_less, zero(type), op(OpId::kSubtract, {given[0], given[1]})}, type);
    }
    if (name == "round") return rounded(given[0]);
    const Number whole = name.ends_with("rint") ? op(OpId::kRint, {given[0]}) : rounded(given[0]);
    return convert(whole, ScalarType::kInt64, place);
}

Number Numbers::call(const std::string& name, std::span<const Number> arguments, const Place& place) {
    if (!is_of_any_type(name)) {
        const bool is_single = !math_functions().contains(name) && !is_composed(name);
        return math(is_single ? without_f(name) : std::string_view(name), is_single, arguments, place);
    }
    const size_t count = name == "min" || name == "max" || name == "polar" ? 2 : 1;
    if (arguments.size() != count)
        throw OutsideSubset(place, name + "() takes " + std::to_string(count) +
                                       (count == 1 ? " argument, not " : " arguments, not ") +
                                       std::to_string(arguments.size()));
    const Number& value = arguments[0];
    const DType dtype(value.type);
    if (name == "min" || name == "max") return least_or_most(name == "min", arguments, place);
    if (name == "abs") return magnitude(value, place);
    if (name == "labs" || name == "llabs") return magnitude(convert(value, ScalarType::kInt64, place), place);
    if (name == "isnan" || name == "isinf" || name == "isfinite" || name == "signbit") {
        if (dtype.is_complex()) throw OutsideSubset(place, name + "() takes no complex numbers");
        const Number given = dtype.is_floating() ? value : convert(value, ScalarType::kFloat64, place);
        const OpId id = name == "isnan"      ? OpId::kIsnan
                        : name == "isinf"    ? OpId::kIsinf
                        : name == "isfinite" ? OpId::kIsfinite
                                             : OpId::kSignbit;
        return apply(id, {given}, ScalarType::kBool);
    }
    if (name == "__popc" || name == "__popcll") {
        const ScalarType type = name == "__popc" ? ScalarType::kUInt32 : ScalarType::kUInt64;
        const Number count_of = apply(OpId::kBitwiseCount, {convert(value, type, place)}, ScalarType::kUInt8);
        return convert(count_of, ScalarType::kInt32, place);
    }
    if (name == "polar") {
        const ScalarType part = common_type(common_type(value.type, arguments[1].type), ScalarType::kFloat32);
        if (DType(part).is_complex()) throw OutsideSubset(place, "polar() takes no complex numbers");
        const Number length = convert(value, part, place), angle = convert(arguments[1], part, place);
        const ScalarType type =
            part == ScalarType::kFloat64 ? ScalarType::kComplex128 : ScalarType::kComplex64;
        return complex(type, op(OpId::kMultiply, {length, op(OpId::kCos, {angle})}),
                       op(OpId::kMultiply, {length, op(OpId::kSin, {angle})}), place);
    }
    if (!dtype.is_complex()) {
        // Of a real number CUDA's complex header has them not.
        throw OutsideSubset(place, name + "() takes a complex number, not a " + c_name(value.type));
    }
    if (name == "real") return real(value);
    if (name == "imag") return imag(value);
    if (name == "conj") return op(OpId::kConjugate, {value});
    const Number a = real(value), b = imag(value);
    if (name == "arg") return op(OpId::kArctan2, {b, a});
    return op(OpId::kAdd, {op(OpId::kMultiply, {a, a}), op(OpId::kMultiply, {b, b})});  // norm
}

}  // namespace weft::lang::c_source
