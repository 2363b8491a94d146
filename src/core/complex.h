// Element types that C++ has no portable name for, as plain data: `Complex<T>` is two reals side by side, as
// in NumPy's buffers (std::complex is avoided: its operators follow C99's annex G through library calls),
// and `Half` is IEEE binary16. Freestanding: kernels compiled to bitcode include it.
#pragma once

#include "core/bfloat16.h"

namespace weft {

using Half = _Float16;

template <typename T>
struct alignas(T) Complex {
    T re;
    T im;

    friend constexpr bool operator==(const Complex&, const Complex&) = default;
};

static_assert(sizeof(Half) == 2);
static_assert(sizeof(Complex<float>) == 8 && alignof(Complex<float>) == 4);
static_assert(sizeof(Complex<double>) == 16 && alignof(Complex<double>) == 8);

}  // namespace weft
