// SLEEF's deterministic scalar functions under names that overload: sleef::log(double), sleef::log(float). In
// a vectorised loop the kernel compiler replaces a call by the vector function with the same bits (op.h,
// vector_math_functions).
//
// rarely::sin(is_rare, x, usual) is sleef::sin(x) for rare arguments, and `usual` for the others: a branch.
// With WEFT_BRANCHES_LATER it is a call, which vectorises as such and then becomes a branch around SLEEF's
// vector function, taken where any element of a vector is rare (codegen/llvm/vector_math.h).
#pragma once

#include "ops/scalar/types.h"

#define WEFT_ARGUMENTS_1(type) type
#define WEFT_ARGUMENTS_2(type) type, type
#define WEFT_VECTOR_MATH(symbol, called, name, accuracy, type, arguments)                     \
    extern "C" __attribute__((const)) type symbol(WEFT_ARGUMENTS_##arguments(type)) noexcept; \
    extern "C" __attribute__((const)) type weft_rarely_##symbol(                              \
        bool is_rare, WEFT_ARGUMENTS_##arguments(type), type usual) noexcept;
#include "ops/vector_math.inc"
#undef WEFT_VECTOR_MATH
#undef WEFT_ARGUMENTS_1
#undef WEFT_ARGUMENTS_2

namespace weft::scalar::inline WEFT_ISA {

#define WEFT_PARAMETERS_1(type) type x
#define WEFT_PARAMETERS_2(type) type x, type y
#define WEFT_PASSED_1 x
#define WEFT_PASSED_2 x, y

namespace sleef {
#define WEFT_VECTOR_MATH(symbol, called, name, accuracy, type, arguments) \
    inline type called(WEFT_PARAMETERS_##arguments(type)) { return symbol(WEFT_PASSED_##arguments); }
#include "ops/vector_math.inc"
#undef WEFT_VECTOR_MATH
}  // namespace sleef

namespace rarely {
#if defined(WEFT_BRANCHES_LATER)
#define WEFT_RARELY(symbol, arguments) weft_rarely_##symbol(is_rare, WEFT_PASSED_##arguments, usual)
#else
#define WEFT_RARELY(symbol, arguments) \
    __builtin_expect(is_rare, false) ? symbol(WEFT_PASSED_##arguments) : usual
#endif
#define WEFT_VECTOR_MATH(symbol, called, name, accuracy, type, arguments)             \
    inline type called(bool is_rare, WEFT_PARAMETERS_##arguments(type), type usual) { \
        return WEFT_RARELY(symbol, arguments);                                        \
    }
#include "ops/vector_math.inc"
#undef WEFT_VECTOR_MATH
#undef WEFT_RARELY
}  // namespace rarely

#undef WEFT_PARAMETERS_1
#undef WEFT_PARAMETERS_2
#undef WEFT_PASSED_1
#undef WEFT_PASSED_2

}  // namespace weft::scalar::inline WEFT_ISA
