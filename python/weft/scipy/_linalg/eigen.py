"""Eigenvalues, Schur and Hessenberg forms, as scipy.linalg has them."""

import math

from weft import _core
from weft._core import (
    _linalg_eig_sides,
    _linalg_eigh_subset,
    _linalg_eigvalsh_subset,
    _linalg_generalized_eig,
    _linalg_generalized_eigh,
    _linalg_generalized_eigvalsh,
    _linalg_hessenberg,
    _linalg_schur,
    _linalg_schur_eigenvalues,
    _linalg_sort_schur,
)
from weft.exceptions import LinAlgError
from weft.scipy._linalg.checks import checked, checked_double, over_batch, square

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
    """Complex eigenvalues, and right eigenvectors as columns; with `left` left ones before them.

    Of ``a @ v == w * v``, or with `b` of ``a @ v == w * b @ v``, where values may be infinite. With
    `homogeneous_eigvals` there are two rows of them, whose quotients they are. Left vectors fulfil
    ``u.conj().mT @ a == w * u.conj().mT``. Raises LinAlgError without convergence.

    >>> np.scipy.linalg.eig([[0.0, -1.0], [1.0, 0.0]])[0]
    array([0.+1.j, 0.-1.j])
    >>> np.scipy.linalg.eig([[2.0]], [[4.0]], homogeneous_eigvals=True, right=False).real
    array([[2.],
           [4.]])
    """
    a = _square(a, check_finite)
    if b is None:
        values, u, v = _linalg_eig_sides(a, bool(left), bool(right))
        if homogeneous_eigvals:
            values = _core.stack([values, _core.full(values.shape, 1, values.dtype)], axis=-2)
    else:
        b = _square(b, check_finite)
        if a.shape[-1] != b.shape[-1]:
            raise ValueError("a and b must have the same shape")
        alpha, beta, u, v = _linalg_generalized_eig(a, b, bool(left), bool(right))
        values = _core.stack([alpha, beta], axis=-2) if homogeneous_eigvals else _quotients(alpha, beta)
    if left:
        return (values, u, v) if right else (values, u)
    return (values, v) if right else values


def _square(a, check_finite):
    a = checked(a, check_finite)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("expected square matrix")
    return a


def _quotients(alpha, beta):
    none = beta == 0
    if not bool(none.any()):
        return alpha / beta
    real = not bool((alpha.imag != 0).any())
    unknown = _core.where(alpha == 0, math.nan if real else complex(math.nan, math.nan), math.inf)
    return _core.where(none, unknown, alpha / _core.where(none, beta.dtype.type(1), beta)).astype(alpha.dtype)


