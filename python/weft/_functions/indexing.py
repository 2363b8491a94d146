"""NumPy's functions that choose elements by their positions or by conditions, and that write to these."""

from weft import _core
from weft._array.axes import broadcast_shapes, normalize_axes
from weft._core import arange, asarray, can_cast, ndarray, nonzero, result_type, where
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
    a = asarray(a)
    if a.ndim == 0:
        return argwhere(a.reshape(1))[:, :0]
    return _core.stack(nonzero(a)).T


def flatnonzero(a):
    """The positions of elements of the flattened array that are not zero.

    >>> np.flatnonzero([[0, 1], [1, 0]])
    array([1, 2])
    """
    return nonzero(asarray(a).ravel())[0]


def compress(condition, a, axis=None, out=None):
    """The subarrays along `axis`, or elements of the flattened array, at which `condition` is true.

    The condition may be shorter than the axis. Raises IndexError where it is longer and true.

    >>> np.compress([False, True], [[1, 2], [3, 4]], axis=0)
    array([[3, 4]])
    """
    condition = asarray(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, nonzero(condition)[0], axis, out)


def extract(condition, arr):
    """The elements of `arr` at which `condition` is true, in C order.

    >>> np.extract([[1, 0], [0, 1]], [[1, 2], [3, 4]])
    array([1, 4])
    """
    condition, arr = asarray(condition).ravel(), asarray(arr).ravel()
    if condition.size == arr.size:
        return arr[condition.astype("bool", copy=False)]
    return take(arr, nonzero(condition)[0])


def _repeated(values, count):
    """So many values, the given ones over and over."""
    values = values.ravel()
    return values if values.size == count else take(values, arange(count) % values.size)


def _safely(values, dtype):
    """What NumPy's older functions take: arrays that convert without loss, and any Python values."""
    if hasattr(values, "__dlpack__") and hasattr(values, "strides"):
        values = asarray(values)
        if not can_cast(values.dtype, dtype, "safe"):
            raise TypeError(
                f"Cannot cast array data from {values.dtype!r} to {dtype!r} according to the rule 'safe'"
            )
    return asarray(values, dtype)


def _mask_of(function, a, mask):
    mask = asarray(mask)
    if mask.size != a.size:
        raise ValueError(f"{function}: mask and data must be the same size")
    return mask.astype("bool", copy=False).reshape(a.shape)


def place(arr, mask, vals):
    """Writes `vals`, one after another and over and over, to the elements at which `mask` is true.

    >>> a = np.arange(4)
    >>> np.place(a, a > 0, [7, 8])
    >>> a
    array([0, 7, 8, 7])
    """
    if not isinstance(arr, ndarray):
        raise TypeError(f"place() argument 1 must be weft.ndarray, not {type(arr).__name__}")
    if not arr.flags.writeable:
        raise ValueError("place: output array is read-only")
    mask = _mask_of("place", arr, mask)
    values = _safely(vals, arr.dtype)
    if values.size == 1:
        arr[mask] = values.reshape(())
        return
    count = int(mask.sum())
    if count == 0:
        return
    if values.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    arr[mask] = _repeated(values, count)


def putmask(a, /, mask, values):
    """Writes `values` where `mask` is true: shorter ones over and over, counted along all elements of `a`.

    >>> a = np.arange(4)
    >>> np.putmask(a, a > 1, [10, 20, 30])
    >>> a
    array([ 0,  1, 30, 10])
    """
    if not isinstance(a, ndarray):
        raise TypeError("putmask: first argument must be an array")
    mask = _mask_of("putmask", a, mask)
    if not a.flags.writeable:
        raise ValueError("putmask: output array is read-only")
    values = _safely(values, a.dtype)
    if values.size == 0:
        return
    values = values.reshape(()) if values.size == 1 else _repeated(values, a.size).reshape(a.shape)
    _core.copyto(a, values, "unsafe", mask)


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
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be weft.ndarray, not {type(a).__name__}")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    if not a.flags.writeable:
        raise ValueError("put: output array is read-only")
    ind = _safely(ind, _core.dtype("int64")).ravel()
    values = asarray(v, a.dtype)
    if ind.size == 0:
        return
    if a.size == 0:
        raise IndexError("cannot replace elements of an empty array")
    if values.size == 0:
        return
    if mode == "wrap":
        ind = ind % a.size
    elif mode == "clip":
        ind = _ufuncs["maximum"](_ufuncs["minimum"](ind, a.size - 1), 0)
    values = _repeated(values, ind.size) if values.size > 1 else values.reshape(())
    if a.flags.c_contiguous:
        a.reshape(-1)[ind] = values
        return
    a[_unravelled(_checked_flat(ind, a.size), a.shape)] = values


