// Python's own functions: numbers of numbers and texts, and those over the items of a tuple or array.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "lang/containers/dicts.h"
#include "lang/containers/literal_lists.h"
#include "lang/containers/sets.h"
#include "lang/dates/dates.h"
#include "lang/lowering.h"
#include "lang/prelude.h"
#include "lang/strings/strings.h"
#include "lang/structures/texts.h"

namespace weft::lang {

using ir::ValueId;

namespace {

bool is_real(TypeRef type) { return is_integer(type) || is_float(type); }

}  // namespace

// A float to an integer; what is no integer of 64 bits is an error, as Python's integers end there here.
Value FunctionLowering::to_integer(const Value& value, OpId rounding, NodeId where) {
    if (is_integer(value.type))
        return scalar(scalar_type(ScalarType::kInt64, true), cast(value, ScalarType::kInt64));
    if (!is_float(value.type)) fail(where, "an integer cannot be made of " + lang::describe(value.type));
    const TypeRef type = scalar_type(ScalarType::kInt64, true);
    if (dry_) return scalar(type, {});
    ValueId real = cast(value, ScalarType::kFloat64);
    if (rounding != OpId::kTrunc) real = builder_->apply(rounding, {real});  // the cast truncates
    // The comparisons that the cast is made of, so that nothing is left of them behind the check. NaN is in
    // neither bound.
    const auto bound = [&](double value) {
        return builder_->constant(Constant::of(ScalarType::kFloat64, value));
    };
    const ValueId from = builder_->apply(OpId::kGreaterEqual, {real, bound(-9223372036854775808.0)});
    const ValueId to = builder_->apply(OpId::kLess, {real, bound(9223372036854775808.0)});
    Site outside = site({}, {});
    outside.kind = SiteKind::kToInteger;
    if (compilation_.catches()) {  // where errors are told apart by their class
        check(builder_->apply(OpId::kLogicalNot, {builder_->apply(OpId::kIsnan, {real})}),
              site("ValueError", "cannot convert float NaN to integer"), {}, where);
        outside.exception = "OverflowError";
    }
    check(builder_->apply(OpId::kLogicalAnd, {from, to}), std::move(outside), {real}, where);
    return scalar(type, builder_->cast(real, ScalarType::kInt64));
}

// By its parts, as they are: a + b * 1j would make another number of infinities and -0.0. Zeros that are
// added are negative, which changes nothing, and |b| * 1j has no part that is no number for a finite b.
Value FunctionLowering::complex_of(const Value& real, const Value& imaginary, ScalarType to, bool weak) {
    const TypeRef type = scalar_type(to, weak);
    if (dry_) return scalar(type, {});
    const ScalarType part = DType(to).real().scalar_type();
    const auto number = [&](double re, double im) {
        const std::array<double, 2> wide{re, im};
        const std::array<float, 2> narrow{static_cast<float>(re), static_cast<float>(im)};
        return builder_->constant(part == ScalarType::kFloat64 ? Constant::of(to, wide)
                                                               : Constant::of(to, narrow));
    };
    const auto select = [&](ValueId condition, ValueId yes, ValueId no) {
        return builder_->apply(OpId::kSelect, {condition, yes, no});
    };
    const auto conjugate = [&](ValueId value) { return builder_->apply(OpId::kConjugate, {value}); };
    const ValueId b = cast(imaginary, part);
    const ValueId size = builder_->cast(builder_->apply(OpId::kAbsolute, {b}), to);
    ValueId turned = builder_->apply(OpId::kMultiply, {size, number(-0.0, 1)});
    turned = select(builder_->apply(OpId::kIsinf, {b}), number(-0.0, std::numeric_limits<double>::infinity()),
                    turned);
    turned = select(builder_->apply(OpId::kIsnan, {b}),
                    number(-0.0, std::numeric_limits<double>::quiet_NaN()), turned);
    turned = select(builder_->apply(OpId::kSignbit, {b}), conjugate(turned), turned);
    const ValueId left = conjugate(builder_->cast(cast(real, part), to));
    return scalar(type, builder_->apply(OpId::kAdd, {left, turned}));
}

Value FunctionLowering::call_convert(ScalarType to, bool weak, const Arguments& arguments) {
    expect_arguments(std::string(DType(to).name()), arguments, 0, 2);
    if (arguments.positional.empty()) return constant({to, {}});
    const Value& value = arguments.positional[0];
    if (value.type->kind == TypeKind::kString && arguments.positional.size() == 1)
        return number_of_text(value.type->text, to, arguments.where);
    if (is_any_text(value.type) && weak && arguments.positional.size() == 1 &&
        (to == ScalarType::kInt64 || to == ScalarType::kFloat64))
        return Strings(*this, arguments.where).number(value, to);
    if (is_array(value.type) && value.type->rank == 0)
        return call_convert(to, weak, {{load({value, {}})}, {}, arguments.where});
    const bool is_sequence =
        value.type->kind == TypeKind::kTuple || is_list(value.type) || is_array(value.type);
    if (is_sequence && !weak && arguments.positional.size() == 1) return array_of(value, to, arguments.where);
    if (!is_scalar(value.type))
        fail(arguments.where, "a number cannot be made of " + lang::describe(value.type));
    const DType dtype(to);
    if (arguments.positional.size() == 2) {
        if (dtype.is_complex() && is_real(value.type) && is_real(arguments.positional[1].type))
            return complex_of(value, arguments.positional[1], to, weak);
        if (!dtype.is_complex()) fail(arguments.where, "only complex() takes two numbers");
        const Value i = [&] {
            struct Pair {
                double real, imaginary;
            };
            return constant(Constant::of(ScalarType::kComplex128, Pair{0, 1}));
        }();
        const Value imaginary = binary("mul", arguments.positional[1], i, arguments.where);
        return call_convert(to, weak,
                            {{binary("add", value, imaginary, arguments.where)}, {}, arguments.where});
    }
    if (is_complex(value.type) && !dtype.is_complex() && to != ScalarType::kBool)
        fail(arguments.where, "a real number cannot be made of " + lang::describe(value.type),
             "Take its .real.");
    if (weak && to == ScalarType::kInt64) return to_integer(value, OpId::kTrunc, arguments.where);
    if (weak && value.type->literal && to == ScalarType::kFloat64 && literal_integer(value.type))
        return constant(Constant::of(to, static_cast<double>(*literal_integer(value.type))));
    return scalar(scalar_type(to, weak), cast(value, to));
}

// To the nearest, of two as near the even one: Python's numbers by their decimal digits, NumPy's as NumPy
// does.
Value FunctionLowering::call_round(const Arguments& arguments) {
    expect_arguments("round", arguments, 1, 2);
    const Value& value = arguments.positional[0];
    if (arguments.positional.size() == 1 || arguments.positional[1].type->kind == TypeKind::kNone)
        return to_integer(value, OpId::kRint, arguments.where);
    if (!is_integer(arguments.positional[1].type))
        fail(arguments.where,
             "round() takes a number of digits, not " + lang::describe(arguments.positional[1].type));
    if (is_integer(value.type)) {
        const TypeRef type = value.type->weak ? scalar_type(ScalarType::kInt64, true) : value.type;
        Value rounded = value;
        if (literal_integer(arguments.positional[1].type).value_or(-1) < 0)
            rounded = call_prelude("builtins.round_whole", arguments);
        return scalar(type, cast(rounded, type->scalar));
    }
    if (!is_float(value.type)) fail(arguments.where, lang::describe(value.type) + " cannot be rounded");
    return call_prelude(value.type->weak ? "builtins.round_digits" : "builtins.round_scalar", arguments);
}

Value FunctionLowering::call_length(const Arguments& arguments) {
    expect_arguments("len", arguments, 1, 1);
    const Value& value = arguments.positional[0];
    if (value.type->kind == TypeKind::kTuple) return integer(static_cast<int64_t>(value.type->parts.size()));
    if (is_text(value.type))
        return of_texts(
            value, [&](const std::string& text) {  // in UTF-8 all bytes but a character's first are such
                return integer(
                    std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
            });
    if (is_any_text(value.type)) return Strings(*this, arguments.where).length(value);
    if (is_list(value.type)) return scalar(scalar_type(ScalarType::kInt64, true), length_of(value));
    if (is_dict(value.type))
        return scalar(scalar_type(ScalarType::kInt64, true),
                      length_of(Dicts(*this, arguments.where).keys(value)));
    if (is_set(value.type))
        return scalar(scalar_type(ScalarType::kInt64, true),
                      length_of(Sets(*this, arguments.where).items(value)));
    if (value.type->kind == TypeKind::kTogether && value.type->text == "flat")
        return array_attribute(tuple_item(value, 0), "size", arguments.where);
    if (value.type->kind == TypeKind::kRange)
        return scalar(scalar_type(ScalarType::kInt64, true), range_sequence(value, arguments.where).count());
    if (ArrayTexts::is_text(value.type) && value.type->single)
        return ArrayTexts(*this, arguments.where).length(value);
    if (is_structures(value.type) && value.type->single)
        return integer(static_cast<int64_t>(value.type->layout->fields.size()));
    if (!is_strided(value.type) || value.type->rank == 0)
        fail(arguments.where, lang::describe(value.type) + " has no len()");
    return scalar(scalar_type(ScalarType::kInt64, true), size_of(value, 0));
}

Value FunctionLowering::call_range(const Arguments& arguments) {
    expect_arguments("range", arguments, 1, 3);
    std::vector<Value> bounds;
    for (const Value& value : arguments.positional) {
        if (!is_integer(value.type))
            fail(arguments.where, "range() takes integers, not " + lang::describe(value.type));
        TypeRef type = value.type->literal ? value.type : scalar_type(ScalarType::kInt64, true);
        bounds.push_back({type, {as_index(value, arguments.where)}, 0});
    }
    while (bounds.size() > 1 && bounds.back().type->kind == TypeKind::kNone) bounds.pop_back();
    if (bounds.size() == 1) bounds.insert(bounds.begin(), integer(0));
    if (bounds.size() == 2) bounds.push_back(integer(1));
    Value range = tuple(std::move(bounds));
    Type type = *range.type;
    type.kind = TypeKind::kRange;
    range.type = intern(std::move(type));
    return range;
}

// float("inf"), int(" 12 ")
Value FunctionLowering::number_of_text(const std::string& text, ScalarType to, NodeId where) {
    constexpr std::string_view kSpaces = " \t\n\r\f\v";
    const size_t first = text.find_first_not_of(kSpaces);
    std::string digits =
        first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
    const auto is_digit = [&](size_t at) {
        return at < digits.size() && digits[at] >= '0' && digits[at] <= '9';
    };
    for (size_t at = digits.size(); at-- > 1;)  // between digits
        if (digits[at] == '_' && is_digit(at - 1) && is_digit(at + 1)) digits.erase(at, 1);
    const auto raise = [&](const std::string& what) {
        check(boolean(false).parts[0], site("ValueError", what + ": '" + text + "'"), {}, where);
    };
    const char* begin = digits.c_str();
    const char* const end = begin + digits.size();
    if (to == ScalarType::kInt64) {
        int64_t value = 0;
        if (digits.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
        const auto parsed = std::from_chars(begin, end, value);
        if (parsed.ec == std::errc::result_out_of_range) fail(where, "the integer does not fit in 64 bits");
        if (begin == end || parsed.ptr != end || parsed.ec != std::errc())
            raise("invalid literal for int() with base 10");
        return integer(value);
    }
    if (to != ScalarType::kFloat64) fail(where, "a number of this type cannot be made of a text");
    char* parsed = nullptr;
    const double value = std::strtod(begin, &parsed);
    if (begin == end || parsed != end || digits.find_first_of("xXpP(") != std::string::npos)
        raise("could not convert string to float");
    return constant(Constant::of(ScalarType::kFloat64, value));
}

Value FunctionLowering::absolute(const Value& value, NodeId where) {
    if (Dates::is_date(value)) return Dates(*this, where).apply("absolute", std::span(&value, 1));
    if (is_array(value.type)) return *array_operation(op_info(OpId::kAbsolute), std::span(&value, 1), where);
    if (is_bool(value.type) && !value.type->weak) return value;
    if (!is_integer(value.type)) return by_loop(op_info(OpId::kAbsolute), std::span(&value, 1), where);
    TypeRef type = integer_type(value.type, value.type);
    return scalar(type, apply(OpId::kAbsolute, {cast(value, type->scalar)}));
}

// One of two values, both of which are there: numbers, or tuples of such.
Value FunctionLowering::select(ValueId condition, const Value& yes, const Value& no, NodeId where) {
    const TypeRef type = join(without_literals(yes.type), without_literals(no.type));
    if (type == nullptr)
        fail(where,
             "either of " + lang::describe(yes.type) + " and " + lang::describe(no.type) + " has no type");
    const std::function<bool(TypeRef)> is_plain = [&](TypeRef part) {
        return is_scalar(part) || is_text(part) ||
               (has_items(part) && std::all_of(part->parts.begin(), part->parts.end(), is_plain));
    };
    if (!is_plain(type)) fail(where, lang::describe(type) + " cannot be chosen here");
    const Value a = convert(yes, type, where), b = convert(no, type, where);
    Value result{type, std::vector<ValueId>(a.parts.size()), 0};
    for (size_t i = 0; i < a.parts.size(); ++i)
        result.parts[i] = apply(OpId::kSelect, {condition, a.parts[i], b.parts[i]});
    return result;
}

// Python's min and max: the first of those that are equal.
Value FunctionLowering::call_extreme(bool largest, const Arguments& arguments) {
    const std::string name = largest ? "max" : "min";
    std::vector<Value> items = arguments.positional;
    if (arguments.keywords.size() == 1 && arguments.keywords[0].first == "default" && items.size() == 1)
        return extreme_or(largest, items[0], arguments.keywords[0].second, arguments.where);
    expect_arguments(name, arguments, 1, SIZE_MAX);
    if (items.size() == 1 && items[0].type->kind == TypeKind::kTuple) {
        const Value whole = items[0];
        items.clear();
        for (size_t i = 0; i < whole.type->parts.size(); ++i) items.push_back(tuple_item(whole, i));
        if (items.empty()) fail(arguments.where, name + "() argument is an empty tuple");
    } else if (items.size() == 1 && items[0].type->kind == TypeKind::kRange) {
        return call_prelude("builtins." + name + "_of_range",
                            {{scalar(scalar_type(ScalarType::kInt64, true), items[0].parts[0]),
                              scalar(scalar_type(ScalarType::kInt64, true), items[0].parts[1]),
                              scalar(scalar_type(ScalarType::kInt64, true), items[0].parts[2])},
                             {},
                             arguments.where});
    } else if (items.size() == 1 &&
               (items[0].type->kind == TypeKind::kGenerator || items[0].type->kind == TypeKind::kTogether)) {
        return call_extreme(largest, {{call_lists("copy", items, arguments.where)}, {}, arguments.where});
    } else if (items.size() == 1) {
        if (!is_list(items[0].type) && (!is_array(items[0].type) || items[0].type->rank != 1))
            fail(arguments.where,
                 name + "() takes several values, a tuple, a list or an array of one dimension here, not " +
                     lang::describe(items[0].type));
        return call_prelude("builtins." + name + "_of", arguments);
    }
    const auto is_date = [](const Value& value) { return Dates::is_date(value); };
    if (std::ranges::any_of(items, is_date) && !std::ranges::all_of(items, is_date)) {
        std::string types;
        for (const Value& item : items) {
            const bool is_one = is_date(item) && item.type->record != nullptr;
            types += (types.empty() ? "" : ", ") +
                     (is_one ? name_of(*date_of(item.type->record)) : lang::describe(item.type));
        }
        fail(arguments.where, "Given types cannot be unified: [" + types + "]");
    }
    Value best = items[0];
    for (size_t i = 1; i < items.size(); ++i) {
        const Value better = compare(largest ? "gt" : "lt", items[i], best, arguments.where);
        const Value before = best;
        best = select(truth(better, arguments.where), items[i], best, arguments.where);
        const auto is_index = [](const Value& value) {
            return is_integer(value.type) && value.type->scalar == ScalarType::kInt64;
        };
        if (!dry_ && is_index(best) && is_index(before) && is_index(items[i]))
            note_operator(largest ? OpId::kMaximum : OpId::kMinimum, best.parts[0], before.parts[0],
                          items[i].parts[0]);
    }
    return best;
}

// max(values, default=otherwise)
Value FunctionLowering::extreme_or(bool largest, const Value& given, const Value& otherwise, NodeId where) {
    const auto extreme = [&](const Value& of) { return call_extreme(largest, {{of}, {}, where}); };
    if (given.type->kind == TypeKind::kTuple) return given.type->parts.empty() ? otherwise : extreme(given);
    const bool is_lazy = given.type->kind == TypeKind::kGenerator || given.type->kind == TypeKind::kTogether;
    const Value values = is_lazy ? call_lists("copy", {given}, where) : given;
    if (is_list(values.type) && values.type->parts[0]->kind == TypeKind::kNever)
        return dry_ ? never() : otherwise;
    const Value length = call_length({{values}, {}, where});
    return one_of(where, truth(length, where), [&] { return extreme(values); }, [&] { return otherwise; });
}

// A tuple's items by an operator, one after another; the second argument or `start` is what it starts with.
Value FunctionLowering::fold_tuple(const std::string& name, const Value& first, const Arguments& arguments) {
    Value total = first;
    if (arguments.positional.size() > 1) total = arguments.positional[1];
    for (const auto& [keyword, value] : arguments.keywords) {
        if (keyword != "start") expect_arguments("this", arguments, 1, 2);
        total = value;
    }
    for (size_t i = 0; i < arguments.positional[0].type->parts.size(); ++i)
        total = binary(name, total, tuple_item(arguments.positional[0], i), arguments.where);
    return total;
}

// As Python answers for its own numbers, and NumPy for its scalars.
bool FunctionLowering::is_instance(TypeRef type, TypeRef of, NodeId where) {
    if (of->kind == TypeKind::kTuple)
        return std::any_of(of->parts.begin(), of->parts.end(),
                           [&](TypeRef each) { return is_instance(type, each, where); });
    if (of->kind == TypeKind::kSymbol && of->symbol->kind == SymbolKind::kRecord)
        return type->record == of->symbol->record;
    if (of->kind != TypeKind::kSymbol || of->symbol->kind != SymbolKind::kKnown)
        fail(where, "isinstance() asks for known types here, not " + lang::describe(of));
    const std::string& path = of->symbol->path;
    if (path == "builtins.tuple") return type->kind == TypeKind::kTuple && !is_literal_list(type);
    if (path == "builtins.str") return is_any_text(type);
    if (path == "builtins.slice") return type->kind == TypeKind::kSlice;
    if (path == "builtins.range") return type->kind == TypeKind::kRange;
    if (path == "builtins.list") return is_list(type) || is_literal_list(type);
    if (path == "builtins.set") return is_set(type);
    if (path == "builtins.dict") return is_dict(type);
    if (path == "builtins.bytes") return is_bytes(type);
    if (path == "numpy.ndarray" || path == "numba.types.Array")
        return is_strided(type) && !type->single && !is_bytes(type);
    if (path == "numba.types.NoneType") return type->kind == TypeKind::kNone;
    if (path == "numba.types.BaseTuple") return type->kind == TypeKind::kTuple && !is_literal_list(type);
    if (!is_scalar(type)) return false;
    if (path == "numba.types.Number") return true;
    if (path == "numba.types.Boolean") return is_bool(type);
    if (path == "numba.types.Integer") return DType(type->scalar).is_integer();
    if (path == "numba.types.Float") return DType(type->scalar).is_floating();
    if (path == "numba.types.Complex") return is_complex(type);
    if (path == "builtins.bool") return type->weak && is_bool(type);
    if (path == "builtins.int") return type->weak && is_integer(type);
    if (path == "builtins.float") return type->scalar == ScalarType::kFloat64;
    if (path == "builtins.complex") return type->scalar == ScalarType::kComplex128;
    const DTypeInfo* dtype = path.starts_with("numpy.") ? DType::find(path.substr(6)) : nullptr;
    if (dtype != nullptr) return !type->weak && type->scalar == dtype->scalar_type;
    if (path == "numpy.integer") return !type->weak && DType(type->scalar).is_integer();
    if (path == "numpy.floating") return !type->weak && DType(type->scalar).is_floating();
    fail(where, "isinstance() does not know " + path + " here");
}

// As CPython's, by xxHash (Objects/tupleobject.c).
Value FunctionLowering::hash_of_tuple(const Value& tuple, NodeId where) {
    constexpr uint64_t kPrimes[] = {11400714785074694791U, 14029467366897019727U, 2870177450012600261U};
    const auto word = [&](uint64_t bits) {
        return constant(Constant::of(ScalarType::kUInt64, bits)).parts[0];
    };
    ValueId sum = word(kPrimes[2]);
    for (size_t i = 0; i < tuple.type->parts.size(); ++i) {
        const Value lane = *call_builtin("hash", {{tuple_item(tuple, i)}, {}, where});
        sum = apply(OpId::kAdd,
                    {sum, apply(OpId::kMultiply, {cast(lane, ScalarType::kUInt64), word(kPrimes[1])})});
        sum = apply(OpId::kBitwiseOr,
                    {apply(OpId::kLeftShift, {sum, word(31)}), apply(OpId::kRightShift, {sum, word(33)})});
        sum = apply(OpId::kMultiply, {sum, word(kPrimes[0])});
    }
    sum = apply(OpId::kAdd, {sum, word(tuple.type->parts.size() ^ (kPrimes[2] ^ 3527539U))});
    const ValueId reserved = apply(OpId::kEqual, {sum, word(UINT64_MAX)});
    sum = apply(OpId::kSelect, {reserved, word(1546275796U), sum});
    const Value whole = scalar(scalar_type(ScalarType::kUInt64), sum);
    return scalar(scalar_type(ScalarType::kInt64, true), cast(whole, ScalarType::kInt64));
}

std::optional<Value> FunctionLowering::call_builtin(const std::string& name, const Arguments& arguments) {
    const NodeId where = arguments.where;
    const auto is_tuple = [&] {
        return !arguments.positional.empty() && arguments.positional[0].type->kind == TypeKind::kTuple;
    };
    const auto is_sequence = [&] {
        return !arguments.positional.empty() &&
               (is_strided(arguments.positional[0].type) || is_list(arguments.positional[0].type) ||
                arguments.positional[0].type->kind == TypeKind::kGenerator ||
                arguments.positional[0].type->kind == TypeKind::kTogether ||
                arguments.positional[0].type->kind == TypeKind::kRange);
    };
    if (name == "range") return call_range(arguments);
    if (name == "len") return call_length(arguments);
    if (name == "int") return call_convert(ScalarType::kInt64, true, arguments);
    if (name == "float") return call_convert(ScalarType::kFloat64, true, arguments);
    if (name == "complex") return call_convert(ScalarType::kComplex128, true, arguments);
    if (name == "bool") {
        if (arguments.positional.size() == 1 && !is_scalar(arguments.positional[0].type))
            return scalar(scalar_type(ScalarType::kBool, true), truth(arguments.positional[0], where));
        return call_convert(ScalarType::kBool, true, arguments);
    }
    if (name == "min" || name == "max") return call_extreme(name == "max", arguments);
    if (name == "round") return call_round(arguments);
    if (name == "abs") {
        expect_arguments(name, arguments, 1, 1);
        return absolute(arguments.positional[0], where);
    }
    if (name == "pow") {
        expect_arguments(name, arguments, 2, 3);
        if (arguments.positional.size() == 2 || arguments.positional[2].type->kind == TypeKind::kNone)
            return binary("pow", arguments.positional[0], arguments.positional[1], where);
        for (const Value& value : arguments.positional) {
            if (!is_integer(value.type))
                fail(where, "pow() with a modulus takes integers, not " + lang::describe(value.type));
        }
        return call_prelude("builtins.pow_modulo", arguments);
    }
    if (name == "isinstance") {
        expect_arguments(name, arguments, 2, 2);
        return boolean(is_instance(arguments.positional[0].type, arguments.positional[1].type, where));
    }
    if (name == "divmod") {
        expect_arguments(name, arguments, 2, 2);
        return tuple({binary("floordiv", arguments.positional[0], arguments.positional[1], where),
                      binary("mod", arguments.positional[0], arguments.positional[1], where)});
    }
    if (name == "type" && arguments.positional.size() == 1 && arguments.keywords.empty())
        return type_of_value(arguments.positional[0], where);
    if (name == "getattr" || name == "hasattr") {
        expect_arguments(name, arguments, 2, name == "getattr" ? 3 : 2);
        const Value& base = arguments.positional[0];
        const TypeRef attribute = arguments.positional[1].type;
        if (attribute->kind != TypeKind::kString || base.type->kind == TypeKind::kSymbol)
            fail(where, name + "() is compiled for values and known names only");
        const bool has = has_attribute(base, attribute->text);
        if (name == "hasattr") return boolean(has);
        if (!has && arguments.positional.size() == 3) return arguments.positional[2];
        return attribute_of(base, attribute->text, where);
    }
    if (name == "tuple" && arguments.positional.empty()) return tuple({});
    if (is_tuple() && is_literal_list(arguments.positional[0].type) && name == "hash")
        fail(where, "unhashable type: 'list'");
    if (is_tuple() && is_literal_list(arguments.positional[0].type) && name == "list")
        return arguments.positional[0];
    if (name == "tuple" && is_tuple() && arguments.positional.size() == 1) {
        Value result = arguments.positional[0];
        if (is_literal_list(result.type)) result.type = tuple_type(result.type->parts);
        return result;
    }
    if (name == "list") {
        expect_arguments(name, arguments, 0, 1);
        if (arguments.positional.empty()) return make_list(where);
        return call_lists("copy", {arguments.positional[0]}, where);
    }
    if (name == "set") return Sets(*this, where).make(arguments);
    if (name == "dict") return Dicts(*this, where).make(arguments);
    if (name == "iter") {
        expect_arguments(name, arguments, 1, 1);
        if (arguments.positional[0].type->kind == TypeKind::kGenerator) return arguments.positional[0];
        return call_prelude("builtins.iterate", arguments);
    }
    if (name == "next") {
        expect_arguments(name, arguments, 1, 2);
        if (arguments.positional[0].type->kind != TypeKind::kGenerator)
            fail(where, lang::describe(arguments.positional[0].type) + " is no iterator",
                 "Make one of it: iter(...).");
        return call_prelude(arguments.positional.size() == 1 ? "builtins.next_of" : "builtins.next_or",
                            arguments);
    }
    if (name == "hash" && arguments.positional.size() == 1) {
        const Value& value = arguments.positional[0];
        if (value.type->kind == TypeKind::kTuple) return hash_of_tuple(value, where);
        if (is_any_text(value.type)) return Strings(*this, where).hash(value);
        if (is_float(value.type))
            return call_prelude(
                "builtins.hash_of_float",
                {{scalar(scalar_type(ScalarType::kFloat64, true), cast(value, ScalarType::kFloat64))},
                 {},
                 where});
        if (!is_integer(value.type) && !is_bool(value.type))
            fail(where, "hash() is compiled for real numbers only, not " + lang::describe(value.type));
        return call_prelude(
            "builtins.hash_of",
            {{scalar(scalar_type(ScalarType::kInt64, true), cast(value, ScalarType::kInt64))}, {}, where});
    }
    if (name == "sorted") return call_sorted(arguments, std::nullopt);
    if (name == "sum") {
        const Value* start = arguments.positional.size() > 1 ? &arguments.positional[1] : nullptr;
        for (const auto& [keyword, value] : arguments.keywords)
            if (keyword == "start") start = &value;
        if (start != nullptr && is_any_text(start->type))
            fail(where, "sum() can't sum strings [use ''.join(seq) instead]");
    }
    if (name == "sum" && is_tuple()) return fold_tuple("add", integer(0), arguments);
    if (name == "sum" && is_sequence()) return call_prelude("builtins.sum_of", arguments);
    if ((name == "any" || name == "all") && arguments.positional.size() == 1) {
        if (is_sequence()) return call_prelude("builtins." + name + "_of", arguments);
        if (!is_tuple()) fail(where, name + "() takes a tuple or an array here");
        Value result = boolean(name == "all");
        const OpId op = name == "all" ? OpId::kLogicalAnd : OpId::kLogicalOr;
        for (size_t i = 0; i < arguments.positional[0].type->parts.size(); ++i) {
            const ValueId item = truth(tuple_item(arguments.positional[0], i), where);
            result = scalar(scalar_type(ScalarType::kBool, true), apply(op, {result.parts[0], item}));
        }
        return result;
    }
    return std::nullopt;
}

// type(x), to be called or compared.
Value FunctionLowering::type_of_value(const Value& value, NodeId where) {
    if (is_scalar(value.type) && !value.type->weak)
        return {symbol_type(symbol_of_dtype(value.type->scalar)), {}, 0};
    if (value.type->record != nullptr && !value.type->record->is_enumeration)
        return {symbol_type(symbol_of_record(value.type->record)), {}, 0};
    if (!is_scalar(value.type))
        fail(where, "type() of " + lang::describe(value.type) + " is not compiled", "Ask by isinstance().");
    return {symbol_type(symbol_of_builtin(lang::describe(scalar_type(value.type->scalar, true)))), {}, 0};
}

// Functions of `operator`, which _operator has.
std::optional<Value> FunctionLowering::call_operator(const std::string& name, const Arguments& arguments) {
    const NodeId where = arguments.where;
    std::string plain = name;
    if (!plain.empty() && plain.back() == '_') plain.pop_back();
    static constexpr std::string_view kBinary[] = {"add", "sub", "mul",    "truediv", "floordiv",
                                                   "mod", "pow", "lshift", "rshift",  "and",
                                                   "or",  "xor", "matmul"};
    static constexpr std::string_view kCompared[] = {"eq", "ne", "lt", "le", "gt", "ge", "is", "is_not"};
    const auto is_one_of = [&](std::span<const std::string_view> names, std::string_view given) {
        return std::find(names.begin(), names.end(), given) != names.end();
    };
    const bool in_place = plain.starts_with("i") && is_one_of(kBinary, std::string_view(plain).substr(1));
    if (in_place || is_one_of(kBinary, plain)) {
        expect_arguments(name, arguments, 2, 2);
        return binary(in_place ? plain.substr(1) : plain, arguments.positional[0], arguments.positional[1],
                      where);
    }
    if (is_one_of(kCompared, plain)) {
        expect_arguments(name, arguments, 2, 2);
        return compare(plain, arguments.positional[0], arguments.positional[1], where);
    }
    if (plain == "contains") {
        expect_arguments(name, arguments, 2, 2);
        return compare("in", arguments.positional[1], arguments.positional[0], where);
    }
    if (plain == "truth" || plain == "not") {
        expect_arguments(name, arguments, 1, 1);
        const ValueId holds = truth(arguments.positional[0], where);
        return plain == "not" ? negation(holds) : scalar(scalar_type(ScalarType::kBool, true), holds);
    }
    if (plain == "neg" || plain == "pos" || plain == "inv" || plain == "invert" || plain == "abs") {
        expect_arguments(name, arguments, 1, 1);
        if (plain == "abs") return absolute(arguments.positional[0], where);
        return unary(plain == "inv" ? "invert" : plain, arguments.positional[0], where);
    }
    return std::nullopt;
}

// numpy.arange
Value FunctionLowering::call_arange(const Arguments& arguments) {
    const NodeId where = arguments.where;
    static constexpr std::string_view kNames[] = {"start", "stop", "step", "dtype"};
    const size_t count = arguments.positional.size();
    if (count > 4) expect_arguments("arange", {arguments.positional, {}, where}, 1, 4);
    std::array<Value, 4> given{none(), none(), none(), none()};
    bool has_stop = count > 0;
    std::copy(arguments.positional.begin(), arguments.positional.end(), given.begin());
    for (const auto& [keyword, value] : arguments.keywords) {
        const auto at =
            static_cast<size_t>(std::find(std::begin(kNames), std::end(kNames), keyword) - kNames);
        if (at < count || at == std::size(kNames))
            fail(where, "arange() takes no keyword '" + keyword + "' like this in a compiled function");
        given[at] = value;
        has_stop |= keyword == "stop";
    }
    const auto is_none = [](const Value& value) { return value.type->kind == TypeKind::kNone; };
    if (is_none(given[1])) std::swap(given[0], given[1]);
    if (!has_stop || is_none(given[1])) fail(where, "arange() requires stop to be specified.");
    const std::optional<ScalarType> element = dtype_of(given[3], where);
    std::vector<Value> bounds = {is_none(given[0]) ? integer(0) : given[0], given[1],
                                 is_none(given[2]) ? integer(1) : given[2]};
    for (const Value& bound : bounds) {
        if (!is_scalar(bound.type)) fail(where, "arange() takes numbers, not " + lang::describe(bound.type));
    }
    bool whole = true, real = true;
    for (const Value& bound : bounds) {
        whole &= is_integer(bound.type);
        real &= is_integer(bound.type) || is_float(bound.type);
    }
    const ScalarType made = whole ? ScalarType::kInt64 : ScalarType::kFloat64;
    if (!real) {
        const ScalarType complex = element.value_or(ScalarType::kComplex128);
        if (!DType(complex).is_complex()) fail(where, "arange() of complex numbers has a complex dtype");
        for (Value& bound : bounds)
            bound = scalar(scalar_type(ScalarType::kComplex128, true), cast(bound, ScalarType::kComplex128));
        bounds.emplace_back(symbol_type(symbol_of_dtype(complex)), std::vector<ValueId>(), 0);
        return call_prelude("numpy.arange_of_complex", {std::move(bounds), {}, where});
    }
    if (element && *element != made && !(whole && *element == ScalarType::kFloat64)) {
        for (Value& bound : bounds) bound = scalar(scalar_type(made, true), cast(bound, made));
        bounds.emplace_back(symbol_type(symbol_of_dtype(*element)), std::vector<ValueId>(), 0);
        return call_prelude("numpy.arange_as", {std::move(bounds), {}, where});
    }
    const ScalarType result = element.value_or(made);
    for (Value& bound : bounds) bound = scalar(scalar_type(result, true), cast(bound, result));
    return call_prelude(result == ScalarType::kInt64 ? "numpy.arange_of_integers" : "numpy.arange_of_floats",
                        {std::move(bounds), {}, where});
}

// t.index(x), t.count(x)
Value FunctionLowering::tuple_method(const Value& tuple, const std::string& name,
                                     const Arguments& arguments) {
    expect_arguments(name, arguments, 1, 1);
    const TypeRef type = scalar_type(ScalarType::kInt64, true);
    const auto length = static_cast<int64_t>(tuple.type->parts.size());
    Value result = integer(name == "count" ? 0 : length);
    for (int64_t i = length - 1; i >= 0; --i) {
        const Value item = tuple_item(tuple, static_cast<size_t>(i));
        const ValueId same =
            truth(compare("eq", arguments.positional[0], item, arguments.where), arguments.where);
        const Value found =
            name == "count" ? arithmetic(OpId::kAdd, result, integer(1), arguments.where) : integer(i);
        result = scalar(type, apply(OpId::kSelect, {same, found.parts[0], result.parts[0]}));
    }
    if (name == "index") {
        const Value found = compare("ne", result, integer(length), arguments.where);
        check(dry_ ? ValueId{} : found.parts[0], site("ValueError", "tuple.index(x): x not in tuple"), {},
              arguments.where);
    }
    return result;
}

// Methods of ints, floats and complex numbers.
std::optional<Value> FunctionLowering::call_number_method(const Value& base, const std::string& name,
                                                          const Arguments& arguments) {
    const NodeId where = arguments.where;
    const TypeRef whole = scalar_type(ScalarType::kInt64, true);
    if (name == "conjugate" || name == "item") {
        expect_arguments(name, arguments, 0, 0);
        if (name == "item") {
            const ScalarType type = is_bool(base.type)      ? ScalarType::kBool
                                    : is_integer(base.type) ? ScalarType::kInt64
                                    : is_float(base.type)   ? ScalarType::kFloat64
                                                            : ScalarType::kComplex128;
            return scalar(scalar_type(type, true), cast(base, type));
        }
        if (is_complex(base.type)) return by_loop(*find_op("conjugate"), std::span(&base, 1), where);
        return is_bool(base.type) && base.type->weak ? scalar(whole, cast(base, whole->scalar)) : base;
    }
    const Arguments of_base{{base}, {}, where};
    if (is_integer(base.type) && (name == "bit_length" || name == "bit_count")) {
        expect_arguments(name, arguments, 0, 0);
        const Value value = scalar(whole, cast(base, ScalarType::kInt64));
        if (name == "bit_length") return call_prelude("builtins.bit_length", {{value}, {}, where});
        const Value size = absolute(value, where);
        return scalar(
            whole, cast(by_loop(*find_op("bitwise_count"), std::span(&size, 1), where), ScalarType::kInt64));
    }
    if (name == "is_integer" && is_float(base.type)) {
        expect_arguments(name, arguments, 0, 0);
        return call_prelude("builtins.is_integer", of_base);
    }
    return std::nullopt;
}

}  // namespace weft::lang
