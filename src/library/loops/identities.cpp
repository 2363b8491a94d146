#include "library/loops/identities.h"

#include <cmath>
#include <limits>

#include "core/complex.h"
#include "ops/defined.h"
#include "weft/errors.h"

namespace weft {

namespace {

template <class T>
Constant extreme(ScalarType type, bool maximum) {
    // the neutral element of maximum is the least value
    if constexpr (std::numeric_limits<T>::has_infinity) {
        const T infinity = std::numeric_limits<T>::infinity();
        return Constant::of(type, maximum ? static_cast<T>(-infinity) : infinity);
    } else {
        return Constant::of(type, maximum ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
    }
}

Constant extreme_of(ScalarType type, bool maximum) {
    const double infinity = maximum ? -HUGE_VAL : HUGE_VAL;
    switch (type) {
        case ScalarType::kBool: return Constant::of(type, static_cast<uint8_t>(maximum ? 0 : 1));
        case ScalarType::kInt8: return extreme<int8_t>(type, maximum);
        case ScalarType::kUInt8: return extreme<uint8_t>(type, maximum);
        case ScalarType::kInt16: return extreme<int16_t>(type, maximum);
        case ScalarType::kUInt16: return extreme<uint16_t>(type, maximum);
        case ScalarType::kInt32: return extreme<int32_t>(type, maximum);
        case ScalarType::kUInt32: return extreme<uint32_t>(type, maximum);
        case ScalarType::kInt64: return extreme<int64_t>(type, maximum);
        case ScalarType::kUInt64: return extreme<uint64_t>(type, maximum);
        case ScalarType::kFloat16: return Constant::of(type, static_cast<Half>(infinity));
        case ScalarType::kBFloat16: return Constant::of(type, static_cast<BFloat16>(infinity));
        case ScalarType::kFloat32: return Constant::of(type, static_cast<float>(infinity));
        case ScalarType::kFloat64: return Constant::of(type, infinity);
        case ScalarType::kComplex64: {
            const auto part = static_cast<float>(infinity);
            return Constant::of(type, Complex<float>{part, part});
        }
        case ScalarType::kComplex128: return Constant::of(type, Complex<double>{infinity, infinity});
    }
    throw InternalError("unknown scalar type");
}

Constant number(ScalarType type, double value) {
    switch (type) {
        case ScalarType::kBool: return Constant::of(type, static_cast<uint8_t>(value != 0));
        case ScalarType::kInt8:
        case ScalarType::kUInt8: return Constant::of(type, static_cast<int8_t>(value));
        case ScalarType::kInt16:
        case ScalarType::kUInt16: return Constant::of(type, static_cast<int16_t>(value));
        case ScalarType::kInt32:
        case ScalarType::kUInt32: return Constant::of(type, static_cast<int32_t>(value));
        case ScalarType::kInt64:
        case ScalarType::kUInt64: return Constant::of(type, static_cast<int64_t>(value));
        case ScalarType::kFloat16: return Constant::of(type, static_cast<Half>(value));
        case ScalarType::kBFloat16: return Constant::of(type, static_cast<BFloat16>(value));
        case ScalarType::kFloat32: return Constant::of(type, static_cast<float>(value));
        case ScalarType::kFloat64: return Constant::of(type, value);
        case ScalarType::kComplex64:
            return Constant::of(type, Complex<float>{static_cast<float>(value), static_cast<float>(value)});
        case ScalarType::kComplex128: return Constant::of(type, Complex<double>{value, value});
    }
    throw InternalError("unknown scalar type");
}

}  // namespace

Constant negative_zero(ScalarType type) { return number(type, -0.0); }

Constant all_bits(ScalarType type) { return number(type, -1); }

Constant neutral_element(Neutral neutral, ScalarType type) {
    switch (neutral) {
        case Neutral::kZero: return number(type, 0.0);
        case Neutral::kOne: return number(type, 1);
        case Neutral::kLeast: return extreme_of(type, true);
        case Neutral::kGreatest: return extreme_of(type, false);
        case Neutral::kAllBits: return all_bits(type);
        case Neutral::kNone: break;
    }
    throw InternalError("an operation without a neutral element");
}

// A sum of -0 is +0, as in NumPy.
Constant neutral_element(const ReductionInfo& reduction, ScalarType compute) {
    if (const DefinedReduction* defined = defined_reduction(reduction)) return defined->start;
    return neutral_element(op_info(reduction.combine).facts.neutral, compute);
}

}  // namespace weft
