// weft::linalg as C++ programs call it. NumPy's behaviour in detail is tested in Python.
#include "weft/linalg.h"

#include <gtest/gtest.h>

#include "weft/weft.h"

namespace weft {
namespace {

double largest(const array& difference) { return max(abs(difference)).item<double>(); }

TEST(Linalg, SolvesEquations) {
    const array a = {{2.0, 1.0}, {1.0, 3.0}}, b = {3.0, 5.0};
    EXPECT_LT(largest(matmul(a, linalg::solve(a, b)) - b), 1e-15);
    const array many = reshape(b, {2, 1});
    EXPECT_EQ(linalg::solve(a, many).shape(), (Dims{2, 1}));
    EXPECT_THROW(linalg::solve(array{{1.0, 2.0}, {2.0, 4.0}}, b), LinAlgError);
    EXPECT_THROW(linalg::solve(a, array{1.0, 2.0, 3.0}), ValueError);
}

TEST(Linalg, InvertsBatches) {
    const array a = {{{2.0, 0.0}, {0.0, 4.0}}, {{0.0, 1.0}, {1.0, 0.0}}};
    const array inverse = linalg::inv(a);
    EXPECT_EQ(inverse.shape(), (Dims{2, 2, 2}));
    EXPECT_LT(largest(matmul(a, inverse) - eye(2)), 1e-15);
    EXPECT_THROW(linalg::inv(zeros({3, 2, 2})), LinAlgError);
    EXPECT_THROW(linalg::inv(zeros({2, 3})), LinAlgError);
    EXPECT_EQ(linalg::inv(zeros({0, 0})).size(), 0);
}

TEST(Linalg, DeterminantsDoNotOverflowOnTheWay) {
    EXPECT_EQ(linalg::det(array{{1.0, 2.0}, {3.0, 4.0}}).item<double>(), -2.0);
    EXPECT_EQ(linalg::det(zeros({2, 2})).item<double>(), 0.0);
    EXPECT_EQ(linalg::det(zeros({0, 0})).item<double>(), 1.0);
    const array long_way = {{1e300, 0.0, 0.0}, {0.0, 1e300, 0.0}, {0.0, 0.0, 1e-300}};
    EXPECT_NEAR(linalg::det(long_way).item<double>(), 1e300, 1e286);
    const linalg::SlogdetResult parts = linalg::slogdet(array{{0.0, 2.0}, {2.0, 0.0}});
    EXPECT_EQ(parts.sign.item<double>(), -1.0);
    EXPECT_NEAR(parts.logabsdet.item<double>(), 1.3862943611198906, 1e-15);
}

TEST(Linalg, CholeskyReadsOneTriangle) {
    const array a = {{4.0, 99.0}, {2.0, 5.0}};
    EXPECT_EQ(to_repr(linalg::cholesky(a)), to_repr(array{{2.0, 0.0}, {1.0, 2.0}}));
    const array b = {{4.0, 2.0}, {99.0, 5.0}};
    EXPECT_EQ(to_repr(linalg::cholesky(b, true)), to_repr(array{{2.0, 1.0}, {0.0, 2.0}}));
    EXPECT_THROW(linalg::cholesky(array{{1.0, 2.0}, {2.0, 1.0}}), LinAlgError);
}

TEST(Linalg, FactorisationsMultiplyToTheMatrix) {
    const array a = {{1.0, 2.0}, {3.0, 4.0}, {5.0, 7.0}};
    const linalg::QRResult qr = linalg::qr(a);
    EXPECT_LT(largest(matmul(qr.Q, qr.R) - a), 1e-14);
    const linalg::SVDResult svd = linalg::svd(a, false);
    EXPECT_LT(largest(matmul(svd.U * svd.S, svd.Vh) - a), 1e-14);
    const array square = {{2.0, 1.0}, {1.0, 3.0}};
    const linalg::EighResult eigh = linalg::eigh(square);
    EXPECT_LT(largest(matmul(square, eigh.eigenvectors) - eigh.eigenvectors * eigh.eigenvalues), 1e-14);
    EXPECT_TRUE(linalg::eigvals(array{{0.0, -1.0}, {1.0, 0.0}}).dtype().is_complex());
    EXPECT_FALSE(linalg::eigvals(square).dtype().is_complex());
    EXPECT_TRUE(linalg::eigvals(square, true).dtype().is_complex());
    const linalg::EigResult complex = linalg::eig(square, true);
    EXPECT_TRUE(complex.eigenvectors.dtype().is_complex());
    EXPECT_LT(largest(abs(matmul(square, complex.eigenvectors) - complex.eigenvectors * complex.eigenvalues)),
              1e-14);
    const linalg::LstsqResult least = linalg::lstsq(a, array{3.0, 7.0, 12.0});
    EXPECT_EQ(least.rank, 2);
    EXPECT_LT(largest(least.x - array{1.0, 1.0}), 1e-14);
}

TEST(Linalg, TypesAreThoseOfNumpy) {
    EXPECT_EQ(linalg::inv(astype(eye(2), ScalarType::kFloat32)).dtype(), DType(ScalarType::kFloat32));
    EXPECT_EQ(linalg::inv(array{{1, 2}, {3, 5}}).dtype(), DType(ScalarType::kFloat64));
    EXPECT_THROW(linalg::inv(astype(eye(2), ScalarType::kFloat16)), TypeError);
}

TEST(Linalg, ResultsAreExplained) {
    const array a = eye(10) * 2.0;
    const std::string text = explain(linalg::inv(a));
    EXPECT_NE(text.find("made by linalg.inv of a matrix 10x10 float64, result on cpu"), std::string::npos)
        << text;
    EXPECT_NE(text.find("by LAPACK (OpenBLAS), on 1 thread"), std::string::npos) << text;
    EXPECT_EQ(explain(a + 1.0).find("made by"), std::string::npos);
}

TEST(Linalg, WhereSpectraAreComputedIsASetting) {
    const linalg::LinalgDevice before = linalg::linalg_device();
    linalg::set_linalg_device(linalg::LinalgDevice::kAuto);
    EXPECT_EQ(linalg::linalg_device(), linalg::LinalgDevice::kAuto);
    EXPECT_EQ(explain(linalg::eigvalsh(eye(10))).find("on the CPU:"), std::string::npos);  // they are there
    linalg::set_linalg_device(before);
    EXPECT_EQ(linalg::linalg_device(), before);
}

}  // namespace
}  // namespace weft
