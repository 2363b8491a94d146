// A Fourier transform of an array along axes, as every function of weft/fft.h asks for it. By the array's
// device it is done by src/library/fft/.
#pragma once

#include "library/fft/transform.h"
#include "weft/array.h"
#include "weft/fft.h"

namespace weft {

struct FourierCall {
    // kComplex, kRealToComplex, kComplexToReal (these along the last of the axes), kCosine or kSine.
    TransformKind kind = TransformKind::kComplex;
    bool forward = true;
    bool orthogonal = false;  // of cosines and sines
    int type = 2;
    double scale = 1.0;
    Dims axes;     // that are there, from 0, each once
    Dims lengths;  // of the transforms along them, at least 1
};

// `input` has a dtype that the kind of transform has: float32, float64, complex64 or complex128.
array fourier_transform(const array& input, const FourierCall& call);

// The dtype that an input of `dtype` is transformed in: float32 or float64, or complex of these.
DType fourier_dtype(DType dtype);
// The complex numbers whose parts are float32 or float64.
inline DType complex_of(DType real) {
    return real == DType(ScalarType::kFloat32) ? ScalarType::kComplex64 : ScalarType::kComplex128;
}

}  // namespace weft
