"""NumPy's functions that are put together from the engine's own: creation, shapes, joining, rounding, tests."""

from math import prod as _prod
from operator import index as _index

from weft import _core
from weft._array.dtypes import iinfo
from weft._core import array, asanyarray, asarray, concatenate, empty_like, ndarray
from weft._engine.device import device as _device
from weft._ufunc.errstate import quiet as _quiet

_ufuncs = _core._ufuncs
_maximum, _minimum, _rint = _ufuncs["maximum"], _ufuncs["minimum"], _ufuncs["rint"]
_multiply, _divide, _power = _ufuncs["multiply"], _ufuncs["divide"], _ufuncs["power"]
_max, _min, _any, _all = max, min, any, all

# ---- creation ----


def _made_like(name, like, *args, **options):
    from weft._protocols import overrides

    return overrides.like(name, globals()[name], args, {"like": like, **options})


def ascontiguousarray(a, dtype=None, *, like=None):
    """The array in C order, with one axis at least."""
    if like is not None:
        return _made_like("ascontiguousarray", like, a, dtype)
    return array(a, dtype, copy=None, order="C", ndmin=1)


def asfortranarray(a, dtype=None, *, like=None):
    """The array in Fortran order, with one axis at least."""
    if like is not None:
        return _made_like("asfortranarray", like, a, dtype)
    return array(a, dtype, copy=None, order="F", ndmin=1)


def _filled_like(a, value, dtype, order, subok, shape, device):
    result = empty_like(a, dtype, order, subok, shape, device=device)
    _core.copyto(result, value, "unsafe")
    return result


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Zeros, with the shape, dtype and layout of `a`."""
    return _filled_like(a, 0, dtype, order, subok, shape, device)


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Ones, with the shape, dtype and layout of `a`."""
    return _filled_like(a, 1, dtype, order, subok, shape, device)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array filled with `fill_value`, with the shape, dtype and layout of `a`."""
    return _filled_like(a, fill_value, dtype, order, subok, shape, device)


def identity(n, dtype=None, *, like=None):
    """A square matrix with ones on its diagonal."""
    if like is not None:
        return _made_like("identity", like, n, dtype=dtype)
    return _core.eye(n, dtype=dtype)


def _linspace_of(owner, start, stop, *options):
    from weft._protocols import overrides

    return overrides.like_owner(linspace(asarray(start), asarray(stop), *options), owner)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """`num` numbers from `start` to `stop`, evenly spaced.

    >>> np.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    if device is not None:
        with _device(device):
            start, stop = (
                x if isinstance(x, (int, float)) else asarray(x, device=device) for x in (start, stop)
            )
            return linspace(start, stop, num, endpoint, retstep, dtype, axis)
    num = _index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    steps = num - 1 if endpoint else num
    plain = isinstance(start, (int, float)) and isinstance(stop, (int, float))
    if plain:
        if axis != 0:
            _normal_axes(axis, 1, "destination")
        step = float("nan")
        if steps > 0:
            step = _core.float64((float(stop) - float(start)) / steps)
        result = _core._linspace(float(start), float(stop), num, endpoint, "float64")
        target = _core.dtype("float64" if dtype is None else dtype)
    else:
        if isinstance(start, ndarray) and start.__class__ is not ndarray:
            return _linspace_of(start, start, stop, num, endpoint, retstep, dtype, axis)
        if isinstance(stop, ndarray) and stop.__class__ is not ndarray:
            return _linspace_of(stop, start, stop, num, endpoint, retstep, dtype, axis)
        inexact = _core.result_type(
            *(x if isinstance(x, (int, float, complex)) else asarray(x) for x in (start, stop))
        )
        if inexact.kind not in "fc":
            inexact = _core.dtype("float64")
        start, stop = (asarray(asarray(x) * 1.0, inexact) for x in (start, stop))
        target = inexact if dtype is None else _core.dtype(dtype)
        delta = asarray(stop - start)
        step = delta / steps if steps > 0 else float("nan")
        result = _core.arange(0, num, dtype=inexact).reshape((num,) + (1,) * delta.ndim)
        if steps > 0 and not bool((asarray(step) == 0).any()):
            result = result * step
        else:  # the step may be too small a number
            result = (result / steps if steps > 0 else result) * delta
        result = asarray(result + start)
        if endpoint and num > 1:
            result[-1, ...] = stop
        if axis != 0:
            result = moveaxis(result, 0, axis)
    if target.kind in "iu":
        result = _ufuncs["floor"](result)
    result = result.astype(target, copy=False)
    return (result, step) if retstep else result


