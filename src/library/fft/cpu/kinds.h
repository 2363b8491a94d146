// Every kind of AxisTransform, for one instruction set.
#pragma once

#include "library/fft/cpu/chirp.h"

namespace weft::WEFT_VECTORS {

namespace {

template <class T>
void transform_numbers(const AxisTransform& t, bool in_parallel) {
    const bool is_real = t.kind == TransformKind::kCosine || t.kind == TransformKind::kSine;
    if (!is_real && t.length >= kLongRow && transform_long_rows<T>(t)) return;
    switch (t.kind) {
        case TransformKind::kComplex: return transform<ComplexWork<T>>(t, in_parallel);
        case TransformKind::kRealAsComplex: return transform<RealToComplexWork<T, true>>(t, in_parallel);
        case TransformKind::kRealToComplex: return transform<RealToComplexWork<T, false>>(t, in_parallel);
        case TransformKind::kComplexToReal: return transform<ComplexToRealWork<T>>(t, in_parallel);
        case TransformKind::kCosine:
        case TransformKind::kSine: break;
    }
    switch (t.type) {
        case 1:
            if (t.kind == TransformKind::kCosine)
                return transform<RealWork<T, ducc::detail_fft::T_dct1<T>>>(t, in_parallel);
            return transform<RealWork<T, ducc::detail_fft::T_dst1<T>>>(t, in_parallel);
        case 4: return transform<RealWork<T, ducc::detail_fft::T_dcst4<T>>>(t, in_parallel);
        default: return transform<RealWork<T, ducc::detail_fft::T_dcst23<T>>>(t, in_parallel);
    }
}

}  // namespace

void transform_rows(const AxisTransform& t, bool in_parallel) {
    if (t.is_double)
        transform_numbers<double>(t, in_parallel);
    else
        transform_numbers<float>(t, in_parallel);
}

}  // namespace weft::WEFT_VECTORS
