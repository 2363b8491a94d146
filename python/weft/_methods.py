"""The methods of ndarray and of the scalars that are put together from functions, set on the types at import."""

import math
import numbers
from importlib import import_module

from weft import _core, _overrides
from weft._core import _ufuncs, floating, generic, inexact, integer, ndarray, number
from weft._functions import clip as _clip
from weft._functions import cumprod, cumsum
from weft._functions import round as _round
from weft._missing import MissingAttribute
from weft._numpy_names import array_names
from weft._products import trace
from weft._selection import choose, put, take
from weft._selection import compress as _compress
from weft._statistics import mean, std, var


def conj(self, *args, **options):
    """The complex conjugate; a real array itself."""
    if self.dtype.kind != "c" and not args and not options:
        return self
    return _ufuncs["conjugate"](self, *args, **options)


def clip(self, min=None, max=None, out=None, **options):
    """The elements, those below `min` or above `max` replaced by the bound."""
    return _clip(self, min, max, out, **options)


def compress(self, condition, axis=None, out=None):
    """The subarrays along `axis` at which `condition` is true."""
    return _compress(condition, self, axis, out)


def nonzero(self):
    """The positions of elements that are not zero, along each axis."""
    return _core.nonzero(self)


def _later(name, source=None, module="_order", keeps_type=True):
    """A method whose module is loaded by the first call."""

    def method(self, *args, **options):
        result = getattr(import_module(f"weft.{module}"), source or name)(self, *args, **options)
        return result if self.__class__ is ndarray or not keeps_type else _overrides.like_owner(result, self)

    method.__name__ = name
    return method


def byteswap(self, inplace=False):
    """The same elements with the bytes of each in reverse: in another array, or in place."""
    size = self.dtype.itemsize // (2 if self.dtype.kind == "c" else 1)
    swapped = self.copy("C")
    if self.size and size > 1:
        turned = swapped.reshape(-1).view("uint8").reshape(-1, size)[:, ::-1].reshape(-1)
        swapped = turned.view(self.dtype).reshape(self.shape)
    if not inplace:
        return swapped
    self[...] = swapped
    return self


def round(self, decimals=0, out=None):
    """The elements rounded to `decimals` digits after the point."""
    return _round(self, decimals, out)


def _round_scalar(self, ndigits=None):
    return int(_round(self)) if ndigits is None else _round(self, ndigits)


def _by_python(function):
    return lambda self: function(self.item())


for _type in (ndarray, generic):
    for _function in (
        mean,
        var,
        std,
        conj,
        clip,
        round,
        cumsum,
        cumprod,
        trace,
        take,
        choose,
        put,
        compress,
        nonzero,
    ):
        setattr(_type, _function.__name__, _function)
    _type.conjugate = conj

ndarray.byteswap = byteswap
ndarray.repeat = _later("repeat", module="_assembly")
ndarray.sort, ndarray.partition = _later("sort", "sort_in_place"), _later("partition", "partition_in_place")
for _name in ("argsort", "argpartition", "searchsorted"):
    setattr(ndarray, _name, _later(_name, keeps_type=_name != "searchsorted"))

for _name in ("tofile", "dump", "dumps"):
    setattr(ndarray, _name, _later(_name, module="_files", keeps_type=False))

for _name in array_names:
    if not hasattr(ndarray, _name):
        setattr(ndarray, _name, MissingAttribute(_name))

integer.__round__ = floating.__round__ = _round_scalar
integer.__floor__ = floating.__floor__ = _by_python(math.floor)
integer.__ceil__ = floating.__ceil__ = _by_python(math.ceil)
integer.__trunc__ = floating.__trunc__ = _by_python(math.trunc)
floating.is_integer = _by_python(float.is_integer)
floating.as_integer_ratio = _by_python(float.as_integer_ratio)
floating.hex = _by_python(float.hex)
integer.is_integer = lambda self: True
integer.bit_count = lambda self: abs(self.item()).bit_count()
integer.numerator = property(lambda self: self)
integer.denominator = property(lambda self: type(self)(1))

numbers.Integral.register(integer)
numbers.Real.register(floating)
numbers.Complex.register(inexact)
numbers.Number.register(number)
