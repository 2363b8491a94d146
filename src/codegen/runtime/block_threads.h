// The threads of a block of a CUDA-style kernel on the CPU, where they wait for each other: fibers, which run
// until they come to a barrier, or to what their warp does together, and go on when all that take part have
// come. A block runs on one thread of the machine; other blocks run on others (runtime/spread.h).
#pragma once

#include <cstdint>

#include "codegen/runtime/spread.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft::codegen {

inline constexpr const char* kSpreadTogether = "weft_spread_together";
inline constexpr const char* kBlockBarrier = "weft_block_barrier";
// kGridBarrier: see grid_blocks.h.
inline constexpr const char* kBlockVote = "weft_block_vote";
inline constexpr const char* kWarpExchange = "weft_warp_exchange";

inline constexpr int64_t kWarpLanes = 32;

enum class BlockVote : int64_t { kCount, kAll, kAny };
// kActiveMask: the lanes that come to it before their warp waits for something else.
enum class WarpExchange : int64_t { kBarrier, kActiveMask, kShuffle, kBallot, kMatch };

// Runs threads 0 to below `size`, in rows of `row`: the body gets a thread's number, its place in its row,
// and the row's number. Returns 0, or what the first that failed returned; the others end where they next
// wait. Threads that wait for what never comes are a RuntimeError: kStopped, see spread.h.
int64_t spread_together(SpreadBody body, const void* captures, int64_t size, int64_t row, char* error,
                        int64_t error_bytes, int64_t cost);

// What machine code of such a thread calls: 0, or what the function has to return. Threads that have ended
// take no part. `mask`: the lanes of the warp that do.
int64_t block_barrier();
int64_t grid_barrier();
int64_t block_vote(BlockVote vote, int64_t predicate, int64_t* result);
int64_t warp_exchange(WarpExchange exchange, int64_t mask, int64_t value, int64_t lane, int64_t* result);

llvm::Function* declare_spread_together(llvm::Module& module);
// (words..., pointer to the result) -> status; the barrier has neither.
llvm::Function* declare_meeting(llvm::Module& module, const char* name, unsigned words);

}  // namespace weft::codegen
