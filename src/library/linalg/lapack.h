// LAPACK, of the OpenBLAS that products use (library/products/cpu/blas.h): a table of functions for each
// element type. Matrices are in column-major order. A call runs on the calling thread alone; who calls holds
// BlasThreads.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "library/products/cpu/blas.h"

namespace weft::lapack {

template <class T>
struct RealOf {
    using Type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
    using Type = R;
};
template <class T>
using Real = typename RealOf<T>::Type;
template <class T>
constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

using Int = const int64_t*;
using Ints = int64_t*;
using Text = const char*;
using Length = size_t;
using Select = int64_t (*)();

// Of real types and of complex ones: the same names where the purpose is the same.
template <class T>
struct RealFunctions {
    using R = T;
#define WEFT_LAPACK(member, real, complex, parameters) void(*member) parameters = nullptr;
#define WEFT_LAPACK_REAL(member, name, parameters) void(*member) parameters = nullptr;
#define WEFT_LAPACK_COMPLEX(member, name, parameters)
#include "library/linalg/lapack.def"
#undef WEFT_LAPACK
#undef WEFT_LAPACK_REAL
#undef WEFT_LAPACK_COMPLEX
};
template <class T>
struct ComplexFunctions {
    using R = Real<T>;
#define WEFT_LAPACK(member, real, complex, parameters) void(*member) parameters = nullptr;
#define WEFT_LAPACK_REAL(member, name, parameters)
#define WEFT_LAPACK_COMPLEX(member, name, parameters) void(*member) parameters = nullptr;
#include "library/linalg/lapack.def"
#undef WEFT_LAPACK
#undef WEFT_LAPACK_REAL
#undef WEFT_LAPACK_COMPLEX
};
template <class T>
using Functions = std::conditional_t<is_complex<T>, ComplexFunctions<T>, RealFunctions<T>>;

// The library, which is opened when it is first asked for. Throws RuntimeError where there is none, or one
// that lacks a function.
const Blas& library();
template <class T>
const Functions<T>& functions();

}  // namespace weft::lapack
