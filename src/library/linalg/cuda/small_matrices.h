// What the programs for small matrices have in common (factors_program.cpp, spectra_program.cpp): a thread
// has a matrix. WEFT_KIND says what is found, WEFT_BITS how wide a number is, WEFT_ROWS how many rows there
// are at most. Up to 4, all matrices are squares of so many, and the compiler keeps one in registers.
#pragma once

#include "library/gpu/threads.h"
#include "library/linalg/batched/lanes.h"

// The entry has the program's name.
#define WEFT_JOIN_(a, b, c) weft_##a##_##b##_##c
#define WEFT_JOIN(a, b, c) WEFT_JOIN_(a, b, c)
#define WEFT_SMALL_KERNEL(Words, threads) \
    WEFT_GPU_KERNEL(WEFT_JOIN(WEFT_KIND, WEFT_BITS, WEFT_ROWS), Words, threads, 1)

namespace {

using namespace weft::gpu;
using namespace weft::batched;

#if WEFT_BITS == 64
using T = double;
#else
using T = float;
#endif
using L = Lanes<T, 1>;
using Index = L::Index;

constexpr int kMost = WEFT_ROWS;

}  // namespace
