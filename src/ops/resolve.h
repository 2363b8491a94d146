// Which loop an operation runs on which operands: NumPy 2's promotion (NEP 50), casting rules, and the errors
// of both with NumPy's types and words.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ops/op.h"
#include "weft/dtype.h"

namespace weft {

/// A Python int, float or complex takes the other operand's type where its kind allows (NEP 50). A Python
/// bool is an ordinary bool.
enum class WeakKind : uint8_t { kNone, kInt, kFloat, kComplex };

struct OperandType {
    DType dtype;  // of a weak operand: what it is by itself (int64, float64, complex128)
    WeakKind weak = WeakKind::kNone;

    OperandType(DType type) : dtype(type) {}  // implicit: most operands are arrays
    OperandType(ScalarType type) : dtype(type) {}
    OperandType(WeakKind kind);
};

/// As many types, since OperandType has no default.
template <size_t count>
std::array<OperandType, count> filled_types() {
    return []<size_t... k>(std::index_sequence<k...>) {
        return std::array<OperandType, count>{(static_cast<void>(k), OperandType(ScalarType::kBool))...};
    }(std::make_index_sequence<count>());
}

/// "safe" and so on; throws ValueError as NumPy does for other text.
Casting parse_casting(std::string_view text);
std::string_view casting_name(Casting casting);

bool can_cast(DType from, DType to, Casting casting = Casting::kSafe);

/// As above for a Python scalar, by its kind alone (its value is checked by `check_python_int_fits`).
bool can_cast(OperandType from, DType to, Casting casting = Casting::kSafe);

DType promote_types(DType a, DType b);
DType result_type(std::span<const OperandType> operands);

/// The loop that NumPy would run for `op` on these inputs. Throws UFuncTypeError when there is none.
/// `signature_output` is what `dtype=` asks for: the type of the (first) output.
const LoopInfo& resolve_loop(const OpInfo& op, std::span<const OperandType> inputs,
                             std::optional<DType> signature_output = std::nullopt,
                             Casting casting = Casting::kSameKind);

/// The same without options, for calls that repeat: a look into a table for up to two inputs.
const LoopInfo& find_loop_cached(const OpInfo& op, std::span<const OperandType> inputs);

/// Throws UFuncTypeError, in NumPy's words, unless an output of `loop_type` may be stored in `out_type`.
void check_output_cast(const OpInfo& op, int output, DType loop_type, DType out_type,
                       Casting casting = Casting::kSameKind);

/// Integers from Python, wide enough to hold any that fits a dtype; larger ones are clamped by the caller to
/// ±2**100, who passes their text for the message.
using WideInteger = __int128;

bool python_int_fits(WideInteger value, DType dtype);

/// Throws OverflowError("Python integer 300 out of bounds for uint8") if an integer dtype cannot hold
/// `value`.
void check_python_int_fits(WideInteger value, DType dtype, std::string_view text = {});

/// NumPy compares an array of integers with any Python int by value. If `value` lies outside of `dtype`'s
/// range, the answer, the same for every element; otherwise nothing: convert and compare. `scalar_on_left`
/// tells `300 < array` from `array < 300`.
std::optional<bool> compare_with_out_of_range(OpId comparison, WideInteger value, DType dtype,
                                              bool scalar_on_left);

/// The types of a reduction over elements of `input`: what it accumulates in and what it returns. `dtype` is
/// the caller's dtype= argument. Throws UFuncTypeError where NumPy does.
struct ReductionTypes {
    DType compute;  // elements are cast to this and combined in it, by `loop`
    DType result;
    const LoopInfo* loop;  // of ReductionInfo::combine on compute
};
ReductionTypes resolve_reduction(ReductionId reduction, DType input,
                                 std::optional<DType> dtype = std::nullopt);

}  // namespace weft
