"""Norms, condition numbers and ranks. Norms without singular values are recorded: they fuse with their input."""

from weft._core import (
    _linalg_cond,
    _linalg_matrix_rank,
    _linalg_norm,
    _linalg_vector_norm,
    _ufuncs,
    asarray,
)
from weft._engine.numpy_version import numpy_is_at_least
from weft._ufunc.errstate import errstate
from weft.exceptions import LinAlgError

_isnan = _ufuncs["isnan"]


def _axes(axis):
    if axis is None or type(axis) is int or isinstance(axis, tuple):
        return axis
    try:
        return int(axis)
    except Exception as error:
        raise TypeError("'axis' must be None, an integer or a tuple of integers") from error


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors along one axis, or of matrices along two; by default of all elements as one vector.

    `ord` of vectors is a number, or inf and -inf; of matrices 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc'.
    Raises ValueError for another, and for more axes.

    >>> np.linalg.norm([3.0, 4.0])
    np.float64(5.0)
    >>> np.linalg.norm([[1.0, -2.0], [3.0, 4.0]], 1)
    np.float64(6.0)
    """
    return _linalg_norm(x, ord, _axes(axis), keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of the matrices of the last two axes, as norm has it.

    >>> np.linalg.matrix_norm([[3.0, 0.0], [0.0, 4.0]])
    np.float64(5.0)
    """
    return _linalg_norm(x, ord, (-2, -1), keepdims)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of vectors along the axes, all by default.

    >>> np.linalg.vector_norm([[3.0, 0.0], [0.0, 4.0]], ord=1)
    np.float64(7.0)
    """
    return _linalg_vector_norm(x, ord, _axes(axis), keepdims)


def cond(x, p=None):
    """The condition number: by default the largest singular value by the smallest, else the norm times the inverse's.

    Raises LinAlgError for matrices without elements, and where `p` needs square ones.

    >>> np.linalg.cond([[4.0, 0.0], [0.0, 2.0]])
    np.float64(2.0)
    """
    with errstate(all="ignore"):
        try:
            return _linalg_cond(x, p)
        except LinAlgError:
            if not numpy_is_at_least(2, 5):
                raise
            return _cond_of_each(asarray(x), p)


def _cond_of_each(x, p):
    """Where singular values or inverses fail, as NumPy has it from 2.5 on: nan where there is nan, else inf."""
    if x.size == 0 or x.ndim < 2 or (p not in (None, 2, -2) and x.shape[-1] != x.shape[-2]):
        return _linalg_cond(x, p)
    found = []
    for each in x.reshape(-1, *x.shape[-2:]):
        try:
            found.append(float(_linalg_cond(each, p)))
        except LinAlgError:
            found.append(float("nan") if _isnan(each).any() else float("inf"))
    dtype = "float32" if x.dtype in ("float32", "complex64") else "float64"
    return asarray(found, dtype).reshape(x.shape[:-2])[()]


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """How many singular values are greater than `tol`, or than `rtol` times the largest one.

    >>> np.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    np.int64(1)
    """
    return _linalg_matrix_rank(A, tol, hermitian, rtol)
