"""NumPy's medians and quantiles, with NaN and without."""

from weft import _core
from weft._core import asarray


def _axes(axis):
    return axis if axis is None or hasattr(axis, "__index__") else tuple(axis)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle of the sorted elements, or the mean of the two in the middle; NaN where there is one.

    >>> np.median([3, 1, 2, 10])
    np.float64(2.5)
    """
    return _core._median(a, _axes(axis), out, bool(keepdims), False)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The median of the elements that are not NaN; NaN with a warning where there is none.

    >>> np.nanmedian([1.0, np.nan, 4.0])
    np.float64(2.5)
    """
    return _core._median(a, _axes(axis), out, bool(keepdims), True)


def _quantiles(a, q, axis, out, method, keepdims, weights, percent, skip_nan):
    a = asarray(a)
    if skip_nan and a.size == 0 and a.dtype.kind != "c":
        from weft._functions.nan import nanmean

        return nanmean(a, axis, out=out, keepdims=keepdims)
    return _core._quantile(a, q, _axes(axis), out, method, bool(keepdims), weights, percent, skip_nan)


def quantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """The value below which a part `q` of the elements lies, between neighbours by `method`.

    Weights, which shall not be negative, count elements several times; they go with the method 'inverted_cdf'.

    >>> np.quantile([1, 2, 3, 4], 0.5)
    np.float64(2.5)
    """
    return _quantiles(a, q, axis, out, method, keepdims, weights, False, False)


def percentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """quantile, in percent.

    >>> np.percentile([1, 2, 3, 4], 50)
    np.float64(2.5)
    """
    return _quantiles(a, q, axis, out, method, keepdims, weights, True, False)


def nanquantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """The quantiles of the elements that are not NaN; NaN with a warning where there is none.

    >>> np.nanquantile([1.0, np.nan, 4.0], 0.5)
    np.float64(2.5)
    """
    return _quantiles(a, q, axis, out, method, keepdims, weights, False, True)


def nanpercentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """nanquantile, in percent.

    >>> np.nanpercentile([1.0, np.nan, 4.0], 50)
    np.float64(2.5)
    """
    return _quantiles(a, q, axis, out, method, keepdims, weights, True, True)
