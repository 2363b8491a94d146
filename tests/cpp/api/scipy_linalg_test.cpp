// What weft::linalg and weft::fft have of SciPy, as C++ programs call it.
#include <gtest/gtest.h>

#include "weft/weft.h"

namespace weft {
namespace {

double largest(const array& difference) { return max(abs(difference)).item<double>(); }
array adjoint(const array& a) { return conjugate(swapaxes(a, -1, -2)); }

const array kGeneral = {{1.0, 2.0, 0.5}, {-3.0, 4.0, 1.0}, {0.0, 6.0, -2.0}};
const array kSymmetric = {{0.0, 1.0, 2.0}, {1.0, 0.0, 3.0}, {2.0, 3.0, 0.0}};

TEST(LUParts, MultiplyToTheMatrix) {
    const linalg::PLU parts = linalg::lu(kGeneral);
    EXPECT_LT(largest(matmul(parts.P, matmul(parts.L, parts.U)) - kGeneral), 1e-15);
    const linalg::PLU indices = linalg::lu(kGeneral, linalg::LURows::kIndices);
    EXPECT_LT(largest(matmul(array(indices.L(indices.P)), indices.U) - kGeneral), 1e-15);
    const linalg::PLU permuted = linalg::lu_permuted(kGeneral);
    EXPECT_LT(largest(matmul(permuted.L, permuted.U) - kGeneral), 1e-15);
    const linalg::PLU batch = linalg::lu(ones({4, 2, 5}, ScalarType::kComplex64));
    EXPECT_EQ(batch.P.shape(), (Dims{4, 2, 2}));
    EXPECT_EQ(batch.P.dtype(), DType(ScalarType::kFloat32));
    EXPECT_EQ(batch.U.shape(), (Dims{4, 2, 5}));
    EXPECT_EQ(linalg::lu(ones({1, 1}, ScalarType::kComplex64)).P.dtype(), DType(ScalarType::kComplex64));
    EXPECT_THROW(linalg::lu(ones({3})), LinAlgError);
}

TEST(LUParts, OrderAndSolutions) {
    EXPECT_EQ(to_repr(linalg::lu_order(array{1, 1}, 3)), to_repr(array{1, 0, 2}));
    EXPECT_THROW(linalg::lu_order(array{5}, 3), IndexError);
    const linalg::LUResult found = linalg::lu_factor(kGeneral);
    const array b = {1.0, 2.0, 3.0};
    for (const char form : {'N', 'T', 'C'}) {
        const array x = linalg::lu_solve(found.factors, found.pivots, b, form);
        const array a = form == 'N' ? kGeneral : swapaxes(kGeneral, 0, 1);
        EXPECT_LT(largest(matmul(a, x) - b), 1e-14);
    }
    EXPECT_THROW(linalg::lu_solve(found.factors, found.pivots, ones({2})), ValueError);
}

TEST(Toeplitz, Equations) {
    EXPECT_LT(
        largest(linalg::solve_toeplitz(array{2.0, 1.0}, array{2.0, 0.0}, array{2.0, 5.0}) - array{1.0, 2.0}),
        1e-15);
    const array column = {4.0, 1.0, 0.5}, row = {9.0, -1.0, 0.25};
    const array matrix = {{4.0, -1.0, 0.25}, {1.0, 4.0, -1.0}, {0.5, 1.0, 4.0}};
    const array b = {{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}};
    const array x = linalg::solve_toeplitz(column, row, b);
    EXPECT_EQ(x.shape(), (Dims{3, 2}));
    EXPECT_LT(largest(matmul(matrix, x) - b), 1e-14);
    const array single = astype(column, ScalarType::kFloat32);
    EXPECT_EQ(linalg::solve_toeplitz(single, single, single).dtype(), DType(ScalarType::kFloat64));
    EXPECT_EQ(linalg::solve_toeplitz(ones({0}), ones({0}), ones({0, 2})).shape(), (Dims{0, 2}));
    EXPECT_THROW(linalg::solve_toeplitz(column, row, ones({2})), ValueError);
    EXPECT_THROW(linalg::solve_toeplitz(ones({3}), ones({3}), ones({3})), LinAlgError);
}

TEST(LDL, MultipliesToTheMatrix) {
    for (const bool lower : {true, false}) {
        const linalg::LDLResult parts = linalg::ldl(kSymmetric, lower);
        EXPECT_LT(largest(matmul(matmul(parts.L, parts.D), adjoint(parts.L)) - kSymmetric), 1e-15);
        const array triangle = parts.L(parts.perm);
        EXPECT_EQ(largest(lower ? triu(triangle, 1) : tril(triangle, -1)), 0.0);
    }
    const linalg::LDLResult batch = linalg::ldl(ones({4, 2, 2}, ScalarType::kComplex64));
    EXPECT_EQ(batch.D.shape(), (Dims{4, 2, 2}));
    EXPECT_EQ(batch.D.dtype(), DType(ScalarType::kComplex64));
    EXPECT_EQ(batch.perm.shape(), (Dims{4, 2}));
    EXPECT_THROW(linalg::ldl(ones({2, 3})), LinAlgError);
}

TEST(EighSubset, HasTheChosenValues) {
    const linalg::EighResult whole = linalg::eigh(kSymmetric);
    const linalg::EighResult some = linalg::eigh(kSymmetric, false, {.positions = {{1, 2}}});
    EXPECT_LT(largest(some.eigenvalues - whole.eigenvalues(slice(1, none))), 1e-14);
    EXPECT_LT(largest(matmul(kSymmetric, some.eigenvectors) - some.eigenvectors * some.eigenvalues), 1e-14);
    const array positive = linalg::eigvalsh(kSymmetric, true, {.interval = {{0.0, 100.0}}});
    EXPECT_EQ(positive.shape(), (Dims{1}));
    EXPECT_EQ(linalg::eigh(kSymmetric, false, {.interval = {{50.0, 100.0}}}).eigenvectors.shape(),
              (Dims{3, 0}));
    EXPECT_THROW(linalg::eigh(kSymmetric, false, {.positions = {{1, 3}}}), ValueError);
    EXPECT_THROW(linalg::eigh(kSymmetric, false, {.interval = {{2.0, 1.0}}}), ValueError);
    EXPECT_THROW(linalg::eigh(ones({2, 2, 2}), false, {.interval = {{0.0, 1.0}}}), ValueError);
}

TEST(Eig, OfBothSidesAndPairs) {
    const linalg::TwoSidedEig both = linalg::eig(kGeneral, {.left = true});
    EXPECT_TRUE(both.eigenvalues.dtype().is_complex());
    EXPECT_LT(largest(matmul(kGeneral, both.right) - both.right * both.eigenvalues), 1e-13);
    EXPECT_LT(
        largest(matmul(adjoint(both.left), kGeneral) - adjoint(both.left) * both.eigenvalues(all, newaxis)),
        1e-13);
    EXPECT_FALSE(linalg::eig(kGeneral, {.right = false}).right.valid());
    EXPECT_EQ(linalg::eig(kSymmetric, linalg::EigSides{}).right.dtype(), DType(ScalarType::kFloat64));
    const linalg::GeneralizedEig pair = linalg::generalized_eig(kGeneral, kSymmetric, {.left = true});
    EXPECT_LT(largest(matmul(kGeneral, pair.right) * pair.beta - matmul(kSymmetric, pair.right) * pair.alpha),
              1e-12);
    EXPECT_EQ(pair.beta.dtype(), DType(ScalarType::kFloat64));
    EXPECT_EQ(linalg::generalized_eig(ones({4, 2, 2}), eye(2)).alpha.shape(), (Dims{4, 2}));
    EXPECT_THROW(linalg::generalized_eig(kGeneral, eye(2)), ValueError);
    EXPECT_THROW(linalg::eig(ones({2, 3}), linalg::EigSides{}), LinAlgError);
}

TEST(Schur, SortsEigenvalues) {
    const linalg::SortedSchur form =
        linalg::schur(kGeneral, [](std::complex<double> value) { return value.real() < 0; });
    EXPECT_EQ(form.count.item<int64_t>(), 1);
    EXPECT_LT(form.T.item<double>(0, 0), 0.0);
    EXPECT_LT(largest(matmul(matmul(form.Z, form.T), adjoint(form.Z)) - kGeneral), 1e-13);
    const array values = linalg::schur_eigenvalues(form.T);
    EXPECT_EQ(values.dtype(), DType(ScalarType::kComplex128));
    EXPECT_LT(abs(sum(values) - 3.0).item<double>(), 1e-13);
    EXPECT_THROW(linalg::sort_schur(linalg::schur(kGeneral), ones({2})), ValueError);
}

TEST(PivotedQR, LeavesReflectors) {
    const linalg::RawPivotedQR raw = linalg::qr_raw_pivoted(kGeneral);
    const linalg::PivotedQR parts = linalg::qr_pivoted(kGeneral);
    EXPECT_EQ(largest(triu(raw.factored) - parts.R), 0.0);
    EXPECT_EQ(to_repr(raw.P), to_repr(parts.P));
    EXPECT_EQ(linalg::qr_raw_pivoted(ones({5, 2, 3}, ScalarType::kFloat32)).tau.dtype(),
              DType(ScalarType::kFloat32));
    EXPECT_THROW(linalg::qr_raw_pivoted(ones({3})), LinAlgError);
}

TEST(Hankel, GoesThereAndBack) {
    const array a = {{1.0, 2.0, 4.0, 3.0}, {0.0, 1.0, 0.0, 2.0}};
    for (const double bias : {0.0, 0.3}) {
        const array there = fft::fht(a, 0.2, 0.5, 0.1, bias);
        EXPECT_EQ(there.shape(), a.shape());
        EXPECT_LT(largest(fft::ifht(there, 0.2, 0.5, 0.1, bias) - a), 1e-12);
    }
    EXPECT_EQ(fft::fht(astype(a, ScalarType::kFloat32), 0.2, 0.5).dtype(), DType(ScalarType::kFloat32));
    EXPECT_NEAR(fft::fhtoffset(0.1, 0.5), -0.027642801500698512, 1e-12);
    EXPECT_THROW(fft::fht(a, 0.0, 0.5), ValueError);
    EXPECT_THROW(fft::fht(astype(a, ScalarType::kComplex128), 0.1, 0.5), TypeError);
}

}  // namespace
}  // namespace weft
