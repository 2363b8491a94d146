// How streams start from the words of a seed, as NumPy's of their names do.
#pragma once

#include <cstdint>
#include <span>

#include "random/bit_stream.h"
#include "weft/random.h"

namespace weft {

// How many words a stream starts from: of 64 bits, of the Mersenne Twister 32.
int64_t words_of_start(random::Algorithm algorithm);

// Throws ValueError for another number of words.
BitStream::State started(random::Algorithm algorithm, std::span<const uint64_t> words);

}  // namespace weft
