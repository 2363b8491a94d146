"""NumPy's functions that choose elements by their positions or by conditions, and that write to these."""

from weft import _core
from weft._array.axes import normalize_axes
from weft._core import asarray, ndarray
from weft._protocols import overrides

_ufuncs = _core._ufuncs


def take(a, indices, axis=None, out=None, mode="raise"):
    """The subarrays at `indices` along `axis`, or elements of the flattened array.

    Positions beyond the axis are an IndexError; with mode='wrap' they go on counting around it, with mode='clip' they
    are the nearest there is.

    >>> np.take([10, 20, 30], [0, 2, -1])
    array([10, 30, 30])
    """
    return _core._take(a, indices, axis, out, mode)


def take_along_axis(arr, indices, axis=-1):
    """The elements at `indices` along `axis`: result[i, j, k] is arr[i, indices[i, j, k], k] for axis 1.

    The other axes of `arr` and `indices` broadcast; axis=None flattens `arr` first. Raises IndexError for positions
    beyond the axis.

    >>> a = np.array([[3, 1], [2, 4]])
    >>> np.take_along_axis(a, np.argmax(a, axis=1, keepdims=True), axis=1)
    array([[3],
           [4]])
    """
    arr = arr if isinstance(arr, ndarray) else asarray(arr)
    arr, indices, axis = _along_axis(arr, indices, axis)
    if arr.__class__ is not ndarray:
        return arr[_index_along(arr, indices, axis)]
    return _core._take_along_axis(arr, indices, axis)


def _index_along(arr, indices, axis):
    """The index that says the same, for subclasses whose indexing is their own."""
    (axis,) = normalize_axes(axis, arr.ndim, None)
    grid = [
        _core.arange(extent).reshape((1,) * k + (-1,) + (1,) * (arr.ndim - k - 1))
        for k, extent in enumerate(arr.shape)
    ]
    grid[axis] = indices
    return tuple(grid)


def _along_axis(arr, indices, axis):
    if not isinstance(indices, ndarray):
        indices.dtype  # noqa: B018  as in NumPy, lists are refused
        indices = asarray(indices)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return arr.ravel(), indices, 0
    if indices.ndim != arr.ndim:
        normalize_axes(axis, arr.ndim, None)
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return arr, indices, axis


def put_along_axis(arr, indices, values, axis):
    """Writes `values` to the elements that take_along_axis(arr, indices, axis) reads.

    axis=None counts through `arr` in C order. Raises IndexError before anything is written.

    >>> a = np.array([[3, 1], [2, 4]])
    >>> np.put_along_axis(a, np.argmax(a, axis=1, keepdims=True), 0, axis=1)
    >>> a
    array([[0, 1],
           [2, 0]])
    """
    if not isinstance(arr, ndarray):
        raise TypeError("put_along_axis writes into an array")
    if axis is None and not arr.flags.c_contiguous:
        _along_axis(arr, indices, axis)
        put(arr, indices, values)
        return
    if arr.__class__ is not ndarray:
        flat, indices, axis = _along_axis(arr, indices, axis)
        flat[_index_along(flat, indices, axis)] = values
        return
    _core._put_along_axis(*_along_axis(arr, indices, axis)[:2], values, 0 if axis is None else axis)


# ---- by conditions ----


def argwhere(a):
    """The positions of elements that are not zero: a row for each.

    >>> np.argwhere([[0, 1], [1, 0]])
    array([[0, 1],
           [1, 0]])
    """
    return _core._argwhere(a)


def flatnonzero(a):
    """The positions of elements of the flattened array that are not zero.

    >>> np.flatnonzero([[0, 1], [1, 0]])
    array([1, 2])
    """
    return _core._flatnonzero(a)


def compress(condition, a, axis=None, out=None):
    """The subarrays along `axis`, or elements of the flattened array, at which `condition` is true.

    The condition may be shorter than the axis. Raises IndexError where it is longer and true.

    >>> np.compress([False, True], [[1, 2], [3, 4]], axis=0)
    array([[3, 4]])
    """
    return _core._compress(condition, a, axis, out)


def extract(condition, arr):
    """The elements of `arr` at which `condition` is true, in C order.

    >>> np.extract([[1, 0], [0, 1]], [[1, 2], [3, 4]])
    array([1, 4])
    """
    return _core._extract(condition, arr)


def place(arr, mask, vals):
    """Writes `vals`, one after another and over and over, to the elements at which `mask` is true.

    >>> a = np.arange(4)
    >>> np.place(a, a > 0, [7, 8])
    >>> a
    array([0, 7, 8, 7])
    """
    _core._place(arr, mask, vals)


def putmask(a, /, mask, values):
    """Writes `values` where `mask` is true: shorter ones over and over, counted along all elements of `a`.

    >>> a = np.arange(4)
    >>> np.putmask(a, a > 1, [10, 20, 30])
    >>> a
    array([ 0,  1, 30, 10])
    """
    _core._putmask(a, mask, values)


def put(a, ind, v, mode="raise"):
    """Writes `v`, over and over, to the elements of the flattened array at `ind`.

    Positions beyond the array are an IndexError; with mode='wrap' they go on counting around it, with mode='clip'
    they are the nearest there is.

    >>> a = np.zeros((2, 2), dtype=int)
    >>> np.put(a, [1, 2], [7, 8])
    >>> a
    array([[0, 7],
           [8, 0]])
    """
    _core._put(a, ind, v, mode)


# ---- among several arrays ----


def choose(a, choices, out=None, mode="raise"):
    """At each place the element of the array choices[a] there; all arrays broadcast.

    >>> np.choose([1, 0, 1], [[1, 2, 3], [10, 20, 30]])
    array([10,  2, 30])
    """
    if isinstance(a, ndarray) and a.__class__ is not ndarray:
        result = choose(asarray(a), choices, out, mode)
        return result if out is not None else overrides.like_owner(result, a)
    return _core._choose(a, choices, out, mode)


def select(condlist, choicelist, default=0):
    """At each place the element of the first choice whose condition is true there, else `default`.

    >>> x = np.arange(5)
    >>> np.select([x < 2, x > 3], [x, x * 10], 7)
    array([ 0,  1,  7,  7, 40])
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    return _core._select(condlist, choicelist, default)
