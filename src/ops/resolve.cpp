// Promotion and loop resolution, as NumPy 2 does it.
#include "ops/resolve.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "ops/defined.h"
#include "weft/errors.h"

namespace weft {
namespace {

// The position of a dtype's kind in "bool < unsigned < signed < floating < complex".
int kind_order(DType dtype) {
    switch (dtype.kind()) {
        case 'b': return 0;
        case 'u': return 1;
        case 'i': return 2;
        case 'f': return 3;
        default: return 4;
    }
}

// How many bytes a floating-point type needs to be a safe target for integers of `itemsize` bytes.
int64_t float_bytes_for(int64_t itemsize) { return itemsize >= 4 ? 8 : 2 * itemsize; }

bool can_cast_safely(DType from, DType to) {
    if (from == to || from.is_bool()) return true;
    if (to.is_bool()) return false;
    if (from.is_complex() && !to.is_complex()) return false;
    const int64_t target = to.is_complex() ? to.itemsize() / 2 : to.itemsize();
    if (from.is_inexact()) {
        if (from.is_half_float() && to.is_half_float()) return false;  // one has the range, one the digits
        const int64_t source = from.is_complex() ? from.itemsize() / 2 : from.itemsize();
        return to.is_inexact() && source <= target;
    }
    if (to.is_inexact()) return float_bytes_for(from.itemsize()) <= target;
    if (from.kind() == to.kind()) return from.itemsize() <= to.itemsize();
    return from.is_unsigned_integer() && from.itemsize() < to.itemsize();
}

DType default_dtype(WeakKind kind) {
    switch (kind) {
        case WeakKind::kInt: return ScalarType::kInt64;
        case WeakKind::kFloat: return ScalarType::kFloat64;
        default: return ScalarType::kComplex128;
    }
}

int weak_order(WeakKind kind) { return kind == WeakKind::kInt ? 2 : (kind == WeakKind::kFloat ? 3 : 4); }

// As `kind_order`, but unsigned integers take Python's integers as well as signed ones.
int weak_target_order(DType dtype) { return dtype.is_unsigned_integer() ? 2 : kind_order(dtype); }

// What a dtype becomes together with a Python scalar.
DType promote_with_weak(DType dtype, WeakKind kind) {
    if (weak_target_order(dtype) >= weak_order(kind)) return dtype;
    if (kind == WeakKind::kComplex && dtype.is_floating()) {
        return dtype.itemsize() <= 4 ? ScalarType::kComplex64 : ScalarType::kComplex128;
    }
    return default_dtype(kind);
}

std::string quoted_dtype(DType dtype) { return "dtype('" + std::string(dtype.name()) + "')"; }

// The name of NumPy's class of a dtype, "<class 'numpy.dtypes.Float64DType'>".
std::string dtype_class(DType dtype) {
    std::string name(dtype.name());
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    if (name.starts_with("Uint")) name[1] = 'I';
    return "<class 'numpy.dtypes." + name + "DType'>";
}

[[noreturn]] void throw_no_loop(const OpInfo& op, std::span<const OperandType> inputs) {
    const std::string name = "ufunc '" + std::string(op.numpy_name) + "'";
    const bool any_bool =
        std::ranges::any_of(inputs, [](const OperandType& input) { return input.dtype.is_bool(); });
    if (op.id == OpId::kSubtract && any_bool) {
        throw TypeError(
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` "
            "operator, or "
            "the logical_xor function instead.");
    }
    if (op.id == OpId::kNegative && any_bool) {
        throw TypeError(
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the "
            "logical_not function instead.");
    }
    if (!op.flags.promotes_to_common) {
        throw TypeError(
            name +
            " not supported for the input types, and the inputs could not be safely coerced to any "
            "supported types according to the casting rule ''safe''");
    }
    std::string types;
    for (const OperandType& input : inputs) types += (types.empty() ? "" : ", ") + dtype_class(input.dtype);
    if (inputs.size() > 1) types = "(" + types + ")";
    throw UFuncTypeError(name + " did not contain a loop with signature matching types " + types +
                         " -> None");
}

bool accepts(const OpInfo& op, const LoopInfo& loop, std::span<const OperandType> inputs, Casting casting) {
    const auto types = op.input_types(loop);
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!can_cast(inputs[i], types[i], casting)) return false;
    }
    return true;
}

// A loop all of whose inputs have one type.
const LoopInfo* find_uniform_loop(const OpInfo& op, DType dtype) {
    std::array<ScalarType, kMaxOperands> types;
    types.fill(dtype.scalar_type());
    return find_loop(op, std::span(types).first(op.nin));
}

bool all_of_kind(std::span<const OperandType> inputs, int highest) {
    return std::ranges::all_of(inputs,
                               [&](const OperandType& input) { return kind_order(input.dtype) <= highest; });
}

// The first loop, in the table's order, to which all inputs cast safely.
const LoopInfo* find_first_safe_loop(const OpInfo& op, std::span<OperandType> inputs) {
    // A Python scalar of a higher kind than all arrays counts as its default type; complex beside float does
    // not.
    int highest = 0;
    for (const OperandType& input : inputs) {
        if (input.weak == WeakKind::kNone) highest = std::max(highest, weak_target_order(input.dtype));
    }
    if (highest == kind_order(ScalarType::kFloat64)) highest = weak_order(WeakKind::kComplex);
    for (OperandType& input : inputs) {
        if (input.weak != WeakKind::kNone && weak_order(input.weak) > highest) input.weak = WeakKind::kNone;
    }
    if (op.flags.takes_integers_as_float64 && all_of_kind(inputs, weak_order(WeakKind::kInt))) {
        return find_uniform_loop(op, ScalarType::kFloat64);
    }
    for (const LoopInfo& loop : op.loops) {
        if (accepts(op, loop, inputs, Casting::kSafe)) return &loop;
    }
    return nullptr;
}

// The loop of the inputs' common type.
const LoopInfo* find_common_loop(const OpInfo& op, std::span<const OperandType> inputs, bool any_weak) {
    const DType common = result_type(inputs);
    // Integers without a common integer type are compared by value.
    if (op.kind == OpKind::kComparison && common.is_floating() && inputs[0].dtype.is_integer() &&
        inputs[1].dtype.is_integer() && !any_weak) {
        const auto word = [](DType type) {
            return type.is_signed_integer() ? ScalarType::kInt64 : ScalarType::kUInt64;
        };
        const ScalarType words[] = {word(inputs[0].dtype), word(inputs[1].dtype)};
        return find_loop(op, words);
    }
    return find_uniform_loop(op, common);
}

// The loop for these inputs, nothing else being asked for.
const LoopInfo* find_promoted_loop(const OpInfo& op, std::span<const OperandType> given) {
    std::array<OperandType, kMaxOperands> storage = filled_types<kMaxOperands>();
    const std::span<OperandType> inputs = std::span(storage).first(given.size());
    std::ranges::copy(given, inputs.begin());
    const auto is_weak = [](const OperandType& input) { return input.weak != WeakKind::kNone; };
    const bool asks_truth = op.kind == OpKind::kLogical && op.nin == 2;

    // Python scalars among themselves are what they are by default.
    const bool all_weak = std::ranges::all_of(inputs, is_weak);
    if (all_weak) {
        for (OperandType& input : inputs) input.weak = WeakKind::kNone;
    }
    const bool any_weak = std::ranges::any_of(inputs, is_weak);
    if (!any_weak && !(all_weak && asks_truth)) {
        std::array<ScalarType, kMaxOperands> types;
        for (size_t i = 0; i < inputs.size(); ++i) types[i] = inputs[i].dtype.scalar_type();
        const LoopInfo* loop = find_loop(op, std::span(types).first(inputs.size()));
        if (loop != nullptr) return loop;
    }
    // Two operands of different types are asked for their truth before they are combined.
    if (asks_truth) return find_uniform_loop(op, ScalarType::kBool);
    if (op.flags.promotes_to_common) return find_common_loop(op, inputs, any_weak);
    return find_first_safe_loop(op, inputs);
}

bool gives_only(const OpInfo& op, const LoopInfo& loop, ScalarType output) {
    return std::ranges::all_of(op.output_types(loop), [&](ScalarType type) { return type == output; });
}

// With dtype=: the loop all in this type, to which inputs cast as the caller allows, or another with this
// output to which they cast safely.
const LoopInfo* find_loop_with_output(const OpInfo& op, std::span<const OperandType> inputs,
                                      ScalarType output, Casting casting) {
    for (const LoopInfo& loop : op.loops) {
        if (!gives_only(op, loop, output)) continue;
        const auto types = op.input_types(loop);
        const bool is_uniform = std::ranges::all_of(types, [&](ScalarType type) { return type == output; });
        if (accepts(op, loop, inputs, is_uniform ? casting : Casting::kSafe)) return &loop;
    }
    return nullptr;
}

[[noreturn]] void throw_no_loop_with_output(const OpInfo& op, std::span<const OperandType> inputs,
                                            ScalarType output, Casting casting) {
    const std::string name(op.numpy_name);
    for (const LoopInfo& loop : op.loops) {
        if (op.output_types(loop)[0] != output) continue;
        for (size_t i = 0; i < inputs.size(); ++i) {
            const DType wanted(op.input_types(loop)[i]);
            if (can_cast(inputs[i], wanted, casting)) continue;
            throw UFuncTypeError("Cannot cast ufunc '" + name + "' input " +
                                 (op.nin > 1 ? std::to_string(i) + " " : "") + "from " +
                                 quoted_dtype(inputs[i].dtype) + " to " + quoted_dtype(wanted) +
                                 " with casting rule '" + std::string(casting_name(casting)) + "'");
        }
    }
    throw TypeError("No loop matching the specified signature and casting was found for ufunc " + name);
}

}  // namespace

OperandType::OperandType(WeakKind kind) : dtype(default_dtype(kind)), weak(kind) {}

Casting parse_casting(std::string_view text) {
    for (Casting casting :
         {Casting::kNo, Casting::kEquiv, Casting::kSafe, Casting::kSameKind, Casting::kUnsafe}) {
        if (text == casting_name(casting)) return casting;
    }
    throw ValueError(
        "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'same_value', or 'unsafe' (got '" +
        std::string(text) + "')");
}

std::string_view casting_name(Casting casting) {
    switch (casting) {
        case Casting::kNo: return "no";
        case Casting::kEquiv: return "equiv";
        case Casting::kSafe: return "safe";
        case Casting::kSameKind: return "same_kind";
        default: return "unsafe";
    }
}

bool can_cast(DType from, DType to, Casting casting) {
    switch (casting) {
        case Casting::kNo:
        case Casting::kEquiv: return from == to;
        case Casting::kSafe: return can_cast_safely(from, to);
        case Casting::kSameKind: return can_cast_safely(from, to) || kind_order(from) <= kind_order(to);
        default: return true;
    }
}

bool can_cast(OperandType from, DType to, Casting casting) {
    if (from.weak == WeakKind::kNone || casting == Casting::kUnsafe) return can_cast(from.dtype, to, casting);
    return weak_target_order(to) >= weak_order(from.weak);
}

DType promote_types(DType a, DType b) {
    const OperandType operands[] = {a, b};
    return result_type(operands);
}

DType result_type(std::span<const OperandType> operands) {
    if (operands.empty()) throw ValueError("at least one array or dtype is required");
    // Pairwise promotion would depend on the order: int8 and uint8 make int16, which float16 does not hold.
    const auto holds_all = [&](const DTypeInfo& candidate) {
        return std::ranges::all_of(operands, [&](const OperandType& operand) {
            return operand.weak != WeakKind::kNone ||
                   can_cast_safely(operand.dtype, DType(candidate.scalar_type));
        });
    };
    WeakKind weak = WeakKind::kNone;
    bool all_weak = true;
    for (const OperandType& operand : operands) {
        weak = std::max(weak, operand.weak);
        all_weak &= operand.weak != WeakKind::kNone;
    }
    if (all_weak) return default_dtype(weak);
    const DType strong(std::ranges::find_if(DType::all(), holds_all)->scalar_type);
    return weak == WeakKind::kNone ? strong : promote_with_weak(strong, weak);
}

const LoopInfo& resolve_loop(const OpInfo& op, std::span<const OperandType> inputs,
                             std::optional<DType> signature_output, Casting casting) {
    WEFT_CHECK(inputs.size() == op.nin, std::string(op.name) + " called with another number of inputs");
    const LoopInfo* loop = find_promoted_loop(op, inputs);
    if (signature_output) {
        const ScalarType output = signature_output->scalar_type();
        if (loop == nullptr || !gives_only(op, *loop, output))
            loop = find_loop_with_output(op, inputs, output, casting);
        if (loop == nullptr) throw_no_loop_with_output(op, inputs, output, casting);
    }
    if (loop == nullptr) throw_no_loop(op, inputs);
    prepare_loop(op, *loop);
    return *loop;
}

void check_output_cast(const OpInfo& op, int output, DType loop_type, DType out_type, Casting casting) {
    if (can_cast(loop_type, out_type, casting)) return;
    const std::string which = op.nout > 1 ? std::to_string(output + op.nin) + " " : "";
    throw UFuncTypeError("Cannot cast ufunc '" + std::string(op.numpy_name) + "' output " + which + "from " +
                         quoted_dtype(loop_type) + " to " + quoted_dtype(out_type) + " with casting rule '" +
                         std::string(casting_name(casting)) + "'");
}

namespace {

struct IntegerRange {
    WideInteger lowest;
    WideInteger highest;
};

IntegerRange range_of(DType dtype) {
    const int bits = static_cast<int>(8 * dtype.itemsize());
    const WideInteger one = 1;
    if (dtype.is_unsigned_integer()) return {0, (one << bits) - 1};
    return {-(one << (bits - 1)), (one << (bits - 1)) - 1};
}

std::string decimal(WideInteger value) {
    if (value == 0) return "0";
    const bool is_negative = value < 0;
    std::string digits;
    for (; value != 0; value /= 10) {
        const int digit = static_cast<int>(value % 10);
        digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    }
    if (is_negative) digits += '-';
    return {digits.rbegin(), digits.rend()};
}

}  // namespace

bool python_int_fits(WideInteger value, DType dtype) {
    if (!dtype.is_integer()) return true;
    const IntegerRange range = range_of(dtype);
    return value >= range.lowest && value <= range.highest;
}

void check_python_int_fits(WideInteger value, DType dtype, std::string_view text) {
    if (python_int_fits(value, dtype)) return;
    // NumPy reads it as a C long first; as an unsigned one for the types that need it.
    const WideInteger largest = dtype.is_unsigned_integer() && dtype.itemsize() >= 4
                                    ? static_cast<WideInteger>(UINT64_MAX)
                                    : static_cast<WideInteger>(INT64_MAX);
    if (value > largest || value < INT64_MIN)
        throw OverflowError("Python int too large to convert to C long");
    throw OverflowError("Python integer " + (text.empty() ? decimal(value) : std::string(text)) +
                        " out of bounds for " + std::string(dtype.name()));
}

std::optional<bool> compare_with_out_of_range(OpId comparison, WideInteger value, DType dtype,
                                              bool scalar_on_left) {
    if (python_int_fits(value, dtype)) return std::nullopt;
    const bool scalar_is_greater = value > 0;
    const bool left_is_greater = scalar_is_greater == scalar_on_left;
    switch (comparison) {
        case OpId::kEqual: return false;
        case OpId::kNotEqual: return true;
        case OpId::kLess:
        case OpId::kLessEqual: return !left_is_greater;
        case OpId::kGreater:
        case OpId::kGreaterEqual: return left_is_greater;
        default: return std::nullopt;
    }
}

namespace {

// Loops found before, by operation and the types of two operands; a type is a ScalarType or a weak kind.
constexpr size_t kTypeCodes = kScalarTypeCount + 4;
using LoopCache = std::vector<std::array<std::array<std::atomic<const LoopInfo*>, kTypeCodes>, kTypeCodes>>;

size_t type_code(const OperandType& type) {
    return type.weak == WeakKind::kNone ? static_cast<size_t>(type.dtype.scalar_type())
                                        : kScalarTypeCount + static_cast<size_t>(type.weak);
}

}  // namespace

const LoopInfo& find_loop_cached(const OpInfo& op, std::span<const OperandType> inputs) {
    static LoopCache cache(op_table().size());  // entries are written once each, with equal values
    std::span<const OperandType> keys = inputs;
    if (inputs.size() == 3 && type_code(inputs[0]) == static_cast<size_t>(ScalarType::kBool))
        keys = inputs.subspan(1);  // choosing by a mask
    if (keys.size() > 2 || op.defined != nullptr) return resolve_loop(op, inputs);
    const size_t first = type_code(keys[0]), second = keys.size() == 2 ? type_code(keys[1]) : kTypeCodes - 4;
    auto& entry = cache[static_cast<size_t>(op.id)][first][second];
    const LoopInfo* loop = entry.load(std::memory_order_relaxed);
    if (loop == nullptr) {
        loop = &resolve_loop(op, inputs);
        entry.store(loop, std::memory_order_relaxed);
    }
    return *loop;
}

ReductionTypes resolve_reduction(ReductionId reduction, DType input, std::optional<DType> dtype) {
    const ReductionInfo& info = reduction_info(reduction);
    const OpInfo& combine = op_info(info.combine);
    DType compute = dtype.value_or(input);
    DType result = compute;
    switch (info.kind) {
        case ReductionKind::kWide:
            if (!dtype && (input.is_bool() || input.is_signed_integer())) compute = ScalarType::kInt64;
            if (!dtype && input.is_unsigned_integer()) compute = ScalarType::kUInt64;
            result = compute;
            break;
        case ReductionKind::kBool: compute = result = ScalarType::kBool; break;
        case ReductionKind::kIndex:
            compute = input;
            result = ScalarType::kInt64;
            break;
        case ReductionKind::kDeviations:
            result = input == ScalarType::kFloat32 || input.is_half_float() ? ScalarType::kFloat32
                                                                            : ScalarType::kFloat64;
            if (dtype) result = *dtype;
            compute = ScalarType::kFloat64;
            break;
        case ReductionKind::kSame: break;
    }
    const LoopInfo* loop = find_uniform_loop(combine, compute);
    if (loop == nullptr) {
        const OperandType operands[] = {compute, compute};
        loop = &resolve_loop(combine, operands);
    }
    return {compute, result, loop};
}

}  // namespace weft
