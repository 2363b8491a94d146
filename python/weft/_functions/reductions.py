"""mean, var and std, put together from sums as NumPy defines them, so that they fuse with what feeds them."""

from weft import _core
from weft._core import asanyarray, asarray, ndarray
from weft.exceptions import AxisError

_ufuncs = _core._ufuncs
_divide = _ufuncs["divide"]


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
        count = max(_count(a, axis, where, keepdims) - ddof, 0)
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
        count = max(count - ddof, 0)
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
