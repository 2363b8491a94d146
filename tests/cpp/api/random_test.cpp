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

TEST(Random, DistributionsGiveNumPysNumbers) {
    struct Case {
        const char* name;
        std::vector<double> parameters, expected;
    };
    // Of numpy.random.default_rng(42).
    const Case cases[] = {
        {"beta", {2, 3}, {0.33841183847153383, 0.41040972646061824, 0.5259001067191458}},
        {"exponential", {1.5}, {3.6063129059489922, 3.5042844837366802, 3.5771414998113826}},
        {"f", {3, 5}, {0.7338468182700809, 1.0194919811685932, 1.7640060297696543}},
        {"gumbel", {1, 2}, {0.20644393339980482, 2.0969936744344135, -0.3419542775542994}},
        {"laplace", {0, 1}, {0.7938786426417068, -0.1303856263065431, 1.263000634398772}},
        {"logistic", {1, 0.5}, {1.6153928156927533, 0.8771424525658944, 1.90184663455628}},
        {"lognormal", {0, 1}, {1.3562412406168636, 0.35346029972713455, 2.1179554136618033}},
        {"noncentral_chisquare", {3, 1}, {4.810015936683841, 8.535313418251022, 0.2641872537643078}},
        {"noncentral_f", {3, 5, 1}, {1.1552560286470117, 0.09327290589737092, 0.04019106896200561}},
        {"pareto", {3}, {1.228665259618174, 1.178703304272667, 1.2142645866056139}},
        {"power", {2}, {0.9537625702241296, 0.9504233899416021, 0.9528320988047685}},
        {"rayleigh", {2}, {4.385620689449551, 4.323137430916999, 4.367847066804656}},
        {"standard_cauchy", {}, {-0.2930016698581793, 0.7978730040882357, 1.4982843597001279}},
        {"standard_t", {4}, {0.5335635801179842, 0.9813493087338849, -0.02673012096628918}},
        {"triangular", {0, 1, 3}, {1.8354126444683423, 1.1651350563358385, 2.0789069099533397}},
        {"vonmises", {0, 4}, {-0.10171522044718628, -0.1855639077297755, 1.1167872858198402}},
        {"wald", {1, 2}, {0.8064988000335837, 1.6898038296442284, 3.6276051975632404}},
        {"weibull", {1.5}, {1.794656893050126, 1.7606460812380325, 1.7849658315895707}},
        {"chisquare", {3}, {3.0554394899785056, 4.358928659107372, 2.6205388975367514}},
    };
    for (const Case& each : cases) {
        SCOPED_TRACE(each.name);
        std::vector<array> parameters;
        for (const double value : each.parameters) parameters.push_back(asarray(value));
        expect_reals(Generator(42).draw(each.name, parameters, Dims{3}), each.expected);
    }
}

TEST(Random, WholeDistributionsGiveNumPysNumbers) {
    struct Case {
        const char* name;
        std::vector<double> parameters;
        std::vector<int64_t> expected;
    };
    // Of numpy.random.default_rng(42).
    const Case cases[] = {
        {"geometric", {0.3}, {7, 7, 7, 1}}, {"hypergeometric", {10, 5, 7}, {5, 4, 4, 4}},
        {"logseries", {0.6}, {1, 2, 1, 5}}, {"negative_binomial", {3, 0.4}, {6, 4, 9, 6}},
        {"zipf", {2.5}, {2, 1, 1, 1}},
    };
    for (const Case& each : cases) {
        SCOPED_TRACE(each.name);
        std::vector<array> parameters;
        for (const double value : each.parameters) parameters.push_back(asarray(value));
        expect_whole(Generator(42).draw(each.name, parameters, Dims{4}), each.expected);
    }
}

TEST(Random, ChoicesHaveOdds) {
    const array odds = {0.1, 0.2, 0.3, 0.4};
    Generator rng(42);
    expect_whole(rng.choice(odds, {8}), {3, 2, 3, 3, 0, 3, 3, 3});
    expect_whole(rng.choice(odds, {3}, false), {1, 2, 3});
    expect_whole(rng.permuted(arange(6)), {5, 0, 4, 2, 3, 1});
    expect_whole(ravel(rng.permuted(reshape(arange(6), {2, 3}), 1)), {0, 1, 2, 4, 3, 5});
    EXPECT_EQ(rng.integers(0, 1000).item<int64_t>(), 276);
    Generator untouched(7), other(7);
    EXPECT_THROW(other.choice(array{0.5, 0.4}, {1}), ValueError);
    EXPECT_THROW(other.choice(array{1.5, -0.5}, {1}), ValueError);
    EXPECT_THROW(other.choice(array{std::nan(""), 0.5}, {1}), ValueError);
    EXPECT_THROW(other.choice(array{1.0, 0.0}, {2}, false), ValueError);
    EXPECT_THROW(other.choice(array{0.5, 0.5}, {3}, false), ValueError);
    EXPECT_THROW(other.permuted(arange(3), 1), AxisError);
    EXPECT_EQ(other.next64(), untouched.next64());
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
