// Which rewrite changes which node, what it then reads, and what is left as it is.
#include "planning/algebraic_rewrites.h"

#include <concepts>
#include <cstring>

#include "support/graph_testing.h"

namespace weft {
namespace {

class AlgebraicRewrites : public testing_graph::GraphTest {
protected:
    bool rewritten(const array& result) { return rewrite(collect({result})); }
    // What `record` returns, when it has ended: no temporary holds a product then.
    template <class Record>
        requires std::invocable<Record>
    bool rewritten(const Record& record) {
        const array result = record();
        return rewritten(result);
    }

    static std::string rewrite_of(const array& result) {
        const char* why = testing_graph::node_of(result)->rewritten;
        return why == nullptr ? "" : std::string(why, std::strcspn(why, ":"));
    }

    // The extents that a product sums over, and those of its result, of each pending product.
    std::vector<Dims> products(const array& result) {
        std::vector<Dims> found;
        for (const Node* node : collect({result})) {
            if (node->kind() == NodeKind::kProduct) found.push_back(node->shape);
        }
        return found;
    }

    static array numbered(const Dims& shape, DType dtype = float64) {
        const array made =
            astype(reshape(arange(0, element_count(shape), 1), Shape(shape)), dtype) * array{0.5} - 3;
        const array typed = astype(made, dtype);
        eval({&typed, 1});
        return typed;
    }
};

TEST_F(AlgebraicRewrites, TheSumOfAProductIsTheProductOfSums) {
    const array a = numbered({20, 30}), b = numbered({30, 40});
    const array plain = matmul(a, b);
    const double expected = sum(plain).item<double>();
    const array result = sum(matmul(a, b));
    EXPECT_EQ(pending({result}), "product sum");
    EXPECT_TRUE(rewritten(result));
    EXPECT_EQ(rewrite_of(result), "sum_of_product");
    // Columns of the one and rows of the other are summed up, and 30 products are left.
    EXPECT_EQ(pending({result}), "sum sum product");
    EXPECT_EQ(products(result), (std::vector<Dims>{{30}}));
    EXPECT_NEAR(result.item<double>(), expected, 1e-9 * std::abs(expected));
}

TEST_F(AlgebraicRewrites, ASumAlongAnAxisSumsOneFactor) {
    const array a = numbered({20, 30}), b = numbered({30, 40});
    for (const int64_t axis : {0, 1}) {
        const array result = sum(matmul(a, b), axis);
        EXPECT_TRUE(rewritten(result));
        EXPECT_EQ(pending({result}), "sum product");
        const Node& summed = *collect({result})[0];
        // The axes come as the product's do: rows, columns, what is summed up.
        EXPECT_EQ(summed.shape, axis == 1 ? (Dims{40, 30}) : (Dims{20, 30}));
        EXPECT_EQ(summed.reduced_axes(), (std::vector<bool>{true, false}));
        EXPECT_EQ(std::string(summed.rewritten), testing_graph::node_of(result)->rewritten);
        EXPECT_EQ(result.shape(), axis == 1 ? (Dims{20}) : (Dims{40}));
    }
}

TEST_F(AlgebraicRewrites, NewNodesStandBetweenInputsAndReaders) {
    const array a = numbered({20, 30}), b = numbered({30, 40});
    const array result = sum(matmul(a + 1, b));
    EXPECT_TRUE(rewritten(result));
    uint64_t before = 0;
    for (const Node* node : collect({result})) {
        EXPECT_GT(node->sequence, before);
        before = node->sequence;
        for (const Operand& input : node->inputs) {
            if (input.source.node) EXPECT_LT(input.source.node->sequence, node->sequence);
        }
    }
}

TEST_F(AlgebraicRewrites, AProductThatSomebodyElseReadsStays) {
    const array a = numbered({20, 30}), b = numbered({30, 40});
    const array held = matmul(a, b);
    const array result = sum(held);
    EXPECT_FALSE(rewritten(result));
    EXPECT_EQ(pending({result}), "product sum");
    EXPECT_EQ(rewrite_of(result), "");
}

TEST_F(AlgebraicRewrites, OnlySumsOfWholeProductsAreRewritten) {
    const array a = numbered({20, 30}), b = numbered({30, 40});
    EXPECT_TRUE(rewritten([&] { return sum(matmul(a, b)); }));
    EXPECT_FALSE(rewritten([&] { return max(matmul(a, b)); }));
    EXPECT_FALSE(rewritten([&] { return sum(matmul(a, b) + 1); }));
    EXPECT_FALSE(rewritten([&] { return sum(matmul(a, b)(slice(1, none))); }));
    EXPECT_FALSE(rewritten([&] { return sum(matmul(a, b)(all, slice(none, none, 2))); }));
    EXPECT_TRUE(rewritten([&] { return sum(transpose(matmul(a, b), {}), 0); }));
    // Of a batch nothing can be summed before.
    const array c = numbered({5, 20, 30}), d = numbered({5, 30, 40});
    EXPECT_FALSE(rewritten([&] { return sum(matmul(c, d), 0); }));
    EXPECT_TRUE(rewritten([&] { return sum(matmul(c, d), 1); }));
}

TEST_F(AlgebraicRewrites, ExactAndShortTypesAreLeftAsTheyAre) {
    for (const DType dtype : {DType(int64), DType(bool_), DType(float16), DType(bfloat16)}) {
        const array a = numbered({20, 30}, dtype), b = numbered({30, 40}, dtype);
        const array v = numbered({40, 1}, dtype);
        EXPECT_FALSE(rewritten([&] { return sum(matmul(a, b)); })) << dtype.name();
        EXPECT_FALSE(rewritten([&] { return matmul(matmul(a, b), v); })) << dtype.name();
    }
    for (const DType dtype : {DType(float32), DType(complex64), DType(complex128)}) {
        const array a = numbered({20, 30}, dtype), b = numbered({30, 40}, dtype);
        const array v = numbered({40, 1}, dtype);
        EXPECT_TRUE(rewritten([&] { return sum(matmul(a, b)); })) << dtype.name();
        EXPECT_TRUE(rewritten([&] { return matmul(matmul(a, b), v); })) << dtype.name();
    }
}

TEST_F(AlgebraicRewrites, AChainIsMultipliedInTheCheapestOrder) {
    const array a = numbered({50, 60}), b = numbered({60, 70}), v = numbered({70, 1});
    const array result = matmul(matmul(a, b), v);
    EXPECT_EQ(products(result), (std::vector<Dims>{{50, 70, 60}, {50, 1, 70}}));
    EXPECT_TRUE(rewritten(result));
    EXPECT_EQ(rewrite_of(result), "product_chain");
    // b @ v first, then a with it.
    EXPECT_EQ(products(result), (std::vector<Dims>{{60, 1, 70}, {50, 1, 60}}));
    EXPECT_EQ(result.shape(), (Dims{50, 1}));
}

TEST_F(AlgebraicRewrites, AChainOfFourIsTakenApartWhole) {
    const array a = numbered({40, 30}), b = numbered({30, 50}), c = numbered({50, 60}), d = numbered({60, 1});
    const array result = matmul(matmul(matmul(a, b), c), d);
    EXPECT_TRUE(rewritten(result));
    EXPECT_EQ(products(result), (std::vector<Dims>{{50, 1, 60}, {30, 1, 50}, {40, 1, 30}}));
    const array plain = matmul(matmul(a, b), c);
    const array expected = matmul(plain, d);
    eval({&expected, 1});
    EXPECT_NEAR(result(3, 0).item<double>(), expected(3, 0).item<double>(),
                1e-9 * std::abs(expected(3, 0).item<double>()));
}

TEST_F(AlgebraicRewrites, AChainThatIsHardlyCheaperStays) {
    const array a = numbered({30, 30}), b = numbered({30, 30}), c = numbered({30, 20});
    const array equal = matmul(matmul(a, b), c);
    EXPECT_FALSE(rewritten(equal));
    EXPECT_EQ(products(equal), (std::vector<Dims>{{30, 30, 30}, {30, 20, 30}}));
    const array good = matmul(a, matmul(b, c));
    EXPECT_FALSE(rewritten(good));
}

TEST_F(AlgebraicRewrites, WithoutProductsNothingIsDone) {
    const array a = numbered({20, 30});
    EXPECT_FALSE(rewritten([&] { return sum(a * a) + 1; }));
}

}  // namespace
}  // namespace weft
