// The functions that make a stream's words, by each kind of instructions.
#include "random/stream_words.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "random/bit_generator.h"

namespace weft {
namespace {

constexpr size_t kCounts[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 100, 255, 512, 1001};

BitGenerator any_state(BitAlgorithm algorithm, std::mt19937_64& random) {
    BitGenerator generator;
    generator.algorithm = algorithm;
    // Words of few or many bits, so that each carry of a product and of a counter happens and does not.
    for (uint64_t& word : generator.words) {
        word = random() >> random() % 64;
        if (random() % 4 == 0) word = ~word;
    }
    return generator;
}

TEST(StreamWords, OfPcgAreThoseOfSingleSteps) {
    std::mt19937_64 random(1);
    for (const WordFunctions& functions : all_word_functions()) {
        for (const size_t count : kCounts) {
            for (int turn = 0; turn < 50; ++turn) {
                const auto algorithm = turn % 2 == 0 ? BitAlgorithm::kPcg64 : BitAlgorithm::kPcg64Dxsm;
                BitGenerator generator = any_state(algorithm, random);
                BitGenerator filled = generator;
                std::vector<uint64_t> expected(count), words(count + 1, 77);
                for (uint64_t& word : expected) word = generator.next64();
                (turn % 2 == 0 ? functions.pcg64 : functions.pcg64_dxsm)(words.data(), count,
                                                                         filled.words.data());
                ASSERT_EQ(words.back(), 77U) << "a word too many of " << count;
                words.pop_back();
                ASSERT_EQ(words, expected) << count;
                ASSERT_EQ(filled.words, generator.words) << count;
            }
        }
    }
}

TEST(StreamWords, OfPhiloxAreThoseOfSingleBlocks) {
    std::mt19937_64 random(2);
    for (const WordFunctions& functions : all_word_functions()) {
        for (int turn = 0; turn < 200; ++turn) {
            BitGenerator generator = any_state(BitAlgorithm::kPhilox, random);
            if (turn % 3 == 0) generator.words[0] = UINT64_MAX - random() % 5;  // the counter carries
            const size_t blocks = 1 + random() % 9;
            std::vector<uint64_t> expected(4 * blocks), words(4 * blocks);
            BitGenerator singly = generator;
            for (uint64_t& word : expected) word = singly.next64();
            BitGenerator next = generator;
            next.next64();
            functions.philox(words.data(), blocks, next.words.data(), next.words.data() + 4);
            ASSERT_EQ(words, expected);
        }
    }
}

class Fill : public testing::TestWithParam<BitAlgorithm> {};

TEST_P(Fill, GoesOnWhereItStopped) {
    std::mt19937_64 random(3);
    BitGenerator generator = any_state(GetParam(), random), singly = generator;
    for (int turn = 0; turn < 300; ++turn) {
        std::vector<uint64_t> words(random() % 40), expected(words.size());
        generator.fill(words);
        for (uint64_t& word : expected) word = singly.next64();
        ASSERT_EQ(words, expected);
        ASSERT_EQ(generator.words, singly.words);
        ASSERT_EQ(generator.used, singly.used);
        ASSERT_EQ(generator.block, singly.block);
    }
}

INSTANTIATE_TEST_SUITE_P(, Fill,
                         testing::Values(BitAlgorithm::kPcg64, BitAlgorithm::kPcg64Dxsm,
                                         BitAlgorithm::kPhilox));

}  // namespace
}  // namespace weft
