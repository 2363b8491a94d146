"""Eigenvalues, Schur and Hessenberg forms, as scipy.linalg has them."""

import weft.linalg as linalg
from weft import _core
from weft._core import _linalg_hessenberg, _linalg_schur, _linalg_solve_triangular
from weft.exceptions import LinAlgError
from weft.scipy._linalg.checks import adjoint, square

_DRIVERS = ("ev", "evd", "evr", "evx", "gv", "gvd", "gvx")


def eig(
    a,
    b=None,
    left=False,
    right=True,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    homogeneous_eigvals=False,
):
    """Complex eigenvalues, and right eigenvectors as columns. Of ``a @ v == w * b @ v`` with an invertible `b`.

    >>> np.scipy.linalg.eig([[0.0, -1.0], [1.0, 0.0]])[0]
    array([0.+1.j, 0.-1.j])
    """
    if left or homogeneous_eigvals:
        raise NotImplementedError(
            "weft.scipy.linalg.eig has no left eigenvectors and homogeneous eigenvalues yet"
        )
    a = square(a, check_finite)
    if b is not None:
        a = linalg.solve(square(b, check_finite, "b"), a)
    values, vectors = linalg.eig(a)
    if values.dtype.kind != "c":
        values = values.astype(_core.complex64 if values.dtype.itemsize == 4 else _core.complex128)
    return (values, vectors) if right else values


def eigvals(a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    """The eigenvalues of eig.

    >>> np.scipy.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]])
    array([2.+0.j, 1.+0.j])
    """
    return eig(a, b, right=False, check_finite=check_finite, homogeneous_eigvals=homogeneous_eigvals)


def _reduced(a, b, lower, kind):
    """An ordinary symmetric problem of the same eigenvalues, and what makes its vectors those of a and b."""
    a = _hermitian(a, lower)
    factor = linalg.cholesky(b, upper=not lower)
    low = factor if lower else adjoint(factor)
    if kind == 1:
        half = _linalg_solve_triangular(low, a, True, False, 0)
        reduced = adjoint(_linalg_solve_triangular(low, adjoint(half), True, False, 0))
        return reduced, lambda v: _linalg_solve_triangular(low, v, True, False, 2)
    reduced = _core.matmul(_core.matmul(adjoint(low), a), low)
    if kind == 2:
        return reduced, lambda v: _linalg_solve_triangular(low, v, True, False, 2)
    return reduced, lambda v: _core.matmul(low, v)


def _hermitian(a, lower):
    triangle = _core.tril(a, -1) if lower else _core.triu(a, 1)
    diagonal = _core.tril(_core.triu(a, 0), 0)
    return triangle + adjoint(triangle) + (diagonal.real if a.dtype.kind == "c" else diagonal)


def eigh(
    a,
    b=None,
    *,
    lower=True,
    eigvals_only=False,
    overwrite_a=False,
    overwrite_b=False,
    type=1,
    check_finite=True,
    subset_by_index=None,
    subset_by_value=None,
    driver=None,
):
    """Ascending eigenvalues and eigenvectors of symmetric or Hermitian matrices, of which one triangle is read.

    With `b`, which is positive definite: of ``a @ v == w * b @ v`` (`type` 1), ``a @ b @ v == w * v`` (2) or
    ``b @ a @ v == w * v`` (3). The subsets are the values from one index to another, both included, or those above one
    value and up to another; all are computed, whatever the driver.

    >>> np.scipy.linalg.eigh([[2.0, 0.0], [0.0, 6.0]], np.eye(2) * 2, eigvals_only=True)
    array([1., 3.])
    """
    if driver is not None and driver not in _DRIVERS:
        raise ValueError(f'"{driver}" is unknown. Possible values are "None", "{chr(34).join(_DRIVERS)}".')
    a = square(a, check_finite)
    if driver in ("gv", "gvd", "gvx") and b is None:
        raise ValueError(
            f"{driver} requires input b array to be supplied for generalized eigenvalue problems."
        )
    if driver in ("ev", "evd", "evr", "evx") and b is not None:
        raise ValueError(f'"{driver}" does not accept input b array for standard eigenvalue problems.')
    if subset_by_index is not None and subset_by_value is not None:
        raise ValueError("Either index or value subset can be requested.")
    n = a.shape[-1]
    back = None
    if b is not None:
        b = square(b, check_finite, "b")
        if b.shape[-1] != n:
            raise ValueError(f"wrong b dimensions {b.shape}, should be {a.shape}")
        if type not in (1, 2, 3):
            raise ValueError('"type" keyword only accepts 1, 2, and 3.')
        try:
            a, back = _reduced(a, b, lower, type)
        except LinAlgError as error:
            raise LinAlgError(
                "The leading minor of B is not positive definite. The factorization of B could not be completed "
                "and no eigenvalues or eigenvectors were computed."
            ) from error
        lower = True
    chosen = _subset_by_index(subset_by_index, n)
    if eigvals_only and subset_by_value is None:
        return linalg.eigvalsh(a, "L" if lower else "U")[..., chosen]
    values, vectors = linalg.eigh(a, "L" if lower else "U")
    if subset_by_value is not None:
        low, high = subset_by_value
        if not low < high:
            raise ValueError(
                "Requested eigenvalue bounds are not valid. Valid range is (low, high] but low < high is expected, "
                f"and low={low}, high={high} is given"
            )
        if a.ndim != 2:
            raise ValueError("subset_by_value is for single matrices")
        chosen = (values > low) & (values <= high)
    if eigvals_only:
        return values[..., chosen]
    vectors = vectors[..., chosen]
    return values[..., chosen], vectors if back is None else back(vectors)


def _subset_by_index(subset, n):
    if subset is None:
        return slice(None)
    low, high = (int(each) for each in subset)
    if not 0 <= low <= high < n:
        raise ValueError(
            f"Requested eigenvalue indices are not valid. Valid range is [0, {n - 1}] and start <= end, "
            f"but start={low}, end={high} is given"
        )
    return slice(low, high + 1)


def eigvalsh(a, b=None, **options):
    """The eigenvalues of eigh.

    >>> np.scipy.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]])
    array([1., 2.])
    """
    return eigh(a, b, eigvals_only=True, **options)


def schur(a, output="real", lwork=None, overwrite_a=False, sort=None, check_finite=True):
    """T and Z of ``a == Z @ T @ Z.conj().mT``, with orthonormal Z and upper triangular T.

    With `output` 'real', T of a real matrix has blocks of two rows for conjugate eigenvalues.

    >>> np.scipy.linalg.schur([[1.0, 2.0], [0.0, 3.0]])[0]
    array([[1., 2.],
           [0., 3.]])
    """
    if output not in ("real", "complex", "r", "c"):
        raise ValueError("argument must be 'real', or 'complex'")
    if sort is not None:
        raise NotImplementedError("weft.scipy.linalg.schur has no `sort` yet")
    a = square(a, check_finite)
    if output in ("complex", "c") and a.dtype.kind != "c":
        a = a.astype(_core.complex64 if a.dtype == _core.float32 else _core.complex128)
    return _linalg_schur(a)


def hessenberg(a, calc_q=False, overwrite_a=False, check_finite=True):
    """H, with zeros below the first diagonal under the main one, and with `calc_q` Q: ``a == Q @ H @ Q.conj().mT``.

    >>> np.scipy.linalg.hessenberg(np.ones((3, 3))).shape
    (3, 3)
    """
    h, q = _linalg_hessenberg(square(a, check_finite))
    return (h, q) if calc_q else h
