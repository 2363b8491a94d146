// Facts about single operations that planning, lowering and the look for floating-point errors need: columns
// of src/ops/op_table.toml, whose first lines explain them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "weft/dtype.h"

namespace weft {

/// What changes no operand that it is combined with.
enum class Neutral : uint8_t { kNone, kZero, kOne, kLeast, kGreatest, kAllBits };

/// Where a floating-point result is infinite because the operation has a pole there.
enum class Pole : uint8_t { kNone, kZero, kZeroDivisor, kZeroBase, kMinusOne, kOne };

/// When a result below the normal numbers is inexact.
enum class TinyResult : uint8_t {
    kExact,
    kProduct,
    kSquare,
    kQuotient,
    kReciprocal,
    kInexact,
    kPowerOfTwo,
    kPower,
    kUnlessZero,
    kUnlessAnyZero,
    kNeighbour,
    kScaled,
};

/// How the interval of an integer result follows from those of the operands.
enum class RangeRule : uint8_t {
    kUnknown,
    kSame,
    kNegated,
    kAbsolute,
    kSum,
    kDifference,
    kProduct,
    kMinimum,
    kMaximum,
    kRemainder,
    kQuotient,
    kBitsAnd,
    kClip,
    kSelect,
};

/// What a pair of 16-bit halves in one register of a GPU is computed from: halves that are right in the bits
/// of their element, or halves that are its value.
enum class PackedHalves : uint8_t { kNone, kBits, kValues };

/// The machine's instruction that combines a value into memory.
enum class AtomicInstruction : uint8_t { kNone, kAdd, kAnd, kOr, kXor, kMax, kMin };

class ScalarTypeSet {
public:
    constexpr ScalarTypeSet() = default;
    constexpr ScalarTypeSet(std::initializer_list<ScalarType> types) {
        for (const ScalarType type : types) bits_ |= uint32_t{1} << static_cast<uint32_t>(type);
    }
    constexpr bool has(ScalarType type) const { return (bits_ >> static_cast<uint32_t>(type) & 1) != 0; }

private:
    uint32_t bits_ = 0;
};

struct OpFacts {
    Neutral neutral = Neutral::kNone;
    Pole pole = Pole::kNone;
    TinyResult tiny = TinyResult::kExact;
    RangeRule range = RangeRule::kUnknown;
    PackedHalves packs16 = PackedHalves::kNone;
    AtomicInstruction atomic = AtomicInstruction::kNone;
    ScalarTypeSet scan = {};  // types whose running results are combined in blocks
};

}  // namespace weft
