// The end of the process while threads still compute. exit() destroys what is static, LLVM's memory too, and
// daemon threads of Python, or threads that a C++ program left running, may be using it.
#pragma once

namespace weft {

// `close` is called at the end of the process, before anything static is destroyed. To be registered while
// the library is loaded, by its static objects; returns true.
bool on_process_end(void (*close)());

// Has the end of the process seen in time when the main thread calls it, or compiles: exit() first destroys
// what is local to its thread. What was registered is closed then, and other threads wait until the process
// is gone.
void watch_end_of_process();

}  // namespace weft
