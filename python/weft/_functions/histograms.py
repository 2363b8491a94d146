"""NumPy's histograms: of one variable and of several, and how many bins to take."""

import math
import warnings
from operator import index as _index

from weft import _core
from weft._core import asarray, ndarray, result_type, where
from weft._functions.counting import bincount
from weft._functions.creation import linspace
from weft._functions.quantiles import percentile
from weft._functions.reductions import max as _max
from weft._functions.reductions import mean, std, sum
from weft._functions.reductions import min as _min
from weft._functions.shapes import atleast_2d

_ufuncs = _core._ufuncs
_floor = _ufuncs["floor"]


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


# ---- how wide bins are to be ----

# Of the sorted sample's size n and its range: Sturges 1926, Scott 1979, Freedman and Diaconis 1981, Doane 1976, and
# Stone's estimate of the loss (1984).


def _span(x):
    return float(_max(x)) - float(_min(x))


def _sqrt_width(x, bounds):
    return _span(x) / math.sqrt(x.size)


def _sturges_width(x, bounds):
    return _span(x) / (math.log2(x.size) + 1.0)


def _rice_width(x, bounds):
    return _span(x) / (2.0 * x.size ** (1.0 / 3))


def _scott_width(x, bounds):
    return (24.0 * math.pi**0.5 / x.size) ** (1.0 / 3.0) * float(std(x))


def _fd_width(x, bounds):
    high, low = percentile(x, [75, 25]).tolist()
    return 2.0 * (high - low) * x.size ** (-1.0 / 3.0)


def _auto_width(x, bounds):
    # Freedman and Diaconis', but not many times more bins than the square root says, where the quartiles are near.
    return min(max(_fd_width(x, bounds), _sqrt_width(x, bounds) / 2), _sturges_width(x, bounds))


def _doane_width(x, bounds):
    n = x.size
    if n <= 2:
        return 0.0
    deviation = float(std(x))
    if not deviation > 0.0:
        return 0.0
    expected = math.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    skewness = float(mean(((x - mean(x)) / deviation) ** 3))
    return _span(x) / (1.0 + math.log2(n) + math.log2(1.0 + abs(skewness) / expected))


def _stone_width(x, bounds):
    n, span = x.size, _span(x)
    if n <= 1 or span == 0:
        return 0

    def loss(count):
        parts = histogram(x, count, bounds)[0] / n
        return (2 - (n + 1) * float(parts @ parts)) / (span / count)

    most = max(100, int(math.sqrt(n)))
    best = min(range(1, most + 1), key=loss)
    if best == most:
        warnings.warn("The number of bins estimated may be suboptimal.", RuntimeWarning, stacklevel=4)
    return span / best


_WIDTHS = {
    "auto": _auto_width,
    "doane": _doane_width,
    "fd": _fd_width,
    "rice": _rice_width,
    "scott": _scott_width,
    "sqrt": _sqrt_width,
    "stone": _stone_width,
    "sturges": _sturges_width,
}


