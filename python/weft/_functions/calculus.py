"""NumPy's functions about neighbouring values: differences, slopes, integrals, interpolation, convolution, products."""

from weft import _core
from weft._array.axes import moveaxis, normalize_axes
from weft._core import array, asarray, concatenate, result_type, where
from weft._functions.creation import linspace
from weft._functions.reductions import sum

_ufuncs = _core._ufuncs
_power, _multiply = _ufuncs["power"], _ufuncs["multiply"]
_MISSING = object()


def _axis_key(ndim, axis, part):
    if axis == ndim - 1 and type(part) is slice:
        return (Ellipsis, part)
    return tuple(part if d == axis else slice(None) for d in range(ndim))


def diff(a, n=1, axis=-1, prepend=_MISSING, append=_MISSING):
    """The differences of neighbours along an axis, `n` times; of bools whether they differ.

    >>> np.diff([1, 4, 9, 16])
    array([3, 5, 7])
    """
    if n == 0:
        return a
    if n < 0:
        raise ValueError("order must be non-negative but got " + repr(n))
    a = asarray(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axes(axis, a.ndim, None)[0]
    if prepend is not _MISSING or append is not _MISSING:
        parts = [a]
        for more, place in ((prepend, 0), (append, 2)):
            if more is _MISSING:
                continue
            more = asarray(more)
            if more.ndim == 0:
                more = _core.broadcast_to(more, tuple(1 if d == axis else a.shape[d] for d in range(a.ndim)))
            parts.insert(place, more)
        a = concatenate(parts, axis)
    before, behind = _axis_key(a.ndim, axis, slice(None, -1)), _axis_key(a.ndim, axis, slice(1, None))
    for turn in range(n):
        if turn and a.shape[axis] == 0:
            break
        later, earlier = a[behind], a[before]
        a = later != earlier if a.dtype.kind == "b" else later - earlier
    return a


def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of neighbours of the flattened array, between what else is to be there."""
    ary = asarray(ary).ravel()
    parts = [ary[1:] - ary[:-1]]
    for more, before in ((to_begin, True), (to_end, False)):
        if more is None:
            continue
        more = asarray(more)
        if not _core.can_cast(more.dtype, ary.dtype, "same_kind"):
            name = "to_begin" if before else "to_end"
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
        more = more.ravel().astype(ary.dtype, copy=False)
        parts = [more, *parts] if before else [*parts, more]
    return concatenate(parts)


def gradient(f, *varargs, axis=None, edge_order=1):
    """Slopes by differences of both neighbours, at the ends by one-sided ones: an array for each axis.

    `varargs` are distances, or coordinates, one for all axes or one for each. Errors are of second order inside.

    >>> np.gradient([1, 2, 4, 7])
    array([1. , 1.5, 2.5, 3. ])
    """
    f = asarray(f)
    axes = list(range(f.ndim)) if axis is None else normalize_axes(axis, f.ndim, "axis")
    if len(varargs) == 0:
        steps = [1.0] * len(axes)
    elif len(varargs) == 1 and asarray(varargs[0]).ndim == 0:
        steps = list(varargs) * len(axes)
    elif len(varargs) == len(axes):
        steps = list(varargs)
        for k, step in enumerate(steps):
            coordinates = asarray(step)
            if coordinates.ndim == 0:
                continue
            if coordinates.ndim != 1:
                raise ValueError("distances must be either scalars or 1d")
            if coordinates.size != f.shape[axes[k]]:
                raise ValueError("when 1d, distances must match the length of the corresponding dimension")
            if coordinates.dtype.kind in "iu":
                coordinates = coordinates.astype("float64")
            distances = diff(coordinates)
            if distances.size and bool((distances == distances[0]).all()):
                distances = distances[0]
            steps[k] = distances
    else:
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    dtype = f.dtype if f.dtype.kind in "fc" else "float64"
    results = []
    for own, step in zip(axes, steps):
        if f.shape[own] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
                "required."
            )
        results.append(_slope(f.astype(dtype, copy=False), own, asarray(step), edge_order))
    return results[0] if len(results) == 1 else tuple(results)


def _slope(f, axis, step, edge_order):
    def at(part):
        return f[_axis_key(f.ndim, axis, part)]

    result = _core.empty_like(f)

    def write(part, value):
        result[_axis_key(f.ndim, axis, part)] = value

    even = step.ndim == 0
    if even:
        write(slice(1, -1), (at(slice(2, None)) - at(slice(None, -2))) / (2.0 * step))
    else:
        along = tuple(-1 if d == axis else 1 for d in range(f.ndim))
        before, after = step[:-1].reshape(along), step[1:].reshape(along)
        a = -after / (before * (before + after))
        b = (after - before) / (before * after)
        c = before / (after * (before + after))
        write(slice(1, -1), a * at(slice(None, -2)) + b * at(slice(1, -1)) + c * at(slice(2, None)))
    first, last = (step, step) if even else (step[0], step[-1])
    if edge_order == 1:
        write(0, (at(1) - at(0)) / first)
        write(-1, (at(-1) - at(-2)) / last)
        return result
    if even:
        write(0, (-1.5 * at(0) + 2.0 * at(1) - 0.5 * at(2)) / step)
        write(-1, (0.5 * at(-3) - 2.0 * at(-2) + 1.5 * at(-1)) / step)
        return result
    p, q = step[0], step[1]
    write(0, -(2 * p + q) / (p * (p + q)) * at(0) + (p + q) / (p * q) * at(1) - p / (q * (p + q)) * at(2))
    p, q = step[-2], step[-1]
    write(-1, q / (p * (p + q)) * at(-3) - (q + p) / (p * q) * at(-2) + (2 * q + p) / (q * (p + q)) * at(-1))
    return result


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral of the lines between neighbours, `dx` apart or at `x`.

    >>> np.trapezoid([1, 2, 3])
    np.float64(4.0)
    """
    y = asarray(y)
    if x is None:
        distance = dx
    else:
        x = asarray(x)
        if x.ndim == 1:
            shape = [1] * y.ndim
            shape[axis] = -1
            distance = diff(x).reshape(shape)
        else:
            distance = diff(x, axis=axis)
    own = normalize_axes(axis, y.ndim, None)[0]
    both = y[_axis_key(y.ndim, own, slice(1, None))] + y[_axis_key(y.ndim, own, slice(None, -1))]
    return sum(distance * both / 2.0, own)


def interp(x, xp, fp, left=None, right=None, period=None):
    """The values at `x` of the lines between the points (xp, fp), where `xp` rises; beyond the ends those at the ends.

    >>> np.interp(2.5, [1, 2, 3], [3, 2, 0])
    np.float64(1.0)
    """
    x, xp, fp = asarray(x), asarray(xp), asarray(fp)
    dtype = "complex128" if fp.dtype.kind == "c" else "float64"
    left, right = (None if end is None else asarray(end, dtype) for end in (left, right))
    return _core._interp(x, xp, fp, left, right, period)


_MODES = {"valid": 0, "same": 1, "full": 2, "v": 0, "s": 1, "f": 2}


def _slid(a, v, mode):
    """sum(a[i + k] * v[k]) at each place where both overlap as `mode` says; `a` is the longer."""
    mode = _MODES.get(mode.lower() if isinstance(mode, str) else mode, mode)
    if mode not in (0, 1, 2):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    n, m = a.size, v.size
    dtype = result_type(a.dtype, v.dtype)
    a, v = a.astype(dtype, copy=False), v.astype(dtype, copy=False)
    before = {0: 0, 1: m // 2, 2: m - 1}[mode]
    count = {0: n - m + 1, 1: n, 2: n + m - 1}[mode]
    after = count + m - 1 - before - n
    padded = concatenate([_core.zeros(before, dtype), a, _core.zeros(after, dtype)]) if before or after else a
    # Many sums are added up side by side, element after element; few one after another.
    side_by_side = count >= 64
    shape = (m, count) if side_by_side else (count, m)
    products = _core._strided_view(padded, shape, padded.strides * 2) * (
        v.reshape(m, 1) if side_by_side else v
    )
    axis = 0 if side_by_side else -1
    return products.any(axis) if dtype.kind == "b" else sum(products, axis, dtype)


def correlate(a, v, mode="valid"):
    """The sums of products of `a`, moved along, with conj(v).

    >>> np.correlate([1, 2, 3], [0, 1, 0.5])
    array([3.5])
    """
    a, v = asarray(a), asarray(v)
    if a.ndim == 0 or v.ndim == 0:
        raise ValueError("object of too small depth for desired array")
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    if a.size == 0 or v.size == 0:
        raise ValueError(
            "first array argument cannot be empty" if a.size == 0 else "second array argument cannot be empty"
        )
    v = _ufuncs["conjugate"](v) if v.dtype.kind == "c" else v
    if a.size >= v.size:
        return _slid(a, v, mode)
    return _slid(v, a, mode)[::-1].copy()


def convolve(a, v, mode="full"):
    """The sums of products of `a` with `v` turned round, as polynomials are multiplied.

    >>> np.convolve([1, 2, 3], [0, 1, 0.5])
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    a, v = array(a, copy=None, ndmin=1), array(v, copy=None, ndmin=1)
    if v.size > a.size:
        a, v = v, a
    if a.size == 0:
        raise ValueError("a cannot be empty")
    if v.size == 0:
        raise ValueError("v cannot be empty")
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    return _slid(a, v[::-1], mode)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of three components, which lie along the last axis unless another is named.

    >>> np.cross([1, 2, 3], [4, 5, 6])
    array([-3,  6, -3])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = asarray(a), asarray(b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    extents = (a.shape[-1], b.shape[-1])
    if not all(extent in (2, 3) for extent in extents):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{extents[0]} and {extents[1]} dimensional instead."
        )
    if extents == (2, 2):
        return asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
    a, b = (
        x if x.shape[-1] == 3 else concatenate([x, _core.zeros((*x.shape[:-1], 1), x.dtype)], -1)
        for x in (a, b)
    )
    parts = [
        a[..., (k + 1) % 3] * b[..., (k + 2) % 3] - a[..., (k + 2) % 3] * b[..., (k + 1) % 3]
        for k in range(3)
    ]
    return moveaxis(_core.stack([asarray(part) for part in parts], -1), -1, axisc)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of `base`, whose exponents are evenly spaced.

    >>> np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    if not isinstance(base, (int, float)):
        base = _core.expand_dims(asarray(base), axis)
    result = _power(base, exponents)
    return result if dtype is None else result.astype(dtype, copy=False)


def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    """Angles without jumps: where neighbours are more than half a period apart, whole periods are added."""
    p = asarray(p)
    axis = normalize_axes(axis, p.ndim, None)[0]
    steps = diff(p, axis=axis)
    discont = period / 2 if discont is None else discont
    dtype = result_type(steps, period if isinstance(period, (int, float)) else asarray(period))
    if dtype.kind in "iu":
        high, rest = divmod(period, 2)
        boundary = rest == 0
    else:
        high, boundary = period / 2, True
    low = -high
    wrapped = (steps - low) % period + low
    if boundary:
        at_low = _ufuncs["logical_and"](wrapped == low, steps > 0)
        wrapped = where(at_low, asarray(high, wrapped.dtype), wrapped)
    correct = where(_ufuncs["absolute"](steps) < discont, asarray(0, dtype), wrapped - steps)
    result = array(p, dtype=dtype, copy=True)
    from weft._functions.reductions import cumsum

    key = _axis_key(p.ndim, axis, slice(1, None))
    result[key] = p[key] + cumsum(correct, axis)
    return result


def sinc(x):
    """sin(pi x) / (pi x), and 1 at 0.

    >>> np.sinc([0, 0.5])
    array([1.        , 0.63661977])
    """
    x = asarray(x)
    x = x.astype("float64") if x.dtype.kind in "iub" else x
    y = 3.141592653589793 * x
    result = where(x == 0, asarray(1, y.dtype), _ufuncs["sin"](y) / where(x == 0, asarray(1, y.dtype), y))
    return result if result.ndim else result[()]
