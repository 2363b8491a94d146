"""numba.cuda's names for weft.cuda: a program that launches kernels changes its import line and nothing else.

>>> import numpy
>>> from weft.numba import cuda
>>> @cuda.jit
... def add_one(a):
...     i = cuda.grid(1)
...     if i < a.size:
...         a[i] += 1
>>> a = numpy.zeros(3)
>>> add_one[1, 32](a)
>>> a
array([1., 1., 1.])
"""

import functools
from types import FunctionType as _FunctionType

import numpy

from weft import cuda as _cuda
from weft.cuda._devices import why_missing
from weft.cuda._options import options_of
from weft.numba import types
from weft.numba._decorators import is_jitted
from weft.numba._inner_calls import called_by_others
from weft.numba._signatures import is_signature, normalize_signature
from weft.numba._ufuncs import guvectorize as _guvectorize
from weft.numba._ufuncs import vectorize as _vectorize
from weft.numba.cuda import cudadrv
from weft.numba.cuda._overloads import set_types
from weft.numba.cuda.cudadrv import devicearray

_OTHERWISE = ("Reduce", "guvectorize", "jit", "libdevice", "random", "reduce", "vectorize")
globals().update({name: getattr(_cuda, name) for name in _cuda.__all__ if name not in _OTHERWISE})

_NUMBERS = frozenset(
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
)


def jit(func_or_sig=None, device=False, **options):
    """A kernel, or with `device=True` what kernels call, by numba.cuda's keywords and with Numba's promotion.

    Kernels are compiled for the arguments of each launch; a signature converts the numbers among them. Those of
    functions with `device=True` convert numbers and results where kernels call. Indices are checked, as
    boundscheck=False forgoes, and debug=True asks for. The options are those of `weft.cuda.jit`, with its errors.
    """
    if "promotion" in options:
        raise TypeError("weft.numba.cuda.jit has no option 'promotion': it is Numba's")
    options_of("weft.numba.cuda.jit", device, options)  # refuses what weft has not, by this name
    given = {name: value for name, value in options.items() if value is not None}

    def made(function):
        function = function.py_func if is_jitted(function) else function
        kernel = _cuda.jit(function, device=device, promotion="numba", **given)
        if device:
            _convert_inside(kernel, function, func_or_sig, bool(given.get("fastmath")))
        else:
            kernel._converters = _converters(func_or_sig)
            set_types(kernel, func_or_sig)
        return kernel

    is_function = isinstance(func_or_sig, _FunctionType) or hasattr(func_or_sig, "py_func")
    return made(func_or_sig) if is_function else made


def _convert_inside(compiled, function, signatures, fastmath):
    """Lets the types of signatures hold where kernels call a function."""
    signatures = signatures if isinstance(signatures, list) else [signatures]
    if all(map(is_signature, signatures)) and is_jitted(compiled):
        called = called_by_others(function, map(normalize_signature, signatures), fastmath)
        compiled._called_by_others = (function, called) if called is not None else None


def _converters(signature):
    """What numbers become by a signature: NumPy's, by the parameter's place."""
    if isinstance(signature, list):
        signature = signature[0] if len(signature) == 1 else None
    if isinstance(signature, str):
        signature = normalize_signature(signature)[0]
    kinds = getattr(signature, "args", signature)
    if not isinstance(kinds, tuple):
        return ()
    names = [getattr(kind, "name", "") for kind in kinds]
    return [functools.partial(_converted, name) if name in _NUMBERS else None for name in names]


def _converted(name, value):
    return numpy.array(value).astype(name)[()]


class Reduce(_cuda.Reduce):
    """A reduction by a function of two elements, with Numba's promotion."""

    _jit = staticmethod(jit)


reduce = Reduce
vectorize = functools.partial(_vectorize, target="cuda")
guvectorize = functools.partial(_guvectorize, target="cuda")


def __getattr__(name):
    """`libdevice` and `random` at their first use."""
    if name in ("libdevice", "random"):
        from importlib import import_module

        return import_module(f"weft.numba.cuda.{name}")
    raise why_missing("weft.numba.cuda", name)
