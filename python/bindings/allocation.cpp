// operator new of the binding: where there is no memory it throws what the engine's throws, which says how
// much was asked for (core/allocation_failure.h).
#include "core/allocation_failure.h"

#include <cstddef>
#include <new>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names, see --wrap
extern "C" {
void* __real__Znwm(size_t bytes);
void* __wrap__Znwm(size_t bytes) {
    try {
        return __real__Znwm(bytes);
    } catch (const std::bad_alloc&) {
        weft::throw_allocation_failure(bytes);
    }
}
}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
