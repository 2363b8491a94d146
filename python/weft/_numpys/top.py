"""Tables and texts of NumPy's top level: ScalarType, typecodes, sctypeDict, info, show_runtime, buffer sizes, test."""

import builtins
import contextvars
import operator
from importlib import import_module

import weft
from weft._engine.numpy_version import numpy_is_at_least
from weft._numpys.private import PytestTester

typecodes = {
    "Character": "c",
    "Integer": "bhilqnp",
    "UnsignedInteger": "BHILQNP",
    "Float": "efdg",
    "Complex": "FDG",
    "AllInteger": "bBhHiIlLqQnNpP",
    "AllFloat": "efdgFDG",
    "Datetime": "Mm",
    "All": "?bhilqnpBHILQNPefdgFDGSUVOMm",
}

_NAMES = """
    int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 longdouble complex64 complex128
    clongdouble bool_ object_ bytes_ str_ void datetime64 timedelta64 longlong ulonglong
""".split()
_ALIASES = {
    "double": "float64", "cdouble": "complex128", "single": "float32", "csingle": "complex64", "half": "float16",
    "bool": "bool_", "int_": "intp", "uint": "uintp", "float": "float64", "complex": "complex128", "int": "int64",
    "object": "object_", "bytes": "bytes_", "a": "bytes_", "str": "str_", "unicode": "str_", "intp": "intp",
    "uintp": "uintp", "byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16", "intc": "int32",
    "uintc": "uint32", "long": "int64", "ulong": "uint64", "float128": "longdouble", "complex256": "clongdouble",
}  # fmt: skip


def _type_of(name):
    return getattr(weft, name, None)


sctypeDict = {name: kind for name in _NAMES if (kind := _type_of(name)) is not None}
sctypeDict.update({name: kind for name, target in _ALIASES.items() if (kind := _type_of(target)) is not None})
if numpy_is_at_least(2, 5):
    del sctypeDict["a"]
for _code in "?bhilqpBHILQPefdFD":
    sctypeDict[_code] = weft.dtype(_code).type

ScalarType = (
    builtins.int, builtins.float, builtins.complex, builtins.bool, builtins.bytes, builtins.str, memoryview,
    *dict.fromkeys(kind for name in _NAMES if (kind := _type_of(name)) is not None),
)  # fmt: skip

_buffer_size = contextvars.ContextVar("buffer_size", default=8192)


def getbufsize():
    """The size of NumPy's buffers in elements, which weft has none of.

    >>> np.getbufsize()
    8192
    """
    return _buffer_size.get()


def setbufsize(size):
    """Takes the size of NumPy's buffers, which makes no difference here; the size that was set before.

    >>> np.setbufsize(8192)
    8192
    """
    size = operator.index(size)
    if size < 0:
        raise ValueError("buffer size must be non-negative")
    before = _buffer_size.get()
    _buffer_size.set(size)
    return before


def info(object=None, maxwidth=76, output=None, toplevel="numpy"):
    """Prints the documentation of an object, or of a name; of an array what it is.

    >>> np.info(np.arange(3))  # doctest: +ELLIPSIS
    class:  ndarray
    shape:  (3,)
    ...
    """
    import_module(f"{weft.__name__}.lib._utils_impl").info(
        object, maxwidth, output, "weft" if toplevel == "numpy" else toplevel
    )


def show_runtime():
    """Prints the versions and the machine that this process has: weft, Python, devices, libraries."""
    import platform
    import sys
    from pprint import pprint

    pprint(
        [
            {
                "weft_version": weft.__version__,
                "python": sys.version,
                "uname": platform.uname(),
                "devices": [str(device) for device in weft.devices()],
            }
        ]
    )


test = PytestTester("weft")