def _checked_flat(ind, size):
    """Positions from 0 on, of those that may be negative."""
    low, high = int(ind.min()), int(ind.max())
    if low < -size or high >= size:
        wrong = ind[_ufuncs["logical_or"](ind < -size, ind >= size)][0]
        raise IndexError(f"index {int(wrong)} is out of bounds for axis 0 with size {size}")
    return where(ind < 0, ind + size, ind)


def _unravelled(flat, shape):
    result, inner = [], 1
    for extent in reversed(shape):
        result.append(flat // inner % extent)
        inner *= extent
    return tuple(reversed(result))


# ---- among several arrays ----

_MOST_COMPARED = 8  # choices; of more, the chosen ones are read where they are


def choose(a, choices, out=None, mode="raise"):
    """At each place the element of the array choices[a] there; all arrays broadcast.

    >>> np.choose([1, 0, 1], [[1, 2, 3], [10, 20, 30]])
    array([10,  2, 30])
    """
    if isinstance(a, ndarray) and a.__class__ is not ndarray:
        result = choose(asarray(a), choices, out, mode)
        return result if out is not None else overrides.like_owner(result, a)
    a = asarray(a)
    if not can_cast(a.dtype, "int64", "safe"):
        raise TypeError(
            f"Cannot cast array data from {a.dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    a = a.astype("int64", copy=False)
    choices = [asarray(choice) for choice in choices]
    if not choices:
        raise ValueError("need at least one array to choose from")
    count = len(choices)
    if mode == "wrap":
        a = a % count
    elif mode == "clip":
        a = _ufuncs["maximum"](_ufuncs["minimum"](a, count - 1), 0)
    elif mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    elif (
        a.size
        and all(broadcast_shapes(a.shape, *(choice.shape for choice in choices)))
        and not (int(a.min()) >= 0 and int(a.max()) < count)
    ):
        raise ValueError("invalid entry in choice array")
    common = result_type(*choices)
    choices = [choice.astype(common, copy=False) for choice in choices]
    if count <= _MOST_COMPARED:
        result = choices[-1]
        for k in range(count - 2, -1, -1):
            result = where(a == k, choices[k], result)
        if count == 1:
            result = where(a == 0, choices[0], choices[0])
    else:
        shape = broadcast_shapes(a.shape, *(choice.shape for choice in choices))
        table = _core.stack([_core.broadcast_to(choice, shape) for choice in choices])
        result = _core._take_along_axis(table, _core.broadcast_to(a, shape)[None], 0)[0]
    if out is None:
        return asarray(result, order="C") if result.ndim else result[()]
    _core.copyto(out, result, "unsafe")
    return out


def select(condlist, choicelist, default=0):
    """At each place the element of the first choice whose condition is true there, else `default`.

    >>> x = np.arange(5)
    >>> np.select([x < 2, x > 3], [x, x * 10], 7)
    array([ 0,  1,  7,  7, 40])
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    choices = [
        choice if isinstance(choice, (int, float, complex)) else asarray(choice)
        for choice in [*choicelist, default]
    ]
    try:
        dtype = result_type(*choices)
    except TypeError as error:
        raise TypeError(f"Choicelist and default value do not have a common dtype: {error}") from None
    for k, condition in enumerate(condlist):
        if getattr(condition, "dtype", None) != "bool":
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    conditions = [asarray(condition) for condition in condlist]
    result = asarray(choices[-1], dtype)
    for condition, choice in zip(reversed(conditions), reversed(choices[:-1]), strict=True):
        result = where(condition, asarray(choice, dtype), result)
    return result if result.flags.c_contiguous else result.copy("C")
