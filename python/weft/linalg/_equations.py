"""Linear equations: solutions, inverses, determinants, least squares."""

from typing import Any, NamedTuple

from weft import _core
from weft._array.dtypes import finfo
from weft._core import (
    _linalg_det,
    _linalg_inv,
    _linalg_lstsq,
    _linalg_pinv,
    _linalg_slogdet,
    _linalg_solve,
    _linalg_tensorinv,
    _linalg_tensorsolve,
    asarray,
)
from weft._protocols.no_value import NO_VALUE
from weft.linalg._checks import as_given, of_finite


class SlogdetResult(NamedTuple):
    """A sign and the logarithm of an absolute value."""

    sign: Any
    logabsdet: Any


def solve(a, b):
    """The x of ``a @ x == b``, for each matrix of a batch. `b` of one axis is a vector.

    Raises LinAlgError for matrices that are not square or singular, ValueError for shapes that do not fit.

    >>> np.linalg.solve([[1, 2], [3, 5]], [1, 2])
    array([-1.,  1.])
    """
    return as_given(_linalg_solve(a, b), b)


def inv(a):
    """The inverse of each matrix. Raises LinAlgError for matrices that are not square or singular.

    >>> np.linalg.inv([[1.0, 2.0], [0.0, 4.0]])
    array([[ 1.  , -0.5 ],
           [ 0.  ,  0.25]])
    """
    return as_given(_linalg_inv(a), a)


def det(a):
    """The determinant of each matrix. Raises LinAlgError for matrices that are not square.

    >>> np.linalg.det([[1.0, 2.0], [3.0, 4.0]])
    np.float64(-2.0)
    """
    return _linalg_det(a)


def slogdet(a):
    """The determinant of each matrix as its sign and the logarithm of its absolute value, which cannot overflow.

    >>> np.linalg.slogdet(np.eye(2) * -1)
    SlogdetResult(sign=np.float64(1.0), logabsdet=np.float64(0.0))
    """
    return SlogdetResult(*_linalg_slogdet(a))


def lstsq(a, b, rcond=None):
    """The x that brings ``a @ x`` closest to `b`, the sums of squared residuals, the rank of `a`, its singular values.

    Singular values up to `rcond` times the largest count as zero. Residuals are given where the rank is full and there
    are more equations than unknowns. Raises LinAlgError for other than two axes of `a`, or rows that do not fit.

    >>> np.linalg.lstsq([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [1.0, 3.0, 5.0])[0].round(9)
    array([2., 1.])
    """
    x, residuals, rank, values = _linalg_lstsq(a, b, rcond)
    return as_given(x, b), as_given(residuals, b), _core.int32(rank), values


def pinv(a, rcond=None, hermitian=False, *, rtol=NO_VALUE):
    """The pseudo-inverse of each matrix, by its singular values; those up to `rcond` times the largest count as zero.

    >>> np.linalg.pinv([[2.0, 0.0], [0.0, 0.0]])
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    if rcond is None:
        if rtol is NO_VALUE:
            rcond = 1e-15
        elif rtol is None:
            a = asarray(a)
            rcond = max(a.shape[-2:]) * finfo(a.dtype).eps
        else:
            rcond = rtol
    elif rtol is not NO_VALUE:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    result = _linalg_pinv(a, rcond, hermitian)
    return as_given(result if hermitian else of_finite(result, a), a)


def tensorsolve(a, b, axes=None):
    """The x of ``tensordot(a, x, x.ndim) == b``.

    `axes` of `a` are moved to its end first. Raises LinAlgError where `a` is not square in this sense, or singular.

    >>> np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 6), np.ones((2, 3)))
    array([1., 1., 1., 1., 1., 1.])
    """
    return _linalg_tensorsolve(a, b, axes if axes is None else tuple(axes))


def tensorinv(a, ind=2):
    """The inverse of what ``tensordot(a, x, ind)`` does. Raises LinAlgError where it has none.

    >>> np.linalg.tensorinv(np.eye(4).reshape(2, 2, 2, 2)).shape
    (2, 2, 2, 2)
    """
    return _linalg_tensorinv(a, ind)
