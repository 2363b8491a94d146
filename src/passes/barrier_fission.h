// A pass for targets whose threads of a block run one after another (CPUs): cuts each `parallel block` at its
// barriers into several without any, whose ends are the barriers. Loops and branches around barriers, which
// all threads take alike, come to stand around the parts; what differs between threads and is needed after a
// barrier waits in shared arrays with a place for each thread.
#pragma once

#include "ir/ir.h"

namespace weft::passes {

void barrier_fission(const ir::Module& module, ir::Function& function);

}  // namespace weft::passes
