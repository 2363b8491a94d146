"""The methods of ndarray and of the scalars that are put together from functions, set on the types at import."""

import functools
import math
import numbers
import sys
import types
from importlib import import_module as _import_module

from weft import _core, _names
from weft._array.axes import extents as _extents
from weft._core import _ufuncs, floating, generic, inexact, integer, ndarray, number
from weft._functions import reductions as _reductions
from weft._functions.indexing import compress as _compress
from weft._functions.indexing import put as _put
from weft._functions.rounding import clip as _clip
from weft._functions.rounding import round as _round
from weft._protocols import overrides
from weft._protocols.array_api import array_namespace
from weft._protocols.missing import MissingAttribute
from weft._protocols.no_value import NO_VALUE
from weft._protocols.numpy_names import array_names


def conj(self, /, *args, **options):
    """The complex conjugate; a real array itself."""
    if self.dtype.kind != "c" and not args and not options:
        return self
    return _ufuncs["conjugate"](self, *args, **options)


def clip(self, /, min=None, max=None, out=None, **kwargs):
    """The elements, those below `min` or above `max` replaced by the bound."""
    return _clip(self, min, max, out, **kwargs)


def mean(self, /, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The arithmetic mean of the elements over `axis`."""
    return _reductions.mean_of(_core.asanyarray(self), axis, dtype, out, keepdims, where)


def _deviation(name, function, doc):
    """`var` or `std`: they differ in the function of the engine."""

    def method(
        self,
        /,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=False,
        *,
        where=True,
        mean=None,
        correction=None,
    ):
        ddof = _reductions.ddof_of(ddof, correction)
        return function(_core.asanyarray(self), axis, dtype, out, ddof, keepdims, where, mean)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    return method


var = _deviation("var", _reductions.var_of, "The variance of the elements over `axis`.")
std = _deviation("std", _reductions.std_of, "The standard deviation of the elements over `axis`.")


def compress(self, /, condition, axis=None, out=None):
    """The subarrays along `axis` at which `condition` is true."""
    return _compress(condition, self, axis, out)


def put(self, /, indices, values, mode="raise"):
    """Writes `values`, over and over, to the elements of the flattened array at `indices`."""
    _put(self, indices, values, mode)


def nonzero(self, /):
    """The positions of elements that are not zero, along each axis."""
    return _core.nonzero(self)


def resize(self, /, *new_shape, refcheck=True):
    """Gives the array another shape in place: elements in the order of memory, zeros behind them. Views keep the old
    elements.

    Raises ValueError where the size would change of a view, or with `refcheck` of an array that views or other names
    refer to.

    >>> a = np.array([1, 2, 3])
    >>> a.resize(2, 2)
    >>> a
    array([[1, 2],
           [3, 0]])
    """
    if not new_shape or new_shape == (None,):
        return
    if len(new_shape) == 1 and hasattr(new_shape[0], "__len__"):
        new_shape = new_shape[0]
    # The caller's name, the argument here and that of getrefcount are three.
    is_shared = sys.getrefcount(self) > 3 or _import_module("weakref").getweakrefcount(self) != 0
    flags = self.flags
    if not flags.c_contiguous and not flags.f_contiguous:
        raise ValueError("resize only works on single-segment arrays")
    fortran = flags.f_contiguous and not flags.c_contiguous
    extents = _extents(new_shape)
    if any(extent < 0 for extent in extents):
        raise ValueError("negative dimensions not allowed")
    if math.prod(extents) == self.size:  # no memory is needed
        _core._become(self, self.reshape(extents, order="F" if fortran else "C"))
        return
    if not flags.owndata:
        raise ValueError("cannot resize this array: it does not own its data")
    if not flags.writeable:
        raise ValueError("cannot resize a read-only array")
    if refcheck and is_shared:
        raise ValueError(
            "cannot resize an array that references or is referenced\nby another object in this way.\nUse the "
            "np.resize function to get a new resized copy or\n set refcheck=False to disable this check"
        )
    fresh = _core.zeros(extents, self.dtype, "F" if fortran else "C", device=self.device)
    count = min(self.size, fresh.size)
    (fresh.T if fortran else fresh).reshape(-1)[:count] = self.ravel("A")[:count]
    _core._become(self, fresh)


def byteswap(self, /, inplace=False):
    """The elements with their bytes in reverse, of complex numbers each part's.

    >>> np.array([1, 256], dtype="i2").byteswap()
    array([256,   1], dtype=int16)
    """
    result = self if inplace else self.copy("K")
    for part in (result.real, result.imag) if self.dtype.kind == "c" else (result,):
        size = part.dtype.itemsize
        if size == 1:
            continue
        bits = part.view(f"u{size}")
        whole = bits
        for width, low in _SWAPS[size]:
            whole = ((whole >> width) & low) | ((whole & low) << width)
        bits[...] = whole
    return result


# Halves, then quarters, then bytes change places: how far, and which bits are the lower of each pair.
_SWAPS = {
    2: [(8, 0x00FF)],
    4: [(16, 0x0000FFFF), (8, 0x00FF00FF)],
    8: [(32, 0x00000000FFFFFFFF), (16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF)],
}


def _by_position_too(method):
    """A method whose keywords may be given in order, which NumPy's signature does not tell."""
    names = list(method.__kwdefaults__)

    @functools.wraps(method)
    def call(self, *args, **options):
        for name, value in zip(names, args):
            if name in options:
                raise TypeError(f"argument for {method.__name__}() given by name ('{name}') and position")
            options[name] = value
        if len(args) > len(names):
            raise TypeError(f"{method.__name__}() takes at most {len(names)} arguments ({len(args)} given)")
        return method(self, **options)

    return call


@_by_position_too
def setflags(self, /, *, write=None, align=None, uic=None):
    """Sets whether the array may be written, and whether `flags` call it aligned, which its elements always are.
    Nothing waits to be copied back."""
    if align is not None:
        self.flags.aligned = align
    if uic is not None:
        self.flags.writebackifcopy = uic
    if write is not None:
        self.flags.writeable = write


class _Signature:
    """`method.__wrapped__`: the function that inspect.signature asks instead of the method, loaded when it is asked."""

    __slots__ = ("_load",)

    def __init__(self, load):
        self._load = load

    @property
    def __wrapped__(self):
        return self._load()

    @property
    def __signature__(self):
        import inspect

        found = inspect.signature(self._load())
        first, *rest = found.parameters.values()
        first = first.replace(name="self", kind=first.POSITIONAL_ONLY)
        return found.replace(parameters=[first, *rest])


def _as_method(function):
    """The same code as a method, whose first parameter is `self`."""
    method = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    method.__kwdefaults__, method.__doc__ = function.__kwdefaults__, function.__doc__
    method.__module__, method.__wrapped__ = function.__module__, _Signature(lambda: function)
    return method


def _later(name, module, source, keeps_type):
    """A method whose module is loaded by the first call."""

    function = None

    def method(self, *args, **options):
        nonlocal function
        if function is None:
            function = getattr(_import_module(f"weft.{module}"), source)
        result = function(self, *args, **options)
        return overrides.like_owner(result, self) if keeps_type and self.__class__ is not ndarray else result

    method.__name__ = name
    method.__wrapped__ = _Signature(lambda: getattr(_import_module(f"weft.{module}"), source))
    return method


def round(self, /, decimals=0, out=None):
    """The elements rounded to `decimals` digits after the point."""
    return _round(self, decimals, out)


def _round_scalar(self, ndigits=None):
    return int(_round(self)) if ndigits is None else _round(self, ndigits)


def _by_python(function):
    return lambda self, /: function(self.item())


def _of_an_array(name):
    """A scalar's method: that of the 0-dimensional array of it."""

    def method(self, *args, **options):
        result = getattr(_core.asarray(self), name)(*args, **options)
        return result[()] if isinstance(result, ndarray) and result.ndim == 0 else result

    method.__name__ = name
    method.__wrapped__ = _Signature(lambda: getattr(ndarray, name))
    method.__doc__ = getattr(ndarray, name).__doc__
    return method


def _set_methods():
    """Gives both types the methods that the table names and the binding does not have."""
    for name, (module, source, is_loaded, keeps_type, of_scalars) in _names.METHODS.items():
        if module is None:
            method = getattr(ndarray, name)
        elif module == "_methods":
            method = globals()[source]
        elif is_loaded:
            method = _as_method(getattr(_import_module(f"weft.{module}"), source))
        else:
            method = _later(name, module, source, keeps_type)
        if module is not None:
            setattr(ndarray, name, method)
        if of_scalars == "same":
            setattr(generic, name, method)
        elif of_scalars == "array":
            setattr(generic, name, _of_an_array(name))


_set_methods()
_core._add_fast_paths_to_methods()

ndarray._set_shape = lambda self, shape, /: _core._set_shape(
    self, shape
)  # NumPy 2.5 deprecates the attributes
ndarray._set_dtype = lambda self, dtype, /: _import_module("weft._array.views").set_dtype(self, dtype)
ndarray.__array_namespace__ = generic.__array_namespace__ = array_namespace
generic.__array_priority__ = -1000000.0
generic.__array_interface__ = property(lambda self: _core.asarray(self).__array_interface__)
generic.__array_struct__ = property(lambda self: _core.asarray(self).__array_struct__)
_core.float64.fromhex = classmethod(lambda kind, string, /: kind(float.fromhex(string)))
generic.data = property(lambda self: memoryview(self))
generic.__array_wrap__ = lambda self, array, /, context=None, return_scalar=False: array[()]
generic.flags = property(lambda self: _core.asarray(self).flags)
generic.flat = property(lambda self: _core.asarray(self).flat)


def _pointers(self):
    """The memory, shape and strides for functions that ctypes calls."""
    return _import_module("weft._array.pointers").Pointers(self)


ndarray.ctypes = property(_pointers)


def _beginning(self):
    """The part of `__array_interface__` that says where the memory begins, on whichever device."""
    return self.__array_interface__ if self.device == "cpu" else self.__cuda_array_interface__


ndarray._beginning = property(_beginning)
for _name in array_names:
    if not hasattr(ndarray, _name):
        setattr(ndarray, _name, MissingAttribute(_name))


def _class_getitem(most):
    """`ndarray[shape, dtype]` and its kin, for annotations."""

    def alias(owner, key):
        if hasattr(owner, "dtype") and issubclass(owner, number) and owner.__subclasses__() == []:
            raise TypeError(f"There are no type variables left in {owner.__module__}.{owner.__name__}")
        count = len(key) if isinstance(key, tuple) else 1
        if not 1 <= count <= most:
            raise TypeError(f"Too {'many' if count > most else 'few'} arguments for {owner}")
        return types.GenericAlias(owner, key)

    return classmethod(alias)


for _type, _most in (
    (ndarray, 2),
    (_core.dtype, 1),
    (number, 1),
    (_core.complexfloating, 2),
    (_core.bool, 2),
):
    _type.__class_getitem__ = _class_getitem(_most)


class _SignatureOf:
    """`__signature__` of a type, or of its instances, made of a text when it is asked for."""

    def __init__(self, text_of, of_instances):
        self._text_of, self._of_instances = text_of, of_instances

    def __get__(self, instance, owner):
        own = instance is not None if self._of_instances else getattr(_core, owner.__name__, None) is owner
        if not own or (instance is not None) != self._of_instances:
            raise AttributeError("__signature__")
        import inspect

        names = {"NO_VALUE": NO_VALUE}
        exec(f"def f({self._text_of(owner if instance is None else instance)}): pass", names)
        return inspect.signature(names["f"])


def _signature_of_ufunc(function):
    inputs = "x" if function.nin == 1 else ", ".join(f"x{i + 1}" for i in range(function.nin))
    out = "None" if function.nout == 1 else repr((None,) * function.nout)
    core = "axes=NO_VALUE, axis=NO_VALUE, keepdims=False" if function.signature else "where=True"
    return f"{inputs}, /, out={out}, *, {core}, casting='same_kind', order='K', dtype=None, subok=True, signature=None"


class _SignatureOfBinding:
    """`__signature__` of a function that the package shows and the binding has, from what the binding says of it."""

    def __get__(self, instance, owner):
        if instance is not None and instance.__class__ is _core.ufunc:
            return _core.ufunc.__dict__["__signature__"].__get__(instance, owner)
        told = getattr(getattr(instance, "__wrapped__", None), "__nb_signature__", None)
        if not told or len(told) != 1:
            raise AttributeError("__signature__")
        import inspect
        import re

        text, _, defaults = told[0]
        text = re.sub(r"\\(\d+)", lambda found: f"DEFAULTS[{found[1]}]", text.rpartition(" -> ")[0] or text)
        text = re.sub(r"(\*\w+) \| None", r"\1", text)
        names = {"DEFAULTS": defaults or ()}
        exec(f"from __future__ import annotations\n{text}: pass", names)
        function = names[instance.__wrapped__.__name__]
        function.__annotations__.clear()
        return inspect.signature(function)


def _signature_of_scalar(kind):
    if kind in (_core.complex64, _core.complex128):
        return "real=0, imag=0, /"
    if kind is _core.bool:
        return "value=False, /"
    return "" if _core.generic in kind.__bases__ or kind.__subclasses__() else "value=0, /"


_core.ufunc.__reduce__ = lambda self: _import_module("weft._pickle").reduce_ufunc(self)
_core.ufunc.__signature__ = _SignatureOf(_signature_of_ufunc, True)
_core._Dispatcher.__signature__ = _SignatureOfBinding()
generic.__signature__ = _SignatureOf(_signature_of_scalar, False)
ndarray.__signature__ = _SignatureOf(
    lambda _: "shape, dtype=None, buffer=None, offset=0, strides=None, order=None", False
)


def _newbyteorder(self, new_order="S", /):
    """The dtype with another order of bytes; itself for this machine's."""
    order = new_order[:1].lower() if isinstance(new_order, str) else new_order
    if order in ("=", "|", "<", "n", "l", "i") or self.itemsize == 1:
        return self
    if order not in ("s", ">", "b"):
        raise ValueError(f"{new_order} is an unrecognized byteorder")
    return _core.dtype(">" + self.str[1:])


def _subarray(self, count):
    """`dtype * count`: of as many elements, which NumPy has."""
    return self.__numpy_dtype__ * count


_core.dtype.newbyteorder = _newbyteorder
_core.dtype.__mul__ = _core.dtype.__rmul__ = _subarray
_core.dtype.__len__ = lambda self: 0  # it has no fields
_core.dtype.__bool__ = lambda self: True

# What numpy.testing asks the class of a dtype.
_core.dtype._is_numeric, _core.dtype._legacy, _core.dtype._abstract = True, True, False

integer.__round__ = floating.__round__ = _round_scalar
integer.__floor__ = floating.__floor__ = _by_python(math.floor)
integer.__ceil__ = floating.__ceil__ = _by_python(math.ceil)
integer.__trunc__ = floating.__trunc__ = _by_python(math.trunc)
floating.is_integer = _by_python(float.is_integer)
floating.as_integer_ratio = _by_python(float.as_integer_ratio)
floating.hex = _by_python(float.hex)
integer.is_integer = lambda self, /: True
integer.bit_count = lambda self, /: abs(self.item()).bit_count()
integer.numerator = property(lambda self: self)
integer.denominator = property(lambda self: type(self)(1))

numbers.Integral.register(integer)
numbers.Real.register(floating)
numbers.Complex.register(inexact)
numbers.Number.register(number)
_import_module("weft._array.number_classes")
