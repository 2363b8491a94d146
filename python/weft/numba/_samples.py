"""Values of types, for which functions are compiled without a call."""

import weft
from weft.numba._types import (
    Array,
    BaseTuple,
    Boolean,
    Complex,
    Float,
    Integer,
    List,
    ListType,
    MemoryView,
    NoneType,
    NPDatetime,
    Record,
    UnicodeType,
)


class NoSample(TypeError):
    """A type of which no value is made."""


def sample(kind):
    """A value of a type; arrays have no elements, but the order of the type."""
    if isinstance(kind, (Boolean, Integer, Float, Complex)):
        plain = {"bool": False, "int64": 0, "float64": 0.0, "complex128": 0j}
        return plain[kind.name] if kind.name in plain else getattr(weft, kind.name)(0)
    if isinstance(kind, Array):
        made = _array(kind, 2, "F" if kind.layout == "F" else "C")
        if kind.layout == "A" and kind.ndim:
            made = _array(kind, 4, "C")[(slice(None, None, 2),) * kind.ndim]
        if not kind.mutable:
            made.flags.writeable = False
        return memoryview(made) if isinstance(kind, MemoryView) else made
    if isinstance(kind, BaseTuple):
        values = tuple(map(sample, kind.types))
        return kind.instance_class(*values) if hasattr(kind, "instance_class") else values
    if isinstance(kind, (List, ListType)):
        return [sample(kind.dtype)]
    if isinstance(kind, NoneType):
        return None
    if isinstance(kind, UnicodeType):
        return ""
    if isinstance(kind, (NPDatetime, Record)):
        return _array(Array(kind, 1), 1, "C")[0]
    raise NoSample(f"weft.numba does not compile for {kind} without a call")


def _array(kind, size, order):
    if isinstance(kind.dtype, (NPDatetime, Record)):
        import numpy

        return numpy.zeros((size,) * kind.ndim, kind.dtype.numpy_dtype, order=order)
    return weft.empty((size,) * kind.ndim, kind.dtype.name, order=order)
