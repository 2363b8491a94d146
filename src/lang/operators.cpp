#include <algorithm>
#include <array>
#include <bit>

#include "lang/arrays/functions.h"
#include "lang/containers/dicts.h"
#include "lang/containers/literal_lists.h"
#include "lang/containers/sets.h"
#include "lang/dates/dates.h"
#include "lang/lowering.h"
#include "lang/parallel/outline.h"
#include "lang/strings/strings.h"
#include "lang/structures/texts.h"

namespace weft::lang {

using ir::ValueId;

namespace {

struct Operator {
    std::string_view name, sign;
    OpId op;
};
constexpr Operator kOperators[] = {
    {"add", "+", OpId::kAdd},
    {"sub", "-", OpId::kSubtract},
    {"mul", "*", OpId::kMultiply},
    {"truediv", "/", OpId::kDivide},
    {"floordiv", "//", OpId::kFloorDivide},
    {"mod", "%", OpId::kRemainder},
    {"pow", "**", OpId::kPower},
    {"lshift", "<<", OpId::kLeftShift},
    {"rshift", ">>", OpId::kRightShift},
    {"and", "&", OpId::kBitwiseAnd},
    {"or", "|", OpId::kBitwiseOr},
    {"xor", "^", OpId::kBitwiseXor},
    {"eq", "==", OpId::kEqual},
    {"ne", "!=", OpId::kNotEqual},
    {"lt", "<", OpId::kLess},
    {"le", "<=", OpId::kLessEqual},
    {"gt", ">", OpId::kGreater},
    {"ge", ">=", OpId::kGreaterEqual},
};

const Operator* find_operator(std::string_view name) {
    const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                     [&](const Operator& candidate) { return candidate.name == name; });
    return found == std::end(kOperators) ? nullptr : found;
}

bool is_so(OpId comparison, int64_t a, int64_t b) {
    switch (comparison) {
        case OpId::kEqual: return a == b;
        case OpId::kNotEqual: return a != b;
        case OpId::kLess: return a < b;
        case OpId::kLessEqual: return a <= b;
        case OpId::kGreater: return a > b;
        default: return a >= b;
    }
}

bool is_uint64(TypeRef type) { return is_scalar(type) && type->scalar == ScalarType::kUInt64; }

bool has_no_sign(TypeRef type) { return DType(type->scalar).is_unsigned_integer(); }

}  // namespace

void FunctionLowering::refuse_operands(const std::string& sign, TypeRef left, TypeRef right, NodeId where) {
    const bool arrays = is_array(left) || is_array(right);
    const bool structures = is_structures(left) || is_structures(right);
    const bool nothing = left->kind == TypeKind::kNone || right->kind == TypeKind::kNone;
    fail(
        where,
        "operator " + sign + " is not compiled for " + lang::describe(left) + " and " + lang::describe(right),
        arrays                                  ? "Write a loop over the elements."
        : structures                            ? "Compute with fields of structures: a['x']."
        : nothing                               ? "Ask before whether it is None: if x is not None."
        : is_complex(left) || is_complex(right) ? "Compare abs(z), or .real and .imag."
        : left->kind == right->kind             ? "Convert floats by int(...)."
                                                : "Convert one of them, or write a function for each type.");
}

// Python's numbers are float64 and int64 to Numba, so that a float32 beside one becomes a float64, and a
// complex64 a complex128.
void FunctionLowering::widen_floats(Value& left, Value& right) {
    if (!compilation_.options().widens_floats || source_.is_prelude || left.type->weak == right.type->weak)
        return;
    Value& wide = left.type->weak ? right : left;
    const DType dtype(wide.type->scalar);
    const bool beside_bool = is_bool((left.type->weak ? left : right).type);
    if (!dtype.is_inexact() || dtype.real().itemsize() >= 8 || beside_bool) return;
    const ScalarType to = is_complex(wide.type) ? ScalarType::kComplex128 : ScalarType::kFloat64;
    wide = scalar(scalar_type(to), cast(wide, to));
}

// Integers narrower than 64 bits are computed in int64, which holds all of them; uint64 stays what it is.
TypeRef FunctionLowering::integer_type(TypeRef left, TypeRef right) {
    if (!is_integer(left) || !is_integer(right)) return nullptr;
    if (left->weak && right->weak) return scalar_type(ScalarType::kInt64, true);
    if (is_uint64(left) || is_uint64(right)) {
        TypeRef other = is_uint64(left) ? right : left;
        if (!other->weak && DType(other->scalar).is_signed_integer()) return nullptr;  // float64, as NumPy
        return scalar_type(ScalarType::kUInt64);
    }
    return scalar_type(ScalarType::kInt64);
}

Value FunctionLowering::by_loop(const OpInfo& op, std::span<const Value> operands, NodeId where) {
    std::vector<OperandType> types;
    bool weak = true;
    for (const Value& operand : operands) {
        if (!is_scalar(operand.type))
            fail(where, std::string(op.numpy_name) + " is not compiled for " + lang::describe(operand.type));
        types.push_back(operand_type(operand.type));
        weak &= operand.type->weak;
    }
    const LoopInfo* loop = nullptr;
    try {
        loop = &resolve_loop(op, types);
    } catch (const TypeError&) {
        std::string text = std::string(op.numpy_name) + " has no meaning for ";
        for (size_t i = 0; i < operands.size(); ++i)
            text += (i > 0 ? " and " : "") + lang::describe(operands[i].type);
        fail(where, text);
    }
    const auto outputs = op.output_types(*loop);
    if (outputs.size() == 1) return scalar(scalar_type(outputs[0], weak), apply(op, *loop, operands));
    std::vector<ValueId> parts(outputs.size());
    if (!dry_) {
        std::vector<ValueId> inputs;
        for (size_t i = 0; i < operands.size(); ++i) inputs.push_back(cast(operands[i], loop->types[i]));
        parts = builder_->apply_multiple(op, inputs);
    }
    std::vector<Value> items;
    for (size_t i = 0; i < outputs.size(); ++i)
        items.push_back(scalar(scalar_type(outputs[i], weak), parts[i]));
    return tuple(std::move(items));
}

