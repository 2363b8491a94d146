// A discrete Fourier transform, or a cosine or sine transform, along one axis of elements in memory: what
// every transform of an array is made of. src/api/fft/ makes these; src/library/fft/cpu/ carries them out.
#pragma once

#include <cstdint>

#include "weft/dims.h"

namespace weft {

enum class TransformKind : uint8_t {
    kComplex,        // complex numbers to complex numbers
    kRealAsComplex,  // real numbers to complex numbers, all of them
    kRealToComplex,  // real numbers to the first half of their transform, length / 2 + 1 numbers
    kComplexToReal,  // the opposite; what is missing is taken to be the conjugate
    kCosine,         // real numbers to real numbers: types 1 to 4
    kSine,
};

struct AxisTransform {
    TransformKind kind = TransformKind::kComplex;
    bool forward = true;         // the exponent has a minus
    bool is_double = true;       // float64 and complex128, else float32 and complex64
    bool orthogonal = false;     // of cosines and sines: their matrix is to be orthogonal
    int type = 2;                // of cosines and sines
    double scale = 1.0;          // multiplies the results
    int64_t length = 0;          // of the transform, on its side of more numbers
    int64_t filled = 0;          // numbers that a row has in memory at most; those behind are zeros
    const char* from = nullptr;  // not in what is written, but for rows that are written where they are read
    char* to = nullptr;
    int64_t from_stride = 0, to_stride = 0;  // bytes, along the axis
    Dims rows, from_strides, to_strides;     // of the other axes
};

// Does it, on weft's threads: the same bits for any number of them, and wherever a row lies. Throws
// std::bad_alloc.
void transform_axis(const AxisTransform& transform);

// The same of one row, by the calling thread.
void transform_row(const AxisTransform& transform);

}  // namespace weft
