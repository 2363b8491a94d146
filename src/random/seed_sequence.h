// Seeds: entropy mixed into words that are as good as independent, which streams start from (O'Neill,
// "Developing a seed_seq alternative", 2015, with NumPy's constants and its tree of children).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

class SeedPool {
public:
    static constexpr uint32_t kLeastSize = 4;

    // Of entropy, and the path from the root of the tree; both as words, low ones first.
    SeedPool(std::vector<uint32_t> entropy, std::span<const uint32_t> path, uint32_t size = kLeastSize);
    explicit SeedPool(std::vector<uint32_t> mixed) : words_(std::move(mixed)) {}

    const std::vector<uint32_t>& words() const { return words_; }
    std::vector<uint32_t> generate(size_t count) const;
    std::vector<uint64_t> generate64(size_t count) const;

private:
    std::vector<uint32_t> words_;
};

}  // namespace weft
