#include "random/seed_sequence.h"

#include <algorithm>

namespace weft {

namespace {

class Hash {
public:
    Hash(uint32_t constant, uint32_t multiplier) : constant_(constant), multiplier_(multiplier) {}
    uint32_t operator()(uint32_t value) {
        value ^= constant_;
        constant_ *= multiplier_;
        value *= constant_;
        return value ^ value >> 16;
    }

private:
    uint32_t constant_, multiplier_;
};

uint32_t mixed(uint32_t x, uint32_t y) {
    const uint32_t result = 0xca01f9dd * x - 0x4973f715 * y;
    return result ^ result >> 16;
}

}  // namespace

SeedPool::SeedPool(std::vector<uint32_t> entropy, std::span<const uint32_t> path, uint32_t size)
    : words_(size) {
    if (!path.empty() && entropy.size() < size) entropy.resize(size);
    entropy.insert(entropy.end(), path.begin(), path.end());
    Hash hash(0x43b0d7e5, 0x931e8875);
    for (size_t k = 0; k < size; ++k) words_[k] = hash(k < entropy.size() ? entropy[k] : 0);
    for (size_t from = 0; from < size; ++from) {
        for (size_t to = 0; to < size; ++to) {
            if (from != to) words_[to] = mixed(words_[to], hash(words_[from]));
        }
    }
    for (size_t k = size; k < entropy.size(); ++k) {
        for (uint32_t& to : words_) to = mixed(to, hash(entropy[k]));
    }
}

std::vector<uint32_t> SeedPool::generate(size_t count) const {
    Hash hash(0x8b51f9dd, 0x58f38ded);
    std::vector<uint32_t> result(count);
    for (size_t k = 0; k < count; ++k) result[k] = hash(words_[k % words_.size()]);
    return result;
}

std::vector<uint64_t> SeedPool::generate64(size_t count) const {
    const std::vector<uint32_t> halves = generate(2 * count);
    std::vector<uint64_t> result(count);
    for (size_t k = 0; k < count; ++k) result[k] = halves[2 * k] | uint64_t{halves[2 * k + 1]} << 32;
    return result;
}

}  // namespace weft
