// Linear algebra, named as in numpy.linalg. Matrices are the last two axes; the axes before them are a batch,
// and broadcast where there are two operands. float32 and complex64 are computed as such, integers and bool
// as float64; TypeError for 16-bit floats. Inputs are computed at the call, since values decide about errors:
// LinAlgError (a ValueError) for matrices that are singular, not square and the like. Norms without singular
// values, and powers of matrices, are recorded: they fuse.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/array.h"
#include "weft/options.h"

namespace weft::linalg {

/// Where eigenvalues and singular values of arrays on a GPU are computed: there; or where that is quicker,
/// which for general matrices, and for few small ones, is the CPU. Results come back to the GPU. To begin
/// with it is what WEFT_LINALG_DEVICE says, `operands` or `auto`, else the GPU.
enum class LinalgDevice : uint8_t { kOperands, kAuto };
void set_linalg_device(LinalgDevice device);
LinalgDevice linalg_device();

/// x of a x = b: `a` is (…, n, n), and `b` (n) or (…, n, k).
///
///     solve(array{{2.0, 0.0}, {0.0, 4.0}}, array{1.0, 2.0}) is {0.5, 0.5}
array solve(const array& a, const array& b);
/// The inverses of (…, n, n).
array inv(const array& a);
/// The same, but the inverse of a singular matrix is nan.
array inv_or_nan(const array& a);
/// Determinants: of (…, n, n) it is (…).
array det(const array& a);

struct SlogdetResult {
    array sign, logabsdet;
};
/// A determinant as its sign, or its complex number of size one, and the logarithm of its absolute value.
SlogdetResult slogdet(const array& a);

/// The lower triangular L of a = L Lᴴ, or the upper one U of a = Uᴴ U; only that triangle of `a` is read.
array cholesky(const array& a, bool upper = false);

enum class QRMode : uint8_t { kReduced, kComplete };
struct QRResult {
    array Q, R;
};
/// a = Q R with orthonormal columns of Q, min(m, n) of them or m, and upper triangular R.
QRResult qr(const array& a, QRMode mode = QRMode::kReduced);
/// R alone, of min(m, n) rows.
array qr_r(const array& a);
struct RawQR {
    array factored, tau;  // (…, m, n) as LAPACK's geqrf leaves it, and the factors of the reflectors
};
RawQR qr_raw(const array& a);
struct PivotedQR {
    array Q, R, P;  // a[:, P] = Q R
};
PivotedQR qr_pivoted(const array& a, QRMode mode = QRMode::kReduced);

struct SVDResult {
    array U, S, Vh;
};
/// How singular values are found: divide and conquer, or QR iterations, which are slower.
enum class SVDDriver : uint8_t { kGesdd, kGesvd };
/// a = U diag(S) Vh with S from the largest on; U and Vh are square, or of min(m, n) columns and rows.
SVDResult svd(const array& a, bool full_matrices = true, SVDDriver driver = SVDDriver::kGesdd);
array svdvals(const array& a, SVDDriver driver = SVDDriver::kGesdd);

struct EigResult {
    array eigenvalues, eigenvectors;
};
/// Of general matrices: real where all of the batch's eigenvalues are, unless they shall be complex always.
/// LinAlgError for infinities and nan.
EigResult eig(const array& a, bool always_complex = false);
array eigvals(const array& a, bool always_complex = false);
using EighResult = EigResult;
/// Of symmetric or Hermitian matrices, of which one triangle is read: ascending eigenvalues, columns of
/// vectors.
EighResult eigh(const array& a, bool upper = false);
array eigvalsh(const array& a, bool upper = false);
/// The singular values and vectors of a Hermitian matrix, from its eigenvalues: U, S and Vh as svd has them,
/// and the values alone. The lower triangle is read.
///
///     svdvals_of_hermitian(array{{1.0, 0.0}, {0.0, -2.0}}) is {2, 1}
SVDResult svd_of_hermitian(const array& a);
array svdvals_of_hermitian(const array& a);

struct LstsqResult {
    array x, residuals;
    int64_t rank;
    array singular_values;
};
/// The x that brings a x closest to b, of two axes or `b` of one. Singular values up to `rcond` times the
/// largest count as zero; not given, the precision of the type times max(m, n). Residuals are given where the
/// rank is full and a has more rows than columns.
LstsqResult lstsq(const array& a, const array& b, std::optional<double> rcond = {});

/// The pseudo-inverses (…, n, m) of (…, m, n). Singular values up to `rcond` times the largest count as zero;
/// an array has one `rcond` for each matrix. `hermitian`: by eigenvalues, of the lower triangle.
///
///     pinv(array{{2.0, 0.0}, {0.0, 0.0}}) is {{0.5, 0}, {0, 0}}
array pinv(const array& a, const Argument& rcond = 1e-15, bool hermitian = false);

/// The x of tensordot(a, x, x.ndim) = b. `axes` of `a` are moved to its end first. LinAlgError where `a` is
/// not square in this sense, or singular; ValueError for an axis that is not there or named twice.
///
///     tensorsolve(reshape(eye(6), {2, 3, 6}), ones({2, 3})) is {1, 1, 1, 1, 1, 1}
array tensorsolve(const array& a, const array& b, const std::optional<Dims>& axes = {});
/// The inverse of what tensordot(a, x, ind) does. ValueError for an `ind` below one, LinAlgError where there
/// is none.
///
///     tensorinv(reshape(eye(4), {2, 2, 2, 2})).shape() is {2, 2, 2, 2}
array tensorinv(const array& a, int64_t ind = 2);

/// Square matrices to the power of an integer, of their inverse where it is negative; in their own dtype.
/// LinAlgError where they are not square, or singular.
///
///     matrix_power(array{{1, 1}, {0, 1}}, 5) is {{1, 5}, {0, 1}}
array matrix_power(const array& a, int64_t n);

/// The product of a chain of matrices, multiplied in the order that takes the fewest operations. The first
/// may be a row of one axis, and the last a column. `out`, if valid, gets the result. ValueError for fewer
/// than two arrays, or shapes that do not fit; LinAlgError for other numbers of axes.
///
///     multi_dot({ones({2, 3}), ones({3, 4}), ones({4})}) is {12, 12}
array multi_dot(const std::vector<array>& arrays, const array& out = {});

// ---- norms ----

/// Which norm: none given, the Euclidean one of vectors and that of Frobenius of matrices; a number; "fro" or
/// "nuc", of matrices.
class NormOrder {
public:
    NormOrder() = default;
    template <class T>
        requires std::is_arithmetic_v<T>
    NormOrder(T number) : number_(Argument(number)) {}
    NormOrder(Argument number) : number_(std::move(number)) {}
    NormOrder(const char* name) : name_(name) {}
    NormOrder(std::string name) : name_(std::move(name)) {}

