"""Products of matrices and vectors, and what else numpy.linalg has that is composed of them."""

import operator

from weft._core import _linalg_matrix_power, _linalg_multi_dot, asarray, matmul
from weft._functions import products, shapes
from weft.linalg._checks import check_square


def outer(x1, x2, /):
    """The product of every pair of elements of two vectors. Raises ValueError for other dimensions."""
    x1, x2 = asarray(x1), asarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {x1.ndim=} and {x2.ndim=}.")
    return products.outer(x1, x2)


def tensordot(x1, x2, /, *, axes=2):
    """As weft.tensordot."""
    return products.tensordot(x1, x2, axes)


def vecdot(x1, x2, /, *, axis=-1):
    """As weft.vecdot."""
    return products.vecdot(x1, x2, axis=axis)


def diagonal(x, /, *, offset=0):
    """A read-only view of a diagonal of the last two axes."""
    return shapes.diagonal(x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    """The sum along a diagonal of the last two axes."""
    return products.trace(x, offset, -2, -1, dtype)


def multi_dot(arrays, *, out=None):
    """The product of a chain of matrices, multiplied in the order that costs least.

    The first and the last may be vectors. Raises ValueError when there are fewer than two arrays or their shapes do not
    fit, LinAlgError for other dimensions.

    >>> np.linalg.multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones(4)])
    array([12., 12.])
    """
    return _linalg_multi_dot(arrays, out)


def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of three components along an axis. Raises ValueError for other vectors.

    >>> np.linalg.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])
    """
    x1, x2 = asarray(x1), asarray(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    return products.cross(x1, x2, axis=axis)


def matrix_power(a, n):
    """A square matrix to the power of an integer: as few products as repeated squaring takes, of the inverse if it is
    negative. Raises LinAlgError where the matrix is not square, or singular and `n` is negative.

    >>> np.linalg.matrix_power([[1, 1], [0, 1]], 5)
    array([[1, 5],
           [0, 1]])
    """
    a = asarray(a)
    check_square(a)
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if abs(n) < 2**63:
        return _linalg_matrix_power(a, n)
    if n < 0:
        return matrix_power(_linalg_matrix_power(a, -1), -n)
    high, low = divmod(n, 2**62)
    return matmul(matrix_power(_linalg_matrix_power(a, 2**62), high), _linalg_matrix_power(a, low))
