// How divide and conquer of tridiagonal and of bidiagonal matrices is cut, alike for both.
#pragma once

#include <cstdint>

namespace weft::lapack {

constexpr int64_t kLeaf = 32;     // rows at most of what QR iterations solve
constexpr int64_t kAlone = 192;   // rows of the joints that are tasks; the threads share a larger one
constexpr int64_t kRoots = 16;    // of a secular equation, a task
constexpr int64_t kRows = 64;     // of the correction of its vector, a task
constexpr int64_t kColumns = 70;  // of the product of vectors, a task

}  // namespace weft::lapack
