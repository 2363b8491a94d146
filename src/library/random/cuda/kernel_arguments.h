// The arguments of the kernels that draw numbers of a stream on GPUs, each of as many units as it happens to
// take (kernels/draw_tiles.h): read by the kernels as they are, made by api/random/draw_on_gpu.cpp. Units are
// words of 64 bits, or halves of them.
#pragma once

#include <cstdint>

namespace weft::gpu {

constexpr uint32_t kDrawThreads = 256;
constexpr uint32_t kDrawTile = 4096;  // units of a block
// Units of a tile that a draw before it takes; one that would take more is left to the CPU.
constexpr uint32_t kOvershoots = 32;
constexpr uint32_t kDrawMemoryBytes = 30 << 10;  // of a block

struct DrawArguments {
    uint64_t output, count;  // numbers
    uint64_t header;         // DrawHeader, zeros before
    uint64_t tails, most_tails;
    uint64_t begins, tables;  // of each tile, zeros before: what tiles publish
    uint64_t skipped;         // units before the first one
    // PCG: the state that shows the first word, what the step from it adds, the increment of a step and of
    // as many steps as a warp has lanes; low words first. Philox: counter and key.
    uint64_t stream[8];
    uint64_t low, integers,
        least;  // of an interval: its first one, how many there are, see draw_integers_program.cpp
};

struct DrawHeader {
    uint64_t end;     // units up to the end of the last number, those skipped included
    uint64_t tails;   // numbers in the tail
    uint64_t failed;  // the CPU has to draw: something is too close to decide, or there is too much of it
    uint64_t tickets;
};

// A number in the tail, whose logarithm is the host's: the unit that says how far it is, whose lowest bit
// is the sign.
struct DrawTail {
    uint64_t index, unit;
};

// Values for the numbers in the tail, which are at those places of the output.
struct DrawPlaceArguments {
    uint64_t output, tails, values, count;
};

}  // namespace weft::gpu
