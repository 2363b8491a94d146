"""Norms, condition numbers and ranks. Norms without singular values are recorded: they fuse with their input."""

from weft._core import (
    _linalg_cond,
    _linalg_matrix_rank,
    _linalg_norm,
    _linalg_vector_norm,
    asarray,
)
from weft._engine.numpy_version import numpy_is_at_least
from weft._ufunc.errstate import errstate
from weft.linalg._checks import of_finite

_BY_SINGULAR_VALUES = ("nuc", 2, -2)  # orders of norms of matrices


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
    result = _linalg_norm(x, ord, _axes(axis), keepdims)
    return result if ord is None else _of_finite_matrices(result, x, ord, axis)


def _of_finite_matrices(norm, x, ord, axis):
    """The norm; LinAlgError where it is of infinite matrices by singular values, beside NumPy that has it so."""
    if type(ord) not in (int, float, str) or ord not in _BY_SINGULAR_VALUES:
        return norm
    of_matrices = len(axis) == 2 if isinstance(axis, tuple) else axis is None and asarray(x).ndim == 2
    return of_finite(norm, x) if of_matrices else norm


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of the matrices of the last two axes, as norm has it.

    >>> np.linalg.matrix_norm([[3.0, 0.0], [0.0, 4.0]])
    np.float64(5.0)
    """
    return _of_finite_matrices(_linalg_norm(x, ord, (-2, -1), keepdims), x, ord, (-2, -1))


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of vectors along the axes, all by default.

    >>> np.linalg.vector_norm([[3.0, 0.0], [0.0, 4.0]], ord=1)
    np.float64(7.0)
    """
    return _linalg_vector_norm(x, ord, _axes(axis), keepdims)


def cond(x, p=None):
    """The condition number: by default the largest singular value by the smallest, else the norm times the inverse's.

    Raises LinAlgError for matrices without elements, and where `p` needs square ones. NaN in a matrix raises it where
    singular values are needed; beside NumPy 2.5 the condition number is NaN, as there.

    >>> np.linalg.cond([[4.0, 0.0], [0.0, 2.0]])
    np.float64(2.0)
    """
    with errstate(all="ignore"):
        return _linalg_cond(x, p, numpy_is_at_least(2, 5))


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """How many singular values are greater than `tol`, or than `rtol` times the largest one.

    >>> np.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    np.int64(1)
    """
    rank = _linalg_matrix_rank(A, tol, hermitian, rtol)
    return rank if hermitian or type(rank) is int else of_finite(rank, A)
