// The engine's own copy of std::string, so that what LLVM's and weft's strings hold is allocated in the
// engine (core/memory/wrapped_allocation.cpp) and not in libstdc++.so.
#include <string>

template class std::basic_string<char>;