Value FunctionLowering::arithmetic(OpId op, const Value& left, const Value& right, NodeId where) {
    const Value operands[] = {left, right};
    TypeRef type = integer_type(left.type, right.type);
    if (type == nullptr) return by_loop(op_info(op), operands, where);
    return scalar(type, apply(op, {cast(left, type->scalar), cast(right, type->scalar)}));
}

Value FunctionLowering::required(const Value& given, NodeId where) {
    Value value = given;
    if (value.type->kind == TypeKind::kOptional) {
        const TypeRef inner = value.type->parts[0];
        const std::string expected =
            is_scalar(inner) ? std::string(DType(inner->scalar).name()) : lang::describe(inner);
        check(value.parts[0], site("TypeError", "expected " + expected + ", got None"), {}, where);
        value = {value.type->parts[0], {value.parts.begin() + 1, value.parts.end()}, value.origin};
    }
    if (value.type->kind == TypeKind::kRecord && value.type->record->is_integer)  // of an IntEnum
        return value_of_member(value, where);
    return value;
}

// Of an operator of Python's.
const OpInfo& FunctionLowering::operation_of(const std::string& name, NodeId where) {
    const Operator* found = find_operator(name);
    if (found == nullptr)
        fail(where, "operator '" + name + "' is not compiled here",
             name == "matmul" ? "Write a = a @ b, or a[...] = a @ b." : "");
    return op_info(found->op);
}

Value FunctionLowering::binary(const std::string& name, const Value& first, const Value& second,
                               NodeId where) {
    Value left = required(first, where), right = required(second, where);
    if (left.type->kind == TypeKind::kNever || right.type->kind == TypeKind::kNever) return never();
    if (name == "matmul") {
        if (!is_array(left.type) && !is_array(right.type))
            fail(where, "@ is of arrays, not of " + lang::describe(left.type) + " and " +
                            lang::describe(right.type));
        const Deferring now(*this, false);
        return ArrayFunctions(*this, "matmul", {{}, {}, where}).matmul(forced(left), forced(right));
    }
    const Operator* found = find_operator(name);
    if (found == nullptr)
        fail(where, "operator '" + name + "' is not compiled", "Write loops, or compute it outside.");
    if (is_set(left.type)) {
        if (const std::optional<Value> result = Sets(*this, where).binary(name, left, right)) return *result;
    }
    if (is_list(left.type) || is_list(right.type)) {
        if (const std::optional<Value> result = list_operator(name, left, right, where)) return *result;
    }
    if (is_bytes(left.type) || is_bytes(right.type))
        refuse_operands(std::string(found->sign), left.type, right.type, where);
    if (const std::array operands = {left, right}; Dates::any(operands))
        return Dates(*this, where).apply(std::string(op_info(found->op).numpy_name), operands);
    if (const std::array operands = {left, right};
        const std::optional<Value> result = array_operation(op_info(found->op), operands, where))
        return *result;
    if (!is_scalar(left.type) || !is_scalar(right.type)) {
        if (is_literal_list(left.type) || is_literal_list(right.type))
            refuse_operands(std::string(found->sign), left.type, right.type, where);
        if (name == "add" && left.type->kind == TypeKind::kTuple && right.type->kind == TypeKind::kTuple) {
            std::vector<Value> items;
            for (const Value* side : {&left, &right}) {
                for (size_t i = 0; i < side->type->parts.size(); ++i) items.push_back(tuple_item(*side, i));
            }
            return tuple(std::move(items));
        }
        if (name == "add" && is_any_text(left.type) && is_any_text(right.type))
            return joined_text(left, right);
        if (name == "mul" && is_any_text(left.type) && is_integer(right.type))
            return Strings(*this, where).repeated(left, right);
        if (name == "mul" && is_any_text(right.type) && is_integer(left.type))
            return Strings(*this, where).repeated(right, left);
        refuse_operands(std::string(found->sign), left.type, right.type, where);
    }
    if (found->op != OpId::kPower || !literal_integer(right.type)) widen_floats(left, right);
    if (compilation_.options().widens_floats && !source_.is_prelude && is_integer(left.type) &&
        is_integer(right.type)) {
        // To Numba integers beside each other are signed where one of them is, and have 64 bits.
        const bool shifts = found->op == OpId::kLeftShift || found->op == OpId::kRightShift;
        const bool is_unsigned = has_no_sign(left.type) && (shifts || has_no_sign(right.type));
        for (Value* const side : {&left, &right}) {
            if (side == &right && shifts) continue;
            if (is_unsigned)
                *side = scalar(scalar_type(ScalarType::kUInt64), cast(*side, ScalarType::kUInt64));
            else if (is_uint64(side->type))
                *side = scalar(scalar_type(ScalarType::kInt64), cast(*side, ScalarType::kInt64));
        }
    }
    switch (found->op) {
        case OpId::kDivide:
        case OpId::kFloorDivide:
        case OpId::kRemainder: return divide(name, left, right, where);
        case OpId::kPower: return power(left, right, where);
        case OpId::kLeftShift:
        case OpId::kRightShift: return shift(name, left, right, where);
        case OpId::kBitwiseAnd:
        case OpId::kBitwiseOr:
        case OpId::kBitwiseXor:
            if (is_bool(left.type) && is_bool(right.type))
                return scalar(
                    scalar_type(ScalarType::kBool, left.type->weak && right.type->weak),
                    apply(found->op, {cast(left, ScalarType::kBool), cast(right, ScalarType::kBool)}));
            if (!is_integer(left.type) || !is_integer(right.type))
                refuse_operands(std::string(found->sign), left.type, right.type, where);
            return arithmetic(found->op, left, right, where);
        default: break;
    }
    Value result = arithmetic(found->op, left, right, where);
    if (result.type->scalar == ScalarType::kInt64 && left.type->scalar == ScalarType::kInt64 &&
        right.type->scalar == ScalarType::kInt64 && !dry_)
        note_operator(found->op, result.parts[0], left.parts[0], right.parts[0]);
    return result;
}

