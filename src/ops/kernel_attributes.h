// How kernels are declared, and the helpers of their loops: what calls them always has them inlined.
#pragma once

#define WEFT_KERNEL inline __attribute__((always_inline))
