// Runs the kernels that weft brings in C++ (library/*/cuda/*_program.cpp) on the CPU: threads of a block are
// fibers, which run until they come to a barrier or have to tell their warp something, and go on when all
// that take part have come. Blocks run one after another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::fake_driver {

using ProgramEntry = void (*)(const void* words);

// Ends the process where threads wait for what never comes.
void run_on_fibers(ProgramEntry entry, const void* words, uint32_t blocks, uint32_t threads,
                   size_t shared_bytes);

}  // namespace weft::fake_driver
