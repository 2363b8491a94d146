"""Reductions and running results; mean, var and std, which fuse with what feeds them."""

from operator import index as _index

from weft import _core
from weft._array.axes import normalize_axes
from weft._core import asanyarray, asarray, concatenate, ndarray
from weft._functions.creation import full_like
from weft._functions.shapes import atleast_1d
from weft.exceptions import AxisError

_ufuncs = _core._ufuncs
_divide, _multiply = _ufuncs["divide"], _ufuncs["multiply"]
_max = max


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The sum of the elements over `axis`. Small integers add up as int64 or uint64.

    >>> np.sum([[1, 2], [3, 4]], axis=0)
    array([4, 6])
    """
    return asanyarray(a).sum(axis, dtype, out, keepdims, initial, where)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The product of the elements over `axis`. Small integers multiply as int64 or uint64."""
    return asanyarray(a).prod(axis, dtype, out, keepdims, initial, where)


def max(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The largest element over `axis`; nan if there is one."""
    return asanyarray(a).max(axis, out, keepdims, initial, where)


def min(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The smallest element over `axis`; nan if there is one."""
    return asanyarray(a).min(axis, out, keepdims, initial, where)


amax, amin = max, min


def any(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether any element over `axis` is true."""
    return asanyarray(a).any(axis, out, keepdims, where=where)


def all(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether all elements over `axis` are true."""
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


# ---- mean, var and std, put together from sums as NumPy defines them ----


def _types(a, dtype):
    """The dtype to sum in, and the result's when it is another."""
    if dtype is not None:
        return _core.dtype(dtype), None
    if a.dtype.kind in "biu":
        return _core.dtype("float64"), None
    wide = _core._accumulator(a.dtype)
    return (None, None) if wide == a.dtype else (wide, a.dtype)


def _count(a, axis, where, keepdims):
    """How many elements each sum is of."""
    if where is not True:
        return _core.broadcast_to(where, a.shape).sum(axis, "int64", None, keepdims)
    count = 1
    if axis is None:
        return a.size
    for position in axis if isinstance(axis, tuple) else (axis,):
        if not -a.ndim <= position < a.ndim:  # of a 0-d array, which may be summed over axis 0
            raise AxisError(position, a.ndim)
        count *= a.shape[position]
    return count


def _finish(total, count, out, result_dtype):
    """total / count, in the total's own type."""
    if isinstance(out, tuple):
        (out,) = out
    if out is not None:
        return _divide(out, count, out=out, casting="unsafe")
    if isinstance(total, ndarray):
        if total.dtype.kind in "biu":
            mean = _divide(total, count).astype(total.dtype)
        elif isinstance(count, int):
            mean = total / count
        else:
            mean = _divide(total, count, out=total, casting="unsafe")  # in the sum's layout, as NumPy
        return mean if result_dtype is None else mean.astype(result_dtype)
    return (result_dtype or total.dtype).type(_divide(total, count))


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The arithmetic mean of the elements over `axis`.

    Of integers it is float64; float16 and bfloat16 add up in float32.

    >>> np.mean([[1, 2], [3, 4]], axis=0)
    array([2., 3.])
    """
    a = asanyarray(a)
    sum_dtype, result_dtype = _types(a, dtype)
    total = a.sum(axis, sum_dtype, out, keepdims, None, where)
    return _finish(total, _count(a, axis, where, keepdims), out, result_dtype)


def var(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    """The variance of the elements over `axis`: the mean of the squared distances from the mean.

    The sum is divided by the number of elements less `ddof`.

    >>> np.var([1, 2, 3, 4])
    np.float64(1.25)
    """
    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    a = asanyarray(a)
    if a.__class__ is not ndarray:
        return _of_subclass(var, a, axis, dtype, out, ddof, keepdims, where=where, mean=mean)
    sum_dtype, result_dtype = _types(a, dtype)
    one_pass = mean is None and where is True and (sum_dtype or a.dtype).kind == "f"
    if one_pass and a.dtype.kind != "c":
        total = a._squared_deviations(axis, sum_dtype, None, keepdims)
        count = _max(_count(a, axis, where, keepdims) - ddof, 0)
        if out is not None:
            return _divide(total, count, out=out, casting="unsafe")
        return _finish(total, count, None, result_dtype)
    if mean is None:
        center = a.sum(axis, sum_dtype, None, True, None, where)
        count = _count(a, axis, where, True)
        center = _finish(center, count, None, None)
    else:
        center = mean
    distance = _ufuncs["subtract"](a, center)
    if distance.dtype.kind == "c":
        square = distance.real * distance.real + distance.imag * distance.imag
    else:
        square = distance * distance
    total = asarray(square).sum(
        axis, sum_dtype if sum_dtype is None or sum_dtype.kind != "c" else None, out, keepdims, None, where
    )
    count = _count(a, axis, where, keepdims)
    if isinstance(count, int):
        count = _max(count - ddof, 0)
    else:
        count = _ufuncs["maximum"](count - ddof, 0)
    return _finish(total, count, out, result_dtype)


def _of_subclass(function, a, *args, **options):
    """What the function makes of the elements, as an array of the type of `a`."""
    result = function(asarray(a), *args, **options)
    if args[2] is not None:  # `out`
        return result
    return a.__array_wrap__(_core._plain(result), None, not isinstance(result, ndarray))


def std(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None
):
    """The standard deviation of the elements over `axis`: the square root of the variance."""
    result = var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    if isinstance(out, tuple):
        (out,) = out
    root = _ufuncs["sqrt"]
    if out is not None:
        return root(out, out=out)
    return root(result)