def _chosen_count(a, rule, range, weights):
    if rule not in _WIDTHS:
        raise ValueError(f"{rule!r} is not a valid estimator for `bins`")
    if weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
    low, high = _bounds(a, range)
    if range is not None:
        a = a[_ufuncs["logical_and"](a >= low, a <= high)]
    if a.size == 0:
        return 1
    width = _WIDTHS[rule](a, (low, high))
    if not width:
        return 1
    if a.dtype.kind in "iu" and width < 1:
        width = 1
    return math.ceil((high - low) / width)


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of the bins that histogram counts in.

    `bins` is their number, their edges, or a rule for the number: 'auto', 'doane', 'fd', 'rice', 'scott', 'sqrt',
    'stone' or 'sturges'.

    >>> np.histogram_bin_edges([1, 2, 2, 3, 5], bins="sturges")
    array([1., 2., 3., 4., 5.])
    """
    a = asarray(a)
    if weights is not None and asarray(weights).shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    a = a.ravel()
    if a.dtype.kind == "b":
        a = a.astype("uint8")
    if isinstance(bins, str):
        count = _chosen_count(a, bins, range, weights)
    elif asarray(bins).ndim == 0:
        try:
            count = _index(bins)
        except (AttributeError, TypeError):
            raise TypeError("`bins` must be an integer, a string, or an array") from None
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
    else:
        edges = asarray(bins)
        if edges.ndim != 1:
            raise ValueError("`bins` must be 1d, when an array")
        if bool((edges[:-1] > edges[1:]).any()):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    low, high = _bounds(a, range)
    dtype = result_type(a.dtype, "float64") if a.dtype.kind in "iu" else result_type(low, high, a)
    if range is None and a.dtype.kind == "f" and a.size:
        low, high = a.dtype.type(low), a.dtype.type(high)  # the steps are of the elements' type, too
    edges = linspace(low, high, count + 1, dtype=dtype, device=a.device)
    if bool((edges[:-1] >= edges[1:]).any()):
        raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
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
    edges = histogram_bin_edges(a, bins, range, weights)
    if a.dtype.kind == "b":
        a = a.astype("uint8")
    count = edges.size - 1
    if isinstance(bins, str) or asarray(bins).ndim == 0:
        # By arithmetic, then put right by the edges themselves, which rounding may have missed by one.
        low, high = _bounds(a, range)
        inside = _ufuncs["logical_and"](a >= low, a <= high)
        place = _floor((a.astype(edges.dtype, copy=False) - low) * (count / (high - low)))
        place = _ufuncs["maximum"](_ufuncs["minimum"](where(inside, place, 0), count - 1), 0).astype("int64")
        place = place - (a < edges[place])
        place = place + _ufuncs["logical_and"](a >= edges[place + 1], place != count - 1)
    else:
        from weft._functions.ordering import searchsorted

        place = searchsorted(edges, a, "right")
        if weights is None:
            counts = bincount(place, minlength=count + 2)[1 : count + 1].copy()
            counts[-1:] += sum(a == edges[-1])
            return _as_density(counts, edges) if density else (counts, edges)
        place = where(a == edges[-1], count, place) - 1
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
    return _as_density(counts, edges) if density else (counts, edges)


def _as_density(counts, edges):
    widths = (edges[1:] - edges[:-1]).astype("float64")
    return counts / widths / sum(counts), edges


# ---- of several variables ----


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """How many points are in each cell of a grid, float64, and the edges of the grid's bins along each axis.

    `sample` has a row for each point, or is a sequence of an array for each axis.

    >>> np.histogramdd(np.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    from weft._functions.grids import ravel_multi_index
    from weft._functions.ordering import searchsorted

    if not (isinstance(sample, ndarray) and sample.ndim == 2):
        if isinstance(sample, ndarray) or hasattr(sample, "shape"):
            sample = asarray(sample)
        sample = sample if isinstance(sample, ndarray) and sample.ndim == 2 else atleast_2d(asarray(sample)).T
    ndim = sample.shape[1]
    if weights is not None:
        weights = asarray(weights)
    try:
        if len(bins) != ndim:
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    except TypeError:
        bins = ndim * [bins]
    if range is None:
        range = (None,) * ndim
    elif len(range) != ndim:
        raise ValueError("range argument must have one entry per dimension")
    edges = []
    for k, own in enumerate(bins):
        given = asarray(own)
        if given.ndim == 0:
            if own < 1:
                raise ValueError(f"`bins[{k}]` must be positive, when an integer")
            low, high = _bounds(sample[:, k], range[k])
            try:
                number = _index(own)
            except (AttributeError, TypeError):
                raise TypeError(f"`bins[{k}]` must be an integer, when a scalar") from None
            edges.append(linspace(low, high, number + 1))
        elif given.ndim == 1:
            if bool((given[:-1] > given[1:]).any()):
                raise ValueError(f"`bins[{k}]` must be monotonically increasing, when an array")
            edges.append(given)
        else:
            raise ValueError(f"`bins[{k}]` must be a scalar or 1d array")
    # The first and the last place along each axis are for what is outside.
    extents = tuple(own.size + 1 for own in edges)
    places = []
    for k, own in enumerate(edges):
        column = sample[:, k]
        places.append(searchsorted(own, column, "right") - (column == own[-1]))
    cells = ravel_multi_index(tuple(places), extents)
    table = bincount(cells, weights, math.prod(extents)).reshape(extents).astype("float64", casting="safe")
    table = table[(slice(1, -1),) * ndim]
    if density:
        total = sum(table)
        for k, own in enumerate(edges):
            widths = own[1:] - own[:-1]
            table = table / widths.reshape([-1 if d == k else 1 for d in _core.arange(ndim).tolist()])
        table = table / total
    return table, edges


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """How many points (x, y) are in each cell of a grid, and the edges of its bins along both axes.

    >>> np.histogram2d([0.0, 1.0], [0.0, 1.0], bins=2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    try:
        number = len(bins)
    except TypeError:
        number = 1
    if number not in (1, 2):
        bins = [asarray(bins)] * 2
    table, edges = histogramdd([x, y], bins, range, density, weights)
    return table, edges[0], edges[1]
