"""Arrays one after the other: stacks, rows and columns."""

from weft._core import asanyarray, asarray, concatenate, ndarray
from weft._functions.shapes import _with_one_axis, _with_three_axes, _with_two_axes


def _joined(arrays, form):
    if not isinstance(arrays, (list, tuple, ndarray)):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    return [form(asanyarray(a)) for a in arrays]


def _concatenated(arrays, axis, dtype, casting):
    if dtype is None and casting == "same_kind":
        return concatenate(arrays, axis)
    return concatenate(arrays, axis, dtype=dtype, casting=casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    """The arrays one after the other along the second axis, or the first of one-dimensional ones."""
    arrays = _joined(tup, _with_one_axis)
    return _concatenated(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype, casting)


def vstack(tup, *, dtype=None, casting="same_kind"):
    """The arrays one below the other."""
    return _concatenated(_joined(tup, _with_two_axes), 0, dtype, casting)


concat, row_stack = concatenate, vstack


def dstack(tup):
    """The arrays one behind the other, along the third axis."""
    return concatenate(_joined(tup, _with_three_axes), 2)


def column_stack(tup):
    """One-dimensional arrays as the columns of a matrix."""
    arrays = _joined(tup, asarray)
    return concatenate([a if a.ndim >= 2 else a.reshape(1, a.size).T for a in arrays], 1)
