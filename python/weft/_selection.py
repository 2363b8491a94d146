"""NumPy's functions that choose elements by their positions."""

from weft import _core
from weft._core import asarray, ndarray


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
    if not isinstance(indices, ndarray):
        indices.dtype  # noqa: B018  as in NumPy, lists are refused
        indices = asarray(indices)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = arr.ravel(), 0
    elif indices.ndim != arr.ndim:
        from weft._functions import _normal_axes

        _normal_axes(axis, arr.ndim, None)
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return _core._take_along_axis(arr, indices, axis)
