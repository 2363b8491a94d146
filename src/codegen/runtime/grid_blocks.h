// The blocks of a CUDA-style kernel's grid on the CPU, where they wait for each other (grid.sync()): fibers,
// which the pool's threads run until all have come to the grid's barrier, and again from there. A block may
// go on on another thread than it came on.
#pragma once

#include <cstdint>

#include "codegen/runtime/spread.h"

namespace weft::codegen {

inline constexpr const char* kGridBarrier = "weft_grid_barrier";
inline constexpr int64_t kMostBlocksTogether = int64_t{1} << 15;

// What the host makes around a call whose blocks wait for each other: the first spread in it runs each
// iteration, a block, as a fiber.
class GridScope {
public:
    GridScope();
    ~GridScope();
    GridScope(const GridScope&) = delete;
    GridScope& operator=(const GridScope&) = delete;

    // Whether there is one, which is then taken: spreads inside of blocks are as usual.
    static bool take();

private:
    bool outer_;
};

// As spread(), each iteration a chunk. Throws MemoryError without memory for the stacks, and what a pause
// point throws.
int64_t spread_blocks(SpreadBody body, const void* captures, int64_t size, char* error, int64_t error_bytes);

// Whether the caller is in such a block; and until all blocks that have not ended are here: 0, or what the
// function has to return.
bool is_in_grid();
int64_t wait_for_grid();

}  // namespace weft::codegen