// Python's errors of a division by zero.
Value FunctionLowering::divide(const std::string& name, const Value& left, const Value& right, NodeId where) {
    const OpId op = find_operator(name)->op;
    const bool integers = is_integer(left.type) && is_integer(right.type);
    if (op != OpId::kDivide && (is_complex(left.type) || is_complex(right.type)))
        refuse_operands(std::string(find_operator(name)->sign), left.type, right.type, where);
    const auto known = right.type->literal;
    const bool cannot_be_zero =
        known && (right.type->scalar == ScalarType::kFloat64 ? known->as<double>() != 0
                                                             : literal_integer(right.type).value_or(0) != 0);
    // What is known of int64; nothing is where no values are.
    const auto known_of = [&](const Value& value) {
        const bool is_known = !dry_ && is_integer(value.type) && value.type->scalar == ScalarType::kInt64 &&
                              !value.parts.empty();
        return is_known ? fact(value.parts[0]) : Fact{};
    };
    const bool is_never_zero = known_of(right).least > 0 || known_of(right).most < 0;
    bool goes_on_after_zero = false;
    if (compilation_.options().check_division && !cannot_be_zero && !is_never_zero) {
        const Value zero = integer(0);
        const Value holds = compare("ne", right, zero, where);
        const std::string text = op == OpId::kDivide ? "division by zero"
                                 : op == OpId::kRemainder
                                     ? (integers ? "integer modulo by zero" : "float modulo by zero")
                                 : integers ? "integer division or modulo by zero"
                                            : "float floor division by zero";
        // An index in bounds by its rest is in bounds only where the lane does not go on. Of what is the same
        // in all lanes the check can be an exit.
        Deferred* const deferred = deferred_;
        const bool is_same = deferred != nullptr && !dry_ && integers && op == OpId::kRemainder &&
                             right.parts[0].index < deferred->lane.index;
        goes_on_after_zero = deferred != nullptr && !is_same;
        if (is_same) {
            raise_deferred();
            deferred_ = nullptr;
        }
        check(dry_ ? ValueId{} : holds.parts[0], site("ZeroDivisionError", text), {}, where);
        deferred_ = deferred;
    }
    if (op == OpId::kDivide && integers) {
        const bool weak = left.type->weak && right.type->weak;
        return scalar(scalar_type(ScalarType::kFloat64, weak),
                      apply(op, {cast(left, ScalarType::kFloat64), cast(right, ScalarType::kFloat64)}));
    }
    // By powers of two, rounded towards minus infinity, as Python does.
    const int64_t divisor = integers ? literal_integer(right.type).value_or(0) : 0;
    if (divisor > 0 && (divisor & (divisor - 1)) == 0 && integer_type(left.type, right.type) != nullptr) {
        const bool rest = op == OpId::kRemainder;
        const Value by = integer(rest ? divisor - 1 : std::countr_zero(static_cast<uint64_t>(divisor)));
        const Value result = arithmetic(rest ? OpId::kBitwiseAnd : OpId::kRightShift, left, by, where);
        if (!dry_ && result.type->scalar == ScalarType::kInt64)
            note_operator(op, result.parts[0], left.parts[0], right.parts[0]);
        return result;
    }
    const TypeRef type = integers && !dry_ ? integer_type(left.type, right.type) : nullptr;
    Value result;
    const bool is_signed = type != nullptr && type->scalar == ScalarType::kInt64;
    const bool is_not_negative = is_signed && (divisor > 0 || known_of(right).least >= 0);
    const bool is_positive =
        is_not_negative && (known_of(right).least > 0 || compilation_.options().check_division);
    if (is_not_negative && known_of(left).least >= 0) {
        // Nothing is to be rounded down, so that it is a division without signs.
        const auto number = [&](const Value& value) {
            return builder_->cast(cast(value, ScalarType::kInt64), ScalarType::kUInt64);
        };
        result = scalar(
            type, builder_->cast(builder_->apply(op, {number(left), number(right)}), ScalarType::kInt64));
    } else if (is_signed && divisor == 0 && is_positive && !left.parts.empty() &&
               is_positive_unless_wrapped(left.parts[0])) {
        // The same by a branch, which is taken after an overflow alone.
        const ValueId number = cast(left, ScalarType::kInt64), by = cast(right, ScalarType::kInt64);
        const auto divided = [&](ValueId magnitude) {
            const auto without_sign = [&](ValueId value) {
                return builder_->cast(value, ScalarType::kUInt64);
            };
            return builder_->cast(builder_->apply(op, {without_sign(magnitude), without_sign(by)}),
                                  ScalarType::kInt64);
        };
        result = {type,
                  builder_->if_else(
                      builder_->apply(OpId::kGreaterEqual, {number, builder_->index(0)}),
                      [&](ir::Builder&, std::span<const ValueId>) -> std::vector<ValueId> {
                          return {divided(number)};
                      },
                      [&](ir::Builder&, std::span<const ValueId>) -> std::vector<ValueId> {
                          const ValueId other = builder_->apply(
                              OpId::kInvert, {divided(builder_->apply(OpId::kInvert, {number}))});
                          if (op == OpId::kFloorDivide) return {other};
                          return {builder_->apply(OpId::kAdd, {other, by})};
                      }),
                  0};
    } else if (is_signed && divisor == 0 && is_positive) {
        // Without signs, too: what is negative is the complement of a number that is not, and so is its
        // quotient as it is rounded, towards minus infinity.
        const ValueId number = cast(left, ScalarType::kInt64), by = cast(right, ScalarType::kInt64);
        const ValueId sign = builder_->apply(OpId::kRightShift, {number, builder_->index(63)});
        const auto without_sign = [&](ValueId value) { return builder_->cast(value, ScalarType::kUInt64); };
        const ValueId magnitude = builder_->apply(OpId::kBitwiseXor, {number, sign});
        const ValueId divided =
            builder_->apply(OpId::kBitwiseXor,
                            {builder_->cast(builder_->apply(op, {without_sign(magnitude), without_sign(by)}),
                                            ScalarType::kInt64),
                             sign});
        const bool rest = op == OpId::kRemainder;
        result = scalar(
            type, rest
                      ? builder_->apply(OpId::kAdd, {divided, builder_->apply(OpId::kBitwiseAnd, {by, sign})})
                      : divided);
    } else if (is_signed && divisor == 0) {
        // Of the divisors that machines cannot take only -1 is left, which is rare, so that a branch costs
        // less than to divide by something else.
        const ValueId by = cast(right, ScalarType::kInt64);
        const ValueId is_minus_one = builder_->apply(OpId::kEqual, {by, builder_->index(-1)});
        result = {type,
                  builder_->if_else(
                      is_minus_one,
                      [&](ir::Builder&, std::span<const ValueId>) -> std::vector<ValueId> {
                          const ValueId zero = builder_->index(0);
                          if (op == OpId::kRemainder) return {zero};
                          return {builder_->apply(OpId::kSubtract, {zero, cast(left, ScalarType::kInt64)})};
                      },
                      [&](ir::Builder&, std::span<const ValueId>) {
                          return arithmetic(op, left, right, where).parts;
                      }),
                  0};
    } else {
        result = arithmetic(op, left, right, where);
    }
    if (!dry_ && integers && result.type->scalar == ScalarType::kInt64 && !goes_on_after_zero)
        note_operator(op, result.parts[0], left.parts[0], right.parts[0]);
    return result;
}

