"""Reductions and running results, mean, var and std: NumPy's signatures over the engine's functions."""

import math
from operator import index as _index

from weft import _core
from weft._array.axes import normalize_axes
from weft._core import asanyarray, concatenate, ndarray
from weft._engine import late_warnings
from weft._functions.creation import full_like
from weft._functions.shapes import atleast_1d
from weft._protocols import overrides
from weft._protocols.own_methods import own_method

_ufuncs = _core._ufuncs
_multiply = _ufuncs["multiply"]


_PLAIN = (ndarray, list, tuple, float, int, bool, complex)


def _reduced(a, name, axis, out, dtype, *options):
    """The method's result. `options` are a keyword's name, its value and its default, for those that may be given."""
    method = None if type(a) in _PLAIN else own_method(a, name)
    if method is None:
        return NotImplemented
    given = {} if dtype is None else {"dtype": dtype}
    given.update((key, value) for key, value, default in options if value is not default)
    return method(axis=axis, out=out, **given)


def _over(keepdims, where, initial=...):
    return ("keepdims", keepdims, False), ("where", where, True), ("initial", initial, ...)


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=..., where=True):
    """The sum of the elements over `axis`. Small integers add up as int64 or uint64.

    >>> np.sum([[1, 2], [3, 4]], axis=0)
    array([4, 6])
    """
    if type(a) not in _PLAIN:
        result = _reduced(a, "sum", axis, out, dtype, *_over(keepdims, where, initial))
        if result is not NotImplemented:
            return result
    return asanyarray(a).sum(axis, dtype, out, keepdims, initial, where)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=..., where=True):
    """The product of the elements over `axis`. Small integers multiply as int64 or uint64."""
    if type(a) not in _PLAIN:
        result = _reduced(a, "prod", axis, out, dtype, *_over(keepdims, where, initial))
        if result is not NotImplemented:
            return result
    return asanyarray(a).prod(axis, dtype, out, keepdims, initial, where)


def max(a, axis=None, out=None, keepdims=False, initial=..., where=True):
    """The largest element over `axis`; nan if there is one."""
    if type(a) not in _PLAIN:
        result = _reduced(a, "max", axis, out, None, *_over(keepdims, where, initial))
        if result is not NotImplemented:
            return result
    return asanyarray(a).max(axis, out, keepdims, initial, where)


def min(a, axis=None, out=None, keepdims=False, initial=..., where=True):
    """The smallest element over `axis`; nan if there is one."""
    if type(a) not in _PLAIN:
        result = _reduced(a, "min", axis, out, None, *_over(keepdims, where, initial))
        if result is not NotImplemented:
            return result
    return asanyarray(a).min(axis, out, keepdims, initial, where)


amax, amin = max, min


def any(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether any element over `axis` is true."""
    if type(a) not in _PLAIN:
        result = _reduced(a, "any", axis, out, None, *_over(keepdims, where))
        if result is not NotImplemented:
            return result
    return asanyarray(a).any(axis, out, keepdims, where=where)


def all(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether all elements over `axis` are true."""
    if type(a) not in _PLAIN:
        result = _reduced(a, "all", axis, out, None, *_over(keepdims, where))
        if result is not NotImplemented:
            return result
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
    (axis,) = normalize_axes(axis, x.ndim, None)
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


# ---- mean, var and std: weft/statistics.h computes them ----


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The arithmetic mean of the elements over `axis`.

    Of integers it is float64; float16 and bfloat16 add up in float32.

    >>> np.mean([[1, 2], [3, 4]], axis=0)
    array([2., 3.])
    """
    if type(a) not in _PLAIN:
        result = _reduced(a, "mean", axis, out, dtype, *_over(keepdims, where))
        if result is not NotImplemented:
            return result
    return mean_of(asanyarray(a), axis, dtype, out, keepdims, where)


def mean_of(a, axis, dtype, out, keepdims, where):
    """The method."""
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if a.__class__ is not ndarray or not (out is None or out.__class__ is ndarray):
        return overrides.mean(a, axis, dtype, out, keepdims, where)
    result = _core._mean(a, axis, dtype, out, keepdims, where)
    if where is True and a.size == 0 and _has_at_most(0, a, axis):
        late_warnings.warn("Mean of empty slice.")
    return result


def _has_at_most(count, a, axis):
    """Whether a result is of so many elements, or fewer. With a mask the engine tells."""
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod(a.shape[each] for each in axes) <= count


def _looked_at(result, a, axis, ddof, where):
    """A variance or a deviation, warned of where the number of elements is not above `ddof`."""
    if where is True and (ddof or a.size == 0) and _has_at_most(ddof, a, axis):
        late_warnings.warn("Degrees of freedom <= 0 for slice")
    return result


def ddof_of(ddof, correction):
    """Both are names of the same; NumPy's functions have the second for the array API."""
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def _spread(a, name, axis, out, dtype, ddof, keepdims, where, mean):
    # As in NumPy, ddof is given in any case.
    return _reduced(
        a, name, axis, out, dtype, ("ddof", ddof, None), ("mean", mean, None), *_over(keepdims, where)
    )


def var(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    """The variance of the elements over `axis`: the mean of the squared distances from the mean.

    The sum is divided by the number of elements less `ddof`.

    >>> np.var([1, 2, 3, 4])
    np.float64(1.25)
    """
    ddof = ddof_of(ddof, correction)
    if type(a) not in _PLAIN:
        result = _spread(a, "var", axis, out, dtype, ddof, keepdims, where, mean)
        if result is not NotImplemented:
            return result
    return var_of(asanyarray(a), axis, dtype, out, ddof, keepdims, where, mean)


def var_of(a, axis, dtype, out, ddof, keepdims, where, mean):
    """The method."""
    result = _looked_at(_core._var(a, axis, dtype, out, ddof, keepdims, where, mean), a, axis, ddof, where)
    return result if a.__class__ is ndarray or out is not None else overrides.like_owner(result, a)


def std(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    """The standard deviation of the elements over `axis`: the square root of the variance."""
    ddof = ddof_of(ddof, correction)
    if type(a) not in _PLAIN:
        result = _spread(a, "std", axis, out, dtype, ddof, keepdims, where, mean)
        if result is not NotImplemented:
            return result
    return std_of(asanyarray(a), axis, dtype, out, ddof, keepdims, where, mean)


def std_of(a, axis, dtype, out, ddof, keepdims, where, mean):
    """The method."""
    if a.__class__ is ndarray:
        return _looked_at(_core._std(a, axis, dtype, out, ddof, keepdims, where, mean), a, axis, ddof, where)
    result = a.var(axis, dtype, None, ddof, keepdims, where=where, mean=mean)
    return _ufuncs["sqrt"](result, out=out)
