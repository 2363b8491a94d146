"""NumPy's functions that make grids of positions or values, and turn positions into others."""

from itertools import islice, product
from operator import index as _index

from weft import _core
from weft._core import arange, array, asarray, concatenate, empty
from weft._engine.numpy_version import numpy_is_at_least
from weft._functions.creation import linspace


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Arrays of coordinates from one array for each axis, as a tuple; 'xy' swaps the first two axes.

    >>> np.meshgrid([1, 2, 3], [10, 20])
    (array([[1, 2, 3],
           [1, 2, 3]]), array([[10, 10, 10],
           [20, 20, 20]]))
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    found = _core._meshgrid(xi, bool(copy), bool(sparse), indexing == "ij")
    return tuple(found) if type(found) is list and numpy_is_at_least(2, 5) else found


def indices(dimensions, dtype=int, sparse=False):
    """The position of each element of an array of that shape, along each axis.

    >>> np.indices((2, 2))
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]])
    """
    dimensions = tuple(_index(extent) for extent in islice(dimensions, 65))
    if len(dimensions) > 64:
        raise ValueError("maximum supported dimension for an ndarray is currently 64")
    if isinstance(_core.dtype(dtype), _core.dtype):
        return _core._indices(dimensions, dtype, bool(sparse))
    found = _core._indices(dimensions, int, bool(sparse))  # NumPy has arrays of that dtype
    return tuple(each.astype(dtype) for each in found) if sparse else found.astype(dtype)


def ix_(*args):
    """Index arrays that together choose the given positions of each axis.

    >>> np.arange(6).reshape(2, 3)[np.ix_([1], [0, 2])]
    array([[3, 5]])
    """
    return _core._ix(args)


def unravel_index(indices, shape, order="C"):
    """The positions along each axis of elements that are counted through an array of that shape.

    >>> np.unravel_index([3, 5], (2, 3))
    (array([1, 1]), array([0, 2]))
    """
    return _core._unravel_index(indices, shape, order)


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Counted through an array of that shape, where the positions along each axis are.

    Positions beyond an axis are a ValueError; with mode='wrap' they go on counting around it, with mode='clip' they
    are the nearest there is.

    >>> np.ravel_multi_index(([1, 1], [0, 2]), (2, 3))
    array([3, 5])
    """
    return _core._ravel_multi_index(multi_index, dims, mode, order)


# ---- grids by slices ----


def _values_of(part):
    """The numbers that a slice stands for; an imaginary step says how many, the end among them."""
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    if isinstance(step, complex):
        return linspace(start, part.stop, int(abs(step)))
    return arange(start, part.stop, step)


class _Grid:
    """np.mgrid and np.ogrid: np.mgrid[0:2, 0:3] are the coordinates of a grid."""

    def __init__(self, sparse):
        self._sparse = sparse

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _values_of(key)
        axes = [_values_of(part) for part in key]
        dtype = _core.result_type(*axes)
        ndim = len(axes)
        spread = [
            axis.astype(dtype, copy=False).reshape((1,) * k + (-1,) + (1,) * (ndim - k - 1))
            for k, axis in enumerate(axes)
        ]
        if self._sparse:
            return tuple(spread)
        result = empty((ndim, *(axis.size for axis in axes)), dtype)
        for k, values in enumerate(spread):
            result[k] = values
        return result


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)


def _joined_by_numpy(joiner, key):
    """np.r_ and np.c_ of texts, dates and objects."""
    import numpy

    from weft._protocols.host_arrays import run

    name = "r_" if joiner is r_ else "c_"
    return run(name, getattr(numpy, name).__getitem__, (key,), {}, "a dtype that weft leaves to NumPy")


class _Joiner:
    """np.r_ and np.c_: arrays, numbers and slices joined, np.r_[1:4, 0, [7, 8]]."""

    def __init__(self, axis=0, ndmin=1, place=-1):
        self._axis, self._ndmin, self._place = axis, ndmin, place

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        axis, ndmin, place = self._axis, self._ndmin, self._place
        if parts and isinstance(parts[0], str):
            if parts[0] in ("r", "c"):
                from weft._protocols.host_names import asmatrix

                joined = self[parts[1:]]
                matrix = asmatrix(joined)
                return matrix.T if parts[0] == "c" and joined.ndim == 1 else matrix
            numbers = [int(number) for number in parts[0].split(",")]
            axis, ndmin, place = (*numbers, *(axis, ndmin, place)[len(numbers) :])
            parts = parts[1:]
        joined = []
        for part in parts:
            own = _values_of(part) if isinstance(part, slice) else part
            number = isinstance(own, (int, float, complex))
            own = asarray(own)
            before = own.ndim
            own = array(own, copy=None, ndmin=ndmin)
            if before < ndmin and not number and place != -1:
                first = place + (ndmin - before + 1 if place < 0 else 0)
                order = list(range(ndmin - before, ndmin))
                rest = list(range(ndmin - before))
                own = own.transpose(rest[:first] + order + rest[first:])
            joined.append((own, number, part))
        if not all(issubclass(type(own), _core.ndarray) for own, _, _ in joined):
            return _joined_by_numpy(self, key)
        dtype = _core.result_type(*(part if number else own for own, number, part in joined))
        return concatenate([own.astype(dtype, copy=False) for own, _, _ in joined], axis)

    def __len__(self):
        return 0


r_ = _Joiner()
c_ = _Joiner(axis=-1, ndmin=2, place=0)


class _Slices:
    """np.s_ and np.index_exp: what stands between brackets."""

    def __init__(self, as_tuple):
        self._as_tuple = as_tuple

    def __getitem__(self, key):
        return (key,) if self._as_tuple and not isinstance(key, tuple) else key


s_ = _Slices(as_tuple=False)
index_exp = _Slices(as_tuple=True)


# ---- Python loops over positions ----


class ndindex:
    """The positions of an array of that shape, one tuple after another in C order.

    >>> list(np.ndindex(2, 1))
    [(0, 0), (1, 0)]
    """

    def __init__(self, *shape):

        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = shape[0]
        shape = tuple(_index(extent) for extent in shape)
        if any(extent < 0 for extent in shape):
            raise ValueError("negative dimensions are not allowed")
        self._positions = product(*map(range, shape))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._positions)


class ndenumerate:
    """Pairs of position and element, in C order.

    >>> [position for position, element in np.ndenumerate([[1, 2]])]
    [(0, 0), (0, 1)]
    """

    def __init__(self, arr):
        arr = asarray(arr)
        positions = product(*map(range, arr.shape))
        if arr.ndim < 2 or arr.flags.c_contiguous:
            self._pairs = zip(positions, arr.reshape(-1))
        else:
            self._pairs = ((position, arr[position]) for position in positions)

    def __iter__(self):
        return self._pairs

    def __next__(self):
        return next(self._pairs)


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """function(i, j, ...) of the positions along each axis of an array of that shape.

    >>> np.fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
    array([[0, 1],
           [1, 2]])
    """
    return function(*indices(shape, dtype=dtype), **kwargs)
