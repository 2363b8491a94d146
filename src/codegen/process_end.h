// The end of the process while threads still compile. exit() destroys what LLVM keeps in static memory, and
// daemon threads of Python, or threads that a C++ program left running, may be using it.
#pragma once

#include "core/fork.h"

namespace weft::codegen {

// Around each use of LLVM: a fork waits for its end (LLVM has locks of its own), and so does the end of the
// process. A thread that comes later stays where it is until the process is gone.
class LlvmUse {
public:
    LlvmUse();
    ~LlvmUse();
    LlvmUse(const LlvmUse&) = delete;
    LlvmUse& operator=(const LlvmUse&) = delete;

private:
    ForkExclusion exclusion_;
    struct Gate {
        Gate();
        ~Gate();
    } gate_;
};

// From here on no thread but the process's first begins to use LLVM. Returns when the others are done.
void end_llvm_uses();

// Has the end of the process seen in time when the main thread calls it, or evaluates: exit() first destroys
// what is local to its thread.
void watch_end_of_process();

}  // namespace weft::codegen
