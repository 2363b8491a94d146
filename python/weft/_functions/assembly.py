"""NumPy's functions that cut arrays into parts, join them again, or put their elements in another order."""

from operator import index as _index

from weft import _core
from weft._array.axes import extents, normalize_axes
from weft._core import asarray
from weft._engine.numpy_version import deprecated_in_numpy_2_5, numpy_is_at_least

# ---- parts ----


def _axis_of(axis, ndim):
    return normalize_axes(axis, ndim, None)[0]


def array_split(ary, indices_or_sections, axis=0):
    """Views of parts: so many, as even as can be, or parts that end at the given positions.

    >>> np.array_split(np.arange(5), 2)
    [array([0, 1, 2]), array([3, 4])]
    """
    if not hasattr(indices_or_sections, "__len__"):
        indices_or_sections = int(indices_or_sections)
    return _core._array_split(ary, indices_or_sections, axis)


def split(ary, indices_or_sections, axis=0):
    """Views of equal parts, or of parts that end at the given positions. Raises ValueError where parts differ."""
    if not hasattr(indices_or_sections, "__len__"):
        extent = asarray(ary).shape[axis]
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
    return _core._unstack(x, axis)


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
    return _core._tile(A, tuple(_index(rep) for rep in reps))


def repeat(a, repeats, axis=None):
    """Each element several times: all as often, or each as its own number says.

    >>> np.repeat([1, 2], 2)
    array([1, 1, 2, 2])
    >>> np.repeat([[1, 2], [3, 4]], [1, 2], axis=0)
    array([[1, 2],
           [3, 4],
           [3, 4]])
    """
    return _core._repeat(a, repeats, axis)


def resize(a, new_shape):
    """The elements in C order in a new shape, over and over where it is larger.

    >>> np.resize([1, 2, 3], (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    return _core._resize(a, extents(new_shape))


def append(arr, values, axis=None):
    """`values` behind `arr`; without an axis both are flattened.

    >>> np.append([1, 2], [[3], [4]])
    array([1, 2, 3, 4])
    """
    return _core._append(arr, values, axis)


# ---- without or with more ----


def delete(arr, obj, axis=None):
    """A copy without the subarrays that a position, a slice, or an array of positions or bools names.

    Raises IndexError for positions beyond the axis.

    >>> np.delete([10, 20, 30, 40], [0, 2])
    array([20, 40])
    """
    return _core._delete(arr, obj, axis)


def insert(arr, obj, values, axis=None):
    """A copy with `values` before the positions that a position, a slice, or an array of these names.

    Several values at one position stay in their order. Raises IndexError for positions beyond the axis' end.

    >>> np.insert([1, 2, 3], 1, 9)
    array([1, 9, 2, 3])
    >>> np.insert([1, 2, 3], [0, 3], [8, 9])
    array([8, 1, 2, 3, 9])
    """
    return _core._insert(arr, obj, values, axis)


# ---- another order ----


def _items(value):
    """What is given for one axis or for several, as a tuple."""
    if isinstance(value, (tuple, list)):
        return tuple(value)
    if getattr(value, "ndim", 0) == 0:
        return (value,)
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
    if any(isinstance(each, (tuple, list)) for each in shifts):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
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
    try:
        k = _index(k)
    except TypeError:
        k = _turns(k)
    return _core._rot90(m, k, *axes)


def _turns(k):
    """Of what is no integer: NumPy 2.5 cuts it, and warns; before, what is no multiple counts as three."""
    deprecated_in_numpy_2_5(
        f"Passing a value for k ({k!r}) that is not an integer type has been deprecated in NumPy 2.5. The value will "
        "be cast to an integer.  In the future this will raise a TypeError."
    )
    if numpy_is_at_least(2, 5):
        return int(k)
    k %= 4
    return next((turns for turns in (0, 1, 2) if k == turns), 3)


def trim_zeros(filt, trim="fb", axis=None):
    """Without the zeros at the front ('f') and back ('b') of each axis.

    >>> np.trim_zeros(np.array([0, 1, 0, 2, 0]))
    array([1, 0, 2])
    """
    values = asarray(filt)
    ends = trim.lower()
    if ends not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = None if axis is None else normalize_axes(axis, values.ndim, None)
    result = _core._trim_zeros(values, "f" in ends, "b" in ends, axes)
    return type(filt)(result.tolist()) if isinstance(filt, (list, tuple)) and values.ndim == 1 else result
