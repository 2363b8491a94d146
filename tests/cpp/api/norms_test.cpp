// Norms, conditions, ranks, tensor equations, powers and functions of matrices, as C++ programs call them.
// NumPy's and SciPy's behaviour in detail is tested in Python.
#include <gtest/gtest.h>

#include <limits>

#include "weft/weft.h"

namespace weft {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double largest(const array& difference) { return max(abs(difference)).item<double>(); }

const array kMatrix = {{1.0, -2.0}, {3.0, 4.0}};

TEST(Norms, AreThoseOfNumpy) {
    EXPECT_EQ(linalg::norm(array{3.0, 4.0}).item<double>(), 5.0);
    EXPECT_EQ(linalg::norm(kMatrix, 1).item<double>(), 6.0);
    EXPECT_EQ(linalg::norm(kMatrix, kInf).item<double>(), 7.0);
    EXPECT_EQ(linalg::norm(kMatrix, -1).item<double>(), 4.0);
    EXPECT_EQ(linalg::norm(array{-3.0, 0.0, 4.0}, 0).item<double>(), 2.0);
    EXPECT_EQ(linalg::norm(array{-3.0, 0.0, 4.0}, -kInf).item<double>(), 0.0);
    EXPECT_NEAR(linalg::norm(array{1.0, 2.0, 2.0}, 3).item<double>(), 2.571281590658235, 1e-15);
    EXPECT_NEAR(linalg::norm(kMatrix, "nuc").item<double>(), 7.0710678118654755, 1e-14);
    EXPECT_NEAR(linalg::norm(kMatrix, 2).item<double>(), 5.116672736016927, 1e-14);
}

TEST(Norms, ShapesAndTypes) {
    const array a = ones({2, 3, 4}, ScalarType::kFloat32);
    EXPECT_EQ(linalg::norm(a, {}, 1).shape(), (Dims{2, 4}));
    EXPECT_EQ(linalg::norm(a, "fro", {0, 2}, true).shape(), (Dims{1, 3, 1}));
    EXPECT_EQ(linalg::norm(a, {}, {}, true).shape(), (Dims{1, 1, 1}));
    EXPECT_EQ(linalg::vector_norm(a, 2, {0, 1}).shape(), (Dims{4}));
    EXPECT_EQ(linalg::vector_norm(a, 2, {}, true).shape(), (Dims{1, 1, 1}));
    EXPECT_EQ(linalg::matrix_norm(a).shape(), (Dims{2}));
    EXPECT_EQ(linalg::norm(a).dtype(), DType(ScalarType::kFloat32));
    EXPECT_EQ(linalg::norm(array{{1, 2}, {3, 4}}).dtype(), DType(ScalarType::kFloat64));
    EXPECT_EQ(linalg::norm(astype(a, ScalarType::kComplex64)).dtype(), DType(ScalarType::kFloat32));
    EXPECT_EQ(linalg::norm(ones({0})).item<double>(), 0.0);
}

TEST(Norms, Errors) {
    EXPECT_THROW(linalg::norm(ones({2, 2, 2}), 1), ValueError);
    EXPECT_THROW(linalg::norm(kMatrix, 3), ValueError);
    EXPECT_THROW(linalg::norm(array{1.0}, "fro", 0), ValueError);
    EXPECT_THROW(linalg::norm(kMatrix, 1, {0, 0}), ValueError);
    EXPECT_THROW(linalg::norm(kMatrix, 1, 2), AxisError);
    EXPECT_THROW(linalg::vector_norm(kMatrix, 2, {0, 0}), ValueError);
    EXPECT_THROW(linalg::matrix_norm(array{1.0}), AxisError);
}

TEST(Norms, FuseWithWhatMakesTheirInput) {
    const array x = ones({100000});
    eval(std::span(&x, 1));
    const array length = linalg::norm(x * 2.0 + 1.0);
    clear_kernel_history();
    EXPECT_NEAR(length.item<double>(), 3 * 316.22776601683796, 1e-9);
    int64_t written = 0;
    for (const KernelRecord& record : kernel_history()) written += record.bytes_written;
    EXPECT_LT(written, 10000);  // the elements of x * 2 + 1 take 800000 bytes
}

TEST(Norms, Conditions) {
    EXPECT_EQ(linalg::cond(array{{4.0, 0.0}, {0.0, 2.0}}).item<double>(), 2.0);
    EXPECT_EQ(linalg::cond(array{{4.0, 0.0}, {0.0, 2.0}}, -2).item<double>(), 0.5);
    EXPECT_EQ(linalg::cond(array{{1.0, 1.0}, {1.0, 1.0}}, 1).item<double>(), kInf);
    EXPECT_EQ(linalg::cond(ones({3, 2, 2}, ScalarType::kFloat32), "fro").dtype(),
              DType(ScalarType::kFloat32));
    EXPECT_EQ(linalg::cond(ones({3, 2, 2})).shape(), (Dims{3}));
    EXPECT_THROW(linalg::cond(zeros({0, 0})), LinAlgError);
    EXPECT_THROW(linalg::cond(ones({2, 3}), 1), LinAlgError);
}

TEST(Norms, Ranks) {
    const array a = {{1.0, 2.0}, {2.0, 4.0}};
    EXPECT_EQ(linalg::matrix_rank(a).item<int64_t>(), 1);
    EXPECT_EQ(linalg::matrix_rank(a, {.hermitian = true}).item<int64_t>(), 1);
    EXPECT_EQ(linalg::matrix_rank(a, {.tol = 10.0}).item<int64_t>(), 0);
    EXPECT_EQ(linalg::matrix_rank(eye(3), {.rtol = 2.0}).item<int64_t>(), 0);
    EXPECT_EQ(linalg::matrix_rank(array{0.0, 0.0}).item<int64_t>(), 0);
    EXPECT_EQ(linalg::matrix_rank(ones({4, 2, 3})).shape(), (Dims{4}));
    EXPECT_THROW(linalg::matrix_rank(a, {.tol = 1.0, .rtol = 1.0}), ValueError);
}

TEST(Norms, PseudoInverses) {
    const array a = {{1.0, 2.0}, {3.0, 4.0}, {5.0, 7.0}}, inverse = linalg::pinv(a);
    EXPECT_EQ(inverse.shape(), (Dims{2, 3}));
    EXPECT_LT(largest(matmul(inverse, a) - eye(2)), 1e-13);
    EXPECT_EQ(to_repr(linalg::pinv(array{{2.0, 0.0}, {0.0, 0.0}}, 1e-15, true)),
              to_repr(array{{0.5, 0.0}, {0.0, 0.0}}));
    EXPECT_EQ(linalg::pinv(zeros({2, 0, 3})).shape(), (Dims{2, 3, 0}));
    EXPECT_THROW(linalg::pinv(array{1.0, 2.0}), LinAlgError);
    const linalg::SVDResult parts = linalg::svd_of_hermitian(array{{1.0, 2.0}, {2.0, -5.0}});
    EXPECT_LT(largest(matmul(parts.U * parts.S, parts.Vh) - array{{1.0, 2.0}, {2.0, -5.0}}), 1e-14);
}

TEST(TensorEquations, SolveAndInvert) {
    const array a = reshape(eye(6), {2, 3, 6}), b = ones({2, 3});
    EXPECT_EQ(to_repr(linalg::tensorsolve(a, b)), to_repr(ones({6})));
    EXPECT_EQ(linalg::tensorsolve(reshape(eye(6), {6, 2, 3}), ones({2, 3}), Dims{0}).shape(), (Dims{6}));
    EXPECT_EQ(linalg::tensorinv(reshape(eye(4), {2, 2, 2, 2})).shape(), (Dims{2, 2, 2, 2}));
    EXPECT_EQ(linalg::tensorinv(reshape(eye(6), {6, 2, 3}), 1).shape(), (Dims{2, 3, 6}));
    EXPECT_THROW(linalg::tensorsolve(a, ones({3})), LinAlgError);
    EXPECT_THROW(linalg::tensorsolve(a, b, Dims{7}), ValueError);
    EXPECT_THROW(linalg::tensorinv(a, 0), ValueError);
}

TEST(MatrixPowers, AreProductsOfTheirOwnType) {
    const array a = {{1, 1}, {0, 1}};
    EXPECT_EQ(to_repr(linalg::matrix_power(a, 5)), to_repr(array{{1, 5}, {0, 1}}));
    EXPECT_EQ(to_repr(linalg::matrix_power(a, 0)), to_repr(array{{1, 0}, {0, 1}}));
    EXPECT_EQ(to_repr(linalg::matrix_power(a, -3)), to_repr(array{{1.0, -3.0}, {0.0, 1.0}}));
    EXPECT_EQ(linalg::matrix_power(ones({3, 2, 2}), 0).shape(), (Dims{3, 2, 2}));
    EXPECT_THROW(linalg::matrix_power(ones({2, 3}), 2), LinAlgError);
    EXPECT_THROW(linalg::matrix_power(zeros({2, 2}), -1), LinAlgError);
}

TEST(MatrixFunctions, UndoEachOther) {
    const array a = {{2.0, 1.0}, {0.5, 3.0}};
    EXPECT_LT(largest(linalg::expm(linalg::logm(a)) - a), 1e-13);
    const array root = linalg::sqrtm(a);
    EXPECT_LT(largest(matmul(root, root) - a), 1e-14);
    EXPECT_EQ(root.dtype(), DType(ScalarType::kFloat64));
    EXPECT_TRUE(linalg::sqrtm(a * -1.0).dtype().is_complex());
    EXPECT_EQ(to_repr(linalg::expm(zeros({2, 2}))), to_repr(eye(2)));
    EXPECT_EQ(linalg::expm(ones({3, 2, 2}, ScalarType::kFloat32)).dtype(), DType(ScalarType::kFloat32));
    EXPECT_EQ(linalg::expm(array{1.0}).shape(), (Dims{1, 1}));
    EXPECT_LT(
        largest(linalg::expm(array{{0.0, -20.0}, {20.0, 0.0}}) -
                array{{0.40808206181339196, -0.9129452507276277}, {0.9129452507276277, 0.40808206181339196}}),
        1e-13);
    EXPECT_EQ(linalg::logm(reshape(eye(2), {1, 2, 2})).shape(), (Dims{1, 2, 2}));
    EXPECT_THROW(linalg::expm(ones({2, 3})), LinAlgError);
    EXPECT_THROW(linalg::logm(ones({2})), LinAlgError);
    EXPECT_THROW(linalg::sqrtm(ones({2, 3})), LinAlgError);
}

}  // namespace
}  // namespace weft
