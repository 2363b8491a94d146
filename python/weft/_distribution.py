"""NumPy's functions about how values are distributed: counts, histograms, medians, quantiles, averages, covariances."""

from weft import _core
from weft._core import asarray, concatenate, ndarray, result_type, where, zeros
from weft._functions import _normal_axes, linspace, moveaxis, sum
from weft._functions import max as _max
from weft._functions import min as _min
from weft._statistics import mean

_ufuncs = _core._ufuncs
_isnan, _sqrt, _floor = _ufuncs["isnan"], _ufuncs["sqrt"], _ufuncs["floor"]


# ---- counts ----


def bincount(x, /, weights=None, minlength=0):
    """How often each of 0, 1, ... is in an array of integers, or the sums of their weights.

    Raises ValueError for negative numbers.

    >>> np.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    """
    listed = not isinstance(x, ndarray)
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError(
            "object too deep for desired array" if x.ndim else "object of too small depth for desired array"
        )
    if x.dtype.kind not in "iub":
        if not listed:
            raise TypeError(
                f"Cannot cast array data from {x.dtype!r} to dtype('int64') according to the rule 'safe'"
            )
    minlength = minlength.__index__()
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if x.size == 0:
        return zeros(minlength, "int64")  # whatever the weights are
    if weights is not None:
        weights = asarray(weights)
        if weights.dtype.kind == "c":
            raise TypeError(
                "Cannot cast array data from dtype('complex128') to dtype('float64') according to the rule 'safe'"
            )
        weights = weights.astype("float64", copy=False)
        if weights.shape != x.shape:
            raise ValueError("The weights and list don't have the same length.")
    return _core._bincount(x.astype("int64", copy=False), weights, minlength)


def _bounds(a, range):
    if range is not None:
        low, high = (float(bound) for bound in range)
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        if not (abs(low) < float("inf") and abs(high) < float("inf")):
            raise ValueError(f"supplied range of [{low}, {high}] is not finite")
    elif a.size == 0:
        low, high = 0.0, 1.0
    else:
        low, high = float(_min(a)), float(_max(a))
        if not (abs(low) < float("inf") and abs(high) < float("inf")):
            raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return low, high


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of the bins that histogram counts in."""
    a = asarray(a).ravel()
    if a.dtype.kind == "b":
        a = a.astype("uint8")
    if isinstance(bins, str):
        raise NotImplementedError(
            f"weft chooses no number of bins by {bins!r} yet; say how many there are to be"
        )
    if not hasattr(bins, "__len__") and not isinstance(bins, ndarray):
        try:
            count = bins.__index__()
        except AttributeError:
            raise TypeError("`bins` must be an integer, a string, or an array") from None
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        low, high = _bounds(a, range)
        dtype = result_type(a.dtype, "float64") if a.dtype.kind in "iu" else result_type(low, high, a)
        return linspace(low, high, count + 1, dtype=dtype)
    edges = asarray(bins)
    if edges.ndim != 1:
        raise ValueError("`bins` must be 1d, when an array")
    if bool((edges[:-1] > edges[1:]).any()):
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges


def histogram(a, bins=10, range=None, density=None, weights=None):
    """How many elements are in each bin, and the bins' edges; the last bin has its right edge, too.

    `bins` is a number of equal ones, or their edges. With `weights` their sums, with `density` parts of a whole of 1.

    >>> np.histogram([1, 2, 2, 4], bins=3)
    (array([1, 2, 1]), array([1., 2., 3., 4.]))
    """
    a = asarray(a)
    if weights is not None:
        weights = asarray(weights)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights.ravel()
    a = a.ravel()
    edges = histogram_bin_edges(a, bins, range)
    if a.dtype.kind == "b":
        a = a.astype("uint8")
    count = edges.size - 1
    equal = not hasattr(bins, "__len__") and not isinstance(bins, ndarray)
    if equal:
        # By arithmetic, then put right by the edges themselves, which rounding may have missed by one.
        low, high = _bounds(a, range)
        inside = _ufuncs["logical_and"](a >= low, a <= high)
        place = _floor((a.astype(edges.dtype, copy=False) - low) * (count / (high - low)))
        place = _ufuncs["maximum"](_ufuncs["minimum"](where(inside, place, 0), count - 1), 0).astype("int64")
        place = place - (a < edges[place])
        place = place + _ufuncs["logical_and"](a >= edges[place + 1], place != count - 1)
    else:
        from weft._order import searchsorted

        place = searchsorted(edges, a, "right") - 1
        place = where(a == edges[-1], count - 1, place)
        inside = _ufuncs["logical_and"](place >= 0, place < count)
        place = where(inside, place, 0)
    if weights is None:
        counts = bincount(where(inside, place, count), minlength=count + 1)[:count].copy()
    elif weights.dtype.kind == "c":
        target = where(inside, place, count)
        parts = [bincount(target, part, count + 1)[:count] for part in (weights.real, weights.imag)]
        counts = parts[0] + 1j * parts[1]
    else:
        counts = bincount(where(inside, place, count), weights, count + 1)[:count].copy()
        counts = counts.astype(weights.dtype, copy=False) if weights.dtype.kind in "fiu" else counts
    if density:
        widths = (edges[1:] - edges[:-1]).astype("float64")
        return counts / widths / sum(counts), edges
    return counts, edges


# ---- in the order of values ----


def _over(a, axis):
    """The array with the given axes joined as the last, which axes these are, and its first number of dimensions."""
    a = asarray(a)
    if axis is None:
        return a.ravel(), list(range(a.ndim)), a.ndim
    axes = _normal_axes(axis, a.ndim, "axis")
    rest = [d for d in range(a.ndim) if d not in axes]
    moved = a.transpose((*rest, *axes)) if a.ndim else a
    return moved.reshape(*(a.shape[d] for d in rest), -1), axes, a.ndim


def _finished(result, axes, ndim, keepdims, out, before=0):
    """With the axes that were joined as axes of one, behind the first `before` ones."""
    if keepdims:
        for axis in sorted(axes):
            result = _core.expand_dims(result, axis + before)
    if out is not None:
        _core.copyto(out, result, "unsafe")
        return out
    return result if getattr(result, "ndim", 0) else asarray(result)[()]


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle of the sorted elements, or the mean of the two in the middle; NaN where there is one.

    >>> np.median([3, 1, 2, 10])
    np.float64(2.5)
    """
    from weft._order import sort

    rows, axes, ndim = _over(a, axis)
    count = rows.shape[-1]
    if count == 0:
        return _finished(mean(rows, -1), axes, ndim, keepdims, out)
    ordered = sort(rows, -1)
    half = count // 2
    middle = ordered[..., half : half + 1] if count % 2 else ordered[..., half - 1 : half + 1]
    result = mean(middle, -1)
    if ordered.dtype.kind in "fc":
        last = ordered[..., -1]
        result = where(_isnan(last), last, result).astype(asarray(result).dtype, copy=False)
    return _finished(result, axes, ndim, keepdims, out)


