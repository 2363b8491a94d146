"""NumPy's functions about diagonals and what is above and below them."""

from math import ceil as _ceil
from operator import index as _index

from weft import _core
from weft._core import arange, asarray, ndarray
from weft._engine.numpy_version import deprecated_in_numpy_2_5, numpy_is_at_least


def diag(v, k=0):
    """A matrix with `v` on diagonal `k`; of a matrix that diagonal, a view.

    >>> np.diag([1, 2])
    array([[1, 0],
           [0, 2]])
    """
    return _core._diag(v, k)


def diagflat(v, k=0):
    """A matrix with the elements of `v`, flattened, on diagonal `k`."""
    return _core._diag(asarray(v).ravel(), k)


def fill_diagonal(a, val, wrap=False):
    """Writes `val`, over and over, to the diagonal of an array, whose axes are equally long if there are more than two.

    With `wrap` the diagonal of a tall matrix begins again below.

    >>> a = np.zeros((2, 2), dtype=int)
    >>> np.fill_diagonal(a, 5)
    >>> a
    array([[5, 0],
           [0, 5]])
    """
    if type(a) is ndarray:
        _core._fill_diagonal(a, val, bool(wrap))
        return
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    end = None
    if a.ndim == 2:
        step = a.shape[1] + 1
        if not wrap:
            end = a.shape[1] * a.shape[1]
    else:
        if len(set(a.shape)) != 1:
            raise ValueError("All dimensions of input must be of equal length")
        step, inner = 0, 1
        for _ in range(a.ndim):
            step += inner
            inner *= a.shape[0]
    a.flat[:end:step] = val


def tri(N, M=None, k=0, dtype=float, *, like=None):
    """Ones at and below diagonal `k`, zeros above.

    >>> np.tri(2, 3, dtype=int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    _want_integers(N, N if M is None else M, k)
    M = N if M is None else M
    return _core._tri(_ceil(N), _ceil(M), k).astype(dtype)


def _want_integers(*given):
    if not numpy_is_at_least(2, 5):
        return
    for each in given:
        try:
            _index(each)
        except TypeError:
            deprecated_in_numpy_2_5(
                f"Cannot convert {type(each).__name__} safely to an integer. This will raise an error in future "
                "versions (Deprecated NumPy 2.5)"
            )
            return


def tril_indices(n, k=0, m=None):
    """The positions at and below diagonal `k` of an n by m matrix."""
    _want_integers(n, n if m is None else m, k)
    return _core._tril_indices(_ceil(n), k, m if m is None else _ceil(m))


def triu_indices(n, k=0, m=None):
    """The positions at and above diagonal `k` of an n by m matrix."""
    _want_integers(n, n if m is None else m, k)
    return _core._triu_indices(_ceil(n), k, m if m is None else _ceil(m))


def tril_indices_from(arr, k=0):
    """The positions at and below diagonal `k` of a matrix."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    _want_integers(k)
    return _core._tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr, k=0):
    """The positions at and above diagonal `k` of a matrix."""
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    _want_integers(k)
    return _core._triu_indices(arr.shape[-2], k, arr.shape[-1])


def diag_indices(n, ndim=2):
    """The positions on the diagonal of an array of `ndim` axes of `n`."""
    return (arange(n),) * ndim


def diag_indices_from(arr):
    """The positions on the diagonal of an array with equally long axes."""
    if not isinstance(arr, ndarray) and not hasattr(arr, "shape"):
        arr = asarray(arr)
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def mask_indices(n, mask_func, k=0):
    """The positions where mask_func(ones((n, n)), k) is not zero."""
    return _core.nonzero(mask_func(_core.ones((n, n), "int64"), k) != 0)


def vander(x, N=None, increasing=False):
    """A matrix whose columns are powers of `x`, the highest first.

    >>> np.vander([1, 2, 3], 3)
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    return _core._vander(x, N, bool(increasing))
