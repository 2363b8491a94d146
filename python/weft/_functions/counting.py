"""NumPy's functions about how values are distributed: counts, averages, covariances."""

from operator import index as _index

from weft import _core
from weft._array.axes import normalize_axes
from weft._core import asarray, ndarray, zeros
from weft._engine.numpy_version import numpy_is_at_least

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
        if not listed or (x.size and numpy_is_at_least(2, 5)):
            raise TypeError(
                f"Cannot cast array data from {x.dtype!r} to dtype('int64') according to the rule 'safe'"
            )
        if x.size:
            import warnings

            warnings.warn(
                "Non-integer input passed to bincount. In a future version of NumPy, this will be an error. "
                "(Deprecated NumPy 2.1)",
                DeprecationWarning,
                stacklevel=2,
            )
    minlength = _index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if x.size == 0:
        return zeros(minlength, "int64", device=x.device)  # whatever the weights are
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


# ---- averages and covariances ----


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean, or with `weights` the sum of weighted elements over that of the weights.

    Raises ZeroDivisionError where the weights add up to 0.

    >>> np.average([1, 2, 3], weights=[3, 0, 1])
    np.float64(1.5)
    """
    if axis is not None:
        axis = tuple(normalize_axes(axis, asarray(a).ndim, None if weights is None else "axis"))
    return _core._average(a, axis, weights, bool(returned), bool(keepdims))


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The covariances of variables, which are rows, or with rowvar=False columns.

    >>> np.cov([[1, 2, 3], [3, 2, 1]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    return _core._cov(m, y, bool(rowvar), bool(bias), ddof, fweights, aweights, dtype)


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """The correlations of variables, which are rows, or with rowvar=False columns; between -1 and 1.

    >>> np.corrcoef([[1, 2, 3], [3, 2, 1]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return _core._corrcoef(x, y, bool(rowvar), dtype)
