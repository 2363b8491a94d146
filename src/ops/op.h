// The op table as C++ sees it. src/ops/op_table.toml is the table; tools/generate_ops.py turns it into the
// enumeration, the data behind `op_table()`, the loops and the bitcode. Everything that must know what
// operations there are (kernel IR, printers, bindings, stubs, tests, documentation) asks here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ops/op_facts.h"
#include "weft/dtype.h"

namespace weft {

enum class OpId : uint16_t {
#define WEFT_OP(enumerator) enumerator,
#include "ops/op_ids.inc"
#undef WEFT_OP
    kDefined  // by the program: it has no row of the table (ops/defined.h)
};

constexpr int kMaxOperands = 16;  // inputs and outputs together

/// Computes `count` elements. `data` and `strides` (in bytes) list the inputs, then the outputs. An output
/// may be exactly an input (same address, same stride) but must not overlap one otherwise; strides may be 0
/// or negative. Pointers need no alignment beyond the element's.
using StridedLoop = void (*)(char* const* data, const int64_t* strides, int64_t count);

/// One way to compute an operation: the element types, the ahead-of-time loop and the name of the function in
/// the embedded bitcode that computes one element, `void symbol(const void* in0, …, void* out0, …)`.
struct LoopInfo {
    std::array<ScalarType, kMaxOperands> types;  // inputs, then outputs
    StridedLoop loop;
    const char* symbol;
};

enum class OpKind : uint8_t {
    kArithmetic,
    kMathematical,  // exponentials, logarithms, trigonometric and other functions of analysis
    kBitwise,
    kComparison,  // gives bool
    kLogical,     // gives bool
    kFloating,    // takes floating-point numbers apart: signbit, frexp, isnan
    kSelection,   // maximum, where
};

/// What a reduction by the operation starts from when there is no element.
enum class Identity : uint8_t { kNone, kZero, kOne, kMinusOne, kMinusInfinity };

struct OpFlags {
    bool commutative : 1 = false;
    bool associative : 1 = false;  // exactly, or as NumPy's reductions take it to be (floats, by tree)
    bool idempotent : 1 = false;
    /// Integer loops: the caller must refuse negative exponents with
    /// ValueError("Integers to negative integer powers are not allowed.") before running the loop.
    bool checks_negative_exponent : 1 = false;
    /// Operands are promoted to their common type first, which must have a loop; otherwise the first loop is
    /// taken that all operands cast to safely. (They differ for Python scalars beside bool, and in messages.)
    bool promotes_to_common : 1 = false;
    /// Operands that are all integers or bool are computed in float64 (divide), however small they are.
    bool takes_integers_as_float64 : 1 = false;
    /// Of integers: a divisor of 0 is reported as a division by zero (errstate), and …
    bool divides_integers : 1 = false;
    /// … the least integer by -1 as an overflow.
    bool quotient_overflows : 1 = false;
    bool is_ufunc : 1 = true;  // numpy has a ufunc of this name; the others are weft's own (select, erf)
};

class DefinedOperation;

struct OpInfo {
    OpId id;
    std::string_view name;        // as in the table and in kernel IR: "add"
    std::string_view numpy_name;  // the ufunc's __name__, which NumPy's messages quote
    std::string_view name_space;  // where it is found, if not in NumPy's own: "scipy.special"
    uint8_t nin;
    uint8_t nout;
    OpKind kind;
    Identity identity;
    OpFlags flags;
    OpFacts facts;
    int cost;  // 1: an addition; 30: a transcendental function
    double
        max_ulp;  // largest error against the exact result, in units in the last place; 0.5: exact rounding
    std::span<const LoopInfo> loops;  // in the order in which they are tried
    std::string_view doc;
    const DefinedOperation* defined = nullptr;  // what stands behind OpId::kDefined

    std::span<const ScalarType> input_types(const LoopInfo& loop) const { return {loop.types.data(), nin}; }
    std::span<const ScalarType> output_types(const LoopInfo& loop) const {
        return {loop.types.data() + nin, nout};
    }
};

/// All operations, indexed by OpId.
std::span<const OpInfo> op_table();

const OpInfo& op_info(OpId id);

/// The operation called `name` (the table's name or a NumPy alias such as "abs" or "mod"); null if none is.
const OpInfo* find_op(std::string_view name);

/// The loop of `op` with exactly these input types; null if there is none.
const LoopInfo* find_loop(const OpInfo& op, std::span<const ScalarType> inputs);

/// The conversion of one element type to another, with NumPy's meaning; from a type to itself it copies.
const LoopInfo& cast_loop(ScalarType from, ScalarType to);

/// A scalar function of the vector math library that kernels call by name. For every `scalar_symbol` there
/// are vector functions with the same bits: `vector_symbol(function, isa)`.
struct VectorMathFunction {
    const char* scalar_symbol;  // "Sleef_finz_expd1_u10purecfma"
    const char* name;           // "exp"
    const char* accuracy;       // "u10"
    bool is_double;
    int arguments;
};
std::span<const VectorMathFunction> vector_math_functions();

/// A reduction: fold by `combine`; the type rule says in which type.
enum class ReductionId : uint8_t {
#define WEFT_REDUCTION(enumerator) enumerator,
#include "ops/reduction_ids.inc"
#undef WEFT_REDUCTION
};
constexpr size_t kReductionCount = 0
#define WEFT_REDUCTION(enumerator) +1
#include "ops/reduction_ids.inc"
#undef WEFT_REDUCTION
    ;

/// The dtypes that a reduction combines and gives; a column of the table (`types`).
enum class ReductionKind : uint8_t {
    kWide,        // integers narrower than the machine's word, and bool, in the word
    kSame,        // the operand's
    kBool,        // elements are tested first, as NumPy does
    kIndex,       // positions
    kDeviations,  // partial results are (count, mean, sum of squared distances from it), as float64
};

struct ReductionInfo {
    ReductionId id;
    std::string_view name;        // "sum"
    std::string_view numpy_name;  // the ufunc whose reduce method it is; NumPy's messages quote it
    OpId combine;                 // add, multiply, maximum, …; for argmax the comparison `greater`
    ReductionKind kind;
    bool gives_index;  // its kind is kIndex: argmax and argmin
    bool deviations;   // its kind is kDeviations
    std::string_view doc;
};
std::span<const ReductionInfo> reduction_table();
const ReductionInfo& reduction_info(ReductionId id);
const ReductionInfo* find_reduction(std::string_view name);

}  // namespace weft
