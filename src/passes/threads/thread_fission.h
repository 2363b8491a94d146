// Threads of a block as loops: puts what `spread together` runs in its place, cut where the threads meet.
//
//   spread together @f in %n by %row         for each row { for each thread { A } }
//                                       →    while … {
//   @f: A; while … { B; barrier; C }           for each row { for each thread { B } }
//                                              for each row { for each thread { C } } }
//
// Loops and branches around meetings, which all threads take alike, come to stand around the parts. What
// differs between threads and is needed in a later part waits in a local array with a place for each. A
// branch that some threads take, and behind which none meets others of the block, masks the parts in it.
// Where threads cannot be cut, they stay fibers (decision 0042).
#pragma once

#include <optional>
#include <string>

#include "ir/ir.h"

namespace weft::passes {

void thread_fission(const ir::Module& module, ir::Function& function);

// Threads of a block: of more there are no loops.
constexpr int64_t kMostThreads = 1024;

// Why threads that the function runs are fibers; empty where none are. Nothing where it runs no threads.
std::optional<std::string> reason_for_fibers(const ir::Module& module, const ir::Function& function);

}  // namespace weft::passes
