"""Products of matrices and vectors, and what else numpy.linalg has that is composed of them."""

import operator

from weft import _core
from weft._core import _linalg_matrix_power, asarray, dot, matmul
from weft._functions import calculus, products, shapes
from weft.exceptions import LinAlgError
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


def _splits(extents):
    """Where to cut a chain of matrices of extents[i] * extents[i + 1] elements, for the fewest multiplications."""
    count = len(extents) - 1
    cost = [[0] * count for _ in range(count)]
    split = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            ends = extents[first] * extents[last + 1]
            cost[first][last], split[first][last] = min(
                (cost[first][cut] + cost[cut + 1][last] + ends * extents[cut + 1], cut)
                for cut in range(first, last)
            )
    return split


def multi_dot(arrays, *, out=None):
    """The product of a chain of matrices, multiplied in the order that costs least.

    The first and the last may be vectors. Raises ValueError when there are fewer than two arrays or their shapes do not
    fit, LinAlgError for other dimensions.

    >>> np.linalg.multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones(4)])
    array([12., 12.])
    """
    arrays = [asarray(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) == 2:
        return dot(arrays[0], arrays[1], out)
    row, column = arrays[0].ndim == 1, arrays[-1].ndim == 1
    if row:
        arrays[0] = arrays[0][None, :]
    if column:
        arrays[-1] = arrays[-1][:, None]
    for a in arrays:
        if a.ndim != 2:
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    for k in range(1, len(arrays)):
        if arrays[k - 1].shape[1] != arrays[k].shape[0]:
            dot(arrays[k - 1], arrays[k])  # raises
    split = _splits([a.shape[0] for a in arrays] + [arrays[-1].shape[1]])

    def chain(first, last, out=None):
        if first == last:
            return arrays[first]
        cut = split[first][last]
        return dot(chain(first, cut), chain(cut + 1, last), out)

    if not row and not column:
        return chain(0, len(arrays) - 1, out)
    result = chain(0, len(arrays) - 1)
    result = result[0, 0] if row and column else result[0] if row else result[:, 0]
    if out is None:
        return result
    _core.copyto(out, result)
    return out


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
    return calculus.cross(x1, x2, axis=axis)


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
