"""NumPy's functions that cut arrays into parts, join them again, or put their elements in another order."""

from itertools import product
from math import prod
from operator import index as _index

from weft import _core
from weft._array.axes import extents, moveaxis, normalize_axes
from weft._core import arange, array, asarray, concatenate, empty, flip, ndarray
from weft._functions.shapes import atleast_1d

# ---- parts ----


def _axis_of(axis, ndim):
    return normalize_axes(axis, ndim, None)[0]


def _along(axis, part):
    """The key that takes `part` of an axis and all of those before it."""
    return (slice(None),) * axis + (part,)


def array_split(ary, indices_or_sections, axis=0):
    """Views of parts: so many, as even as can be, or parts that end at the given positions.

    >>> np.array_split(np.arange(5), 2)
    [array([0, 1, 2]), array([3, 4])]
    """
    ary = asarray(ary)
    extent = ary.shape[axis]
    axis = _axis_of(axis, ary.ndim)
    if hasattr(indices_or_sections, "__len__"):
        ends = [*indices_or_sections, extent]
    else:
        count = int(indices_or_sections)
        if count <= 0:
            raise ValueError("number sections must be larger than 0.")
        size, longer = divmod(extent, count)
        ends = [None] * count  # no memory for that many is an error before the work
        ends[:] = ((k + 1) * size + min(k + 1, longer) for k in range(count))
    starts = [0, *ends[:-1]]
    return [ary[_along(axis, slice(start, end))] for start, end in zip(starts, ends)]


