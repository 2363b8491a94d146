"""QR factorisations, singular values, and what follows from them, as scipy.linalg has them."""

import weft.linalg as linalg
from weft import _core
from weft._core import (
    _linalg_qr_pivoted,
    _linalg_qr_raw,
    _linalg_qr_raw_pivoted,
    _linalg_svd,
    _linalg_svdvals,
)
from weft.scipy._linalg.checks import adjoint, checked


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
    a = checked(a, check_finite)
    if a.ndim < 2:
        raise ValueError("expected a 2-D array")
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
        return (linalg.qr(a, mode="complete").R,)
    return tuple(linalg.qr(a, mode="complete" if full else "reduced"))


def _upper(factored):
    return _core.triu(factored[..., : min(factored.shape[-2:]), :], 0)


def _by_gesvd(lapack_driver):
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
    by_gesvd = _by_gesvd(lapack_driver)
    a = checked(a, check_finite)
    if a.ndim < 2:
        raise ValueError("expected matrix")
    if compute_uv:
        return _linalg_svd(a, bool(full_matrices), by_gesvd)
    return _linalg_svdvals(a, by_gesvd)


def svdvals(a, overwrite_a=False, check_finite=True):
    """Singular values, from the largest on.

    >>> np.scipy.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]])
    array([4., 3.])
    """
    return svd(a, compute_uv=False, check_finite=check_finite)


def _rank(s, shape, rcond):
    if rcond is None:
        rcond = (2.0**-23 if s.dtype.itemsize == 4 else 2.0**-52) * max(shape)
    return int((s > s.max(initial=0) * rcond).sum())


def orth(A, rcond=None):
    """An orthonormal basis of the columns' space.

    >>> np.scipy.linalg.orth([[2.0, 0.0], [0.0, 0.0]]).shape
    (2, 1)
    """
    u, s, vh = svd(A, full_matrices=False)
    return u[:, : _rank(s, (u.shape[0], vh.shape[1]), rcond)]


def null_space(A, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """An orthonormal basis of what `A` maps to zero.

    >>> np.scipy.linalg.null_space([[1.0, 0.0], [0.0, 0.0]]).shape
    (2, 1)
    """
    u, s, vh = svd(A, check_finite=check_finite, lapack_driver=lapack_driver)
    return adjoint(vh[_rank(s, (u.shape[0], vh.shape[1]), rcond) :, :])


def polar(a, side="right"):
    """A matrix with orthonormal columns (or rows) times a positive semidefinite one: ``a == u @ p``, or ``p @ u``.

    >>> u, p = np.scipy.linalg.polar([[0.0, -2.0], [2.0, 0.0]])
    >>> p.round(9) + 0
    array([[2., 0.],
           [0., 2.]])
    """
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    a = _core.asarray(a)
    if a.ndim < 2:
        raise ValueError("`a` must be a 2-D array.")
    w, s, vh = svd(a, full_matrices=False)
    if side == "right":
        return _core.matmul(w, vh), _core.matmul(adjoint(vh) * s[..., None, :], vh)
    return _core.matmul(w, vh), _core.matmul(w * s[..., None, :], adjoint(w))
