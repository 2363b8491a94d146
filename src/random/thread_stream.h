// The stream of numpy.random's own functions in compiled code: a Mersenne Twister for each thread, as
// RandomState has it. It starts from the system's entropy, unless it is seeded.
#pragma once

#include <cstdint>

#include "random/bit_source.h"

namespace weft {

struct ThreadStream {
    Mt19937 twister{};
    SpareNormal spare{};
    BitSource source = source_of(twister);

    ThreadStream() = default;
    ThreadStream(const ThreadStream&) = delete;
    ThreadStream& operator=(const ThreadStream&) = delete;
};

ThreadStream& stream_of_thread();

}  // namespace weft
