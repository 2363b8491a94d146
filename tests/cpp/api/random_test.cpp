// random::Generator: NumPy's numbers for the same seeds and algorithms, and errors.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <thread>
#include <vector>

#include "weft/weft.h"

namespace weft {
namespace {

using random::Algorithm;
using random::Generator;

void expect_reals(const array& found, const std::vector<double>& expected) {
    EXPECT_EQ(found.dtype(), DType(ScalarType::kFloat64));
    ASSERT_EQ(found.size(), static_cast<int64_t>(expected.size()));
    for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_DOUBLE_EQ(found(static_cast<int64_t>(i)).item<double>(), expected[i]) << i;
}

void expect_whole(const array& found, const std::vector<int64_t>& expected) {
    EXPECT_EQ(found.dtype(), DType(ScalarType::kInt64));
    ASSERT_EQ(found.size(), static_cast<int64_t>(expected.size()));
    for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(found(static_cast<int64_t>(i)).item<int64_t>(), expected[i]) << i;
}

// What NumPy 2.4 draws from numpy.random.Generator(Algorithm(42)), one draw after another.
struct Draws {
    Algorithm algorithm;
    std::vector<double> random, normal;
    std::vector<int64_t> integers;
    std::vector<double> gamma;
    std::vector<int64_t> poisson, permutation, choice, binomial;
};

const std::vector<Draws>& numpys() {
    static const std::vector<Draws> draws = {
        {Algorithm::kPcg64,
         {0.7739560485559633, 0.4388784397520523, 0.8585979199113825},
         {0.9405647163912139, -1.9510351886538364},
         {52, 97, 73, 76},
         {2.6005662581015345, 1.7069434150917626},
         {9, 7, 7},
         {0, 2, 3, 5, 4, 1},
         {31, 21, 45, 8},
         {2, 4, 4}},
        {Algorithm::kPcg64Dxsm,
         {0.6684007764691958, 0.006805009518349059, 0.6579981066789486},
         {1.9294998967748795, 1.025342176211433},
         {69, 19, 71, 75},
         {7.228249533561172, 1.899896517801933},
         {4, 4, 13},
         {4, 1, 5, 2, 0, 3},
         {25, 5, 46, 2},
         {2, 3, 2}},
        {Algorithm::kPhilox,
         {0.08607763073528474, 0.14155732377913233, 0.27009303504774695},
         {-2.1076745327476445, -0.5183129056007391},
         {58, 50, 36, 33},
         {6.14970879469226, 3.9204179488228705},
         {12, 3, 8},
         {4, 1, 5, 3, 2, 0},
         {15, 34, 39, 35},
         {1, 4, 3}},
        {Algorithm::kSfc64,
         {0.5299360452325557, 0.3782490322895635, 0.9454118287212049},
         {0.9634492740835664, 0.3261788067868657},
         {71, 32, 58, 99},
         {2.628206106397907, 4.398341628668846},
         {11, 5, 11},
         {1, 3, 5, 0, 2, 4},
         {19, 10, 12, 46},
         {3, 1, 1}},
        {Algorithm::kMt19937,
         {0.5419938930062744, 0.6196672126927824, 0.05736978170666862},
         {-0.553813404685953, 1.1809304644856473},
         {62, 6, 68, 26},
         {4.531811694116075, 4.598239615098342},
         {9, 6, 4},
         {3, 5, 1, 0, 2, 4},
         {23, 1, 39, 42},
         {0, 3, 3}},
    };
    return draws;
}

TEST(Random, NumbersAreNumpys) {
    for (const Draws& expected : numpys()) {
        SCOPED_TRACE(static_cast<int>(expected.algorithm));
        Generator rng(42, expected.algorithm);
        expect_reals(rng.random({3}), expected.random);
        expect_reals(rng.standard_normal({2}), expected.normal);
        expect_whole(rng.integers(0, 100, {4}), expected.integers);
        expect_reals(rng.draw("gamma", {2.5, 1.5}, {2}), expected.gamma);
        expect_whole(rng.draw("poisson", {7.0}, {3}), expected.poisson);
        expect_whole(rng.permutation(6), expected.permutation);
        expect_whole(rng.choice(50, {4}, false), expected.choice);
        expect_whole(rng.draw("binomial", {10, 0.25}, {3}), expected.binomial);
    }
}

TEST(Random, SeedsOfMoreWordsAndChildren) {
    Generator rng((uint64_t{1} << 40) + 7);
    expect_reals(rng.random({2}), {0.829812891829413, 0.25530515834910417});
    std::vector<Generator> children = random::default_rng(7).spawn(2);
    EXPECT_DOUBLE_EQ(children.at(0).random().item<double>(), 0.7978591868433563);
    EXPECT_DOUBLE_EQ(children.at(1).random().item<double>(), 0.4805820057358118);
}

TEST(Random, VectorsAndParametersThatBroadcast) {
    Generator rng(3);
    expect_whole(rng.multinomial(asarray(20), {0.2, 0.3, 0.5}), {2, 5, 13});
    expect_reals(rng.dirichlet({1.0, 2.0, 3.0}),
                 {0.29369492335333486, 0.2173808768976366, 0.4889241997490285});
    const std::array<array, 2> parameters = {array{0.0, 10.0}, asarray(1.0)};
    expect_reals(rng.draw("normal", parameters), {-0.23193237764418947, 9.13478692372506});
    EXPECT_EQ(rng.normal(0, 1, {2, 3}).shape(), (Dims{2, 3}));
    EXPECT_EQ(rng.uniform(5, 6).ndim(), 0);
}

TEST(Random, RowsInRandomOrder) {
    const array rows = reshape(arange(12), {4, 3});
    const array mixed = Generator(1).permutation(rows);
    EXPECT_EQ(mixed.shape(), rows.shape());
    EXPECT_EQ(to_repr(sum(mixed, 0)), to_repr(sum(rows, 0)));
    EXPECT_EQ(Generator(1).permutation(rows, -1).shape(), rows.shape());
}

TEST(Random, ErrorsLeaveTheStreamAsItWas) {
    Generator rng(42), untouched(42);
    EXPECT_THROW(rng.integers(5, 5), ValueError);
    EXPECT_THROW(rng.integers(0, 300, {2}, ScalarType::kInt8), ValueError);
    EXPECT_THROW(rng.integers(0, 3, {2}, ScalarType::kFloat64), TypeError);
    EXPECT_THROW(rng.draw("gamma", {-1.0, 1.0}), ValueError);
    EXPECT_THROW(rng.draw("gamma", {1.0}), ValueError);
    EXPECT_THROW(rng.draw("nonsense", {1.0}), ValueError);
    EXPECT_THROW(rng.draw("binomial", {1.5, 0.5}), ValueError);
    EXPECT_THROW(rng.draw("binomial", {std::nan(""), 0.5}), ValueError);
    EXPECT_THROW(rng.draw("binomial", {1e300, 0.5}), ValueError);
    EXPECT_THROW(rng.choice(0, {1}), ValueError);
    EXPECT_EQ(rng.choice(0, {0}).size(), 0);
    EXPECT_THROW(rng.choice(3, {4}, false), ValueError);
    EXPECT_THROW(rng.permutation(arange(3), 1), AxisError);
    EXPECT_EQ(rng.next64(), untouched.next64());
}

TEST(Random, ThreadsShareAStream) {
    Generator shared(5);
    std::vector<array> parts(8);
    std::vector<std::thread> threads;
    for (array& part : parts) threads.emplace_back([&] { part = shared.random({1000}); });
    for (std::thread& thread : threads) thread.join();
    // Each has a run of the stream's numbers to itself: together they are its first 8000.
    const array expected = Generator(5).random({8, 1000});
    double found = 0, whole = 0;
    for (const array& part : parts) found += sum(part).item<double>();
    whole = sum(expected).item<double>();
    EXPECT_NEAR(found, whole, 1e-9);
}

TEST(Random, SystemsEntropyDiffers) { EXPECT_NE(Generator().next64(), Generator().next64()); }

}  // namespace
}  // namespace weft
