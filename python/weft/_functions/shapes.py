"""The same elements in another shape, with other axes, or broadcast: mostly views."""

import math

from weft import _core
from weft._array.axes import broadcast_shapes, moveaxis, normalize_axes
from weft._array.class_attributes import with_attributes
from weft._core import asanyarray, asarray
from weft.exceptions import AxisError


def reshape(a, /, shape, order="C", *, copy=None):
    """The same elements in another shape: a view where the strides allow it, else a copy."""
    return asanyarray(a).reshape(shape, order=order, copy=copy)


def ravel(a, order="C"):
    """The elements as one axis: a view where the strides allow it, else a copy."""
    return asanyarray(a).ravel(order)


def transpose(a, axes=None):
    """A view with the axes in another order: reversed, or as given."""
    return asanyarray(a).transpose(axes)


permute_dims = transpose


def matrix_transpose(x, /):
    """A view with the last two axes exchanged."""
    x = asarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.mT


def swapaxes(a, axis1, axis2):
    """A view with two axes exchanged."""
    return asanyarray(a).swapaxes(axis1, axis2)


def squeeze(a, axis=None):
    """A view without the axes of extent one, or without those given."""
    return asanyarray(a).squeeze(axis)


def rollaxis(a, axis, start=0):
    """A view with one axis moved to before another."""
    a = asanyarray(a)
    (axis,) = normalize_axes(axis, a.ndim, "axis")
    if not -a.ndim <= start <= a.ndim:
        raise AxisError(f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in")
    start = start + a.ndim if start < 0 else start
    if axis < start:
        start = start - 1
    return moveaxis(a, axis, start) if axis != start else a[...]


def fliplr(m):
    """A view with the second axis in reverse."""
    m = asanyarray(m)
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return m[:, ::-1]


def flipud(m):
    """A view with the first axis in reverse."""
    m = asanyarray(m)
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return m[::-1, ...]


def broadcast_arrays(*args, subok=False):
    """Read-only views of the arrays in their common shape."""
    arrays = [(asanyarray if subok else asarray)(arg) for arg in args]
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return tuple(a if a.shape == shape else _core.broadcast_to(a, shape, subok) for a in arrays)


def _at_least(arrays, form):
    results = tuple(form(asanyarray(a)) for a in arrays)
    return results[0] if len(results) == 1 else results


def _with_one_axis(a):
    return a.reshape(1) if a.ndim == 0 else a


def _with_two_axes(a):
    return a.reshape(1, 1) if a.ndim == 0 else a[None, :] if a.ndim == 1 else a


def _with_three_axes(a):
    if a.ndim == 0:
        return a.reshape(1, 1, 1)
    if a.ndim == 1:
        return a[None, :, None]
    return a[:, :, None] if a.ndim == 2 else a


def atleast_1d(*arys):
    """The arrays, with one axis at least."""
    return _at_least(arys, _with_one_axis)


def atleast_2d(*arys):
    """The arrays, with two axes at least."""
    return _at_least(arys, _with_two_axes)


def atleast_3d(*arys):
    """The arrays, with three axes at least."""
    return _at_least(arys, _with_three_axes)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """A read-only view of a diagonal."""
    return asanyarray(a).diagonal(offset, axis1, axis2)


@with_attributes("index", "nd", "ndim", "numiter", "shape", "size")
class broadcast:
    """What arrays are together: their common shape, and tuples of their elements in C order.

    >>> b = np.broadcast(np.array([[1], [2]]), np.array([3, 4]))
    >>> b.shape, b.size
    ((2, 2), 4)
    >>> next(b)
    (np.int64(1), np.int64(3))
    """

    def __init__(self, *arrays, **unknown):
        if unknown:
            raise ValueError("keyword arguments not accepted.")
        found = []
        for x in arrays:
            found += x._arrays if isinstance(x, broadcast) else [asarray(x)]
        if len(found) > 64:
            raise ValueError("Need at least 0 and at most 64 array objects.")
        self._arrays = found
        self.shape = broadcast_shapes(*(x.shape for x in found))
        self.numiter = len(found)
        self.nd = self.ndim = len(self.shape)
        self.size = math.prod(self.shape)
        self.reset()

    __init__.__wrapped__ = lambda self, *arrays: None  # its signature, as NumPy's

    def reset(self, /):
        """Begins again with the first elements."""
        self.index = 0

    @property
    def iters(self):
        """For each array a flat iterator over it in the common shape."""
        from weft._array.views import RepeatedIterator

        return tuple(RepeatedIterator(x, self.shape) for x in self._arrays)

    def __iter__(self):
        return self

    def __next__(self):
        if self.index >= self.size:
            raise StopIteration
        place, rest = [], self.index
        for extent in reversed(self.shape):
            rest, own = divmod(rest, extent)
            place.append(own)
        self.index += 1
        place = tuple(reversed(place))
        return tuple(_core.broadcast_to(x, self.shape)[place] for x in self._arrays)


def iterable(y):
    """Whether iter() takes it.

    >>> np.iterable([1]), np.iterable(2)
    (True, False)
    """
    try:
        iter(y)
    except TypeError:
        return False
    return True
