// Words of random streams by their position (ops/scalar/random_bits.h) against streams that go there.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "codegen/runtime/draw_words.h"
#include "ops/op.h"
#include "random/bit_generator.h"

namespace weft {
namespace {

BitGenerator stream_of(BitAlgorithm algorithm, uint64_t seed) {
    std::mt19937_64 random(seed);
    BitGenerator generator;
    generator.algorithm = algorithm;
    for (uint64_t& word : generator.words) word = random();
    if (algorithm != BitAlgorithm::kPhilox) {
        generator.words[2] |= 1;
        generator.words[4] = generator.words[5] = 0;
    } else if (seed % 3 == 0) {
        generator.words[0] = UINT64_MAX - 1;  // the counter carries
        generator.words[1] = seed % 2 == 0 ? UINT64_MAX : 7;
    }
    return generator;
}

template <class Result>
Result compute(OpId op, int64_t position, const BitGenerator::Origin& origin) {
    std::vector<uint64_t> words = origin.words;
    std::array<char*, kMaxOperands> data{reinterpret_cast<char*>(&position)};
    for (size_t k = 0; k < words.size(); ++k) data[k + 1] = reinterpret_cast<char*>(&words[k]);
    Result result{};
    data[words.size() + 1] = reinterpret_cast<char*>(&result);
    const std::array<int64_t, kMaxOperands> strides{};
    op_info(op).loops[0].loop(data.data(), strides.data(), 1);
    return result;
}

struct Ops {
    BitAlgorithm algorithm;
    OpId word, half;
};

class RandomBits : public testing::TestWithParam<Ops> {};

TEST_P(RandomBits, AreTheStreamsWordsAtAnyPosition) {
    for (uint64_t seed = 0; seed < 60; ++seed) {
        BitGenerator generator = stream_of(GetParam().algorithm, seed);
        for (uint64_t k = seed % 7; k > 0; --k) generator.next64();
        const auto origin = generator.origin();
        ASSERT_TRUE(origin);
        std::mt19937_64 random(seed);
        const auto position = static_cast<int64_t>(random() >> (2 + random() % 61));
        generator.advance(static_cast<uint64_t>(position));
        const uint64_t word = generator.next64();
        const int64_t there = origin->first + position;
        EXPECT_EQ(compute<uint64_t>(GetParam().word, there, *origin), word);
        EXPECT_EQ(compute<uint32_t>(GetParam().half, 2 * there, *origin), static_cast<uint32_t>(word));
        EXPECT_EQ(compute<uint32_t>(GetParam().half, 2 * there + 1, *origin),
                  static_cast<uint32_t>(word >> 32));
    }
}

TEST_P(RandomBits, BeginBeforeAHalfThatWaitsIfItIsTheLastWords) {
    BitGenerator generator = stream_of(GetParam().algorithm, 5);
    EXPECT_FALSE(generator.before_half());
    for (int k = 0; k < 9; ++k) {
        generator.next32();
        auto before = generator.before_half();
        ASSERT_TRUE(before);
        before->next32();
        EXPECT_EQ(before->next32(), generator.half);
        EXPECT_EQ(before->words, generator.words);
        EXPECT_EQ(before->used, generator.used);
        generator.next32();
    }
    generator.next32();
    generator.next64();
    EXPECT_FALSE(generator.before_half());  // the half of an earlier word
}

// The vectorised interpreter's loops, over neighbours and over any others, also where the result takes the
// positions' place.
TEST_P(RandomBits, AreTheSameByBlocks) {
    for (const OpId op : {GetParam().word, GetParam().half}) {
        const LoopInfo* loop = codegen::find_drawing_loop(op);
        ASSERT_NE(loop, nullptr);
        const size_t item = op == GetParam().word ? 8 : 4;
        for (uint64_t seed = 0; seed < 20; ++seed) {
            const BitGenerator::Origin origin = *stream_of(GetParam().algorithm, seed).origin();
            for (const int64_t count : {1, 2, 7, 512, 513, 1500}) {
                for (const int64_t step : {1, 2, -1}) {
                    std::vector<int64_t> positions(static_cast<size_t>(count));
                    std::vector<char> expected(static_cast<size_t>(count) * item);
                    for (int64_t i = 0; i < count; ++i) {
                        const int64_t position = static_cast<int64_t>(seed * 1001) + 5000 + i * step;
                        positions[static_cast<size_t>(i)] = position;
                        const uint64_t word = item == 8 ? compute<uint64_t>(op, position, origin)
                                                        : compute<uint32_t>(op, position, origin);
                        std::memcpy(&expected[static_cast<size_t>(i) * item], &word, item);
                    }
                    std::array<char*, kMaxOperands> data{reinterpret_cast<char*>(positions.data())};
                    std::array<int64_t, kMaxOperands> strides{sizeof(int64_t)};
                    std::vector<uint64_t> words = origin.words;
                    for (size_t k = 0; k < words.size(); ++k)
                        data[k + 1] = reinterpret_cast<char*>(&words[k]);
                    data[words.size() + 1] = data[0];
                    strides[words.size() + 1] = static_cast<int64_t>(item);
                    std::vector<char> apart(expected.size());
                    if (step != 1) data[words.size() + 1] = apart.data();
                    loop->loop(data.data(), strides.data(), count);
                    ASSERT_EQ(std::memcmp(data[words.size() + 1], expected.data(), expected.size()), 0)
                        << count << " " << step;
                }
            }
        }
    }
}

TEST(RandomBitsOfPhilox, HasNoOriginInABlockThatIsNotItsCounters) {
    BitGenerator generator = stream_of(BitAlgorithm::kPhilox, 1);
    generator.next64();
    EXPECT_TRUE(generator.origin());
    generator.block[3] ^= 1;
    EXPECT_FALSE(generator.origin());
}

INSTANTIATE_TEST_SUITE_P(, RandomBits,
                         testing::Values(Ops{BitAlgorithm::kPcg64, OpId::kPcg64Word, OpId::kPcg64Half},
                                         Ops{BitAlgorithm::kPcg64Dxsm, OpId::kPcg64dxsmWord,
                                             OpId::kPcg64dxsmHalf},
                                         Ops{BitAlgorithm::kPhilox, OpId::kPhiloxWord, OpId::kPhiloxHalf}));

}  // namespace
}  // namespace weft