def copy(a, order="K", subok=False):
    """A copy of the array."""
    return array(a, copy=True, order=order, subok=subok)


def astype(x, dtype, /, *, copy=True, device=None):
    """A copy of the array with elements of another type, on another device if one is given."""
    result = x.astype(dtype, copy=copy)
    return result if device is None else result.to_device(device)


# ---- shapes ----


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


def _normal_axes(axes, ndim, name):
    if type(axes) is int and -ndim <= axes < ndim:
        return [axes % ndim]
    axes = [axes] if hasattr(axes, "__index__") else list(axes)
    result = []
    for axis in axes:
        axis = _index(axis)
        if not -ndim <= axis < ndim:
            from weft.exceptions import AxisError

            raise AxisError(axis, ndim, name)
        result.append(axis % ndim)
    if len(set(result)) != len(result):
        raise ValueError(f"repeated axis in `{name}` argument")
    return result


def moveaxis(a, source, destination):
    """A view with axes moved to other places; the others keep their order."""
    a = asanyarray(a)
    source = _normal_axes(source, a.ndim, "source")
    destination = _normal_axes(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [axis for axis in range(a.ndim) if axis not in source]
    for target, axis in sorted(zip(destination, source)):
        order.insert(target, axis)
    return a.transpose(order)


def rollaxis(a, axis, start=0):
    """A view with one axis moved to before another."""
    a = asanyarray(a)
    (axis,) = _normal_axes(axis, a.ndim, "axis")
    if not -a.ndim <= start <= a.ndim:
        from weft.exceptions import AxisError

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


def broadcast_shapes(*args):
    """The shape that arrays of these shapes broadcast to."""
    shapes = [(shape,) if hasattr(shape, "__index__") else tuple(shape) for shape in args]
    result = []
    for axis in range(_max(map(len, shapes), default=0)):
        extents = {shape[-1 - axis] for shape in shapes if axis < len(shape)} - {1}
        if len(extents) > 1:
            raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
        result.append(extents.pop() if extents else 1)
    if _prod(extent for extent in result if extent != 0) >= 2**63:
        raise ValueError("broadcast dimensions too large.")
    return tuple(reversed(result))


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


# ---- joining ----


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
    arrays = [asarray(a) for a in tup]
    return concatenate([a if a.ndim >= 2 else a.reshape(1, a.size).T for a in arrays], 1)


# ---- reductions ----


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The sum of the elements over `axis`. Small integers add up as int64 or uint64.

    >>> np.sum([[1, 2], [3, 4]], axis=0)
    array([4, 6])
    """
    return asanyarray(a).sum(axis, dtype, out, keepdims, initial, where)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The product of the elements over `axis`. Small integers multiply as int64 or uint64."""
    return asanyarray(a).prod(axis, dtype, out, keepdims, initial, where)


def max(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The largest element over `axis`; nan if there is one."""
    return asanyarray(a).max(axis, out, keepdims, initial, where)


def min(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The smallest element over `axis`; nan if there is one."""
    return asanyarray(a).min(axis, out, keepdims, initial, where)


amax, amin = max, min


def any(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether any element over `axis` is true."""
    return asanyarray(a).any(axis, out, keepdims, where=where)


def all(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether all elements over `axis` are true."""
    return asanyarray(a).all(axis, out, keepdims, where=where)


def argmax(a, axis=None, out=None, *, keepdims=False):
    """The index of the first largest element, in the flattened array or along `axis`."""
    return asanyarray(a).argmax(axis, out, keepdims=keepdims)


def argmin(a, axis=None, out=None, *, keepdims=False):
    """The index of the first smallest element, in the flattened array or along `axis`."""
    return asanyarray(a).argmin(axis, out, keepdims=keepdims)


def _running(ufunc, a, axis, dtype, out):
    a = asanyarray(a)
    if axis is None:
        a, axis = a if a.ndim == 1 else a.ravel(), 0
    else:
        axis = _index(axis)
        if a.ndim == 0:
            a = a.reshape(1)
    if out is not None:
        if not isinstance(out, ndarray):
            raise TypeError("output must be an array")
        if out.size != a.size:
            raise ValueError("provided out is the wrong size for the accumulation.")
    if a.__class__ is not ndarray and dtype is None:
        return ufunc.accumulate(a, axis, out=out)
    return ufunc.accumulate(a, axis, dtype, out)


def cumsum(a, axis=None, dtype=None, out=None):
    """The running sums of the elements along `axis`, or of the flattened array.

    Small integers add up as int64 or uint64.

    >>> np.cumsum([1, 2, 3])
    array([1, 3, 6])
    """
    return _running(_ufuncs["add"], a, axis, dtype, out)


def cumprod(a, axis=None, dtype=None, out=None):
    """The running products of the elements along `axis`, or of the flattened array.

    Small integers multiply as int64 or uint64.
    """
    return _running(_multiply, a, axis, dtype, out)


def _cumulative(ufunc, x, axis, dtype, out, include_initial):
    x = atleast_1d(x)
    if axis is None:
        if x.ndim >= 2:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    if not include_initial:
        return ufunc.accumulate(x, axis, dtype, out)
    (axis,) = _normal_axes(axis, x.ndim, None)
    if out is None:
        running = ufunc.accumulate(x, axis, dtype)
        shape = x.shape[:axis] + (1,) + x.shape[axis + 1 :]
        return concatenate([full_like(running, ufunc.identity, shape=shape), running], axis)
    before = (slice(None),) * axis
    ufunc.accumulate(x, axis, dtype, out[before + (slice(1, None),)])
    out[before + (0,)] = ufunc.identity
    return out


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """The running sums along `axis`, which may be left out for one dimension.

    `include_initial` puts a zero before them.

    >>> np.cumulative_sum([1, 2, 3], include_initial=True)
    array([0, 1, 3, 6])
    """
    return _cumulative(_ufuncs["add"], x, axis, dtype, out, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """The running products along `axis`, which may be left out for one dimension.

    `include_initial` puts a one before them.
    """
    return _cumulative(_multiply, x, axis, dtype, out, include_initial)


def ptp(a, axis=None, out=None, keepdims=False):
    """The largest element less the smallest, over `axis`."""
    a = asanyarray(a)
    return _ufuncs["subtract"](a.max(axis, None, keepdims), a.min(axis, None, keepdims), out=out)


def count_nonzero(a, axis=None, *, keepdims=False):
    """How many elements over `axis` are not zero."""
    a = asanyarray(a)
    return a.astype(bool, copy=False).sum(axis, "int64", None, keepdims)


# ---- rounding and limits ----


def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None, **options):
    """The elements, those below `a_min` or above `a_max` replaced by the bound.

    >>> np.clip([1, 5, 9], 2, 6)
    array([2, 5, 6])
    """
    if min is not None or max is not None:
        if a_min is not None or a_max is not None:
            raise ValueError(
                "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
            )
        a_min, a_max = min, max
    if not isinstance(a, _core.generic):
        a = asanyarray(a)
    if a.dtype.kind in "iu":  # Python integers beyond the dtype bound nothing
        limits = iinfo(a.dtype)
        if type(a_min) is int and a_min <= limits.min:
            a_min = None
        if type(a_max) is int and a_max >= limits.max:
            a_max = None
    if a_min is None and a_max is None:
        return _ufuncs["positive"](a, out=out, **options)
    if a_min is None:
        return _minimum(a, a_max, out=out, **options)
    if a_max is None:
        return _maximum(a, a_min, out=out, **options)
    return _ufuncs["clip"](a, a_min, a_max, out=out, **options)


def round(a, decimals=0, out=None):
    """The elements rounded to `decimals` digits after the point; halves go to the even neighbour.

    >>> np.round([0.5, 1.5, 2.25], 1)
    array([0.5, 1.5, 2.2])
    """
    if not isinstance(a, _core.generic):
        a = asanyarray(a)
    decimals = _index(decimals)
    kind = a.dtype.kind
    if kind in "iu":
        if decimals >= 0:
            if out is not None:
                _core.copyto(out, a, "unsafe")
                return out
            return array(a, copy=True) if a.ndim else a[()]
        scale = 10.0**-decimals
        order = "F" if a.flags.fnc else "C"
        result = _multiply(_rint(_divide(a, scale)), scale, order=order).astype(a.dtype)
        if isinstance(result, ndarray) and result.ndim == 0:
            result = result[()]
        if out is not None:
            _core.copyto(out, result, "unsafe")
            return out
        return result
    if kind == "b" and decimals != 0:
        from weft.exceptions import UFuncTypeError

        name, own = ("multiply", "float64") if decimals > 0 else ("divide", "float64")
        raise UFuncTypeError(
            f"Cannot cast ufunc '{name}' output from dtype('{own}') to dtype('bool') with casting rule 'same_kind'"
        )
    if decimals == 0:
        return _rint(a, out=out)
    if kind == "c" and out is None and a.ndim:
        result = empty_like(a)
        result.real, result.imag = round(a.real, decimals), round(a.imag, decimals)
        return result
    if kind == "c":
        parts = round(a.real, decimals) + round(a.imag, decimals) * a.dtype.type(1j)
        if out is None:
            return parts
        _core.copyto(out, parts, "unsafe")
        return out
    order = "F" if a.flags.fnc else "C"
    if decimals > 0:
        scale = 10.0**decimals
        return _divide(_rint(_multiply(a, scale)), scale, out=out, order=order)
    scale = 10.0**-decimals
    return _multiply(_rint(_divide(a, scale)), scale, out=out, order=order)


around = round

# ---- parts and properties ----


def shape(a):
    """The extent of each axis."""
    return asarray(a).shape


def ndim(a):
    """The number of axes."""
    return asarray(a).ndim


def size(a, axis=None):
    """The number of elements, or the extent of an axis."""
    a = asarray(a)
    if axis is None:
        return a.size
    result = 1
    for position in _normal_axes(axis, a.ndim, "axis") if isinstance(axis, tuple) else [axis]:
        result *= a.shape[position]
    return result


def real(val):
    """The real part; of an array a view."""
    return val.real if isinstance(val, (ndarray, _core.generic)) else asanyarray(val).real


def imag(val):
    """The imaginary part; of an array a view."""
    return val.imag if isinstance(val, (ndarray, _core.generic)) else asarray(val).imag


def angle(z, deg=False):
    """The angle of complex numbers, in radians or degrees."""
    z = asanyarray(z)
    result = _ufuncs["arctan2"](z.imag if z.dtype.kind == "c" else 0, z.real)
    return result * (180 / 3.141592653589793) if deg else result


def iscomplexobj(x):
    """Whether the elements are of a complex type."""
    return (x.dtype if hasattr(x, "dtype") else asarray(x).dtype).kind == "c"


def isrealobj(x):
    """Whether the elements are of no complex type."""
    return not iscomplexobj(x)


def iscomplex(x):
    """Where the imaginary part is not zero."""
    x = asarray(x)
    return x.imag != 0 if x.dtype.kind == "c" else _maybe_scalar(zeros_like(x, bool, order="C"))


def isreal(x):
    """Where the imaginary part is zero."""
    return imag(x) == 0


def isposinf(x, out=None):
    """Where an element is positive infinity."""
    return _ufuncs["logical_and"](_ufuncs["isinf"](x), ~_ufuncs["signbit"](x), out=out)


def isneginf(x, out=None):
    """Where an element is negative infinity."""
    return _ufuncs["logical_and"](_ufuncs["isinf"](x), _ufuncs["signbit"](x), out=out)


def _maybe_scalar(a):
    return a[()] if a.ndim == 0 else a


def isscalar(element):
    """Whether `element` is a number or a text, and no array."""
    import numbers

    return isinstance(element, (_core.generic, str, bytes, numbers.Number))


def isfortran(a):
    """Whether the array is in Fortran order and not in C order."""
    return a.flags.fnc


# ---- comparisons ----


@_quiet
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where |a - b| <= atol + rtol * |b|.

    >>> np.isclose([1, 2], [1, 2.1])
    array([ True, False])
    """
    x, y = asanyarray(a), asanyarray(b)
    if y.dtype.kind in "biu":
        # |smallest integer| is not an integer of that type.
        y = y.astype(_core.result_type(y, 1.0))
    absolute, isfinite = _ufuncs["absolute"], _ufuncs["isfinite"]
    near = (absolute(x - y) <= atol + rtol * absolute(y)) & isfinite(y) | (x == y)
    if equal_nan:
        near = near | (_ufuncs["isnan"](x) & _ufuncs["isnan"](y))
    return near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close; see isclose."""
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have the same shape and elements."""
    try:
        a1, a2 = asarray(a1), asarray(a2)
    except Exception:
        return False
    if a1.shape != a2.shape:
        return False
    equal = a1 == a2
    if equal_nan and a1.dtype.kind in "fc" and a2.dtype.kind in "fc":
        equal = equal | (_ufuncs["isnan"](a1) & _ufuncs["isnan"](a2))
    return bool(equal.all())


def array_equiv(a1, a2):
    """Whether two arrays have the same elements after broadcasting one to the other."""
    try:
        a1, a2 = asarray(a1), asarray(a2)
        broadcast_shapes(a1.shape, a2.shape)
    except Exception:
        return False
    return bool((a1 == a2).all())
