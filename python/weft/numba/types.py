"""Numba's types: what `typeof` answers, what signatures are made of, and what casts a number in a compiled function.

>>> from weft.numba import types
>>> types.float64[:, ::1]
array(float64, 2d, C)
>>> types.float64(types.int64, types.float32[:])
(int64, array(float32, 1d, A)) -> float64
"""

from weft.numba._types import (
    Array,
    BaseTuple,
    Boolean,
    Complex,
    CPointer,
    DType,
    Dummy,
    Float,
    Function,
    Integer,
    IntegerLiteral,
    List,
    ListType,
    Literal,
    MemoryView,
    NamedTuple,
    NamedUniTuple,
    NoneType,
    NPDatetime,
    NPTimedelta,
    Number,
    Optional,
    Record,
    Signature,
    SliceType,
    StringLiteral,
    StructRef,
    Tuple,
    Type,
    UnicodeType,
    UniTuple,
    from_numpy,
    literal,
    names,
)

globals().update(names)

__all__ = [
    *names,
    "Array",
    "BaseTuple",
    "Boolean",
    "CPointer",
    "Complex",
    "DType",
    "Dummy",
    "Float",
    "Function",
    "Integer",
    "IntegerLiteral",
    "List",
    "ListType",
    "Literal",
    "MemoryView",
    "NamedTuple",
    "NamedUniTuple",
    "NPDatetime",
    "NPTimedelta",
    "NoneType",
    "Number",
    "Optional",
    "Record",
    "Signature",
    "SliceType",
    "StringLiteral",
    "StructRef",
    "Tuple",
    "Type",
    "UniTuple",
    "UnicodeType",
    "from_numpy",
    "literal",
    "optional",
]

optional = Optional


def __getattr__(name):
    raise AttributeError(f"weft.numba.types has no {name!r}; it has {', '.join(sorted(names))}")