Value FunctionLowering::power(const Value& base, const Value& exponent, NodeId where) {
    const auto known = literal_integer(exponent.type);
    const bool integers = is_integer(base.type) && is_integer(exponent.type);
    // Small powers are products: of the same bits for integers, and to a unit in the last place for floats.
    if (known && *known >= 2 && *known <= 4) {
        Value square = arithmetic(OpId::kMultiply, base, base, where);
        if (*known == 2) return square;
        return *known == 3 ? arithmetic(OpId::kMultiply, square, base, where)
                           : arithmetic(OpId::kMultiply, square, square, where);
    }
    if (integers && known && *known < 0) {
        const Value real =
            scalar(scalar_type(ScalarType::kFloat64, base.type->weak), cast(base, ScalarType::kFloat64));
        if (compilation_.options().check_division) {
            const Value holds = compare("ne", real, integer(0), where);
            check(dry_ ? ValueId{} : holds.parts[0],
                  site("ZeroDivisionError", "0.0 cannot be raised to a negative power"), {}, where);
        }
        return arithmetic(OpId::kPower, real, exponent, where);
    }
    if (integers && !known) {
        const Value holds = compare("ge", exponent, integer(0), where);
        check(dry_ ? ValueId{} : holds.parts[0],
              site("ValueError", "Integers to negative integer powers are not allowed."), {}, where);
    }
    // Python's own numbers have this error; NumPy's give infinity.
    const bool real = is_scalar(base.type) && base.type->weak && exponent.type->weak && !integers &&
                      !is_complex(base.type) && !is_complex(exponent.type);
    if (real && compilation_.options().check_division && !dry_) {
        const Value zero = constant(Constant::of(ScalarType::kFloat64, 0.0));
        const ValueId fine = apply(OpId::kLogicalOr, {compare("ne", base, zero, where).parts[0],
                                                      compare("ge", exponent, zero, where).parts[0]});
        check(fine, site("ZeroDivisionError", "0.0 cannot be raised to a negative power"), {}, where);
    }
    return arithmetic(OpId::kPower, base, exponent, where);
}

Value FunctionLowering::shift(const std::string& name, const Value& left, const Value& right, NodeId where) {
    const OpId op = find_operator(name)->op;
    if (!is_integer(left.type) || !is_integer(right.type))
        refuse_operands(std::string(find_operator(name)->sign), left.type, right.type, where);
    const auto known = literal_integer(right.type);
    if (known ? *known < 0 : !is_uint64(right.type)) {
        const Value holds = compare("ge", right, integer(0), where);
        check(dry_ ? ValueId{} : holds.parts[0], site("ValueError", "negative shift count"), {}, where);
    }
    TypeRef type = is_uint64(left.type)
                       ? scalar_type(ScalarType::kUInt64)
                       : scalar_type(ScalarType::kInt64, left.type->weak && right.type->weak);
    return scalar(type, apply(op, {cast(left, type->scalar), cast(right, type->scalar)}));
}

