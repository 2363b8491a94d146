"""NumPy's functions that leave NaN out."""

from weft import _core
from weft._core import asarray
from weft._functions.reductions import all as _all
from weft._functions.reductions import argmax, argmin, cumprod, cumsum, prod, sum

_ufuncs = _core._ufuncs
_isnan, _sqrt = _ufuncs["isnan"], _ufuncs["sqrt"]
_replaced = _core._nan_replaced  # the array with a value for NaN


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=..., where=True):
    """The sum of the elements that are not NaN.

    >>> np.nansum([1, np.nan, 2])
    np.float64(3.0)
    """
    return sum(_replaced(a, 0), axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=..., where=True):
    """The product of the elements that are not NaN."""
    return prod(_replaced(a, 1), axis, dtype, out, keepdims, initial, where)


def nancumsum(a, axis=None, dtype=None, out=None):
    """Running sums, to which NaN adds nothing."""
    return cumsum(_replaced(a, 0), axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """Running products, which NaN leaves as they are."""
    return cumprod(_replaced(a, 1), axis, dtype, out)


def _extreme(largest, a, axis, out, keepdims, initial, where):
    return _core._nan_extreme(largest, a, axis, out, keepdims, initial, where)


def nanmax(a, axis=None, out=None, keepdims=False, initial=..., where=True):
    """The largest element that is not NaN; NaN with a warning where there is none.

    >>> np.nanmax([1, np.nan, 2])
    np.float64(2.0)
    """
    return _extreme(True, a, axis, out, keepdims, initial, where)


def nanmin(a, axis=None, out=None, keepdims=False, initial=..., where=True):
    """The smallest element that is not NaN; NaN with a warning where there is none."""
    return _extreme(False, a, axis, out, keepdims, initial, where)


def _arg_extreme(function, worst, a, axis, out, keepdims):
    a = asarray(a)
    if a.dtype.kind in "fc" and bool(asarray(_all(_isnan(a), axis)).any()):
        raise ValueError("All-NaN slice encountered")
    return function(_replaced(a, worst), axis, out, keepdims=keepdims)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """The position of the largest element that is not NaN. Raises ValueError where there is none."""
    return _arg_extreme(argmax, -float("inf"), a, axis, out, keepdims)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """The position of the smallest element that is not NaN. Raises ValueError where there is none."""
    return _arg_extreme(argmin, float("inf"), a, axis, out, keepdims)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The mean of the elements that are not NaN; NaN with a warning where there is none.

    >>> np.nanmean([1, np.nan, 2])
    np.float64(1.5)
    """
    return _core._nan_mean(a, axis, dtype, out, keepdims, where)


def nanvar(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    """The variance of the elements that are not NaN, in two steps: their mean, then the squares of distances."""
    return _variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def _variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    return _core._nan_var(a, axis, dtype, out, ddof, keepdims, where, mean)


def nanstd(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    """The standard deviation of the elements that are not NaN."""
    result = _variance(a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    return _sqrt(result) if out is None else _sqrt(result, out=out)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Numbers in the place of NaN and infinities: 0, and the largest and smallest numbers unless others are given.

    >>> np.nan_to_num([1, np.nan, np.inf], posinf=9)
    array([1., 0., 9.])
    """
    given = x
    x = asarray(x)
    if x.dtype.kind not in "fc":
        return _core.array(x, copy=True) if copy and x.ndim else x if x.ndim else x[()]
    result = _core._nan_to_num(x, nan, posinf, neginf)
    if not copy and given is x and x.ndim:
        x[...] = result
        return x
    return result if result.ndim else result[()]
