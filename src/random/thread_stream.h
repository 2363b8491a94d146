// The streams that compiled code draws from where no Generator is given: for numpy.random's own functions,
// and for those of Python's module random. Each is a Mersenne Twister for each thread, as RandomState and
// random.Random have it. It starts from the system's entropy, unless it is seeded, and in the child of a fork
// it starts anew.
#pragma once

#include <cstdint>

#include "random/bit_source.h"

namespace weft {

struct ThreadStream {
    Mt19937 twister{};
    SpareNormal spare{};
    BitSource source = source_of(twister);
    uint32_t process = 0;  // how many forks there were

    ThreadStream() = default;
    ThreadStream(const ThreadStream&) = delete;
    ThreadStream& operator=(const ThreadStream&) = delete;

    void start();  // from the system's entropy
};

// Compiled code names one by its number, where it gives a Generator's by its address.
enum class ThreadStreamOf : uint8_t { kNumpy = 0, kPython = 1 };
ThreadStream& stream_of_thread(ThreadStreamOf module = ThreadStreamOf::kNumpy);

// As Python's random.seed starts from an integer, by its magnitude.
void seed_as_python(ThreadStream& stream, uint64_t magnitude);

}  // namespace weft