Value FunctionLowering::unary(const std::string& name, const Value& given, NodeId where) {
    const Value operand = required(given, where);
    if (operand.type->kind == TypeKind::kNever) return never();
    if (Dates::is_date(operand))
        return Dates(*this, where)
            .apply(name == "neg"   ? "negative"
                   : name == "pos" ? "positive"
                                   : "invert",
                   std::span(&operand, 1));
    if (is_array(operand.type))
        return *array_operation(op_info(name == "neg"   ? OpId::kNegative
                                        : name == "pos" ? OpId::kPositive
                                                        : OpId::kInvert),
                                std::span(&operand, 1), where);
    if (!is_scalar(operand.type)) fail(where, "operator is not compiled for " + lang::describe(operand.type));
    if (operand.type->literal && name == "neg") {
        if (const auto value = literal_integer(operand.type))
            return integer(static_cast<int64_t>(-static_cast<uint64_t>(*value)));
        if (is_float(operand.type))
            return constant(Constant::of(ScalarType::kFloat64, -operand.type->literal->as<double>()));
    }
    const OpId op = name == "neg" ? OpId::kNegative : name == "pos" ? OpId::kPositive : OpId::kInvert;
    if (is_integer(operand.type)) {
        if (op == OpId::kInvert && is_bool(operand.type) && !operand.type->weak)
            return negation(truth(operand, where));
        const bool as_numba = compilation_.options().widens_floats && !source_.is_prelude;
        TypeRef type = is_uint64(operand.type) || (as_numba && has_no_sign(operand.type))
                           ? scalar_type(ScalarType::kUInt64)
                           : scalar_type(ScalarType::kInt64, operand.type->weak);
        if (as_numba && !operand.type->weak && !is_bool(operand.type) && op != OpId::kPositive) {
            // To Numba the result of a narrow one is narrow, and has 64 bits then.
            const Value narrow =
                scalar(scalar_type(operand.type->scalar), apply(op, {cast(operand, operand.type->scalar)}));
            return scalar(type, cast(narrow, type->scalar));
        }
        const ValueId value = cast(operand, type->scalar);
        return scalar(type, op == OpId::kPositive ? value : apply(op, {value}));
    }
    if (op == OpId::kInvert) fail(where, "operator ~ is not compiled for " + lang::describe(operand.type));
    return by_loop(op_info(op), std::span(&operand, 1), where);
}

// What may be None equals None where it is, and numbers where it is one.
std::optional<Value> FunctionLowering::equal_optional(const std::string& name, const Value& first,
                                                      const Value& second, NodeId where) {
    const std::string same_by = name == "is" || name == "is_not" ? "is" : "eq";
    const auto is_optional = [](const Value& value) { return value.type->kind == TypeKind::kOptional; };
    if (!is_optional(first) && !is_optional(second)) return std::nullopt;
    struct Side {
        ValueId bound;
        Value inner;
    };
    const auto side = [&](const Value& value) -> Side {
        if (value.type->kind == TypeKind::kNone) return {boolean(false).parts[0], none()};
        if (!is_optional(value)) return {boolean(true).parts[0], value};
        return {value.parts[0], {value.type->parts[0], {value.parts.begin() + 1, value.parts.end()}}};
    };
    const Side a = side(first), b = side(second);
    const auto is_plain = [](const Value& value) {
        return is_scalar(value.type) || value.type->kind == TypeKind::kNone || is_any_text(value.type);
    };
    if (!is_plain(a.inner) || !is_plain(b.inner)) return std::nullopt;
    const bool are_values = a.inner.type->kind != TypeKind::kNone && b.inner.type->kind != TypeKind::kNone;
    const ValueId same =
        are_values ? truth(compare(same_by, a.inner, b.inner, where), where) : boolean(false).parts[0];
    const auto both = [&](ValueId x, ValueId y) { return apply(OpId::kLogicalAnd, {x, y}); };
    const auto no = [&](ValueId x) { return apply(OpId::kLogicalNot, {x}); };
    const ValueId result =
        apply(OpId::kLogicalOr, {both(both(a.bound, b.bound), same), both(no(a.bound), no(b.bound))});
    return name == same_by ? scalar(scalar_type(ScalarType::kBool, true), result) : negation(result);
}

