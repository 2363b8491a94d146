"""Factorisations and eigenvalues, with the results of numpy.linalg."""

import warnings
from typing import Any, NamedTuple

from weft._core import (
    _linalg_cholesky,
    _linalg_eig,
    _linalg_eigh,
    _linalg_eigvals,
    _linalg_eigvalsh,
    _linalg_qr,
    _linalg_qr_r,
    _linalg_qr_raw,
    _linalg_svd,
    _linalg_svd_of_hermitian,
    _linalg_svdvals,
    _linalg_svdvals_of_hermitian,
)
from weft.linalg._checks import as_given, eigen_are_complex, of_finite


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """Orthonormal columns, and an upper triangle."""

    Q: Any
    R: Any


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values from the largest on, right vectors as rows."""

    U: Any
    S: Any
    Vh: Any


def cholesky(a, /, *, upper=False):
    """The lower triangular L of ``a == L @ L.conj().mT``, or with `upper` the U of ``a == U.conj().mT @ U``.

    Only that triangle of `a` is read. Raises LinAlgError for matrices that are not square or not positive definite.

    >>> np.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    array([[2., 0.],
           [1., 2.]])
    """
    return as_given(_linalg_cholesky(a, True if upper else False), a)


def qr(a, mode="reduced"):
    """Q with orthonormal columns and an upper triangular R, ``a == Q @ R``.

    `mode` is 'reduced' (min(m, n) columns of Q), 'complete' (m), 'r' (R alone), or 'raw': the transposed array that
    LAPACK leaves, and the factors of its reflectors. Raises LinAlgError for fewer than two axes.

    >>> np.linalg.qr([[3.0, 0.0], [4.0, 5.0]], mode="r").round(9)
    array([[-5., -4.],
           [ 0.,  3.]])
    """
    if mode == "reduced":
        return as_given(QRResult(*_linalg_qr(a, False)), a)
    if mode == "complete":
        return as_given(QRResult(*_linalg_qr(a, True)), a)
    if mode == "r":
        return as_given(_linalg_qr_r(a), a)
    if mode == "raw":
        factored, tau = _linalg_qr_raw(a)
        return as_given(factored.mT, a), tau
    if mode in ("f", "full"):
        message = "The 'full' option is deprecated in favor of 'reduced'.\nFor backward compatibility let mode default."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return QRResult(*_linalg_qr(a, False))
    if mode in ("e", "economic"):
        warnings.warn("The 'economic' option is deprecated.", DeprecationWarning, stacklevel=2)
        return _linalg_qr_raw(a)[0]
    raise ValueError(f"Unrecognized mode '{mode}'")


def _uses_upper(triangle):
    triangle = triangle.upper()
    if triangle not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return triangle == "U"


def eig(a):
    """Eigenvalues and eigenvectors of square matrices: complex, but real where all eigenvalues are.

    Beside NumPy 2.5 they are complex in any case, as there.

    Raises LinAlgError for matrices that are not square or not finite.

    >>> np.linalg.eig(np.diag([1.0, 2.0])).eigenvalues
    array([1., 2.])
    """
    values, vectors = _linalg_eig(a, eigen_are_complex())
    return EigResult(values, as_given(vectors, a))


def eigvals(a):
    """The eigenvalues of eig.

    >>> np.linalg.eigvals([[0.0, -1.0], [1.0, 0.0]])
    array([0.+1.j, 0.-1.j])
    """
    return _linalg_eigvals(a, eigen_are_complex())


def eigh(a, UPLO="L"):
    """Eigenvalues, real and ascending, and eigenvectors of symmetric or Hermitian matrices.

    Only the lower triangle is read, or the upper one. Raises LinAlgError for matrices that are not square.

    >>> np.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues
    array([1., 2.])
    """
    values, vectors = _linalg_eigh(a, _uses_upper(UPLO))
    return EighResult(values, as_given(vectors, a))


def eigvalsh(a, UPLO="L"):
    """The eigenvalues of eigh.

    >>> np.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]])
    array([1., 2.])
    """
    return _linalg_eigvalsh(a, _uses_upper(UPLO))


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Singular values and vectors: ``a == (U * S) @ Vh`` where U and Vh are cut to min(m, n).

    With `full_matrices` U and Vh are square. With `hermitian` the eigenvalues of a symmetric matrix are used. Without
    `compute_uv` only S is returned. Raises LinAlgError for fewer than two axes and for NaN. Of infinite elements all
    results are NaN; beside NumPy 2.5 they raise LinAlgError, too, as there.

    >>> np.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False)
    array([4., 3.])
    """
    if hermitian:
        if not compute_uv:
            return _linalg_svdvals_of_hermitian(a)
        u, s, vh = _linalg_svd_of_hermitian(a)
        return SVDResult(as_given(u, a), s, as_given(vh, a))
    if compute_uv:
        u, s, vh = of_finite(_linalg_svd(a, True if full_matrices else False), a)
        return SVDResult(as_given(u, a), s, as_given(vh, a))
    return of_finite(_linalg_svdvals(a), a)


def svdvals(x, /):
    """Singular values, from the largest on.

    >>> np.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]])
    array([4., 3.])
    """
    return of_finite(_linalg_svdvals(x), x)
