// The end of the process while threads still compute. exit() destroys what is static, LLVM's memory too, and
// daemon threads of Python, or threads that a C++ program left running, may be using it.
#pragma once

namespace weft::codegen {

// Has the end of the process seen in time when the main thread calls it, or compiles: exit() first destroys
// what is local to its thread. Compilations behind are ended then, and other threads wait until the process
// is gone.
void watch_end_of_process();

}  // namespace weft::codegen