// Whether they are one object, as far as compiled values tell: those of one type that no operation can tell
// apart are. Nothing where that is not compiled.
std::optional<Value> FunctionLowering::identity_of(const Value& left, const Value& right, NodeId where) {
    const TypeRef type = scalar_type(ScalarType::kBool, true);
    const auto both = [&](ValueId a, ValueId b) { return apply(OpId::kLogicalAnd, {a, b}); };
    const auto is_known = [](TypeRef part) {
        return part->kind == TypeKind::kSymbol || part->kind == TypeKind::kEllipsis ||
               part->kind == TypeKind::kNone;
    };
    if (is_known(left.type) || is_known(right.type)) {
        const bool are_names = left.type->kind == TypeKind::kSymbol && right.type->kind == TypeKind::kSymbol;
        if (!are_names) return boolean(left.type == right.type);
        const Symbol &a = *left.type->symbol, &b = *right.type->symbol;
        if (a.function != nullptr || b.function != nullptr) return boolean(a.function == b.function);
        return boolean(&a == &b || (a.kind == b.kind && !a.path.empty() && a.path == b.path));
    }
    if (is_scalar(left.type) && is_scalar(right.type)) {
        if (left.type->scalar != right.type->scalar || left.type->weak != right.type->weak)
            return boolean(false);
        if (is_complex(left.type)) {
            const Value reals =
                *identity_of(attribute_of(left, "real", where), attribute_of(right, "real", where), where);
            const Value rest =
                *identity_of(attribute_of(left, "imag", where), attribute_of(right, "imag", where), where);
            return scalar(type, both(truth(reals, where), truth(rest, where)));
        }
        const Value equal = compare("eq", left, right, where);
        if (!is_float(left.type)) return equal;
        const auto sign = [&](const Value& value) { return apply(OpId::kSignbit, {value.parts[0]}); };
        const auto is_nan = [&](const Value& value) { return apply(OpId::kIsnan, {value.parts[0]}); };
        const ValueId same = both(truth(equal, where), apply(OpId::kEqual, {sign(left), sign(right)}));
        return scalar(type, apply(OpId::kLogicalOr, {same, both(is_nan(left), is_nan(right))}));
    }
    if (is_text(left.type) && is_text(right.type)) return compare_texts("eq", left, right);
    if (is_array(left.type) && is_array(right.type)) {
        if (left.type->scalar != right.type->scalar || left.type->rank != right.type->rank)
            return boolean(false);
        if (dry_) return scalar(type, {});
        const auto same = [&](ValueId a, ValueId b) { return builder_->apply(OpId::kEqual, {a, b}); };
        ValueId result = same(builder_->address(left.parts[0]), builder_->address(right.parts[0]));
        for (size_t d = 0; d < left.type->rank; ++d) {
            result = both(result, same(size_of(left, d), size_of(right, d)));
            result = both(result, same(stride_of(left, d), stride_of(right, d)));
        }
        return scalar(type, result);
    }
    const auto has_value = [](TypeRef part) { return is_scalar(part) || is_text(part) || is_array(part); };
    if (left.type->kind != right.type->kind && (has_value(left.type) || has_value(right.type)))
        return boolean(false);
    return std::nullopt;
}

