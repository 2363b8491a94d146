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

TEST(PairOfMatrices, HasEigenvalues) {
    const array b = {{4.0, 1.0, 0.0}, {1.0, 3.0, 0.5}, {0.0, 0.5, 2.0}};
    using linalg::PairProblem;
    for (const bool upper : {false, true}) {
        for (const auto problem : {PairProblem::kAvBv, PairProblem::kABv, PairProblem::kBAv}) {
            const array a = upper ? triu(kSymmetric) : tril(kSymmetric);
            const linalg::PairOptions options{upper, problem};
            const linalg::EighResult found = linalg::generalized_eigh(a, b, options);
            const array& v = found.eigenvectors;
            const array av = matmul(kSymmetric, v), bv = matmul(b, v);
            const array left = problem == PairProblem::kAvBv  ? av
                               : problem == PairProblem::kABv ? matmul(kSymmetric, bv)
                                                              : matmul(b, av);
            const array right = (problem == PairProblem::kAvBv ? bv : v) * found.eigenvalues;
            EXPECT_LT(largest(left - right), 1e-12);
            const array scale = problem == PairProblem::kBAv ? linalg::solve(b, v) : bv;
            EXPECT_LT(largest(matmul(adjoint(v), scale) - eye(3)), 1e-13);
            EXPECT_LT(largest(linalg::generalized_eigvalsh(a, b, options) - found.eigenvalues), 1e-12);
        }
    }
    const linalg::PairOptions last{.subset = {.positions = {{2, 2}}}};
    EXPECT_EQ(linalg::generalized_eigh(kSymmetric, b, last).eigenvectors.shape(), (Dims{3, 1}));
    EXPECT_EQ(
        linalg::generalized_eigh(ones({4, 1, 1}, ScalarType::kComplex64), ones({1, 1})).eigenvectors.dtype(),
        DType(ScalarType::kComplex128));
    EXPECT_EQ(linalg::generalized_eigvalsh(ones({4, 2, 2}), eye(2)).shape(), (Dims{4, 2}));
    EXPECT_THROW(linalg::generalized_eigh(kSymmetric, -b), LinAlgError);
    EXPECT_THROW(linalg::generalized_eigh(kSymmetric, eye(2)), ValueError);
}

TEST(CholeskyFactors, SolveEquations) {
    const array a = {{4.0, 1.0}, {1.0, 3.0}}, b = {1.0, 2.0};
    for (const bool lower : {false, true}) {
        const array factor = linalg::cholesky(a, !lower);
        EXPECT_LT(largest(matmul(a, linalg::cho_solve(factor, b, lower)) - b), 1e-15);
        const array many = broadcast_to(factor, Dims{5, 2, 2});
        EXPECT_EQ(linalg::cho_solve(many, b, lower).shape(), (Dims{5, 2}));
        EXPECT_EQ(linalg::cho_solve(many, ones({5, 2, 3}), lower).shape(), (Dims{5, 2, 3}));
        EXPECT_EQ(linalg::cho_solve(factor, ones({5, 2, 3}), lower).shape(), (Dims{5, 2, 3}));
    }
    EXPECT_THROW(linalg::cho_solve(a, ones({3})), ValueError);
    EXPECT_THROW(linalg::cho_solve(ones({2, 3}), b), LinAlgError);
    const linalg::LUResult found = linalg::lu_factor(stack({a, a * 2.0}));
    EXPECT_EQ(linalg::lu_solve(found.factors, found.pivots, b).shape(), (Dims{2, 2}));
    const linalg::LUResult one = linalg::lu_factor(a);
    EXPECT_EQ(linalg::lu_solve(one.factors, one.pivots, ones({5, 2, 3})).shape(), (Dims{5, 2, 3}));
}

TEST(Polar, MultipliesToTheMatrix) {
    const array wide = {{1.0, 2.0, 0.5}, {-3.0, 4.0, 1.0}};
    for (const array& a : {kGeneral, wide, sqrt(astype(-wide, ScalarType::kComplex128))}) {
        const linalg::PolarResult right = linalg::polar(a), left = linalg::polar(a, linalg::PolarSide::kLeft);
        EXPECT_LT(largest(matmul(right.U, right.P) - a), 1e-14);
        EXPECT_LT(largest(matmul(left.P, left.U) - a), 1e-14);
        EXPECT_GT(min(linalg::eigvalsh(right.P)).item<double>(), -1e-14);
        EXPECT_LT(largest(right.P - adjoint(right.P)), 1e-14);
    }
    EXPECT_THROW(linalg::polar(ones({3})), LinAlgError);
}

