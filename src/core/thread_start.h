// What libraries allocate for a thread at its first use, and end the process where they cannot: the C++
// library's record of exceptions. Asked for while there is memory, it is there when there is none.
#pragma once

#include <cxxabi.h>

#include <cstdlib>

namespace weft {

// False where there is no memory for it now; then the thread should not throw.
inline bool prepare_thread() noexcept {
    constexpr size_t kEnough = 4096;  // the record has 32 bytes
    void* const probe = std::malloc(kEnough);
    if (probe == nullptr) return false;
    std::free(probe);
    return __cxxabiv1::__cxa_get_globals() != nullptr;
}

}  // namespace weft
