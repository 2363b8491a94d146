// An object of the process that is made at its first use and never destroyed, since threads may outlive
// static destruction. Unlike a static variable it may be asked for while it is being made, as the text of an
// error does that happens meanwhile: then it is made twice, and the first one that is whole stays.
#pragma once

#include <atomic>
#include <memory>

namespace weft {

// `make` gives a std::unique_ptr<T>.
template <class T, class Make>
T& made_once(std::atomic<T*>& place, Make make) {
    if (T* known = place.load(std::memory_order_acquire)) [[likely]]
        return *known;
    std::unique_ptr<T> made = make();
    T* expected = nullptr;
    return place.compare_exchange_strong(expected, made.get()) ? *made.release() : *expected;
}

}  // namespace weft