TEST(Spaces, HaveBases) {
    const array a = {{1.0, 2.0, 3.0}, {2.0, 4.0, 6.0}};
    const array columns = linalg::orth(a), zero = linalg::null_space(a);
    EXPECT_EQ(columns.shape(), (Dims{2, 1}));
    EXPECT_EQ(zero.shape(), (Dims{3, 2}));
    EXPECT_LT(largest(matmul(a, zero)), 1e-14);
    EXPECT_LT(largest(matmul(adjoint(zero), zero) - eye(2)), 1e-14);
    EXPECT_LT(largest(matmul(columns, matmul(adjoint(columns), a)) - a), 1e-14);
    EXPECT_EQ(linalg::null_space(eye(2), 0.0, linalg::SVDDriver::kGesvd).shape(), (Dims{2, 0}));
    EXPECT_EQ(linalg::orth(array{{2.0, 0.0}, {0.0, 1.0}}, 0.6).shape(), (Dims{2, 1}));
    EXPECT_EQ(linalg::orth(ones({4, 3, 2})).shape(), (Dims{4, 3, 1}));
    EXPECT_THROW(linalg::orth(stack({eye(2), ones({2, 2})})), ValueError);
}

TEST(RankedPinv, TellsOfTheRank) {
    const array a = {{1.0, 2.0, 3.0}, {2.0, 4.0, 6.0}};
    const linalg::RankedPinv found = linalg::ranked_pinv(a);
    EXPECT_EQ(found.rank.item<int64_t>(), 1);
    EXPECT_EQ(found.inverse.shape(), (Dims{3, 2}));
    EXPECT_LT(largest(matmul(a, matmul(found.inverse, a)) - a), 1e-13);
    EXPECT_EQ(linalg::ranked_pinv(eye(2), {.atol = 2.0}).rank.item<int64_t>(), 0);
    EXPECT_EQ(
        linalg::ranked_pinv(array{{2.0, 0.0}, {0.0, 1.0}}, {.atol = 0.4, .rtol = 0.4}).rank.item<int64_t>(),
        1);
    EXPECT_EQ(linalg::ranked_pinv(ones({4, 3, 2})).rank.shape(), (Dims{4}));
    EXPECT_THROW(linalg::ranked_pinv(a, {.rtol = -1.0}), ValueError);
}

TEST(MultiDot, MultipliesInAnyOrder) {
    const array a = ones({2, 30}), b = ones({30, 4}), c = ones({4, 5});
    EXPECT_EQ(to_repr(linalg::multi_dot({a, b, c})), to_repr(matmul(matmul(a, b), c)));
    EXPECT_EQ(to_repr(linalg::multi_dot({a, b, ones({4})})), to_repr(array{120.0, 120.0}));
    EXPECT_EQ(linalg::multi_dot({ones({2}), a, b, ones({4})}).item<double>(), 240.0);
    const array out = zeros({2, 5}), ends = zeros({5});
    linalg::multi_dot({a, b, c}, out);
    EXPECT_EQ(out.item<double>(1, 4), 120.0);
    linalg::multi_dot({ones({2}), a, b, c}, ends);
    EXPECT_EQ(ends.item<double>(4), 240.0);
    EXPECT_THROW(linalg::multi_dot({a}), ValueError);
    EXPECT_THROW(linalg::multi_dot({a, c, b}), ValueError);
    EXPECT_THROW(linalg::multi_dot({a, ones({2, 2, 2}), b}), LinAlgError);
}

TEST(SquareRoot, OfNothingAndOfNan) {
    EXPECT_EQ(linalg::sqrtm(ones({0, 2, 2})).dtype(), DType(ScalarType::kFloat64));
    const array two = stack({eye(2), eye(2) * std::numeric_limits<double>::quiet_NaN()});
    const array roots = linalg::sqrtm(two);
    EXPECT_EQ(largest(array(roots(0)) - eye(2)), 0.0);
    EXPECT_TRUE(truth_of(weft::all(isnan(array(roots(1))))));
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
