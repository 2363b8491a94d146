// Chunks of a loop that compiled functions run at the same time, on the pool of threads.
#pragma once

#include <cstdint>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft::codegen {

inline constexpr const char* kSpread = "weft_spread";
// A spread ended because the host was asked to stop: HeapFrame::take_stopped() has the host's exception.
inline constexpr int64_t kStopped = INT64_MAX;

// Compiled code for chunk `number`, `from` to below `to`: 0, or 1 and the number of an error.
using SpreadBody = int64_t (*)(const void* captures, int64_t number, int64_t from, int64_t to, char* error);

// Runs the chunks of 0 to `size`. Each has a frame of its own for what it allocates. Returns 0, or what the
// lowest chunk that failed returned, whose `error_bytes` are then in `error`; chunks above it may not have
// run. `cost`: about how many operations an iteration has; 0 where that is not known. Little work stays on
// the calling thread.
int64_t spread(SpreadBody body, const void* captures, int64_t size, int64_t chunk, char* error,
               int64_t error_bytes, int64_t cost);

llvm::Function* declare_spread(llvm::Module& module);

}  // namespace weft::codegen
