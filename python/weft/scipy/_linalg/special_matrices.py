"""Matrices that are built from vectors and blocks."""

from weft import _core
from weft._core import asarray


def toeplitz(c, r=None):
    """The matrix with first column `c`, first row `r` (the conjugate of `c` if not given) and constant diagonals.

    >>> np.scipy.linalg.toeplitz([1, 2], [1, 5, 6])
    array([[1, 5, 6],
           [2, 1, 5]])
    """
    c = asarray(c)
    r = c.conj() if r is None else asarray(r)
    if c.ndim > 1 or r.ndim > 1:
        c, r = (
            c.reshape(-1, c.shape[-1])[0] if c.ndim > 1 else c,
            r.reshape(-1, r.shape[-1])[0] if r.ndim > 1 else r,
        )
    c, r = c.ravel(), r.ravel()
    rows, columns = c.shape[0], r.shape[0]
    values = _core.concatenate([c[::-1], r[1:]])
    return values[(rows - 1) - _core.arange(rows)[:, None] + _core.arange(columns)]


def circulant(c):
    """The square matrix whose columns are `c`, moved down and around by one more each time.

    >>> np.scipy.linalg.circulant([1, 2, 3])
    array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]])
    """
    c = asarray(c)
    places = _core.arange(c.shape[-1])
    return c[..., (places[:, None] - places) % c.shape[-1]]


def block_diag(*arrs):
    """The arrays as blocks on the diagonal, with zeros around them.

    >>> np.scipy.linalg.block_diag([1], [[2, 3], [4, 5]])
    array([[1, 0, 0],
           [0, 2, 3],
           [0, 4, 5]])
    """
    if not arrs:
        arrs = ([],)
    blocks = [asarray(each) for each in arrs]
    blocks = [each.reshape(1, -1) if each.ndim < 2 else each for each in blocks]
    wrong = [at for at, each in enumerate(blocks) if each.ndim > 2]
    if wrong:
        raise ValueError(f"arguments in the following positions have dimension greater than 2: {wrong}")
    dtype = _core.result_type(*blocks)
    shape = [sum(each.shape[d] for each in blocks) for d in (0, 1)]
    result = _core.full(shape, 0, dtype)
    row = column = 0
    for each in blocks:
        rows, columns = each.shape
        result[row : row + rows, column : column + columns] = each
        row, column = row + rows, column + columns
    return result
