// Where the engine's functions that draw random numbers for compiled code take their bits from.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/shape.h"
#include "ops/engine_function.h"
#include "random/thread_stream.h"

namespace weft::called {

struct Stream {
    BitSource source;
    SpareNormal* spare = nullptr;

    // Its address, or which of the thread's own it is.
    explicit Stream(int64_t address) {
        if (address <= static_cast<int64_t>(ThreadStreamOf::kPython)) {
            ThreadStream& own = stream_of_thread(static_cast<ThreadStreamOf>(address));
            source = own.source;
            spare = &own.spare;
        } else {
            source = *reinterpret_cast<const BitSource*>(address);
        }
    }
    Bits bits() { return Bits(source, spare); }
};

// Where a single number lies until the next one.
template <class T>
int64_t kept(T value) {
    thread_local std::array<char, sizeof(uint64_t)> memory{};
    std::memcpy(memory.data(), &value, sizeof value);
    return reinterpret_cast<int64_t>(memory.data());
}

template <class T>
std::span<T> elements_of(const EngineArray& array) {
    return {reinterpret_cast<T*>(array.data), static_cast<size_t>(element_count(array.shape))};
}

}  // namespace weft::called
