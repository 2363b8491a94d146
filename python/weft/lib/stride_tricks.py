"""Views by strides: sliding windows, and any others that stay inside of the array's memory."""

from weft import _core
from weft._array.axes import broadcast_shapes, extents, normalize_axes
from weft._core import array, asarray, broadcast_to
from weft._functions.shapes import broadcast_arrays

__all__ = ["as_strided", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view"]


def as_strided(x, shape=None, strides=None, subok=False, writeable=True, *, check_bounds=None):
    """A view of the array's memory from its first element on, with this shape and these strides in bytes.

    Unlike NumPy's it never leaves the memory, whatever `check_bounds` says: that is a ValueError. What overlaps
    itself is best not written to.

    >>> np.lib.stride_tricks.as_strided(np.arange(4), (2, 2), (8, 8)).tolist()
    [[0, 1], [1, 2]]
    """
    x = array(x, copy=None)
    shape, strides = (
        x.shape if shape is None else tuple(shape),
        x.strides if strides is None else tuple(strides),
    )
    try:
        view = _core._strided_view(x, shape, strides)
    except ValueError as error:
        if not check_bounds:
            raise
        raise ValueError(f"Given shape and strides would access memory out of bounds: {error}") from None
    if not writeable:
        view.flags.writeable = False
    return view


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Windows that slide along axes, as a view: their own axes come last. Read-only unless `writeable`.

    >>> np.lib.stride_tricks.sliding_window_view(np.arange(4), 3).tolist()
    [[0, 1, 2], [1, 2, 3]]
    """
    x = asarray(x)
    window = extents(window_shape)
    if any(extent < 0 for extent in window):
        raise ValueError("`window_shape` cannot contain negative values")
    if axis is None:
        axes = list(range(x.ndim))
        if len(window) != len(axes):
            raise ValueError(
                "Since axis is None, must provide window_shape for all dimensions of `x`; got "
                f"{len(window)} window_shape elements and `x.ndim` is {x.ndim}."
            )
    else:
        axes = [
            normalize_axes(own, x.ndim, None)[0]
            for own in (axis if isinstance(axis, (tuple, list)) else (axis,))
        ]
        if len(window) != len(axes):
            raise ValueError(
                "Must provide matching length window_shape and axis; got "
                f"{len(window)} window_shape elements and {len(axes)} axes elements."
            )
    shape = list(x.shape)
    for own, extent in zip(axes, window):
        if shape[own] < extent:
            raise ValueError("window shape cannot be larger than input array shape")
        shape[own] -= extent - 1
    strides = x.strides + tuple(x.strides[own] for own in axes)
    view = _core._strided_view(x, (*shape, *window), strides)
    if not writeable:
        view.flags.writeable = False
    return view
