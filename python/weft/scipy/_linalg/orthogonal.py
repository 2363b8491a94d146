"""QR factorisations, singular values, and what follows from them, as scipy.linalg has them."""

import weft.linalg as linalg
from weft import _core
from weft._core import (
    _linalg_null_space,
    _linalg_orth,
    _linalg_polar,
    _linalg_qr_pivoted,
    _linalg_qr_raw,
    _linalg_qr_raw_pivoted,
    _linalg_svd,
    _linalg_svdvals,
)
from weft.scipy._linalg.checks import checked


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """Q with orthonormal columns, and upper triangular R: ``a == Q @ R``; with `pivoting`, ``a[:, P] == Q @ R``.

    `mode` is 'full', 'economic', 'r' (R alone) or 'raw': what LAPACK leaves, with the factors of its reflectors, and R.

    >>> Q, R = np.scipy.linalg.qr([[3.0, 0.0], [4.0, 5.0]])
    >>> R.round(9)
    array([[-5., -4.],
           [ 0.,  3.]])
    """
    if mode not in ("full", "qr", "r", "economic", "raw"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic', 'raw']")
    a = _matrices(a, check_finite, "expected a 2-D array")
    full = mode in ("full", "qr", "r")
    if pivoting:
        if mode == "raw":
            factored, tau, P = _linalg_qr_raw_pivoted(a)
            return (factored, tau), _upper(factored), P.astype(_core.int32)
        Q, R, P = _linalg_qr_pivoted(a, full)
        P = P.astype(_core.int32)
        return (R, P) if mode == "r" else (Q, R, P)
    if mode == "raw":
        factored, tau = _linalg_qr_raw(a)
        return (factored, tau), _upper(factored)
    if mode == "r":
        R = linalg.qr(a, mode="complete").R
        return R if a.ndim > 2 else (R,)  # as SciPy has it
    return tuple(linalg.qr(a, mode="complete" if full else "reduced"))


def _upper(factored):
    return _core.triu(factored[..., : min(factored.shape[-2:]), :], 0)


def _matrices(a, check_finite, message):
    a = checked(a, check_finite)
    if a.ndim < 2:
        raise ValueError(message)
    return a


def _by_gesvd(lapack_driver, a):
    if 0 in a.shape[-2:]:
        return False  # of matrices without elements any driver will do
    if not isinstance(lapack_driver, str):
        raise TypeError("lapack_driver must be a string")
    if lapack_driver not in ("gesdd", "gesvd"):
        raise ValueError(f'lapack_driver must be "gesdd" or "gesvd", not "{lapack_driver}"')
    return lapack_driver == "gesvd"


def svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """Singular vectors and values: ``a == (U * s) @ Vh``, where U and Vh are cut to min(m, n).

    >>> np.scipy.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False)
    array([4., 3.])
    """
    a = _matrices(a, check_finite, "expected matrix")
    by_gesvd = _by_gesvd(lapack_driver, a)
    if compute_uv:
        return _linalg_svd(a, bool(full_matrices), by_gesvd)
    return _linalg_svdvals(a, by_gesvd)


def svdvals(a, overwrite_a=False, check_finite=True):
    """Singular values, from the largest on.

    >>> np.scipy.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]])
    array([4., 3.])
    """
    return svd(a, compute_uv=False, check_finite=check_finite)


def orth(A, rcond=None):
    """An orthonormal basis of the space of the columns. Raises ValueError where the ranks of a batch differ.

    >>> np.scipy.linalg.orth([[2.0, 0.0], [0.0, 0.0]]).shape
    (2, 1)
    """
    return _linalg_orth(_matrices(A, True, "expected matrix"), rcond)


def null_space(A, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """An orthonormal basis of what `A` maps to zero. Raises ValueError where the ranks of a batch differ.

    >>> np.scipy.linalg.null_space([[1.0, 0.0], [0.0, 0.0]]).shape
    (2, 1)
    """
    a = _matrices(A, check_finite, "expected matrix")
    return _linalg_null_space(a, rcond, _by_gesvd(lapack_driver, a))


def polar(a, side="right"):
    """A matrix with orthonormal columns (or rows) times a positive semidefinite one: ``a == u @ p``, or ``p @ u``.

    >>> u, p = np.scipy.linalg.polar([[0.0, -2.0], [2.0, 0.0]])
    >>> p.round(9) + 0
    array([[2., 0.],
           [0., 2.]])
    """
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    return _linalg_polar(_matrices(a, True, "`a` must be a 2-D array."), side == "left")
