"""Elements rounded, or kept between limits."""

from operator import index as _index

from weft import _core
from weft._array.dtypes import iinfo
from weft._core import array, asanyarray, empty_like, ndarray
from weft._engine.numpy_version import deprecated_in_numpy_2_5
from weft._protocols.no_value import NO_VALUE
from weft.exceptions import UFuncTypeError

_ufuncs = _core._ufuncs
_maximum, _minimum, _rint = _ufuncs["maximum"], _ufuncs["minimum"], _ufuncs["rint"]
_multiply, _divide, _power = _ufuncs["multiply"], _ufuncs["divide"], _ufuncs["power"]


def clip(a, a_min=NO_VALUE, a_max=NO_VALUE, out=None, *, min=NO_VALUE, max=NO_VALUE, **kwargs):
    """The elements, those below `a_min` or above `a_max` replaced by the bound.

    >>> np.clip([1, 5, 9], 2, 6)
    array([2, 5, 6])
    """
    if a_min is NO_VALUE and a_max is NO_VALUE:
        a_min = None if min is NO_VALUE else min
        a_max = None if max is NO_VALUE else max
    elif a_min is NO_VALUE or a_max is NO_VALUE:
        missing = "a_min" if a_min is NO_VALUE else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: {missing!r}")
    elif min is not NO_VALUE or max is not NO_VALUE:
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
        )
    if not isinstance(a, _core.generic):
        a = asanyarray(a)
    if a.dtype.kind in "iu":  # Python integers beyond the dtype bound nothing
        limits = iinfo(a.dtype)
        if type(a_min) is int and a_min <= limits.min:
            a_min = None
        if type(a_max) is int and a_max >= limits.max:
            a_max = None
    if a_min is None and a_max is None:
        return _ufuncs["positive"](a, out=out, **kwargs)
    if a_min is None:
        return _minimum(a, a_max, out=out, **kwargs)
    if a_max is None:
        return _maximum(a, a_min, out=out, **kwargs)
    return _ufuncs["clip"](a, a_min, a_max, out=out, **kwargs)


def round(a, decimals=0, out=None):
    """The elements rounded to `decimals` digits after the point; halves go to the even neighbour.

    >>> np.round([0.5, 1.5, 2.25], 1)
    array([0.5, 1.5, 2.2])
    """
    if not isinstance(a, _core.generic):
        a = asanyarray(a)
    decimals = _index(decimals)
    kind = a.dtype.kind
    if kind in "iu":
        if decimals >= 0:
            if out is not None:
                _core.copyto(out, a, "unsafe")
                return out
            return array(a, copy=True) if a.ndim else a[()]
        scale = 10.0**-decimals
        order = "F" if a.flags.fnc else "C"
        result = _multiply(_rint(_divide(a, scale)), scale, order=order).astype(a.dtype)
        if isinstance(result, ndarray) and result.ndim == 0:
            result = result[()]
        if out is not None:
            _core.copyto(out, result, "unsafe")
            return out
        return result
    if kind == "b" and decimals != 0:
        name, own = ("multiply", "float64") if decimals > 0 else ("divide", "float64")
        raise UFuncTypeError(
            f"Cannot cast ufunc '{name}' output from dtype('{own}') to dtype('bool') with casting rule 'same_kind'"
        )
    if decimals == 0:
        return _rint(a, out=out)
    if kind == "c" and out is None and a.ndim:
        result = empty_like(a)
        result.real, result.imag = round(a.real, decimals), round(a.imag, decimals)
        return result
    if kind == "c":
        parts = round(a.real, decimals) + round(a.imag, decimals) * a.dtype.type(1j)
        if out is None:
            return parts
        _core.copyto(out, parts, "unsafe")
        return out
    order = "F" if a.flags.fnc else "C"
    if decimals > 0:
        scale = 10.0**decimals
        return _divide(_rint(_multiply(a, scale)), scale, out=out, order=order)
    scale = 10.0**-decimals
    return _multiply(_rint(_divide(a, scale)), scale, out=out, order=order)


around = round


def fix(x, out=None):
    """The elements without what is behind the point, towards 0."""
    deprecated_in_numpy_2_5(
        "numpy.fix is deprecated. Use numpy.trunc instead, which is faster and follows the Array API standard."
    )
    return _ufuncs["trunc"](x, out=out)
