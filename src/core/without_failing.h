// Work in destructors, and on threads of weft's own, that may fail without harm, where nobody can be told of
// it.
#pragma once

#include <exception>

namespace weft {

template <class Work>
void without_failing(Work&& work) noexcept {
    try {
        work();
    } catch (
        const std::exception&) {  // what else is thrown is no failure, such as the end of a thread by force
    }
}

}  // namespace weft
