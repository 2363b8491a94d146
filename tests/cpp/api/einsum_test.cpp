// einsum with its options, and einsum_path, from C++.
#include <gtest/gtest.h>

#include "weft/weft.h"

namespace weft {
namespace {

array counted(const Dims& shape) { return reshape(arange(element_count(shape)) * 1.0, shape); }

TEST(Einsum, PathsGiveTheSame) {
    const array a = counted({2, 3}), b = counted({3, 4}), c = counted({4, 5});
    const array expected = matmul(matmul(a, b), c);
    const PathChoice choices[] = {PathSearch::kOptimal,
                                  PathSearch::kGreedy,
                                  ContractionPath{},
                                  ContractionPath{{0, 1, 2}},
                                  ContractionPath{{2, 1}, {0, 1}},
                                  ContractionPath{{0, 2}, {0, 1}, {0}}};
    for (const PathChoice& choice : choices)
        EXPECT_EQ(to_repr(einsum("ij,jk,kl->il", {a, b, c}, {.optimize = choice})), to_repr(expected));
    EXPECT_THROW(einsum("ij,jk->ik", {a, b}, {.optimize = ContractionPath{{0, 2}}}), ValueError);
    EXPECT_THROW(einsum("ij,jk->ik", {a, b}, {.optimize = ContractionPath{{1, 1}}}), ValueError);
    EXPECT_THROW(einsum("ij,jk->ik", {a, b}, {.optimize = ContractionPath{{}}}), ValueError);
}

TEST(Einsum, TypesOrderAndOut) {
    const array a = counted({2, 3}), whole = astype(a, ScalarType::kInt32);
    EXPECT_EQ(einsum("ij->j", {whole}).dtype(), DType(ScalarType::kInt32));
    EXPECT_EQ(einsum("ij->j", {whole}, {.dtype = ScalarType::kFloat64}).dtype(), DType());
    EXPECT_THROW(einsum("ij->j", {a}, {.dtype = ScalarType::kInt32}), TypeError);
    EXPECT_EQ(einsum("ij->j", {a}, {.dtype = ScalarType::kInt32, .casting = Casting::kUnsafe}).dtype(),
              DType(ScalarType::kInt32));
    EXPECT_TRUE(einsum("ij,ij->ij", {a, a}, {.order = 'F'}).f_contiguous());
    const array out = zeros(3);
    EXPECT_TRUE(shares_memory(einsum("ij->j", {a}, {.out = out}), out));
    EXPECT_EQ(to_string(out), "[3. 5. 7.]");
    EXPECT_THROW(einsum("ij->i", {a}, {.out = out}), ValueError);
    EXPECT_THROW(einsum("ij->j", {a}, {.out = zeros(3, ScalarType::kInt32)}), TypeError);
    const array types[] = {zeros(1, ScalarType::kInt8), zeros(1, ScalarType::kUInt8),
                           zeros(1, ScalarType::kFloat16)};
    EXPECT_EQ(einsum("i,i,i", types).dtype(), DType(ScalarType::kFloat16));
}

TEST(Einsum, DiagonalsAreWriteableViews) {
    const array a = zeros({3, 3});
    einsum("ii->i", {a})(all) = 1.0;
    EXPECT_EQ(to_string(a), to_string(eye(3, 3, 0, DType())));
}

TEST(Einsum, PathReport) {
    const array a = zeros({2, 30}), b = zeros({30, 5}), c = zeros({5, 60});
    const EinsumPath path = einsum_path("ij,jk,kl->il", {a, b, c});
    EXPECT_EQ(path.steps, (ContractionPath{{0, 1}, {0, 1}}));
    EXPECT_EQ(path.report.substr(0, path.report.find('\n')), "  Complete contraction:  ij,jk,kl->il");
    EXPECT_EQ(einsum_path("ij", {a}).steps, (ContractionPath{{0}}));
    EXPECT_NE(einsum_path("...j,jk->...k", {a, b}).report.find("αj,jk->αk"), std::string::npos);
}

}  // namespace
}  // namespace weft
