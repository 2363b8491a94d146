// What the programs that order elements on GPUs (library/ordering/cuda) have to know of a type.
#pragma once

#include <cstdint>

#include "library/ordering/cuda/kernel_arguments.h"
#include "weft/dtype.h"

namespace weft {

struct OrderedType {
    int64_t bytes;
    uint64_t kind, infinity;  // see order_words.h
};

inline OrderedType ordered_type(ScalarType type) {
    const int64_t bytes = DType(type).itemsize();
    switch (type) {
        case ScalarType::kBool: return {bytes, gpu::kOrderBool, 0};
        case ScalarType::kInt8:
        case ScalarType::kInt16:
        case ScalarType::kInt32:
        case ScalarType::kInt64: return {bytes, gpu::kOrderSigned, 0};
        case ScalarType::kFloat16: return {bytes, gpu::kOrderFloat, 0x7c00};
        case ScalarType::kBFloat16: return {bytes, gpu::kOrderFloat, 0x7f80};
        case ScalarType::kFloat32: return {bytes, gpu::kOrderFloat, 0x7f800000};
        case ScalarType::kFloat64: return {bytes, gpu::kOrderFloat, 0x7ff0000000000000};
        case ScalarType::kComplex64: return {bytes, gpu::kOrderComplex, 0x7f800000};
        case ScalarType::kComplex128: return {bytes, gpu::kOrderComplex, 0x7ff0000000000000};
        default: return {bytes, gpu::kOrderUnsigned, 0};
    }
}

}  // namespace weft
