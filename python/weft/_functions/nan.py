"""NumPy's functions that leave NaN out."""

import warnings

from weft import _core
from weft._core import asarray, where
from weft._functions.reductions import all as _all
from weft._functions.reductions import argmax, argmin, cumprod, cumsum, prod, sum
from weft._functions.reductions import max as _max
from weft._functions.reductions import min as _min
from weft._ufunc.errstate import quiet as _quiet

_ufuncs = _core._ufuncs
_isnan, _not, _and, _sqrt = _ufuncs["isnan"], _ufuncs["logical_not"], _ufuncs["logical_and"], _ufuncs["sqrt"]


def _replaced(a, value):
    """The array with `value` for NaN, and where it was; None where there can be none."""
    a = asarray(a)
    if a.dtype.kind not in "fc":
        return a, None
    missing = _isnan(a)
    return where(missing, asarray(value, a.dtype), a), missing


@_quiet
def _quotient(total, count):
    return total / count  # of nothing: 0 / 0


def _warn(condition, text):
    if bool(asarray(condition).any()):
        warnings.warn(text, RuntimeWarning, stacklevel=3)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The sum of the elements that are not NaN.

    >>> np.nansum([1, np.nan, 2])
    np.float64(3.0)
    """
    return sum(_replaced(a, 0)[0], axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The product of the elements that are not NaN."""
    return prod(_replaced(a, 1)[0], axis, dtype, out, keepdims, initial, where)


