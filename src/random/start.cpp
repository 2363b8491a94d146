#include "random/start.h"

#include <algorithm>

#include "weft/errors.h"

namespace weft {

using random::Algorithm;

int64_t words_of_start(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::kPhilox: return 2;
        case Algorithm::kSfc64: return 3;
        case Algorithm::kMt19937: return Mt19937::kWords;
        default: return 4;
    }
}

BitStream::State started(Algorithm algorithm, std::span<const uint64_t> words) {
    if (static_cast<int64_t>(words.size()) != words_of_start(algorithm))
        throw ValueError("a seed has another number of words");
    BitGenerator generator;
    switch (algorithm) {
        case Algorithm::kPhilox:
            generator.algorithm = BitAlgorithm::kPhilox;
            generator.words = {0, 0, 0, 0, words[0], words[1]};
            return generator;
        case Algorithm::kSfc64: return Sfc64::of_seed(words.first<3>());
        case Algorithm::kMt19937: {
            Mt19937 twister;
            std::ranges::transform(words, twister.key.begin(),
                                   [](uint64_t word) { return static_cast<uint32_t>(word); });
            twister.key[0] = 0x80000000U;
            twister.pos = Mt19937::kWords - 1;
            return twister;
        }
        default: {
            // One step is taken by PCG64's multiplier, whichever the later ones take.
            const Wide increment = (wide(words[2], words[3]) << 1) | 1;
            const Wide state = (increment + wide(words[0], words[1])) * Pcg64::kMultiplier + increment;
            generator.algorithm =
                algorithm == Algorithm::kPcg64 ? BitAlgorithm::kPcg64 : BitAlgorithm::kPcg64Dxsm;
            generator.words = {low_of(state), high_of(state), low_of(increment), high_of(increment), 0, 0};
            return generator;
        }
    }
}

}  // namespace weft
