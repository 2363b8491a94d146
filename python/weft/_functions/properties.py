"""What arrays are: their extents, their parts, and tests of their elements' kind."""

import numbers

from weft import _core
from weft._array.axes import normalize_axes
from weft._array.dtypes import finfo
from weft._core import asanyarray, asarray
from weft._functions.creation import zeros_like

_ufuncs = _core._ufuncs
_TEXTS_AND_NUMBERS = (int, float, complex, str, bytes, _core.generic)


def shape(a):
    """The extent of each axis."""
    try:
        return a.shape
    except AttributeError:
        return asarray(a).shape


def ndim(a):
    """The number of axes."""
    try:
        return a.ndim
    except AttributeError:
        return asarray(a).ndim


def size(a, axis=None):
    """The number of elements, or the extent of an axis."""
    if axis is None and hasattr(a, "size") and not hasattr(a, "__dlpack__"):
        return a.size
    a = asarray(a)
    if axis is None:
        return a.size
    result = 1
    for position in normalize_axes(axis, a.ndim, "axis") if isinstance(axis, tuple) else [axis]:
        result *= a.shape[position]
    return result


def real(val):
    """The real part; of an array a view."""
    return _part(val, "real")


def imag(val):
    """The imaginary part; of an array a view."""
    return _part(val, "imag")


def _part(value, name):
    try:
        return getattr(value, name)  # Python's numbers have parts, too
    except AttributeError:
        return getattr(asanyarray(value), name)


def angle(z, deg=False):
    """The angle of complex numbers, in radians or degrees."""
    z = asanyarray(z)
    result = _ufuncs["arctan2"](z.imag if z.dtype.kind == "c" else 0, z.real)
    return result * (180 / 3.141592653589793) if deg else result


def iscomplexobj(x):
    """Whether the elements are of a complex type."""
    try:
        return x.dtype.kind == "c"
    except AttributeError:  # no array, or a class of scalars
        return asarray(x).dtype.kind == "c"


def isrealobj(x):
    """Whether the elements are of no complex type."""
    return not iscomplexobj(x)


def iscomplex(x):
    """Where the imaginary part is not zero."""
    x = asarray(x)
    return x.imag != 0 if x.dtype.kind == "c" else _maybe_scalar(zeros_like(x, bool, order="C"))


def isreal(x):
    """Where the imaginary part is zero."""
    return imag(x) == 0


def isposinf(x, out=None):
    """Where an element is positive infinity."""
    return _ufuncs["logical_and"](_ufuncs["isinf"](x), ~_ufuncs["signbit"](x), out=out)


def isneginf(x, out=None):
    """Where an element is negative infinity."""
    return _ufuncs["logical_and"](_ufuncs["isinf"](x), _ufuncs["signbit"](x), out=out)


def _maybe_scalar(a):
    return a[()] if a.ndim == 0 else a


def isscalar(element):
    """Whether `element` is a number or a text, and no array."""
    # The abstract class is asked last: it takes long.
    return isinstance(element, _TEXTS_AND_NUMBERS) or isinstance(element, numbers.Number)


def isfortran(a):
    """Whether the array is in Fortran order and not in C order."""
    return a.flags.fnc


def real_if_close(a, tol=100):
    """The real parts, where all imaginary ones are small: less than `tol`, from 1 on in units of epsilon.

    >>> np.real_if_close([1 + 1e-16j])
    array([1.])
    """
    a = asarray(a)
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = float(finfo(a.dtype).eps) * tol
    return a.real if bool((_ufuncs["absolute"](a.imag) < tol).all()) else a