Value FunctionLowering::compare(const std::string& name, const Value& first, const Value& second,
                                NodeId where) {
    const bool asks_identity = (name == "is" || name == "is_not") && first.type->kind != TypeKind::kNone &&
                               second.type->kind != TypeKind::kNone;
    if (name == "eq" || name == "ne" || asks_identity) {
        if (const std::optional<Value> result = equal_optional(name, first, second, where)) return *result;
    }
    if ((name == "is" || name == "is_not") &&
        (first.type->kind == TypeKind::kOptional || second.type->kind == TypeKind::kOptional)) {
        const bool is_first = first.type->kind == TypeKind::kOptional;
        if ((is_first ? second : first).type->kind != TypeKind::kNone)
            fail(where, "'is' is not compiled for what may be None and is no number",
                 "Write == in its place.");
        const Value bound =
            scalar(scalar_type(ScalarType::kBool, true), (is_first ? first : second).parts[0]);
        return name == "is_not" ? bound : negation(bound.parts[0]);
    }
    const auto is_member = [](const Value& value) {
        return value.type->kind == TypeKind::kRecord && value.type->record->is_enumeration;
    };
    if ((name == "is" || name == "is_not") && is_member(first) && is_member(second)) {
        const std::string same = name == "is" ? "eq" : "ne";
        if (first.type->record != second.type->record) return boolean(name == "is_not");
        return compare(same, tuple_item(first, 0), tuple_item(second, 0), where);
    }
    Value left = required(first, where), right = required(second, where);
    if (left.type->kind == TypeKind::kNever || right.type->kind == TypeKind::kNever) return never();
    if ((name == "eq" || name == "ne") && is_member(left) != is_member(right))
        return boolean(name == "ne");  // a member is nothing else
    if (is_dict(right.type) || (is_dict(left.type) && name != "in" && name != "not_in"))
        return Dicts(*this, where).compare(name, left, right);
    if (is_set(right.type) || (is_set(left.type) && name != "in" && name != "not_in"))
        return Sets(*this, where).compare(name, left, right);
    if (is_list(left.type) || is_list(right.type)) {
        if (const std::optional<Value> result = compare_lists(name, left, right, where)) return *result;
    }
    if (name == "is" || name == "is_not") {
        const std::optional<Value> same = identity_of(left, right, where);
        if (!same)
            fail(where,
                 "'is' is not compiled for " + lang::describe(left.type) + " and " +
                     lang::describe(right.type),
                 "Write == in its place.");
        if (name == "is") return *same;
        if (same->type->literal) return boolean(!same->type->literal->as<bool>());
        return negation(truth(*same, where));
    }
    const auto is_made = [](TypeRef type) { return is_string(type) || type->kind == TypeKind::kFormat; };
    if ((name == "in" || name == "not_in") && is_any_text(right.type) &&
        (is_made(left.type) || is_made(right.type))) {
        const Value found = Strings(*this, where).contains(right, left);
        return name == "in" ? found : negation(truth(found, where));
    }
    if ((name == "eq" || name == "ne") && (is_bytes(left.type) || is_bytes(right.type))) {
        if (!is_bytes(left.type) || !is_bytes(right.type)) return boolean(name == "ne");
        const Value same = call_prelude("strings.equal", {{left, right}, {}, where});
        return name == "eq" ? same : negation(truth(same, where));
    }
    if ((is_made(left.type) || is_made(right.type)) && find_operator(name) != nullptr)
        return Strings(*this, where).compare(name, left, right);
    if (name == "in" || name == "not_in") {
        const bool is_range = right.type->kind == TypeKind::kRange;
        if (is_range || right.type->kind == TypeKind::kGenerator ||
            (is_array(right.type) && right.type->rank == 1)) {
            if (is_range && is_complex(left.type)) {
                const Value real = attribute_of(left, "real", where);
                const Value whole = compare("eq", attribute_of(left, "imag", where), integer(0), where);
                const Value found = compare("in", real, right, where);
                const ValueId both = apply(OpId::kLogicalAnd, {truth(whole, where), truth(found, where)});
                return name == "in" ? scalar(scalar_type(ScalarType::kBool, true), both) : negation(both);
            }
            if (!is_scalar(left.type))
                fail(where, lang::describe(left.type) + " is never in " + lang::describe(right.type));
            const Arguments items{{left, right}, {}, where};
            const Value found =
                is_range ? call_prelude("builtins.in_range",
                                        {{left, scalar(scalar_type(ScalarType::kInt64, true), right.parts[0]),
                                          scalar(scalar_type(ScalarType::kInt64, true), right.parts[1]),
                                          scalar(scalar_type(ScalarType::kInt64, true), right.parts[2])},
                                         {},
                                         where})
                         : call_prelude("builtins.in_items", items);
            return name == "in" ? found : negation(truth(found, where));
        }
        if (is_text(left.type) && is_text(right.type)) {
            return of_texts(right, [&](const std::string& whole) {
                return of_texts(left, [&](const std::string& part) {
                    return boolean((whole.find(part) != std::string::npos) == (name == "in"));
                });
            });
        }
        if (right.type->kind != TypeKind::kTuple)
            fail(where, "'in' is compiled for tuples, ranges and arrays of one dimension, not " +
                            lang::describe(right.type));
        Value found = boolean(false);
        for (size_t i = 0; i < right.type->parts.size(); ++i) {
            const Value same = compare("eq", left, tuple_item(right, i), where);
            found = scalar(scalar_type(ScalarType::kBool, true),
                           apply(OpId::kLogicalOr, {truth(found, where), truth(same, where)}));
        }
        return name == "in" ? found : negation(truth(found, where));
    }
    const auto counts = [](const Value& value) {
        return Dates::is_date(value) || is_scalar(value.type) || is_array(value.type);
    };
    if (const std::array operands = {left, right};
        Dates::any(operands) && counts(left) && counts(right) && find_operator(name) != nullptr)
        return Dates(*this, where).apply(std::string(op_info(find_operator(name)->op).numpy_name), operands);
    if ((is_array(left.type) && (is_scalar(right.type) || is_array(right.type))) ||
        (is_array(right.type) && is_scalar(left.type))) {
        const std::array operands = {left, right};
        return elementwise(
            operands,
            [this, name, where](std::span<const Value> elements) {
                return compare(name, elements[0], elements[1], where);
            },
            where);
    }
    if (find_operator(name) != nullptr) {
        if (const auto result = ArrayTexts(*this, where).compare(name, left, right)) return *result;
    }
    if (!is_scalar(left.type) || !is_scalar(right.type)) return equal_types_only(name, left, right, where);
    const Operator* found = find_operator(name);
    if (const auto a = literal_integer(left.type), b = literal_integer(right.type); a && b)
        return boolean(is_so(found->op, *a, *b));  // so that `if a.ndim == 1` has one way
    widen_floats(left, right);
    const bool weak = left.type->weak && right.type->weak;
    if (weak && (is_complex(left.type) || is_complex(right.type)) && name != "eq" && name != "ne")
        refuse_operands(std::string(found->sign), left.type, right.type, where);  // NumPy's have an order
    const TypeRef type = scalar_type(ScalarType::kBool, weak);
    // Integers are compared by value, whatever their types.
    std::array<OperandType, 2> types = {operand_type(left.type), operand_type(right.type)};
    if (is_integer(left.type) && is_integer(right.type))
        types = {OperandType(DType(left.type->scalar)), OperandType(DType(right.type->scalar))};
    const LoopInfo* loop = nullptr;
    try {
        loop = &resolve_loop(op_info(found->op), types);
    } catch (const TypeError&) {
        refuse_operands(std::string(found->sign), left.type, right.type, where);
    }
    const Value operands[] = {left, right};
    const Value result = scalar(type, apply(op_info(found->op), *loop, operands));
    note_comparison(found->op, result.parts[0], left, right);
    return result;
}

// Tuples by the first items that differ, or by their lengths where none does.
Value FunctionLowering::compare_order(const std::string& name, const Value& left, const Value& right,
                                      NodeId where) {
    const auto length = [](const Value& tuple) { return static_cast<int64_t>(tuple.type->parts.size()); };
    const TypeRef type = scalar_type(ScalarType::kBool, true);
    Value result = compare(name, integer(length(left)), integer(length(right)), where);
    result.type = type;
    for (size_t i = std::min(left.type->parts.size(), right.type->parts.size()); i-- > 0;) {
        const Value a = tuple_item(left, i), b = tuple_item(right, i);
        const ValueId same = truth(compare("eq", a, b, where), where);
        const ValueId decides = truth(compare(name, a, b, where), where);
        result = scalar(type, apply(OpId::kSelect, {same, result.parts[0], decides}));
    }
    return result;
}

// Dataclasses compare as tuples do, where they compare at all.
Value FunctionLowering::compare_records(const std::string& name, const Value& left, const Value& right,
                                        NodeId where) {
    const bool equality = name == "eq" || name == "ne";
    if (left.type->record != right.type->record && equality) return boolean(name == "ne");
    if (left.type->record != right.type->record || (!equality && !left.type->record->orders))
        refuse_operands(std::string(find_operator(name)->sign), left.type, right.type, where);
    if (!left.type->record->compares)
        fail(where, left.type->record->name + " compares by identity, which is not compiled",
             "Leave eq=False and __eq__ out of the dataclass.");
    const Value a{tuple_type(left.type->parts), left.parts}, b{tuple_type(right.type->parts), right.parts};
    return equal_types_only(name, a, b, where);
}

