// Compiles in the background: work that nobody waits for, one piece after another on a thread of its own with
// low priority. What is queued when the process exits is still done, within a bound, so that the next process
// finds it on disk, where kernels are kept there; a forked child goes on with the queue as it was.
#pragma once

#include <functional>

namespace weft::codegen {

enum class Turn { kLast, kNext };
// Thread safe. `work` must not throw.
void compile_in_background(std::function<void()> work, Turn turn = Turn::kLast);

// Returns when everything that was queued before is done. The caller helps.
void finish_compilations();
// When the process ends: what is queued now is done, as far as the bound allows and `check`, which is called
// before each piece of it, does not throw.
void end_compilations(const std::function<void()>& check);

// After fork() the child has no such thread until it is told that there is something to wait for.
void keep_compiling();

}  // namespace weft::codegen