def eigvals(a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    """The eigenvalues of eig.

    >>> np.scipy.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]])
    array([2.+0.j, 1.+0.j])
    """
    return eig(a, b, right=False, check_finite=check_finite, homogeneous_eigvals=homogeneous_eigvals)


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
    value and up to another; only these are computed, whatever the driver. The values of a batch that are
    above one value must be as many for each matrix.

    >>> np.scipy.linalg.eigh([[2.0, 0.0], [0.0, 6.0]], np.eye(2) * 2, eigvals_only=True)
    array([1., 3.])
    """
    if driver is not None and driver not in _DRIVERS:
        raise ValueError(f'"{driver}" is unknown. Possible values are "None", "{chr(34).join(_DRIVERS)}".')
    a = square(a, check_finite)
    n = a.shape[-1]
    if n == 0:
        values, vectors = _linalg_eigh_subset(a, False, None, None)
        return values if eigvals_only else (values, vectors)
    if subset_by_index is not None and subset_by_value is not None:
        raise ValueError("Either index or value subset can be requested.")
    indices, interval = _subsets(subset_by_index, subset_by_value, n)
    if driver in ("gv", "gvd", "gvx") and b is None:
        raise ValueError(
            f"{driver} requires input b array to be supplied for generalized eigenvalue problems."
        )
    if driver in ("ev", "evd", "evr", "evx") and b is not None:
        raise ValueError(f'"{driver}" does not accept input b array for standard eigenvalue problems.')
    if (indices or interval) and driver in ("ev", "evd", "gv", "gvd"):
        raise ValueError(f'"{driver}" cannot compute subsets of eigenvalues')
    if b is None:

        def values_of(a):
            return _linalg_eigvalsh_subset(a, not lower, indices, interval)

        def both_of(a):
            return _linalg_eigh_subset(a, not lower, indices, interval)

    else:
        b = square(b, check_finite, "b")
        if b.shape[-1] != n:
            raise ValueError(f"wrong b dimensions {b.shape}, should be {a.shape}")
        if type not in (1, 2, 3):
            raise ValueError('"type" keyword only accepts 1, 2, and 3.')

        def values_of(a, b):
            return _linalg_generalized_eigvalsh(a, b, not lower, type, indices, interval)

        def both_of(a, b):
            return _linalg_generalized_eigh(a, b, not lower, type, indices, interval)

    arrays = (a,) if b is None else (a, b)
    alone = interval is not None and any(each.ndim > 2 for each in arrays)
    try:
        if eigvals_only:
            return over_batch(lambda *each: (values_of(*each),), *arrays)[0] if alone else values_of(*arrays)
        return over_batch(both_of, *arrays) if alone else both_of(*arrays)
    except LinAlgError as error:
        if "positive definite" not in str(error):
            raise
        raise LinAlgError(
            "The leading minor of B is not positive definite. The factorization of B could not be completed "
            "and no eigenvalues or eigenvectors were computed."
        ) from error


def _subsets(by_index, by_value, n):
    if by_index is not None:
        low, high = (int(each) for each in by_index)
        if not 0 <= low <= high < n:
            raise ValueError(
                f"Requested eigenvalue indices are not valid. Valid range is [0, {n - 1}] and start <= end, "
                f"but start={low}, end={high} is given"
            )
        return (low, high), None
    if by_value is not None:
        low, high = by_value
        if not low < high:
            raise ValueError(
                "Requested eigenvalue bounds are not valid. Valid range is (-inf, inf) and low < high, but "
                f"low={low}, high={high} is given"
            )
        return None, (low, high)
    return None, None


def eigvalsh(a, b=None, **options):
    """The eigenvalues of eigh.

    >>> np.scipy.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]])
    array([1., 2.])
    """
    return eigh(a, b, eigvals_only=True, **options)


def schur(a, output="real", lwork=None, overwrite_a=False, sort=None, check_finite=True):
    """T and Z of ``a == Z @ T @ Z.conj().mT``, with orthonormal Z and upper triangular T.

    With `output` 'real', T of a real matrix has blocks of two rows for conjugate eigenvalues. With `sort` chosen
    eigenvalues come first, and their number is returned, too: 'lhp' (the left half of the plane), 'rhp', 'iuc' (inside
    of the unit circle), 'ouc', or what says so of an eigenvalue, of a real matrix of its real and imaginary part.

    >>> np.scipy.linalg.schur([[1.0, 2.0], [0.0, 3.0]])[0]
    array([[1., 2.],
           [0., 3.]])
    >>> np.scipy.linalg.schur([[1.0, 2.0], [0.0, -3.0]], sort="lhp")[0].round(9)
    array([[-3., -2.],
           [ 0.,  1.]])
    """
    if output not in ("real", "complex", "r", "c"):
        raise ValueError("argument must be 'real', or 'complex'")
    a = square(a, check_finite, convert=checked_double)
    if output in ("complex", "c") and a.dtype.kind != "c":
        a = a.astype(_core.complex64 if a.dtype == _core.float32 else _core.complex128)
    if sort is not None and not callable(sort) and sort not in _HALVES:
        raise ValueError(
            "'sort' parameter must either be 'None', or a callable, or one of ('lhp','rhp','iuc','ouc')"
        )
    t, z = _linalg_schur(a)
    if sort is None:
        return t, z
    t, z, count = _linalg_sort_schur(t, z, _chosen(_linalg_schur_eigenvalues(t), sort, a.dtype.kind == "c"))
    return t, z, int(count) if count.ndim == 0 else count


_HALVES = {
    "lhp": lambda w: w.real < 0,
    "rhp": lambda w: w.real >= 0,
    "iuc": lambda w: abs(w) <= 1,
    "ouc": lambda w: abs(w) > 1,
}


def _chosen(values, sort, is_complex):
    if not callable(sort):
        return _HALVES[sort](values)
    numbers = values.ravel().tolist()
    chosen = [bool(sort(w) if is_complex else sort(w.real, w.imag)) for w in numbers]
    return _core.asarray(chosen, bool).reshape(values.shape)


def hessenberg(a, calc_q=False, overwrite_a=False, check_finite=True):
    """H, with zeros below the first diagonal under the main one, and with `calc_q` Q: ``a == Q @ H @ Q.conj().mT``.

    >>> np.scipy.linalg.hessenberg(np.ones((3, 3))).shape
    (3, 3)
    """
    h, q = _linalg_hessenberg(square(a, check_finite))
    return (h, q) if calc_q else h