def split(ary, indices_or_sections, axis=0):
    """Views of equal parts, or of parts that end at the given positions. Raises ValueError where parts differ."""
    ary = asarray(ary)
    if not hasattr(indices_or_sections, "__len__"):
        extent = ary.shape[axis]
        if extent % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    """Parts along the second axis, or the first of an array of one dimension."""
    ary = asarray(ary)
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """Parts along the first axis of an array of two dimensions at least."""
    ary = asarray(ary)
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Parts along the third axis of an array of three dimensions at least."""
    ary = asarray(ary)
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def unstack(x, /, *, axis=0):
    """Views of the subarrays along an axis, as a tuple.

    >>> np.unstack([[1, 2], [3, 4]])
    (array([1, 2]), array([3, 4]))
    """
    x = asarray(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(moveaxis(x, axis, 0))


# ---- copies side by side ----


def tile(A, reps):
    """The array over and over, `reps` times along each axis.

    >>> np.tile([1, 2], 2)
    array([1, 2, 1, 2])
    """
    try:
        reps = tuple(reps)
    except TypeError:
        reps = (reps,)
    A = asarray(A)
    ndim = max(A.ndim, len(reps))
    reps = (1,) * (ndim - len(reps)) + tuple(_index(rep) for rep in reps)
    shape = (1,) * (ndim - A.ndim) + A.shape
    if all(rep == 1 for rep in reps):
        return array(A, copy=True).reshape(shape)
    copies = prod(reps)
    few = 0 < copies <= _FEW_COPIES and A.size * copies >= _LARGE
    if few and A.dtype.kind in "biufc" and A.device == "cpu":
        return _tile_by_parts(A.reshape(shape), reps)
    spread = [extent for pair in zip(reps, shape) for extent in pair]
    narrow = [extent for own in shape for extent in (1, own)]
    result = tuple(rep * extent for rep, extent in zip(reps, shape))
    return _core.broadcast_to(A.reshape(narrow), spread).copy().reshape(result)


_FEW_COPIES = 8
_LARGE = 1 << 14  # elements


def _tile_by_parts(a, reps):
    """What reads the result reads the parts of which it is made (docs/decisions/0029-reading-through-writes.md)."""
    result = empty(tuple(rep * extent for rep, extent in zip(reps, a.shape)), a.dtype, device=a.device)
    for place in product(*map(range, reps)):
        result[tuple(slice(k * extent, (k + 1) * extent) for k, extent in zip(place, a.shape))] = a
    return result


def _repeated_alike(a, count, axis):
    if count < 0:
        raise ValueError("repeats may not contain negative values.")
    shape = list(a.shape)
    shape.insert(axis + 1, count)
    wide = _core.broadcast_to(a[(slice(None),) * (axis + 1) + (None,)], tuple(shape))
    shape[axis : axis + 2] = [a.shape[axis] * count]
    if 0 in shape:
        return _core.zeros(tuple(shape), a.dtype, device=a.device)
    result = wide.copy()
    result.shape = shape
    return result


def repeat(a, repeats, axis=None):
    """Each element several times: all as often, or each as its own number says.

    >>> np.repeat([1, 2], 2)
    array([1, 1, 2, 2])
    >>> np.repeat([[1, 2], [3, 4]], [1, 2], axis=0)
    array([[1, 2],
           [3, 4],
           [3, 4]])
    """
    a = asarray(a)
    if axis is None:
        a, axis = a.ravel(), 0
    else:
        a = atleast_1d(a)
        axis = _axis_of(axis, a.ndim)
    if type(repeats) is int and -(2**63) <= repeats < 2**63:
        return _repeated_alike(a, repeats, axis)
    repeats_given, repeats = repeats, asarray(repeats)
    if isinstance(repeats_given, (int, float, list, tuple)):
        repeats = repeats.astype("int64", copy=False)
    if repeats.dtype.kind not in "iub" or repeats.dtype == "uint64":
        raise TypeError(
            f"Cannot cast array data from {repeats.dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    if repeats.ndim > 1:
        raise ValueError("object too deep for desired array")
    extent = a.shape[axis]
    if repeats.size == 1:
        return _repeated_alike(a, int(repeats.reshape(())), axis)
    if repeats.size != extent:
        raise ValueError(f"operands could not be broadcast together with shape ({extent},) ({repeats.size},)")
    if repeats.size and int(repeats.min()) < 0:
        raise ValueError("repeats may not contain negative values.")
    return _core._take(a, _repeated_positions(repeats), axis, None, "raise")


def _repeated_positions(repeats):
    """[0] * repeats[0] + [1] * repeats[1] + ...: marks where a new position begins, added up."""
    from weft._functions.reductions import cumsum

    ends = cumsum(repeats, dtype="int64")
    total = int(ends[-1]) if ends.size else 0
    marks = _core.zeros(total + 1, "int64")
    starts = ends[:-1]
    # Positions that are repeated no times share a start with the next one.
    unique, count = _ends_with_counts(starts)
    marks[unique] = count
    return cumsum(marks[:-1])


def _ends_with_counts(starts):
    """The different values of a sorted array, and how often each is there."""
    if starts.size == 0:
        return starts, starts
    new = concatenate([asarray([True]), starts[1:] != starts[:-1]])
    first = _core.nonzero(new)[0]
    bounds = concatenate([first, asarray([starts.size])])
    return starts[first], bounds[1:] - bounds[:-1]


def resize(a, new_shape):
    """The elements in C order in a new shape, over and over where it is larger.

    >>> np.resize([1, 2, 3], (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    shape = extents(new_shape)
    if any(extent < 0 for extent in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    a = asarray(a).ravel()
    count = 1
    for extent in shape:
        count *= extent
    if a.size == 0 or count == 0:
        return _core.zeros(shape, a.dtype)
    if count <= a.size:
        return array(a[:count], copy=True).reshape(shape)
    whole, rest = divmod(count, a.size)
    return concatenate([tile(a, whole), a[:rest]]).reshape(shape)


def append(arr, values, axis=None):
    """`values` behind `arr`; without an axis both are flattened.

    >>> np.append([1, 2], [[3], [4]])
    array([1, 2, 3, 4])
    """
    arr, values = asarray(arr), asarray(values)
    if axis is None:
        return concatenate([arr.ravel(), values.ravel()], 0)
    return concatenate([arr, values], axis)


# ---- without or with more ----


def _flat_or_axis(arr, axis):
    if axis is None:
        return arr.ravel(), 0
    return arr, _axis_of(axis, arr.ndim)


def _positions(obj, extent, axis):
    """The positions that an index array names, from 0 on, as int64."""
    positions = asarray(obj)
    if positions.size == 0 and not isinstance(obj, ndarray):
        positions = positions.astype("int64")
    if positions.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    positions = positions.astype("int64", copy=False)
    if positions.size:
        low, high = int(positions.min()), int(positions.max())
        if low < -extent or high >= extent:
            wrong = low if low < -extent else high
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {extent}")
        if low < 0:
            positions = _core.where(positions < 0, positions + extent, positions)
    return positions


def _order_of(a):
    """The order of what delete and insert make of an array: Fortran's if it is in no other."""
    return "F" if a.flags.fnc else "C"


def _room(arr, axis, more):
    """A new array that is longer along an axis."""
    shape = list(arr.shape)
    shape[axis] += more
    return empty(tuple(shape), arr.dtype, order=_order_of(arr))


def delete(arr, obj, axis=None):
    """A copy without the subarrays that a position, a slice, or an array of positions or bools names.

    Raises IndexError for positions beyond the axis.

    >>> np.delete([10, 20, 30, 40], [0, 2])
    array([20, 40])
    """
    arr, axis = _flat_or_axis(asarray(arr), axis)
    extent = arr.shape[axis]

    def without(low, high):
        parts = [arr[_along(axis, slice(0, low))], arr[_along(axis, slice(high, None))]]
        return concatenate(parts, axis, out=_room(arr, axis, low - high))

    if isinstance(obj, slice):
        start, stop, step = obj.indices(extent)
        taken = range(start, stop, step)
        if len(taken) == 0:
            return array(arr, copy=True, order=_order_of(arr))
        low, high = min(taken[0], taken[-1]), max(taken[0], taken[-1])
        if abs(step) == 1:
            return without(low, high + 1)
        keep = _core.ones(extent, "bool")
        keep[obj] = False
        result = _room(arr, axis, -len(taken))
        result[...] = arr[_along(axis, keep)]
        return result
    single = isinstance(obj, int) and not isinstance(obj, bool)
    named = obj if single else asarray(obj)
    if not single and named.dtype.kind == "b":
        if named.shape != (extent,):
            raise ValueError(
                "boolean array argument `obj` to delete must be one-dimensional and match the axis length of "
                f"{extent}"
            )
        return arr[_along(axis, _core._ufuncs["logical_not"](named))]
    if single or (named.size == 1 and named.dtype.kind in "iu"):
        position = int(obj) if single else int(named.reshape(()))
        if not -extent <= position < extent:
            raise IndexError(f"index {position} is out of bounds for axis {axis} with size {extent}")
        position %= extent
        return without(position, position + 1)
    keep = _core.ones(extent, "bool")
    keep[_positions(obj, extent, axis)] = False
    return arr[_along(axis, keep)]


def insert(arr, obj, values, axis=None):
    """A copy with `values` before the positions that a position, a slice, or an array of these names.

    Several values at one position stay in their order. Raises IndexError for positions beyond the axis' end.

    >>> np.insert([1, 2, 3], 1, 9)
    array([1, 9, 2, 3])
    >>> np.insert([1, 2, 3], [0, 3], [8, 9])
    array([8, 1, 2, 3, 9])
    """
    arr, axis = _flat_or_axis(asarray(arr), axis)
    extent = arr.shape[axis]
    if isinstance(obj, slice):
        positions = arange(*obj.indices(extent))
    else:
        positions = asarray(obj)
        if positions.dtype.kind == "b":
            if positions.ndim != 1:
                raise ValueError("boolean array argument obj to insert must be one dimensional")
            positions = _core.nonzero(positions)[0]
        elif positions.ndim > 1:
            raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    values = asarray(values)
    if positions.size == 1:
        position = int(positions.reshape(()))
        if not -extent <= position <= extent:
            raise IndexError(f"index {position} is out of bounds for axis {axis} with size {extent}")
        position += extent if position < 0 else 0
        values = array(values, copy=None, ndmin=arr.ndim, dtype=arr.dtype)
        if positions.ndim == 0:
            values = moveaxis(values, 0, axis)
        count = values.shape[axis]
        result = _room(arr, axis, count)
        result[_along(axis, slice(0, position))] = arr[_along(axis, slice(0, position))]
        result[_along(axis, slice(position, position + count))] = values
        result[_along(axis, slice(position + count, None))] = arr[_along(axis, slice(position, None))]
        return result
    if positions.size == 0 and not isinstance(obj, ndarray):
        positions = positions.astype("int64")
    positions = positions.astype("int64", copy=False)
    if positions.size:
        low, high = int(positions.min()), int(positions.max())
        if low < -extent or high > extent:
            wrong = low if low < -extent else high
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {extent}")
    listed = [position + extent if position < 0 else position for position in positions.tolist()]
    for before, k in enumerate(sorted(range(len(listed)), key=listed.__getitem__)):
        listed[k] += before  # of those that come earlier in the result
    taken = asarray(listed, "int64")
    result = _room(arr, axis, len(listed))
    keep = _core.ones(result.shape[axis], "bool")
    keep[taken] = False
    result[_along(axis, taken)] = values
    result[_along(axis, keep)] = arr
    return result


# ---- another order ----


def _items(value):
    """What is given for one axis or for several, as a tuple."""
    if isinstance(value, (tuple, list)):
        return tuple(value)
    if getattr(value, "ndim", 0) == 0:
        return (value,)
    if value.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    return tuple(asarray(value).tolist())


def roll(a, shift, axis=None):
    """The elements moved along axes, those beyond the end to the front; without an axis along all of the array.

    >>> np.roll([1, 2, 3, 4], 1)
    array([4, 1, 2, 3])
    """
    a = asarray(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    axes, shifts = _items(axis), _items(shift)
    if len(axes) != len(shifts):
        if 1 not in (len(axes), len(shifts)):
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        axes, shifts = axes * max(len(shifts), 1), shifts * max(len(axes), 1)
    places, own_axes = [], []
    for own, steps in zip(axes, shifts):
        own = _axis_of(own, a.ndim)
        extent = a.shape[own]
        own_axes.append(own)
        places.append(int(steps) % extent if extent else 0)
    if not a.ndim:
        raise ValueError(
            "not enough values to unpack (expected 2, got 0)"
        )  # as NumPy, which has no axis to go along
    return _core._roll(a, tuple(places), tuple(own_axes))


def rot90(m, k=1, axes=(0, 1)):
    """A view turned by 90 degrees, `k` times, from the first of two axes towards the second.

    >>> np.rot90([[1, 2], [3, 4]])
    array([[2, 4],
           [1, 3]])
    """
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    m = asarray(m)
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == m.ndim:
        raise ValueError("Axes must be different.")
    if not all(-m.ndim <= axis < m.ndim for axis in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={m.ndim}.")
    k = k % 4
    if k == 0:
        return m[:]
    if k == 2:
        return flip(flip(m, axes[0]), axes[1])
    if k == 1:
        return flip(m, axes[1]).swapaxes(*axes)
    return flip(m.swapaxes(*axes), axes[1])


def trim_zeros(filt, trim="fb", axis=None):
    """Without the zeros at the front ('f') and back ('b') of each axis.

    >>> np.trim_zeros(np.array([0, 1, 0, 2, 0]))
    array([1, 0, 2])
    """
    listed = not isinstance(filt, ndarray)
    values = asarray(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = range(values.ndim) if axis is None else normalize_axes(axis, values.ndim, None)
    key = [slice(None)] * values.ndim
    places = _core.nonzero(values) if values.ndim else ()
    for own in axes:
        if places[own].size == 0:
            start = values.shape[own] if "f" in trim else 0
            key[own] = slice(start, None) if "f" in trim else slice(0, 0)
            continue
        start = int(places[own].min()) if "f" in trim else 0
        stop = int(places[own].max()) + 1 if "b" in trim else values.shape[own]
        key[own] = slice(start, stop)
    result = values[tuple(key)] if values.ndim else values
    return result.tolist() if listed and isinstance(filt, list) and values.ndim == 1 else result


def block(arrays):
    """Arrays in nested lists, joined: the innermost lists along the last axis, those around them along the one before.

    >>> np.block([[np.ones((1, 2)), np.zeros((1, 1))], [np.zeros((1, 3))]])
    array([[1., 1., 0.],
           [0., 0., 0.]])
    """

    def depth_of(part):
        if isinstance(part, tuple):
            raise TypeError(
                "arrays is a tuple. Only lists can be used to arrange blocks, and np.block does not "
                "allow implicit conversion from tuple to ndarray."
            )
        if not isinstance(part, list):
            return 0
        if not part:
            raise ValueError("List at arrays cannot be empty")
        depths = {depth_of(each) for each in part}
        if len(depths) != 1:
            raise ValueError(f"List depths are mismatched: {sorted(depths)} side by side")
        return 1 + depths.pop()

    def largest(part):
        return max(map(largest, part)) if isinstance(part, list) else asarray(part).ndim

    depth = depth_of(arrays)
    ndim = max(depth, largest(arrays))

    def joined(part, level):
        if not isinstance(part, list):
            return array(part, copy=None, ndmin=ndim)
        return concatenate([joined(each, level + 1) for each in part], ndim - depth + level)

    result = joined(arrays, 0)
    return array(result, copy=True, order="C") if depth == 0 else result
