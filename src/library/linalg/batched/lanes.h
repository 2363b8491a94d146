// The numbers of the algorithms in this folder: a vector with one lane for each matrix, or one number where a
// thread has a matrix. Included by files that set an instruction set before, as everything of these files: so
// it has internal linkage.
#pragma once

#include <cstdint>

namespace weft::batched {
namespace {

template <class T>
struct Format;
template <>
struct Format<float> {
    using Word = int32_t;
    static constexpr int kMantissa = 23, kExponents = 0xff, kBias = 127;
    static constexpr float kEpsilon = 0x1p-24F;
    static constexpr float kLeastNormal = 0x1p-126F;
    static constexpr float kQuietNan = __builtin_nanf("");
};
template <>
struct Format<double> {
    using Word = int64_t;
    static constexpr int kMantissa = 52, kExponents = 0x7ff, kBias = 1023;
    static constexpr double kEpsilon = 0x1p-53;
    static constexpr double kLeastNormal = 0x1p-1022;
    static constexpr double kQuietNan = __builtin_nan("");
};

// Values, the integers and the masks that go with them, and what is not written the same for one number.
template <class T, int kLanes>
struct Lanes {
    using Element = T;
    using Word = typename Format<T>::Word;
    static constexpr int kCount = kLanes;
    typedef T Value __attribute__((ext_vector_type(kLanes)));
    typedef Word Index __attribute__((ext_vector_type(kLanes)));
    using Mask = Index;
    static Value select(Mask mask, Value a, Value b) { return mask < 0 ? a : b; }
    static Index choose(Mask mask, Index a, Index b) { return mask < 0 ? a : b; }
    static bool any(Mask mask) { return __builtin_reduce_or(mask) < 0; }
    static int most(Index index) { return static_cast<int>(__builtin_reduce_max(index)); }
    static Mask nowhere() { return Mask(0); }
};

template <class T>
struct Lanes<T, 1> {
    using Element = T;
    using Word = typename Format<T>::Word;
    static constexpr int kCount = 1;
    using Value = T;
    using Index = Word;
    using Mask = bool;
    static Value select(Mask mask, Value a, Value b) { return mask ? a : b; }
    static Index choose(Mask mask, Index a, Index b) { return mask ? a : b; }
    static bool any(Mask mask) { return mask; }
    static int most(Index index) { return static_cast<int>(index); }
    static Mask nowhere() { return false; }
};

// A size that the compiler knows.
template <int kSize>
struct Fixed {
    static constexpr int kKnown = kSize;
    constexpr operator int() const { return kSize; }  // NOLINT(google-explicit-constructor): is a number
};
// One that it does not.
struct Any {
    static constexpr int kKnown = 0;
    int size;
    operator int() const { return size; }  // NOLINT(google-explicit-constructor)
};

template <class V>
inline V fma(V a, V b, V c) {
    return __builtin_elementwise_fma(a, b, c);
}
template <class V>
inline V absolute(V a) {
    return __builtin_elementwise_abs(a);
}
template <class V>
inline V square_root(V a) {
    return __builtin_elementwise_sqrt(a);
}

template <class L>
inline typename L::Value larger(typename L::Value a, typename L::Value b) {
    return L::select(a < b, b, a);
}

// The power of two that brings numbers as large as `most` near 2^power, and one over it: both are normal.
template <class L>
inline void scale_to(typename L::Value most, int power, typename L::Value& scale,
                     typename L::Value& inverse) {
    using F = Format<typename L::Element>;
    using Index = typename L::Index;
    using Value = typename L::Value;
    const Index exponent = (__builtin_bit_cast(Index, most) >> F::kMantissa) & Index(F::kExponents);
    Index field = Index(2 * F::kBias + power) - exponent;
    field = L::choose(field < Index(1), Index(1), field);
    field = L::choose(field > Index(2 * F::kBias - 1), Index(2 * F::kBias - 1), field);
    scale = __builtin_bit_cast(Value, field << F::kMantissa);
    inverse = __builtin_bit_cast(Value, (Index(2 * F::kBias) - field) << F::kMantissa);
}

// A finite number other than zero as a number from 1 to 2 (with its sign), and a power of two that is added
// to `exponent`. Others remain what they are.
template <class L>
inline typename L::Value split(typename L::Value x, typename L::Index& exponent) {
    using T = typename L::Element;
    using F = Format<T>;
    using Index = typename L::Index;
    using Value = typename L::Value;
    constexpr T kUp = static_cast<T>(int64_t{1} << F::kMantissa);
    const auto small = absolute(x) < Value(F::kLeastNormal);
    x = L::select(small, x * kUp, x);
    const Index bits = __builtin_bit_cast(Index, x);
    const Index field = (bits >> F::kMantissa) & Index(F::kExponents);
    const auto special = (x == Value(0)) | (field == Index(F::kExponents));
    const Index shift = L::choose(small, Index(F::kBias + F::kMantissa), Index(F::kBias));
    exponent += L::choose(special, Index(0), field - shift);
    const Index mantissa =
        (bits & ~(Index(F::kExponents) << F::kMantissa)) | (Index(F::kBias) << F::kMantissa);
    return L::select(special, x, __builtin_bit_cast(Value, mantissa));
}

// x * 2^exponent, for any exponent.
template <class L>
inline typename L::Value scaled(typename L::Value x, typename L::Index exponent) {
    using F = Format<typename L::Element>;
    using Index = typename L::Index;
    using Value = typename L::Value;
    const Index most = Index(3 * F::kBias);
    exponent = L::choose(exponent > most, most, exponent);
    exponent = L::choose(exponent < -most, -most, exponent);
    // Three steps; only the last may round.
    for (int step = 0; step < 3; ++step) {
        const Index bound = Index(F::kBias - 1);
        Index part = L::choose(exponent > bound, bound, exponent);
        part = L::choose(part < -bound, -bound, part);
        exponent -= part;
        x *= __builtin_bit_cast(Value, (part + Index(F::kBias)) << F::kMantissa);
    }
    return x;
}

}  // namespace
}  // namespace weft::batched
