"""Matrices that are built from vectors and blocks."""

from weft import _core
from weft._array.axes import broadcast_shapes
from weft._core import asarray


def toeplitz(c, r=None):
    """The matrix with first column `c`, first row `r` (the conjugate of `c` if not given) and constant diagonals.

    The axes before the last are a batch.

    >>> np.scipy.linalg.toeplitz([1, 2], [1, 5, 6])
    array([[1, 5, 6],
           [2, 1, 5]])
    """
    c = _at_least_vector(c)
    r = c.conj() if r is None else _at_least_vector(r)
    batch = broadcast_shapes(c.shape[:-1], r.shape[:-1])
    rows, columns = c.shape[-1], r.shape[-1]
    c = _core.broadcast_to(c, (*batch, rows))
    r = _core.broadcast_to(r, (*batch, columns))
    values = _core.concatenate([c[..., ::-1], r[..., 1:]], axis=-1)
    down, along = (_core.arange(count, device=c.device) for count in (rows, columns))
    return values[..., (rows - 1) - down[:, None] + along]


def _at_least_vector(a):
    a = asarray(a)
    return a if a.ndim else a.reshape(1)


def circulant(c):
    """The square matrix whose columns are `c`, moved down and around by one more each time.

    >>> np.scipy.linalg.circulant([1, 2, 3])
    array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]])
    """
    c = _at_least_vector(c)
    places = _core.arange(c.shape[-1], device=c.device)
    return c[..., (places[:, None] - places) % c.shape[-1]]


def block_diag(*arrs):
    """The arrays as blocks on the diagonal, with zeros around them. The axes before the last two are a batch.

    >>> np.scipy.linalg.block_diag([1], [[2, 3], [4, 5]])
    array([[1, 0, 0],
           [0, 2, 3],
           [0, 4, 5]])
    """
    if not arrs:
        arrs = ([],)
    blocks = [asarray(each) for each in arrs]
    blocks = [each.reshape((1,) * (2 - each.ndim) + each.shape) for each in blocks]
    batch = broadcast_shapes(*(each.shape[:-2] for each in blocks))
    shape = [sum(each.shape[d] for each in blocks) for d in (-2, -1)]
    result = _core.full((*batch, *shape), 0, _core.result_type(*blocks), device=blocks[0].device)
    row = column = 0
    for each in blocks:
        rows, columns = each.shape[-2:]
        result[..., row : row + rows, column : column + columns] = each
        row, column = row + rows, column + columns
    return result
