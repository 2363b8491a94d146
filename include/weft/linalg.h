// Linear algebra, named as in numpy.linalg. Matrices are the last two axes; the axes before them are a batch,
// and broadcast where there are two operands. float32 and complex64 are computed as such, integers and bool
// as float64; TypeError for 16-bit floats. Inputs are computed at the call, since values decide about errors:
// LinAlgError (a ValueError) for matrices that are singular, not square and the like.
#pragma once

#include <cstdint>
#include <optional>

#include "weft/array.h"
#include "weft/options.h"

namespace weft::linalg {

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
/// Of general matrices: real where all of the batch's eigenvalues are. LinAlgError for infinities and nan.
EigResult eig(const array& a);
array eigvals(const array& a);
using EighResult = EigResult;
/// Of symmetric or Hermitian matrices, of which one triangle is read: ascending eigenvalues, columns of
/// vectors.
EighResult eigh(const array& a, bool upper = false);
array eigvalsh(const array& a, bool upper = false);

struct LstsqResult {
    array x, residuals;
    int64_t rank;
    array singular_values;
};
/// The x that brings a x closest to b, of two axes or `b` of one. Singular values up to `rcond` times the
/// largest count as zero; not given, the precision of the type times max(m, n). Residuals are given where the
/// rank is full and a has more rows than columns.
LstsqResult lstsq(const array& a, const array& b, std::optional<double> rcond = {});

// ---- of scipy.linalg ----

struct LUResult {
    array factors,
        pivots;        // L without its diagonal of ones and U in one array; row i was swapped with pivots[i]
    int64_t singular;  // the position of a zero on the diagonal of U, or -1
};
/// The LU factorisation with row swaps of (…, m, n).
LUResult lu_factor(const array& a);

struct TriangularOptions {
    bool lower = false;
    bool unit_diagonal = false;  // it counts as ones and is not read
    char form = 'N';  // of the equation's matrix: `a`, transposed ('T') or conjugated and transposed ('C')
};
/// x of a x = b for triangular `a`, of which only that triangle is read. LinAlgError for a zero on the
/// diagonal.
array solve_triangular(const array& a, const array& b, const TriangularOptions& options = {});
/// x of a x = b, where the rows of `bands` are the diagonals of `a`, the highest first. LinAlgError where it
/// is singular.
array solve_banded(int64_t below, int64_t above, const array& bands, const array& b);

struct SchurResult {
    array T, Z;
};
/// a = Z T Zᴴ with orthonormal Z and upper triangular T, with blocks of two on the diagonal where a real
/// matrix has complex eigenvalues.
SchurResult schur(const array& a);
struct HessenbergResult {
    array H, Q;
};
/// a = Q H Qᴴ with orthonormal Q, and zeros below the first diagonal under the main one in H.
HessenbergResult hessenberg(const array& a);
/// The upper triangular root of an upper triangular matrix, complex.
array triangular_root(const array& a);

}  // namespace weft::linalg
