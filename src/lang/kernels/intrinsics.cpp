// What one thread computes by itself: bits of integers, and functions of floats that CUDA names.
#include <array>
#include <utility>

#include "lang/kernels/kernels.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// Functions of float16 by CUDA's names.
constexpr std::pair<std::string_view, std::string_view> kOfHalves[] = {
    {"hadd", "add"},      {"hsub", "subtract"},  {"hmul", "multiply"},   {"hdiv", "divide"},
    {"hneg", "negative"}, {"habs", "absolute"},  {"hmax", "fmax"},       {"hmin", "fmin"},
    {"heq", "equal"},     {"hne", "not_equal"},  {"hgt", "greater"},     {"hge", "greater_equal"},
    {"hlt", "less"},      {"hle", "less_equal"}, {"hsin", "sin"},        {"hcos", "cos"},
    {"hexp", "exp"},      {"hexp2", "exp2"},     {"hlog", "log"},        {"hlog2", "log2"},
    {"hlog10", "log10"},  {"hsqrt", "sqrt"},     {"hrcp", "reciprocal"}, {"hfloor", "floor"},
    {"hceil", "ceil"},    {"htrunc", "trunc"},   {"hrint", "rint"}};

}  // namespace

// Of numbers that are made float16 before.
Value FunctionLowering::Kernels::of_halves(std::string_view name, const Arguments& arguments) {
    const TypeRef half = scalar_type(ScalarType::kFloat16);
    std::vector<Value> operands;
    for (const Value& given : arguments.positional) {
        const Value number = f_.required(given, where_);
        if (!is_scalar(number.type) || is_complex(number.type))
            refuse("() takes real numbers, not " + lang::describe(number.type));
        operands.push_back(f_.scalar(half, f_.cast(number, ScalarType::kFloat16)));
    }
    const auto expect = [&](size_t count) {
        f_.expect_arguments("cuda." + std::string(path_), arguments, count, count);
    };
    // Products and sums of halves are exact as float64, but for the last rounding.
    const auto wide = [&](const Value& value) { return f_.cast(value, ScalarType::kFloat64); };
    const auto narrowed = [&](ValueId value) {
        const Value result = f_.scalar(scalar_type(ScalarType::kFloat64), value);
        return f_.scalar(half, f_.cast(result, ScalarType::kFloat16));
    };
    if (name == "hfma") {
        expect(3);
        const ValueId product = f_.apply(OpId::kMultiply, {wide(operands[0]), wide(operands[1])});
        return narrowed(f_.apply(OpId::kAdd, {product, wide(operands[2])}));
    }
    if (name == "hrsqrt" || name == "hexp10") {
        expect(1);
        const Value base = f_.scalar(scalar_type(ScalarType::kFloat64), wide(operands[0]));
        const Value constant = f_.constant(Constant::of(ScalarType::kFloat64, name == "hexp10" ? 10.0 : 1.0));
        const std::array powers = {constant, base};
        const Value result =
            name == "hexp10"
                ? f_.by_loop(*find_op("power"), powers, where_)
                : f_.arithmetic(OpId::kDivide, constant,
                                f_.by_loop(*find_op("sqrt"), std::span(&base, 1), where_), where_);
        return narrowed(result.parts[0]);
    }
    for (const auto& [known, op] : kOfHalves) {
        if (name != known) continue;
        const OpInfo& info = *find_op(op);
        expect(static_cast<size_t>(info.nin));
        return f_.by_loop(info, operands, where_);
    }
    refuse(" is not compiled yet");
}

std::optional<Value> FunctionLowering::Kernels::compute(const Arguments& arguments) {
    const std::vector<Value>& given = arguments.positional;
    const auto expect = [&](size_t count) {
        f_.expect_arguments("cuda." + std::string(path_), arguments, count, count);
    };
    constexpr std::string_view kHalves = "fp16.";
    if (path_.starts_with(kHalves)) return of_halves(path_.substr(kHalves.size()), arguments);
    if (path_ == "nanosleep") {
        expect(1);
        return f_.none();
    }
    if (path_ == "selp") {
        expect(3);
        return f_.select(f_.truth(given[0], where_), given[1], given[2], where_);
    }
    if (path_ == "fma" || path_ == "cbrt") {
        expect(path_ == "fma" ? 3 : 1);
        return f_.by_loop(*find_op(path_), given, where_);
    }
    if (path_ == "rsqrt") {
        expect(1);
        const Value root = f_.by_loop(*find_op("sqrt"), given, where_);
        return f_.arithmetic(OpId::kDivide, f_.constant(Constant::of(ScalarType::kFloat64, 1.0)), root,
                             where_);
    }
    if (path_ != "popc" && path_ != "clz" && path_ != "ffs" && path_ != "brev") return std::nullopt;
    expect(1);
    const Value number = f_.required(given[0], where_);
    if (!is_scalar(number.type) || !is_integer(number.type) || is_bool(number.type))
        refuse("() takes integers, not " + lang::describe(number.type));
    const int64_t bits = 8 * DType(number.type->scalar).itemsize();
    const ScalarType unsigned_of = bits == 64   ? ScalarType::kUInt64
                                   : bits == 32 ? ScalarType::kUInt32
                                   : bits == 16 ? ScalarType::kUInt16
                                                : ScalarType::kUInt8;
    const Value narrow = f_.scalar(scalar_type(unsigned_of), f_.cast(number, unsigned_of));
    if (path_ == "popc") {
        const Value count = f_.by_loop(*find_op("bitwise_count"), std::span(&narrow, 1), where_);
        return integer_of(f_.cast(count, ScalarType::kInt64));
    }
    const Value wide = f_.scalar(scalar_type(ScalarType::kUInt64), f_.cast(narrow, ScalarType::kUInt64));
    if (path_ == "ffs") return f_.call_prelude("cuda.first_set", {{wide}, {}, where_});
    const bool counts = path_ == "clz";
    const Value result = f_.call_prelude(counts ? "cuda.leading_zeros" : "cuda.reversed_bits",
                                         {{wide, f_.integer(bits)}, {}, where_});
    if (counts) return result;
    const TypeRef type = without_literals(number.type);
    return f_.scalar(type, f_.cast(result, type->scalar));
}

}  // namespace weft::lang