def nancumsum(a, axis=None, dtype=None, out=None):
    """Running sums, to which NaN adds nothing."""
    return cumsum(_replaced(a, 0)[0], axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """Running products, which NaN leaves as they are."""
    return cumprod(_replaced(a, 1)[0], axis, dtype, out)


def _extreme(plain, worst, a, axis, out, keepdims, options):
    # NumPy's two ways have a text each: of its arrays, and of what it has to convert.
    text = f"All-NaN {'slice' if isinstance(a, _core.ndarray) else 'axis'} encountered"
    a = asarray(a)
    if a.dtype.kind == "c":
        # No complex number is the least: what is beside NaN is compared as it is.
        ufunc = _ufuncs["fmax" if plain is _max else "fmin"] if plain in (_max, _min) else None
        if ufunc is not None:
            result = ufunc.reduce(a, axis=axis, out=out, keepdims=keepdims, **options)
            _warn(_isnan(result), text)
            return result
    if a.dtype.kind != "f":
        return plain(a, axis, out, keepdims, **options)
    # What is replaced has no name here, so that it is nowhere in memory.
    result = plain(_replaced(a, worst)[0], axis, None, keepdims, **options)
    # Where something is better than the worst, not all is missing.
    if "initial" not in options and bool(asarray(result == worst).any()):
        nothing = _all(_isnan(a), axis, keepdims=keepdims)
        result = where(nothing, asarray(float("nan"), a.dtype), result)
        _warn(nothing, text)
    if out is not None:
        _core.copyto(out, result, "unsafe")
        return out
    return result if result.ndim else result[()]


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The largest element that is not NaN; NaN with a warning where there is none.

    >>> np.nanmax([1, np.nan, 2])
    np.float64(2.0)
    """
    options = {"where": where} if initial is None else {"initial": initial, "where": where}
    return _extreme(_max, -float("inf"), a, axis, out, keepdims, options)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The smallest element that is not NaN; NaN with a warning where there is none."""
    options = {"where": where} if initial is None else {"initial": initial, "where": where}
    return _extreme(_min, float("inf"), a, axis, out, keepdims, options)


def _arg_extreme(function, worst, a, axis, out, keepdims):
    a, missing = _replaced(a, worst)
    if missing is not None and bool(asarray(_all(missing, axis)).any()):
        raise ValueError("All-NaN slice encountered")
    return function(a, axis, out, keepdims=keepdims)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """The position of the largest element that is not NaN. Raises ValueError where there is none."""
    return _arg_extreme(argmax, -float("inf"), a, axis, out, keepdims)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """The position of the smallest element that is not NaN. Raises ValueError where there is none."""
    return _arg_extreme(argmin, float("inf"), a, axis, out, keepdims)


def _check_inexact(values, missing, dtype, out):
    if missing is None:
        return
    if dtype is not None and _core.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")
    if out is not None and out.dtype.kind not in "fc":
        raise TypeError("If a is inexact, then out must be inexact")


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The mean of the elements that are not NaN; NaN with a warning where there is none.

    >>> np.nanmean([1, np.nan, 2])
    np.float64(1.5)
    """
    from weft._functions.reductions import mean

    values, missing = _replaced(a, 0)
    _check_inexact(values, missing, dtype, out)
    if missing is None:
        return mean(values, axis, dtype, out, keepdims, where=where)
    count = sum(_not(missing), axis, "int64", keepdims=keepdims, where=where)
    total = sum(values, axis, dtype, keepdims=keepdims, where=where)
    _warn(count == 0, "Mean of empty slice")
    result = asarray(_quotient(total, count)).astype(asarray(total).dtype, copy=False)
    if out is not None:
        _core.copyto(out, result, "unsafe")
        return out
    return result if result.ndim else result[()]


def nanvar(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    """The variance of the elements that are not NaN, in two steps: their mean, then the squares of distances."""
    from weft._functions.reductions import var

    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    values, missing = _replaced(a, 0)
    _check_inexact(values, missing, dtype, out)
    if missing is None:
        options = {} if mean is None else {"mean": mean}
        return var(values, axis, dtype, out, ddof, keepdims, where=where, **options)
    present = _not(missing) if where is True else _and(_not(missing), where)
    count = sum(present, axis, "int64", keepdims=True)
    if mean is None:
        total = asarray(sum(values, axis, dtype, keepdims=True, where=present))
        center = asarray(_quotient(total, count)).astype(total.dtype, copy=False)
    else:
        center = asarray(mean)
    distance = _core.where(present, values - center, asarray(0, values.dtype))
    square = (
        (distance * _ufuncs["conjugate"](distance)).real
        if distance.dtype.kind == "c"
        else distance * distance
    )
    total = sum(square, axis, keepdims=keepdims)
    free = (count if keepdims else count.reshape(asarray(total).shape)) - ddof
    _warn(free <= 0, "Degrees of freedom <= 0 for slice.")
    result = asarray(_core.where(free > 0, _quotient(total, free), float("nan"))).astype(
        asarray(total).dtype, copy=False
    )
    if out is not None:
        _core.copyto(out, result, "unsafe")
        return out
    return result if result.ndim else result[()]


def nanstd(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    """The standard deviation of the elements that are not NaN."""
    result = nanvar(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    return _sqrt(result) if out is None else _sqrt(result, out=out)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Numbers in the place of NaN and infinities: 0, and the largest and smallest numbers unless others are given.

    >>> np.nan_to_num([1, np.nan, np.inf], posinf=9)
    array([1., 0., 9.])
    """
    from weft._array.dtypes import finfo

    given = x
    x = asarray(x)
    if x.dtype.kind not in "fc":
        return _core.array(x, copy=True) if copy and x.ndim else x if x.ndim else x[()]
    limits = finfo(x.dtype)
    low = limits.min if neginf is None else neginf
    high = limits.max if posinf is None else posinf

    def cleaned(part):
        part_type = part.dtype
        result = _core.where(_isnan(part), asarray(nan, part_type), part)
        result = _core.where(result == float("inf"), asarray(high, part_type), result)
        return _core.where(result == -float("inf"), asarray(low, part_type), result)

    if x.dtype.kind == "f":
        result = cleaned(x)
    else:
        result = _core.array(x, copy=True)
        result.real, result.imag = cleaned(x.real), cleaned(x.imag)
    if not copy and given is x and x.ndim:
        x[...] = result
        return x
    return result if result.ndim else result[()]