// Tuples and texts.
Value FunctionLowering::equal_types_only(const std::string& name, const Value& left, const Value& right,
                                         NodeId where) {
    const bool equality = name == "eq" || name == "ne";
    if (is_text(left.type) && is_text(right.type) && find_operator(name) != nullptr)
        return compare_texts(name, left, right);
    // A text equals no number.
    if (equality &&
        ((is_text(left.type) && is_scalar(right.type)) || (is_text(right.type) && is_scalar(left.type))))
        return boolean(name == "ne");
    const auto is_known = [](const Value& value) {
        return value.type->kind == TypeKind::kSymbol && value.type->symbol->kind == SymbolKind::kKnown;
    };
    const auto is_function = [](const Value& value) {
        return value.type->kind == TypeKind::kSymbol && value.type->symbol->function != nullptr;
    };
    if (equality && (is_function(left) || is_function(right))) {  // which equal themselves
        const bool are_names = left.type->kind == right.type->kind;
        return boolean((are_names && left.type->symbol->function == right.type->symbol->function) ==
                       (name == "eq"));
    }
    if (equality && is_known(left) && is_known(right))  // dtypes
        return boolean((left.type->symbol->path == right.type->symbol->path) == (name == "eq"));
    if (left.type->kind == TypeKind::kNone || right.type->kind == TypeKind::kNone) {
        if (equality) return boolean((left.type == right.type) == (name == "eq"));
    }
    if (left.type->kind == TypeKind::kRecord && right.type->kind == TypeKind::kRecord &&
        find_operator(name) != nullptr)
        return compare_records(name, left, right, where);
    if (equality && is_literal_list(left.type) != is_literal_list(right.type) &&
        left.type->kind == right.type->kind)
        return boolean(name == "ne");  // a list equals no tuple
    if (left.type->kind == TypeKind::kTuple && right.type->kind == TypeKind::kTuple && equality) {
        if (left.type->parts.size() != right.type->parts.size()) return boolean(name == "ne");
        Value same = boolean(true);
        for (size_t i = 0; i < left.type->parts.size(); ++i) {
            const Value item = compare("eq", tuple_item(left, i), tuple_item(right, i), where);
            same = scalar(scalar_type(ScalarType::kBool, true),
                          apply(OpId::kLogicalAnd, {truth(same, where), truth(item, where)}));
        }
        return name == "eq" ? same : negation(truth(same, where));
    }
    if (left.type->kind == TypeKind::kTuple && right.type->kind == TypeKind::kTuple &&
        is_literal_list(left.type) == is_literal_list(right.type))
        return compare_order(name, left, right, where);
    const Operator* found = find_operator(name);
    refuse_operands(found == nullptr ? name : std::string(found->sign), left.type, right.type, where);
}

Value FunctionLowering::compare_texts(const std::string& name, const Value& left, const Value& right) {
    const OpId op = find_operator(name)->op;
    if (left.type->kind == TypeKind::kString && right.type->kind == TypeKind::kString)
        return boolean(is_so(op, left.type->text.compare(right.type->text), 0));
    // The texts of a choice are in order, so that their numbers are.
    const TypeRef type = join(left.type, right.type);
    return scalar(scalar_type(ScalarType::kBool, true),
                  apply(op, {number_in(left, type), number_in(right, type)}));
}

ValueId FunctionLowering::truth(const Value& value, NodeId where) {
    switch (value.type->kind) {
        case TypeKind::kScalar: return cast(value, ScalarType::kBool);
        case TypeKind::kOptional: {
            const Value inner{value.type->parts[0], {value.parts.begin() + 1, value.parts.end()}};
            return apply(OpId::kLogicalAnd, {value.parts[0], truth(inner, where)});
        }
        case TypeKind::kNever: return {};
        case TypeKind::kList: return apply(OpId::kNotEqual, {length_of(value), integer(0).parts[0]});
        case TypeKind::kNone: return boolean(false).parts[0];
        case TypeKind::kTuple: return boolean(!value.type->parts.empty()).parts[0];
        case TypeKind::kFormat:
        case TypeKind::kRecord:
            if (is_any_text(value.type)) return truth(Strings(*this, where).length(value), where);
            if (Dates::is_date(value)) return truth(Dates(*this, where).counts(value), where);
            if (is_dict(value.type)) return truth(Dicts(*this, where).keys(value), where);
            if (is_set(value.type)) return truth(Sets(*this, where).items(value), where);
            if (value.type->record->is_integer) return truth(value_of_member(value, where), where);
            return boolean(true).parts[0];
        case TypeKind::kChoice:
        case TypeKind::kString:
            return of_texts(value, [&](const std::string& text) { return boolean(!text.empty()); }).parts[0];
        case TypeKind::kEllipsis:
        case TypeKind::kSlice: return boolean(true).parts[0];
        case TypeKind::kStructures:
            if (ArrayTexts::is_text(value.type) && value.type->single)
                return truth(ArrayTexts(*this, where).length(value), where);
            [[fallthrough]];
        default:
            fail(where, lang::describe(value.type) + " has no truth value in a compiled function",
                 is_array(value.type) ? "Ask for a.size > 0, or for an element." : "");
    }
}

Value FunctionLowering::negation(ValueId condition) {
    const ValueId result = apply(OpId::kLogicalNot, {condition});
    if (!dry_) known_.negations[result.index] = condition;
    return scalar(scalar_type(ScalarType::kBool, true), result);
}

}  // namespace weft::lang
