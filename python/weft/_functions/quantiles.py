"""NumPy's medians and quantiles, with NaN and without."""

import math
import warnings

from weft import _core
from weft._array.axes import moveaxis, normalize_axes
from weft._core import asarray, where
from weft._functions.reductions import mean

_ufuncs = _core._ufuncs
_isnan, _floor = _ufuncs["isnan"], _ufuncs["floor"]
_DISCRETE = frozenset("lower higher nearest inverted_cdf closest_observation".split())


def _over(a, axis):
    """The array with the given axes joined as the last, which axes these are, and its first number of dimensions."""
    a = asarray(a)
    if axis is None:
        return a.ravel(), list(range(a.ndim)), a.ndim
    axes = normalize_axes(axis, a.ndim, "axis")
    rest = [d for d in range(a.ndim) if d not in axes]
    moved = a.transpose((*rest, *axes)) if a.ndim else a
    joined = math.prod(a.shape[d] for d in axes)
    return moved.reshape(*(a.shape[d] for d in rest), joined), axes, a.ndim


def _finished(result, axes, ndim, keepdims, out, before=0):
    """With the axes that were joined as axes of one, behind the first `before` ones."""
    if keepdims:
        result = asarray(result)
        for axis in sorted(axes):
            result = _core.expand_dims(result, axis + before)
        if out is None:
            return result
    if out is not None:
        _core.copyto(out, result, "unsafe")
        return out
    return result if getattr(result, "ndim", 0) else asarray(result)[()]


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle of the sorted elements, or the mean of the two in the middle; NaN where there is one.

    >>> np.median([3, 1, 2, 10])
    np.float64(2.5)
    """
    from weft._functions.ordering import partition

    rows, axes, ndim = _over(a, axis)
    count = rows.shape[-1]
    if count == 0:
        return _finished(mean(rows, -1), axes, ndim, keepdims, out)
    half = count // 2
    ordered = partition(rows, [max(half - 1, 0), half, count - 1], -1)
    middle = ordered[..., half : half + 1] if count % 2 else ordered[..., half - 1 : half + 1]
    result = mean(middle, -1)
    if ordered.dtype.kind in "fc":
        last = ordered[..., -1]
        result = where(_isnan(last), last, result).astype(asarray(result).dtype, copy=False)
    return _finished(result, axes, ndim, keepdims, out)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The median of the elements that are not NaN; NaN with a warning where there is none.

    >>> np.nanmedian([1.0, np.nan, 4.0])
    np.float64(2.5)
    """
    from weft._functions.ordering import sort

    a = asarray(a)
    if a.dtype.kind not in "fc" or a.size == 0:
        return median(a, axis, out, keepdims=keepdims)
    rows, axes, ndim = _over(a, axis)
    count = asarray(rows.shape[-1] - asarray(_isnan(rows)).sum(-1))
    ordered = sort(rows, -1)
    high = _ufuncs["minimum"](count // 2, rows.shape[-1] - 1)
    low = _ufuncs["maximum"]((count - 1) // 2, 0)

    def at(place):
        return _core._take_along_axis(ordered, asarray(place)[..., None], ordered.ndim - 1)[..., 0]

    first, second = at(low), at(high)
    result = where(low == high, first, (first + second) / asarray(2, rows.dtype)).astype(
        rows.dtype, copy=False
    )
    nothing = count == 0
    if bool(nothing.any()):
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
        result = where(nothing, asarray(float("nan"), rows.dtype), result)
    return _finished(result, axes, ndim, keepdims, out)


def _virtual(method, count, q):
    """Where the quantiles lie among `count` sorted elements, from 0 on, by Hyndman and Fan, "Sample quantiles in
    statistical packages" (1996), and what NumPy has beside their nine."""
    n = count

    def by(alpha, beta):
        return n * q + (alpha + q * (1 - alpha - beta)) - 1

    if method == "linear":
        return (n - 1) * q
    if method in ("lower", "higher", "nearest", "midpoint"):
        place = (n - 1) * q
        if method == "lower":
            return _floor(place)
        if method == "higher":
            return _ufuncs["ceil"](place)
        if method == "midpoint":
            return 0.5 * (_floor(place) + _ufuncs["ceil"](place))
        return _ufuncs["rint"](place)
    if method == "inverted_cdf":
        return _ufuncs["ceil"](n * q) - 1
    if method == "averaged_inverted_cdf":
        return n * q - 1
    if method == "closest_observation":
        place = n * q - 1.5
        even = _floor(place) % 2 == 1
        stay = _ufuncs["logical_and"](place == _floor(place), even)
        return where(stay, _floor(place), _floor(place) + 1)
    alphas = {
        "interpolated_inverted_cdf": (0, 1),
        "hazen": (0.5, 0.5),
        "weibull": (0, 0),
        "median_unbiased": (1 / 3, 1 / 3),
        "normal_unbiased": (3 / 8, 3 / 8),
    }
    if method not in alphas:
        raise ValueError(
            f"{method!r} is not a valid method. Use one of: linear, lower, higher, nearest, midpoint, inverted_cdf, "
            f"averaged_inverted_cdf, closest_observation, {', '.join(alphas)}"
        )
    return by(*alphas[method])


def _checked(q):
    """Python's numbers leave the array's dtype as it is, which comes with them."""
    weak = type(q) in (int, float)
    q = asarray(q)
    if q.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    return q, weak


def _check_range(q, words):
    if q.size and not bool(asarray(_ufuncs["logical_and"](q >= 0, q <= 1)).all()):
        raise ValueError(words)
    if q.size == 0 and q.ndim != 1:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")


def _between(ordered, q, weak, method, count):
    """The quantiles of sorted rows, which lie along the first axis, of which the first `count` elements count."""
    several = isinstance(count, _core.ndarray)  # a number for each row
    if several:
        last = _ufuncs["maximum"](count - 1, 0)
        q = q.reshape(q.shape + (1,) * (ordered.ndim - 1))
    else:
        last = count - 1
    virtual = asarray(_virtual(method, count, q))

    def at(place):
        place = place.astype("int64")
        if not several:
            return ordered[place]
        rest = ordered.shape[1:]
        named = place.reshape((math.prod(place.shape[: place.ndim - len(rest)]), *rest))
        return _core._take_along_axis(ordered, named, 0).reshape(place.shape)

    def within(place):
        return _ufuncs["maximum"](_ufuncs["minimum"](place, last), 0)

    if method in _DISCRETE or (method == "linear" and virtual.dtype.kind in "iub"):
        return at(asarray(within(virtual)))
    below = _floor(virtual)
    part = virtual - below
    if method == "averaged_inverted_cdf":
        part = where(part == 0, asarray(0.5, part.dtype), asarray(1, part.dtype))
    elif method == "midpoint":
        part = where(part == 0.5, asarray(0.5, part.dtype), asarray(0, part.dtype))
    inside = _ufuncs["logical_and"](virtual >= 0, virtual < last)
    part = asarray(where(inside, part, asarray(0, part.dtype)))
    first = at(asarray(within(below)))
    second = at(asarray(where(inside, within(below + 1), within(below))))
    if weak and not several:
        part = float(part)
    elif not several:
        part = part.reshape(part.shape + (1,) * (ordered.ndim - 1))
    elif weak:
        part = part.astype(ordered.dtype)
    distance = second - first
    # From the nearer end, so that both ends are met.
    return where(asarray(part) < 0.5, first + distance * part, second - distance * (1 - part))


def _weighted(rows, weights, q):
    """By the running sums of the weights: the first element at which they reach a part `q` of all."""
    order = rows.argsort(-1, kind="stable")
    ordered = _core._take_along_axis(rows, order, rows.ndim - 1)
    weights = _core._take_along_axis(weights, order, rows.ndim - 1)
    running = weights.cumsum(-1, "float64")
    parts = running / running[..., -1:]
    if bool(_isnan(parts[..., -1]).any()):
        raise ValueError("Weights included NaN, inf or were all zero.")
    if q.dtype.kind == "f":
        parts = parts.astype(q.dtype)
    if bool((parts[..., 0] == 0).any()):
        parts = where(parts == 0, asarray(-1, parts.dtype), parts)
    wanted = q.reshape(q.shape + (1,) * rows.ndim)
    place = asarray((parts < wanted).sum(-1))
    place = _ufuncs["minimum"](place, rows.shape[-1] - 1)
    first = moveaxis(ordered, -1, 0)
    named = asarray(place).reshape((math.prod(q.shape), *rows.shape[:-1]))
    return _core._take_along_axis(first, named, 0).reshape(asarray(place).shape)


def _fitting_weights(weights, a, axes, axis):
    weights = asarray(weights)
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if weights.shape != tuple(a.shape[d] for d in axes):
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        order = sorted(range(len(axes)), key=axes.__getitem__)
        weights = weights.transpose(tuple(order)) if weights.ndim > 1 else weights
        weights = weights.reshape([a.shape[d] if d in axes else 1 for d in range(a.ndim)])
        weights = _core.broadcast_to(weights, a.shape)
    if bool((weights < 0).any()):
        raise ValueError("Weights must be non-negative.")
    return weights


def _quantiles(a, q, *options):
    if q.ndim:
        q = q.to_device(a.device)
    with a.device:
        return _quantiles_there(a, q, *options)


def _with_places(rows, q, method, any_place):
    """Rows with what quantiles need at its place; sorted, where that may be many places or any."""
    from weft._functions.ordering import partition, sort

    if any_place or q.size > 4:
        return sort(rows, -1)
    last = rows.shape[-1] - 1
    below = asarray(_floor(asarray(_virtual(method, rows.shape[-1], q)))).ravel().tolist()
    places = {min(max(int(place) + step, 0), last) for place in below for step in (0, 1)}
    return partition(rows, sorted(places | {last}), -1)


def _quantiles_there(a, q, weak, axis, out, method, keepdims, weights, skip_nan):
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
        axes = list(range(a.ndim)) if axis is None else normalize_axes(axis, a.ndim, "axis")
        weights = _over(_fitting_weights(weights, a, axes, axis), axis)[0]
    rows, axes, ndim = _over(a, axis)
    length = rows.shape[-1]
    floating = rows.dtype.kind == "f"
    _virtual(method, 1, asarray(0.5))  # that there is the method
    if length == 0 and rows.size == 0:
        raise IndexError("cannot take a quantile of no elements")
    missing = None
    if weights is not None:
        if skip_nan and floating:
            missing = asarray(_isnan(rows))
            left_out = _ufuncs["logical_and"](
                missing, ~missing.all(-1, keepdims=True)
            )  # rows of nan alone give nan
            weights = where(left_out, asarray(0, weights.dtype), weights)
        result = _weighted(rows, weights, q)
        ordered = None
        bad = asarray(_isnan(rows)).any(-1) if floating and not skip_nan else None
    else:
        ordered = moveaxis(_with_places(rows, q, method, skip_nan and floating), -1, 0)
        count = length
        if skip_nan and floating:
            missing = asarray(_isnan(rows))
            count = asarray(length - missing.sum(-1))
        result = _between(ordered, q, weak, method, count)
        bad = _isnan(ordered[-1]) if floating and not skip_nan else None
    if skip_nan and floating:
        bad = asarray(_isnan(rows)).all(-1)
        if bool(asarray(bad).any()):
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=4)
    if bad is not None:
        own = asarray(result).dtype
        if asarray(result).ndim == 0 and bool(bad):
            own = rows.dtype  # a single nan is an element
        result = where(bad, asarray(float("nan"), own), result).astype(own, copy=False)
    result = _finished(asarray(result, order="C"), axes, ndim, keepdims, out, q.ndim)
    if weights is None or (bad is not None and asarray(bad).ndim == 0 and bool(bad)):
        return result
    return asarray(result)  # as NumPy, an array also where it has no dimensions


def quantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """The value below which a part `q` of the elements lies, between neighbours by `method`.

    Weights, which shall not be negative, count elements several times; they go with the method 'inverted_cdf'.

    >>> np.quantile([1, 2, 3, 4], 0.5)
    np.float64(2.5)
    """
    a = asarray(a)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    q, weak = _checked(q)
    _check_range(q, "Quantiles must be in the range [0, 1]")
    return _quantiles(a, q, weak, axis, out, method, keepdims, weights, False)


def _parts_of(q, a):
    whole = a.dtype.type(100) if a.dtype.kind == "f" else 100
    q, weak = _checked(q)
    q = asarray(_ufuncs["divide"](q, whole))
    _check_range(q, "Percentiles must be in the range [0, 100]")
    return q, weak


def percentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """quantile, in percent.

    >>> np.percentile([1, 2, 3, 4], 50)
    np.float64(2.5)
    """
    a = asarray(a)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    q, weak = _parts_of(q, a)
    return _quantiles(a, q, weak, axis, out, method, keepdims, weights, False)


def _of_nothing(a, axis, out, keepdims):
    from weft._functions.nan import nanmean

    return nanmean(a, axis, out=out, keepdims=keepdims)


def nanquantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """The quantiles of the elements that are not NaN; NaN with a warning where there is none.

    >>> np.nanquantile([1.0, np.nan, 4.0], 0.5)
    np.float64(2.5)
    """
    a = asarray(a)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    q, weak = _checked(q)
    _check_range(q, "Quantiles must be in the range [0, 1]")
    if a.size == 0:
        return _of_nothing(a, axis, out, keepdims)
    return _quantiles(a, q, weak, axis, out, method, keepdims, weights, True)


def nanpercentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """nanquantile, in percent.

    >>> np.nanpercentile([1.0, np.nan, 4.0], 50)
    np.float64(2.5)
    """
    a = asarray(a)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    q, weak = _parts_of(q, a)
    if a.size == 0:
        return _of_nothing(a, axis, out, keepdims)
    return _quantiles(a, q, weak, axis, out, method, keepdims, weights, True)
