// One loop, built as LLVM IR at run time, compiled and called: the shortest way through the code generator,
// kept as the proof that the toolchain stands.
#pragma once

#include <cstdint>
#include <span>

namespace weft::codegen {

// Compiles `out[i] = 2 * a[i] + b[i]` over doubles and runs it. The spans have one length.
void run_first_loop(std::span<const double> a, std::span<const double> b, std::span<double> out);

}  // namespace weft::codegen
