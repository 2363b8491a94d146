"""Linear equations of scipy.linalg: by LU, Cholesky and triangular factors, banded and Toeplitz ones, least squares."""

import warnings

import weft.linalg as linalg
from weft import _core
from weft._core import (
    _linalg_cho_solve,
    _linalg_ldl,
    _linalg_lu,
    _linalg_lu_parts,
    _linalg_lu_permuted,
    _linalg_lu_solve,
    _linalg_ranked_pinv,
    _linalg_solve_banded,
    _linalg_solve_toeplitz,
    _linalg_solve_triangular,
    asarray,
)
from weft._functions.creation import asarray_chkfinite
from weft.exceptions import ComplexWarning, LinAlgError
from weft.scipy._linalg.checks import at_least_matrix, checked, over_batch, square

_NUMBERS = {0: 0, 1: 1, 2: 2}
_FORMS = {**_NUMBERS, "N": 0, "T": 1, "C": 2}


class LinAlgWarning(RuntimeWarning):
    """A result may be far from exact."""


def _form(trans, forms=_FORMS):
    try:
        return forms[trans]
    except (KeyError, TypeError):
        raise ValueError(f"unknown form of equation: {trans!r}") from None


def lu_factor(a, overwrite_a=False, check_finite=True):
    """L and U of a matrix with its rows swapped, in one array, and the row that each row was swapped with.

    Warns with LinAlgWarning where U has a zero on its diagonal.

    >>> lu, pivots = np.scipy.linalg.lu_factor([[1.0, 2.0], [4.0, 8.5]])
    >>> pivots
    array([1, 1], dtype=int32)
    """
    factors, pivots, singular = _linalg_lu(checked(a, check_finite))
    if singular >= 0:
        message = f"Diagonal number {singular + 1} is exactly zero. Singular matrix."
        warnings.warn(message, LinAlgWarning, stacklevel=2)
    return factors, pivots.astype(_core.int32)


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """The x of ``a @ x == b`` by what lu_factor gave; with `trans` 1 or 2 that of the transposed, or adjoint, matrix.

    >>> factors = np.scipy.linalg.lu_factor([[2.0, 0.0], [0.0, 4.0]])
    >>> np.scipy.linalg.lu_solve(factors, [2.0, 4.0])
    array([1., 1.])
    """
    factors, pivots = map(asarray, lu_and_piv)
    b = checked(b, check_finite)
    form = _form(trans, _NUMBERS)
    if b.ndim == 0 or factors.shape[-1] != b.shape[0 if b.ndim == 1 else -2]:
        raise ValueError(f"Shapes of lu {factors.shape} and b {b.shape} are incompatible")
    return _linalg_lu_solve(factors, pivots, b, form)


def lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    """P, L and U with ``a == P @ L @ U``; with `permute_l` P @ L and U; with `p_indices` the rows of P instead of P.

    >>> P, L, U = np.scipy.linalg.lu([[1.0, 2.0], [4.0, 8.0]])
    >>> L
    array([[1.  , 0.  ],
           [0.25, 1.  ]])
    """
    a = checked(a, check_finite)
    if a.ndim < 2:
        raise ValueError("The input array must be at least two-dimensional.")
    if permute_l:
        return _linalg_lu_permuted(a)
    P, L, U = _linalg_lu_parts(a, bool(p_indices))
    if p_indices and a.shape[-2:] != (1, 1):  # SciPy leaves those of one element int64
        P = P.astype(_core.int32)
    return P, L, U


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    """The x of ``a @ x == b`` for triangular `a`, of which only that triangle is read.

    Raises LinAlgError for a zero on the diagonal.

    >>> np.scipy.linalg.solve_triangular([[2.0, 1.0], [0.0, 4.0]], [3.0, 4.0])
    array([1., 1.])
    """
    a, b = checked(a, check_finite), checked(b, check_finite)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("expected square matrix")
    return _linalg_solve_triangular(a, b, bool(lower), bool(unit_diagonal), _form(trans))


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The upper triangular U of ``a == U.conj().mT @ U``, or the lower one. Only that triangle of `a` is read.

    >>> np.scipy.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    array([[2., 1.],
           [0., 2.]])
    """
    return linalg.cholesky(square(a, check_finite, convert=at_least_matrix), upper=not lower)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """A triangular factor for cho_solve, and whether it is the lower one; of a batch, an array that says so.

    >>> np.scipy.linalg.cho_factor([[4.0, 2.0], [2.0, 5.0]])[1]
    False
    """
    factor = cholesky(a, lower, check_finite=check_finite)
    return factor, _core.full(factor.shape[:-2], lower, bool) if factor.ndim > 2 else lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """The x of ``a @ x == b`` by what cho_factor gave.

    >>> factor = np.scipy.linalg.cho_factor([[4.0, 0.0], [0.0, 2.0]])
    >>> np.scipy.linalg.cho_solve(factor, [4.0, 2.0])
    array([1., 1.])
    """
    factor, lower = c_and_lower
    factor, b = checked(factor, check_finite), checked(b, check_finite)
    if factor.ndim < 2 or factor.shape[-1] != factor.shape[-2]:
        raise ValueError("The factored matrix c is not square.")
    return _linalg_cho_solve(factor, b, bool(asarray(lower).any()))


def solve(
    a,
    b,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    assume_a=None,
    transposed=False,
):
    """The x of ``a @ x == b``, or of the transposed matrix. `assume_a` of 'pos' solves by Cholesky factors, of 'upper
    triangular' and 'lower triangular' by substitution; others are solved as general matrices.

    >>> np.scipy.linalg.solve([[4.0, 0.0], [0.0, 2.0]], [4.0, 2.0], assume_a="pos")
    array([1., 1.])
    """
    kind = _LONG_NAMES.get(assume_a, assume_a)
    if kind not in _STRUCTURES:
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    a, b = (asarray_chkfinite(each) if check_finite else asarray(each) for each in (a, b))
    if _core.result_type(a, b).kind in "biu":
        a = a.astype(_core.float64)
    a, b = square(a, False, convert=at_least_matrix), checked(b, False)
    b = b if b.ndim else b.reshape(1)
    if a.size == 1 and b.size:
        if a.item() == 0:
            raise LinAlgError("A singular matrix detected.")
        return (b[:, None] / a)[..., 0] if b.ndim == 1 else b / a
    if transposed:
        a, lower, kind = a.mT, not lower, _TRANSPOSED.get(kind, kind)
    if kind == "positive definite":
        return cho_solve(cho_factor(a, lower, check_finite=False), b, check_finite=False)
    if kind in ("upper triangular", "lower triangular"):
        return _linalg_solve_triangular(a, b, kind == "lower triangular", False, 0)
    try:
        return linalg.solve(_whole(a, kind, lower), b)
    except LinAlgError as error:
        raise LinAlgError("A singular matrix detected.") from error


_LONG_NAMES = {
    None: "general",
    "gen": "general",
    "pos": "positive definite",
    "sym": "symmetric",
    "her": "hermitian",
}
_STRUCTURES = (
    "general",
    "positive definite",
    "symmetric",
    "hermitian",
    "upper triangular",
    "lower triangular",
    "diagonal",
    "tridiagonal",
    "banded",
)
_TRANSPOSED = {"upper triangular": "lower triangular", "lower triangular": "upper triangular"}


def _whole(a, kind, lower):
    """The matrix of that structure, of which only what defines it is read."""
    if kind == "upper triangular":
        return _core.triu(a, 0)
    if kind == "lower triangular":
        return _core.tril(a, 0)
    if kind == "diagonal":
        return _core.tril(_core.triu(a, 0), 0)
    if kind == "tridiagonal":
        return _core.tril(_core.triu(a, -1), 1)
    if kind in ("symmetric", "hermitian", "positive definite"):
        triangle = _core.tril(a, -1) if lower else _core.triu(a, 1)
        diagonal = _core.tril(_core.triu(a, 0), 0)
        if kind == "symmetric" or a.dtype.kind != "c":
            return triangle + triangle.mT + diagonal
        return triangle + triangle.mT.conj() + diagonal.real
    return a


def inv(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    """The inverse of each matrix. Raises LinAlgError for a singular one, KeyError for an unknown structure.

    `assume_a` is 'general', 'diagonal', 'upper triangular', 'lower triangular', 'pos', 'sym' or 'her'. Of the last
    three one triangle is read, the lower one with `lower`.

    >>> np.scipy.linalg.inv([[2.0, 0.0], [0.0, 4.0]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    a = square(a, check_finite)
    if a.size == 0:
        return linalg.inv(a)
    if assume_a not in _OF_INVERSES:
        raise KeyError(assume_a)
    kind = _LONG_NAMES.get(assume_a, assume_a)
    if kind == "positive definite":
        factor = cholesky(a, lower, check_finite=False)
        return _linalg_cho_solve(factor, _core.eye(a.shape[-1], dtype=a.dtype), bool(lower))
    return linalg.inv(_whole(a, kind, lower))


_OF_INVERSES = (
    None,
    "general",
    "gen",
    "diagonal",
    "upper triangular",
    "lower triangular",
    "pos",
    "sym",
    "her",
)


def det(a, overwrite_a=False, check_finite=True):
    """The determinant of each matrix, in double precision.

    >>> np.scipy.linalg.det([[1.0, 2.0], [3.0, 4.0]])
    np.float64(-2.0)
    """
    a = square(a, check_finite)
    doubled = {_core.float32: _core.float64, _core.complex64: _core.complex128}.get(a.dtype.type)
    return linalg.det(a if doubled is None else a.astype(doubled))


def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    """The pseudo-inverse; singular values up to ``atol + rtol * largest`` count as zero.

    >>> np.scipy.linalg.pinv([[2.0, 0.0], [0.0, 0.0]])
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    inverse, rank = _linalg_ranked_pinv(checked(a, check_finite), atol, rtol)
    return (inverse, rank) if return_rank else inverse


def lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    """The x that brings ``a @ x`` closest to `b`, the sums of squared residuals, the rank of `a`, its singular values.

    >>> np.scipy.linalg.lstsq([[1.0], [1.0]], [1.0, 3.0])[0].round(9)
    array([2.])
    """
    a, b = checked(a, check_finite), checked(b, check_finite)
    if a.ndim < 2:
        raise ValueError("Input array a should be 2D")
    vector = b.ndim == 1
    if b.ndim == 0 or a.shape[-2] != b.shape[0 if vector else -2]:
        raise ValueError(
            f"Shape mismatch: a and b should have the same number of rows ({a.shape[-2]} != "
            f"{b.shape[0 if vector else -2] if b.ndim else 0})."
        )

    def solve_one(a, b):
        return _lstsq_of_one(a, b[:, 0] if vector else b, cond, lapack_driver)

    if a.ndim > 2 or b.ndim > 2:
        return over_batch(solve_one, a, b[:, None] if vector else b)
    return _lstsq_of_one(a, b, cond, lapack_driver)


def _lstsq_of_one(a, b, cond, driver):
    kind = _core.result_type(a, b)
    if 0 in a.shape:
        kind = kind if kind.kind in "fc" else _core.float64
        residuals = _core.empty(0) if a.shape[1] else linalg.norm(b, axis=0) ** 2
        return _core.full((a.shape[1], *b.shape[1:]), 0, kind), residuals, 0, _core.empty(0)
    if driver not in (None, "gelsd", "gelsy", "gelss"):
        raise ValueError(f'LAPACK driver "{driver}" is not found')
    single = kind == _core.float32 or kind == _core.complex64
    rcond = (2.0**-23 if single else 2.0**-52) if cond is None else cond
    x, residuals, rank, values = linalg.lstsq(a, b, rcond)
    if driver == "gelsy" or not residuals.size:
        return x, _core.empty(0, x.dtype), int(rank), None if driver == "gelsy" else values
    return x, residuals[0] if b.ndim == 1 else residuals, int(rank), values


def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    """The x of ``a @ x == b``, where the rows of `ab` are the diagonals of `a`, `u` above the main one and `l` below.

    >>> np.scipy.linalg.solve_banded((0, 0), [[2.0, 4.0]], [2.0, 4.0])
    array([1., 1.])
    """
    below, above = l_and_u
    ab, b = (_inexact(each, check_finite) for each in (ab, b))
    return _linalg_solve_banded(below, above, ab, b)


def _inexact(a, check_finite):
    a = asarray_chkfinite(a) if check_finite else asarray(a)
    return a.astype(_core.float64) if a.dtype.kind in "biu" else checked(a, False)


def solve_toeplitz(c_or_cr, b, check_finite=True):
    """The x of ``toeplitz(c, r) @ x == b``, by Levinson's recursion, in float64 or complex128.

    `r` is the conjugate of `c` if it is not given. Raises LinAlgError where a leading minor is singular.

    >>> np.scipy.linalg.solve_toeplitz([2.0, 0.0], [2.0, 4.0])
    array([1., 2.])
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    c = checked(c, check_finite)
    r = c.conj() if r is None else checked(r, check_finite)
    return _linalg_solve_toeplitz(c, r, checked(b, check_finite))


def ldl(A, lower=True, hermitian=True, overwrite_a=False, check_finite=True):
    """L, D and the order of rows that makes L a unit triangle, lower or upper: ``A == L @ D @ L.conj().mT``.

    D has blocks of one and two rows on its diagonal. Without `hermitian` complex matrices are symmetric, and
    ``A == L @ D @ L.mT``. Only the lower triangle is read, or the upper one. Raises ValueError for a matrix that is
    not square.

    >>> L, D, perm = np.scipy.linalg.ldl([[2.0, 1.0], [1.0, 3.0]])
    >>> D
    array([[2. , 0. ],
           [0. , 2.5]])
    """
    a = at_least_matrix(A, check_finite)
    if a.shape[-1] != a.shape[-2]:
        raise ValueError('The input array "a" should be square.')
    if hermitian and a.dtype.kind == "c" and bool((a.imag.diagonal(0, -2, -1) != 0).any()):
        message = (
            "scipy.linalg.ldl():\nThe imaginary parts of the diagonal are ignored. "
            'Use "hermitian=False" for factorization of complex symmetric arrays.'
        )
        warnings.warn(message, ComplexWarning, stacklevel=2)
    return _linalg_ldl(a, bool(lower), bool(hermitian))
