"""NumPy's histograms: of one variable and of several, and how many bins to take."""

from operator import index as _index

from weft import _core
from weft._core import asarray, ndarray
from weft._functions.shapes import atleast_2d


def _bins_of(bins):
    """A rule, a number, or an array of edges."""
    if isinstance(bins, str):
        return bins
    given = asarray(bins)
    if given.ndim != 0:
        return given
    try:
        return _index(bins)
    except (AttributeError, TypeError):
        raise TypeError("`bins` must be an integer, a string, or an array") from None


def _range_of(range):
    if range is None:
        return None
    low, high = (float(bound) for bound in range)
    return low, high


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of the bins that histogram counts in.

    `bins` is their number, their edges, or a rule for the number: 'auto', 'doane', 'fd', 'rice', 'scott', 'sqrt',
    'stone' or 'sturges'.

    >>> np.histogram_bin_edges([1, 2, 2, 3, 5], bins="sturges")
    array([1., 2., 3., 4., 5.])
    """
    if weights is not None:
        return histogram(a, bins, range, weights=weights)[1]
    chosen = _bins_of(bins)
    edges = _core._bin_edges(a, chosen, _range_of(range))
    return chosen if isinstance(chosen, ndarray) else edges


def histogram(a, bins=10, range=None, density=None, weights=None):
    """How many elements are in each bin, and the bins' edges; the last bin has its right edge, too.

    `bins` is a number of equal ones, or their edges. With `weights` their sums, with `density` parts of a whole of 1.

    >>> np.histogram([1, 2, 2, 4], bins=3)
    (array([1, 2, 1]), array([1., 2., 3., 4.]))
    """
    chosen = _bins_of(bins)
    counts, edges = _core._histogram(a, chosen, _range_of(range), weights, bool(density))
    return counts, chosen if isinstance(chosen, ndarray) else edges


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """How many points are in each cell of a grid, float64, and the edges of the grid's bins along each axis.

    `sample` has a row for each point, or is a sequence of an array for each axis.

    >>> np.histogramdd(np.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    if not (isinstance(sample, ndarray) and sample.ndim == 2):
        if isinstance(sample, ndarray) or hasattr(sample, "shape"):
            sample = asarray(sample)
        sample = sample if isinstance(sample, ndarray) and sample.ndim == 2 else atleast_2d(asarray(sample)).T
    ndim = sample.shape[1]
    try:
        if len(bins) != ndim:
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    except TypeError:
        bins = ndim * [bins]
    if range is None:
        range = (None,) * ndim
    elif len(range) != ndim:
        raise ValueError("range argument must have one entry per dimension")
    chosen = []
    for k, own in enumerate(bins):
        given = asarray(own)
        if given.ndim == 0:
            if own < 1:
                raise ValueError(f"`bins[{k}]` must be positive, when an integer")
            try:
                given = _index(own)
            except (AttributeError, TypeError):
                raise TypeError(f"`bins[{k}]` must be an integer, when a scalar") from None
        chosen.append(given)
    table, edges = _core._histogramdd(
        sample, chosen, [_range_of(each) for each in range], weights, bool(density)
    )
    return table, [own if isinstance(own, ndarray) else made for own, made in zip(chosen, edges, strict=True)]


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
