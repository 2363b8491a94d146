// How wide the vectors of a kernel should be where the CPU has 512 bits: decided from its IR before the
// passes.
#pragma once

#include "ir/ir.h"

namespace weft::codegen {

// 512, or 256 for kernels that do nothing but add up floats as they come from memory. They wait for memory
// or for the additions before, never for the vector units; from memory 256 bits at a time took 0.75 to 0.85
// of the time of 512 (sums of 64 MB of float32 and float16, two cores of an EPYC), 0.94 for float64, and from
// the caches the same. Sums of integers are widened as they come, others compute: they were slower.
int useful_vector_bits(const ir::Function& kernel);

}  // namespace weft::codegen
