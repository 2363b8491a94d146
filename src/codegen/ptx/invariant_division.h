// Quotients of float32 by what a loop does not change, on GPUs: the divisor's reciprocal is computed before
// the loop, in float64, and each quotient is a product. It is the nearest number all the same.
//
// The reciprocal and the product are each off by at most 2**-53 of themselves, together by less than
// 2**-51.9. A quotient of two numbers of 24 bits is never the middle of two neighbours of 24 bits, M of 25
// bits and odd, since M would divide the dividend; being no such middle, it is at least 1 / (M * divisor), or
// 2**-49 of itself, away from one. So the product lies on the same side of each middle as the quotient and is
// rounded to the same number. Where the result is not normal, numbers have fewer bits: there, which is rare,
// all is divided.
#pragma once

#include <llvm/IR/Module.h>

namespace weft::codegen {

// Of all functions of a module, after operations were inlined.
void multiply_by_reciprocals(llvm::Module& module);

}  // namespace weft::codegen
