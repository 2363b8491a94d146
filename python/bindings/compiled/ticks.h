// The processor's counter of time: a few nanoseconds a reading, where std::chrono's clocks take tens. For
// what runs so often that its own time must not be seen.
#pragma once

#include <chrono>
#include <cstdint>

namespace weft::python {

inline uint64_t ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

// Its frequency is learnt from the steady clock between the first use and this one.
inline double seconds_of_ticks(uint64_t count) {
    using Clock = std::chrono::steady_clock;
    struct Moment {
        uint64_t count = ticks();
        Clock::time_point time = Clock::now();
    };
    static const Moment first;
    const uint64_t passed = ticks() - first.count;
    const std::chrono::duration<double> elapsed = Clock::now() - first.time;
    return passed == 0 ? 0.0 : static_cast<double>(count) * elapsed.count() / static_cast<double>(passed);
}

}  // namespace weft::python