def _virtual(method, count, q):
    """Where the quantiles lie among `count` sorted elements, from 0 on, by Hyndman and Fan, "Sample quantiles in
    statistical packages" (1996), and what NumPy has beside their nine."""
    n = float(count)

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
        place = n * q - 1
        whole = place == _floor(place)
        return where(whole, place + 0.5, _ufuncs["ceil"](place))
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


def quantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """The value below which a part `q` of the elements lies, between neighbours by `method`.

    Method: Hyndman and Fan, "Sample quantiles in statistical packages", 1996.

    >>> np.quantile([1, 2, 3, 4], 0.5)
    np.float64(2.5)
    """
    from weft._order import sort

    if weights is not None:
        raise NotImplementedError("weft has no weighted quantiles yet; meanwhile use numpy.quantile")
    a = asarray(a)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if isinstance(q, (int, float)) and a.dtype.kind == "f":
        q = asarray(q, a.dtype)
    else:
        q = asarray(q)
        q = q.astype("float64") if q.dtype.kind in "iub" else q
    if q.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    if q.size and not bool(_ufuncs["logical_and"](q >= 0, q <= 1).all()):
        raise ValueError("Quantiles must be in the range [0, 1]")
    rows, axes, ndim = _over(a, axis)
    count = rows.shape[-1]
    if count == 0:
        raise IndexError("cannot take a quantile of no elements")
    ordered = moveaxis(sort(rows.astype("int64") if rows.dtype.kind == "b" else rows, -1), -1, 0)
    place = _ufuncs["minimum"](_ufuncs["maximum"](asarray(_virtual(method, count, q)), 0), count - 1)
    below = _floor(place)
    part = place - below
    low = below.astype("int64")
    first = ordered[low]
    discrete = method in ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
    if discrete:
        result = first
    else:
        second = ordered[_ufuncs["minimum"](low + 1, count - 1)]
        part = part.reshape(part.shape + (1,) * (ordered.ndim - 1))
        distance = second - first
        # From the nearer end, so that both ends are met.
        result = where(part < 0.5, first + distance * part, second - distance * (1 - part))
        result = where(first == second, first.astype(result.dtype, copy=False), result)
    if ordered.dtype.kind == "f":
        last = ordered[-1]
        result = where(_isnan(last), last, result).astype(result.dtype, copy=False)
    return _finished(result, axes, ndim, keepdims, out, q.ndim)


def percentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """quantile, in percent.

    >>> np.percentile([1, 2, 3, 4], 50)
    np.float64(2.5)
    """
    a = asarray(a)
    if isinstance(q, (int, float)) and a.dtype.kind == "f":
        q = asarray(q, a.dtype)
    q = _ufuncs["true_divide" if "true_divide" in _ufuncs else "divide"](asarray(q), 100)
    if asarray(q).size and not bool(asarray(_ufuncs["logical_and"](q >= 0, q <= 1)).all()):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return quantile(a, q, axis, out, overwrite_input, method, keepdims, weights=weights)


# ---- averages and covariances ----


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean, or with `weights` the sum of weighted elements over that of the weights.

    Raises ZeroDivisionError where the weights add up to 0.

    >>> np.average([1, 2, 3], weights=[3, 0, 1])
    np.float64(1.5)
    """
    a = asarray(a)
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        scale = asarray(result).dtype.type(a.size / max(asarray(result).size, 1))
        if returned:
            scale = _core.broadcast_to(asarray(scale), asarray(result).shape) + 0
    else:
        weights = asarray(weights)
        dtype = result_type(a.dtype, weights.dtype)
        if a.dtype.kind in "iub":
            dtype = result_type(dtype, "float64")
        if a.shape != weights.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            axes = _normal_axes(axis, a.ndim, "axis")
            if weights.shape != tuple(a.shape[d] for d in axes):
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
            order = sorted(range(len(axes)), key=axes.__getitem__)
            weights = weights.transpose(tuple(order)) if weights.ndim > 1 else weights
            weights = weights.reshape([a.shape[d] if d in axes else 1 for d in range(a.ndim)])
        scale = sum(_core.broadcast_to(weights, a.shape), axis, dtype, keepdims=keepdims)
        if bool(asarray(scale == 0).any()):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = sum(_ufuncs["multiply"](a, weights, dtype=dtype), axis, keepdims=keepdims) / scale
    return (result, scale) if returned else result


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The covariances of variables, which are rows, or with rowvar=False columns.

    >>> np.cov([[1, 2, 3], [3, 2, 1]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = asarray(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    parts = [m] if y is None else [m, asarray(y)]
    if y is not None and parts[1].ndim > 2:
        raise ValueError("y has more than 2 dimensions")
    if dtype is None:
        dtype = result_type(*parts, "float64")
    rows = []
    for k, part in enumerate(parts):
        part = part.astype(dtype)
        part = part.reshape(1, -1) if part.ndim < 2 else part
        rows.append(
            part.T if not rowvar and (m if k == 0 else asarray(y)).ndim != 1 and part.shape[0] != 1 else part
        )
    x = rows[0] if len(rows) == 1 else concatenate(rows, 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        given = asarray(given)
        if (
            name == "fweights"
            and given.dtype.kind == "f"
            and not bool((given == _ufuncs["rint"](given)).all())
        ):
            raise TypeError("fweights must be integer")
        if given.ndim > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if given.shape[0] != x.shape[1]:
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if bool((given < 0).any()):
            raise ValueError(f"{name} cannot be negative")
        weights = given.astype("float64") if weights is None else weights * given
    if weights is None:
        center, total = mean(x, 1), x.shape[1]
        factor = total - ddof
    else:
        center, total = average(x, 1, weights, returned=True)
        total = float(total[0])
        if ddof == 0:
            factor = total
        elif aweights is None:
            factor = total - ddof
        else:
            factor = total - ddof * float(sum(weights * asarray(aweights))) / total
    factor = max(float(factor), 0.0)
    x = x - center[:, None]
    right = x if weights is None else x * weights
    right = right.T if right.dtype.kind != "c" else _ufuncs["conjugate"](right.T)
    result = (x @ right) / factor if factor else (x @ right) * float("nan")
    return result.reshape(()) if result.size == 1 else result


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """The correlations of variables, which are rows, or with rowvar=False columns; between -1 and 1.

    >>> np.corrcoef([[1, 2, 3], [3, 2, 1]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not isinstance(c, ndarray) or c.ndim == 0:
        return c / c
    deviation = _sqrt(c.diagonal().real)
    c = c / deviation[:, None] / deviation[None, :]
    if c.dtype.kind == "c":
        real = _ufuncs["minimum"](_ufuncs["maximum"](c.real, -1), 1)
        imaginary = _ufuncs["minimum"](_ufuncs["maximum"](c.imag, -1), 1)
        return real + 1j * imaginary
    return _ufuncs["minimum"](_ufuncs["maximum"](c, -1), 1)