    bool is_default() const { return !number_ && !name_; }
    const std::optional<Argument>& number() const { return number_; }
    const std::optional<std::string>& name() const { return name_; }

private:
    std::optional<Argument> number_;
    std::optional<std::string> name_;
};

/// np.linalg.norm: of vectors along one axis, of matrices along two; without axes, of all elements as one
/// vector where no order is given. Orders of vectors are numbers, inf and -inf among them; of matrices 1, -1,
/// 2, -2, inf, -inf, "fro" and "nuc", of which 2, -2 and "nuc" are computed at the call. Real, float64 of
/// integers. ValueError for another order or number of axes.
///
///     norm(array{3.0, 4.0}) is 5; norm(array{{1.0, -2.0}, {3.0, 4.0}}, 1) is 6
array norm(const array& x, const NormOrder& ord = {}, const Axes& axis = {}, bool keepdims = false);
/// np.linalg.vector_norm: of the elements along any axes as one vector, of all by default.
///
///     vector_norm(array{{3.0, 0.0}, {0.0, 4.0}}, 1) is 7
array vector_norm(const array& x, const NormOrder& ord = 2, const Axes& axis = {}, bool keepdims = false);
/// np.linalg.matrix_norm: of the matrices of the last two axes.
///
///     matrix_norm(array{{3.0, 0.0}, {0.0, 4.0}}) is 5
array matrix_norm(const array& x, const NormOrder& ord = "fro", bool keepdims = false);
/// The condition number: by default, or with 2, the largest singular value by the smallest; with -2 the other
/// way around; else the norm times the inverse's norm. Infinite for singular matrices. LinAlgError for
/// matrices without elements, and for those that are not square where this matters.
///
/// Of matrices with nan in them it throws LinAlgError where it needs singular values, or with `passes_nan` is
/// nan.
///
///     cond(array{{4.0, 0.0}, {0.0, 2.0}}) is 2
array cond(const array& x, const NormOrder& p = {}, bool passes_nan = false);

struct RankOptions {
    std::optional<Argument> tol = {};  // what singular values have to exceed: one number, or one a matrix
    std::optional<Argument> rtol =
        {};                  // the same in units of the largest; by default the precision * max(m, n)
    bool hermitian = false;  // by eigenvalues, of the lower triangle
};
/// How many singular values are large, int64. Fewer than two axes have rank 1 where an element is not zero.
/// ValueError for both of `tol` and `rtol`.
///
///     matrix_rank(array{{1.0, 2.0}, {2.0, 4.0}}) is 1
array matrix_rank(const array& a, const RankOptions& options = {});

// ---- of scipy.linalg ----

struct LUResult {
    array factors,
        pivots;        // L without its diagonal of ones and U in one array; row i was swapped with pivots[i]
    int64_t singular;  // the position of a zero on the diagonal of U, or -1
};
/// The LU factorisation with row swaps of (…, m, n).
LUResult lu_factor(const array& a);
/// The rows of a matrix in their order after the swaps of lu_factor: a[order] = L U. Of `pivots` (…, k) it is
/// (…, rows), int64. IndexError for a pivot beyond the rows.
///
///     lu_order(array{1, 1}, 3) is {1, 0, 2}
array lu_order(const array& pivots, int64_t rows);

enum class LURows : uint8_t { kMatrix, kIndices };
struct PLU {
    array P, L, U;
};
/// a = P L U with unit lower triangular L, min(m, n) columns of it, and upper triangular U; or, with
/// kIndices, a = L[P] U. The matrix P is real, but of a's type for one row and column, as SciPy has it.
///
///     lu(array{{1.0, 2.0}, {4.0, 8.0}}).L is {{1, 0}, {0.25, 1}}
PLU lu(const array& a, LURows rows = LURows::kMatrix);
/// The same with the rows of L in the order of a's: L is P L, and P is not given.
///
///     lu_permuted(array{{1.0, 2.0}, {4.0, 8.0}}).L is {{0.25, 1}, {1, 0}}
PLU lu_permuted(const array& a);
/// x of a x = b by what lu_factor gave, of the transposed matrix ('T'), or of the conjugated and transposed
/// one ('C'). ValueError where the shapes do not fit.
///
///     const LUResult found = lu_factor(a); lu_solve(found.factors, found.pivots, b) is solve(a, b)
array lu_solve(const array& factors, const array& pivots, const array& b, char form = 'N');

/// x of a x = b by the factor that cholesky gave of a: the upper one, or the lower one. `b` is (n) or
/// (…, n, k), and broadcasts with a batch of factors. ValueError where the shapes do not fit.
///
///     cho_solve(array{{2.0, 0.0}, {0.0, 1.0}}, array{4.0, 2.0}) is {1, 2}
array cho_solve(const array& factor, const array& b, bool lower = false);

struct TriangularOptions {
    bool lower = false;
    bool unit_diagonal = false;  // it counts as ones and is not read
    char form = 'N';  // of the equation's matrix: `a`, transposed ('T') or conjugated and transposed ('C')
    bool divides_by_zero = false;  // a zero on the diagonal makes infinities and nan, and no error
};
/// x of a x = b for triangular `a`, of which only that triangle is read. LinAlgError for a zero on the
/// diagonal.
array solve_triangular(const array& a, const array& b, const TriangularOptions& options = {});
/// x of a x = b, where the rows of `bands` are the diagonals of `a`, the highest first. LinAlgError where it
/// is singular.
array solve_banded(int64_t below, int64_t above, const array& bands, const array& b);

/// x of t x = b for the Toeplitz matrix of this first column (n) and first row (n), whose first element is
/// not read; `b` is (n) or (n, k). By Levinson's recursion, in float64 or complex128: n² operations, and no
/// matrix. LinAlgError where a leading minor is zero, ValueError where lengths differ.
///
///     solve_toeplitz(array{2.0, 1.0}, array{2.0, 0.0}, array{2.0, 5.0}) is {1, 2}
array solve_toeplitz(const array& column, const array& row, const array& b);

struct LDLResult {
    array L, D, perm;
};
/// a = L D Lᴴ of Hermitian matrices, or a = L D Lᵀ of symmetric ones (`hermitian` false), of which one
/// triangle is read: L[perm] is unit lower triangular, or upper, and D has blocks of one and two on its
/// diagonal.
///
///     ldl(array{{2.0, 1.0}, {1.0, 3.0}}).D is {{2, 0}, {0, 2.5}}
LDLResult ldl(const array& a, bool lower = true, bool hermitian = true);

/// Some of the eigenvalues in ascending order: those from one position to another, both included, or those
/// above one number and up to another.
struct EighSubset {
    std::optional<std::pair<int64_t, int64_t>> positions = {};
    std::optional<std::pair<double, double>> interval = {};
};
/// Eigenvalues and vectors of the subset alone, with less work than all. ValueError for positions that are
/// not there, an empty interval, and an interval for a batch.
///
///     eigh(array{{2.0, 0.0}, {0.0, 1.0}}, false, {.positions = {{0, 0}}}).eigenvalues is {1}
EighResult eigh(const array& a, bool upper, const EighSubset& subset);
array eigvalsh(const array& a, bool upper, const EighSubset& subset);

/// Which problem a pair has: a v = w b v, a b v = w v, or b a v = w v.
enum class PairProblem : uint8_t { kAvBv, kABv, kBAv };
struct PairOptions {
    bool upper = false;  // that triangle of both is read
    PairProblem problem = PairProblem::kAvBv;
    EighSubset subset = {};
};
/// Ascending eigenvalues and vectors of a Hermitian a (…, n, n) and a positive definite b, which broadcast:
/// vectors fulfil vᴴ b v = 1, with kBAv vᴴ b⁻¹ v = 1. ValueError where the shapes differ, LinAlgError where b
/// is not positive definite.
///
///     generalized_eigh(array{{2.0, 0.0}, {0.0, 6.0}}, eye(2) * 2).eigenvalues is {1, 3}
EighResult generalized_eigh(const array& a, const array& b, const PairOptions& options = {});
/// The values alone.
///
///     generalized_eigvalsh(array{{2.0, 0.0}, {0.0, 6.0}}, eye(2) * 2) is {1, 3}
array generalized_eigvalsh(const array& a, const array& b, const PairOptions& options = {});

struct EigSides {
    bool left = false, right = true;
};
struct TwoSidedEig {
    array eigenvalues, left, right;  // complex values; real vectors where all values of the batch are real
};
/// a v = w v of right vectors, and uᴴ a = w uᴴ of left ones, columns of length one. Vectors that were not
/// asked for are not given. LinAlgError without convergence.
///
///     eig(array{{2.0, 0.0}, {0.0, 3.0}}, {.left = true}).left is {{1, 0}, {0, 1}}
TwoSidedEig eig(const array& a, const EigSides& sides);
struct GeneralizedEig {
    array alpha, beta, left, right;
};
/// beta a v = alpha b v and beta uᴴ a = alpha uᴴ b: eigenvalues are alpha / beta, infinite where beta is
/// zero. ValueError where the shapes differ.
///
///     generalized_eig(array{{2.0, 0.0}, {0.0, 3.0}}, eye(2)).alpha is {2, 3}
GeneralizedEig generalized_eig(const array& a, const array& b, const EigSides& sides = {});

struct PolarResult {
    array U, P;
};
enum class PolarSide : uint8_t { kRight, kLeft };
/// a = U P with orthonormal columns of U, or rows, and positive semidefinite P; or a = P U with kLeft.
/// LinAlgError for fewer than two axes.
///
///     polar(array{{0.0, -2.0}, {2.0, 0.0}}).P is {{2, 0}, {0, 2}}
PolarResult polar(const array& a, PolarSide side = PolarSide::kRight);
/// An orthonormal basis of the space of the columns of (…, m, n): (…, m, rank). Singular values up to `rcond`
/// times the largest count as zero; not given, the precision of the type times max(m, n). ValueError where
/// the ranks of a batch differ.
///
///     orth(array{{2.0, 0.0}, {0.0, 0.0}}).shape() is {2, 1}
array orth(const array& a, std::optional<double> rcond = {});
/// An orthonormal basis of what (…, m, n) maps to zero: (…, n, n - rank). `rcond` and errors are orth's.
///
///     null_space(array{{1.0, 0.0}, {0.0, 0.0}}).shape() is {2, 1}
array null_space(const array& a, std::optional<double> rcond = {}, SVDDriver driver = SVDDriver::kGesdd);

struct PinvTolerances {
    double atol = 0;
    std::optional<double> rtol = {};  // the precision of the type times max(m, n)
};
struct RankedPinv {
    array inverse, rank;  // (…, n, m), and (…) of int64
};
/// The pseudo-inverses of (…, m, n), where singular values up to atol + rtol times the largest count as zero;
/// and the ranks that follow from it. ValueError for negative tolerances.
///
///     ranked_pinv(array{{2.0, 0.0}, {0.0, 0.0}}).rank is 1
RankedPinv ranked_pinv(const array& a, const PinvTolerances& tolerances = {});

struct RawPivotedQR {
    array factored, tau, P;
};
/// As qr_raw, of a[:, P].
///
///     qr_raw_pivoted(array{{1.0, 2.0}}).P is {1, 0}
RawPivotedQR qr_raw_pivoted(const array& a);

struct SchurResult {
    array T, Z;
};
/// a = Z T Zᴴ with orthonormal Z and upper triangular T, with blocks of two on the diagonal where a real
/// matrix has complex eigenvalues.
SchurResult schur(const array& a);
/// The eigenvalues on the diagonal of such a T: complex, (…, n).
///
///     schur_eigenvalues(array{{0.0, -1.0}, {1.0, 0.0}}) is {i, -i}
array schur_eigenvalues(const array& T);
struct SortedSchur {
    array T, Z;
    array count;  // of the chosen eigenvalues, for each matrix; int64
};
/// The same form with the chosen eigenvalues, (…, n) of bools, first. Of two conjugate ones both are chosen
/// where one is. LinAlgError where they are too close to be separated.
///
///     sort_schur(schur(array{{1.0, 2.0}, {0.0, -3.0}}), array{false, true}).T is {{-3, -2}, {0, 1}}
SortedSchur sort_schur(const SchurResult& form, const array& chosen);
/// The Schur form with those eigenvalues first of which `is_first` holds.
///
///     schur(array{{-1.0}}, [](std::complex<double> w) { return w.real() < 0; }).count is 1
SortedSchur schur(const array& a, const std::function<bool(std::complex<double>)>& is_first);
struct HessenbergResult {
    array H, Q;
};
/// a = Q H Qᴴ with orthonormal Q, and zeros below the first diagonal under the main one in H.
HessenbergResult hessenberg(const array& a);
/// The upper triangular root of an upper triangular matrix, complex.
array triangular_root(const array& a);

/// The exponential of each matrix, by scaling, a Padé approximant and squaring; of a number, a matrix of one.
///
///     expm(zeros({2, 2})) is {{1, 0}, {0, 1}}
array expm(const array& a);
/// The principal logarithm of each matrix, by square roots of its Schur form and quadrature: real where it
/// is.
///
///     logm(eye(2)) is {{0, 0}, {0, 0}}
array logm(const array& a);
/// The principal square root of each matrix, by its Schur form: real where it is.
///
///     sqrtm(array{{4.0, 0.0}, {0.0, 9.0}}) is {{2, 0}, {0, 3}}
array sqrtm(const array& a);

}  // namespace weft::linalg
