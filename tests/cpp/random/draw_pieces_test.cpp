// Draws by pieces of a stream: so short that what is mended runs through them and on, they are those that are
// made one after another. What ziggurats take at once is the same by each kind of instructions.
#include "random/parallel_draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "random/ziggurat.h"

namespace weft {
namespace {

template <class Method>
class ShortPieces : public testing::Test {};

// As of a ziggurat, but a third of the units begins a wedge or a tail.
struct Often {
    using Unit = uint64_t;
    using Value = double;
    static constexpr bool kHasWedges = true;
    static bool takes(uint64_t word, double& value) {
        value = to_double(word);
        return word % 3 != 0;
    }
    static size_t run(const uint64_t* words, size_t count, double* out) {
        size_t i = 0;
        while (i < count && takes(words[i], out[i])) ++i;
        return i;
    }
    static bool in_wedge(uint64_t word) { return word % 5 != 0; }
    static bool accepts(double, uint64_t word, uint64_t next) { return (word ^ next) % 4 == 0; }
    template <class Source>
    static double tail(uint64_t, Source& source) {
        double value = 0;
        while ((value = source.next_double()) < 0.8) {
        }
        return value;
    }
};

using Methods = testing::Types<Often, Normal, Normal32, Exponential, Exponential32>;
TYPED_TEST_SUITE(ShortPieces, Methods);

TYPED_TEST(ShortPieces, JoinToTheSameDraws) {
    using Unit = typename TypeParam::Unit;
    using Value = typename TypeParam::Value;
    const TypeParam method;
    DecodedPiece<TypeParam> piece;
    for (uint64_t seed = 0; seed < 30; ++seed) {
        BitGenerator first;
        first.words = {seed, 5, 77, 9};
        BitGenerator singly = first;
        size_t begin = 0, word = 0;
        for (int turn = 0; turn < 1000; ++turn) {
            BitGenerator start = first;
            start.advance(word);
            const size_t words = 1 + (seed * 31 + static_cast<size_t>(turn)) % 9;
            piece.decode(start, words, method);
            begin = piece.join(method, begin);
            std::vector<Value> drawn(piece.count()), expected(piece.count());
            piece.write(drawn.data(), drawn.size(), turn % 2 == 0);
            for (size_t k = 0; k < expected.size(); ++k) {
                while (!attempt(method, singly, expected[k])) {
                }
                BitGenerator behind = start;
                advance_units<Unit>(behind, piece.units(k + 1));
                ASSERT_EQ(behind.words, singly.words) << seed << " " << turn << " " << k;
                ASSERT_EQ(behind.has_half, singly.has_half);
            }
            ASSERT_EQ(drawn, expected) << seed << " " << turn;
            word += words;
        }
    }
}

template <class Method>
void expect_same_runs(ZigguratRun<typename Method::Unit, typename Method::Value> ZigguratRuns::* run) {
    using Unit = typename Method::Unit;
    using Value = typename Method::Value;
    std::mt19937_64 random(4);
    std::vector<Unit> units(60'000);
    for (Unit& unit : units) unit = static_cast<Unit>(random());
    const std::span<const ZigguratRuns> all = all_ziggurat_runs();
    size_t at = 0, refused = 0;
    while (at < units.size()) {
        const size_t count = std::min<size_t>(random() % 200, units.size() - at);
        std::vector<Value> expected(count), values(count);
        const size_t drawn = (all[0].*run)(&units[at], count, expected.data());
        const size_t written = std::min(drawn + 1, count);  // and what the refused unit would be
        for (const ZigguratRuns& runs : all) {
            std::fill(values.begin(), values.end(), Value{-1});
            ASSERT_EQ((runs.*run)(&units[at], count, values.data()), drawn);
            if (written != 0)
                ASSERT_EQ(std::memcmp(values.data(), expected.data(), written * sizeof(Value)), 0);
        }
        refused += drawn < count ? 1 : 0;
        at += drawn + 1;
    }
    EXPECT_GT(refused, 100U);
}

TEST(ZigguratRuns, AreTheSameByLanes) {
    expect_same_runs<Normal>(&ZigguratRuns::normal);
    expect_same_runs<Normal32>(&ZigguratRuns::normal32);
    expect_same_runs<Exponential>(&ZigguratRuns::exponential);
    expect_same_runs<Exponential32>(&ZigguratRuns::exponential32);
}

}  // namespace
}  // namespace weft
