// Work done at the call, through ahead-of-time loops: small arrays whose values are host-resident, and what
// an exported storage needs. Gives the bits that compiled kernels give.
#pragma once

#include <span>
#include <vector>

#include "ops/op.h"
#include "weft/dims.h"

namespace weft {

struct StridedData {
    char* data = nullptr;
    const Dims* strides = nullptr;  // bytes, one for each dimension of the iteration shape
    ScalarType type = ScalarType::kFloat64;
};

// Runs `loop` over `shape`; operands are inputs then outputs, each converted from or to its own type. An
// output may coincide with an input element by element, or not overlap it at all.
void run_strided_loop(const OpInfo& op, const LoopInfo& loop, const Dims& shape,
                      std::span<const StridedData> operands);

// first + k * delta for each k below `count`, into dense elements.
void arange_eagerly(ScalarType type, const void* first, const void* delta, int64_t count, char* out);

void copy_eagerly(const Dims& shape, const StridedData& from, const StridedData& to);  // converts

// Reduces `input` over the dimensions marked in `reduced`; `output` has strides for the kept dimensions, in
// order. The combining tree is that of kernel IR's reduce (docs/reference/kernel-ir.md).
void reduce_eagerly(const ReductionInfo& reduction, ScalarType compute, const Dims& shape,
                    const std::vector<bool>& reduced, const StridedData& input, const StridedData& output);

}  // namespace weft
