"""Signatures of functions of numbers, as Numba writes them: "float64(float64, int32)"."""

import re

from weft import _core

_NAMES = {
    "boolean": "bool",
    "bool_": "bool",
    "b1": "bool",
    "float": "float32",
    "double": "float64",
    "float_": "float64",
    "f": "float32",
    "d": "float64",
    "char": "int8",
    "uchar": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "int_": "int64",
    "intc": "int32",
    "uintc": "uint32",
    "long_": "int64",
    "ulong": "uint64",
    "longlong": "int64",
    "ulonglong": "uint64",
    "ssize_t": "int64",
    "size_t": "uint64",
    "intp": "int64",
    "uintp": "uint64",
}
_CALL = re.compile(r"\s*(?P<result>[^()]*|\([^()]*\)|\w+\([^()]*\))\s*\((?P<inputs>[^()]*)\)\s*", re.DOTALL)


def dtype_of(text):
    """The dtype that a name of Numba's or NumPy's means; of anything else its `name` or `str()` is read."""
    if isinstance(text, _core.dtype):
        return text
    if not isinstance(text, str):
        text = getattr(text, "name", None) or getattr(text, "__name__", None) or str(text)
    text = text.strip()
    name = _NAMES.get(text, text)
    try:
        return _core.dtype(name)
    except TypeError:
        raise TypeError(f"{text!r} in a signature is no type of numbers") from None


def _dtypes_of(text):
    inside = text.strip()
    wrapped = re.fullmatch(r"(?:\w+)?\((.*)\)", inside, re.DOTALL)
    if wrapped:
        inside = wrapped[1]
    return [dtype_of(part) for part in inside.split(",") if part.strip()]


def read_signature(given):
    """The dtypes of inputs and of results; no results where the signature has none, as in (float64, float64)."""
    inputs = getattr(given, "args", None)
    if inputs is not None and not isinstance(given, str):
        result = getattr(given, "return_type", None)
        results = () if result is None else getattr(result, "types", None) or (result,)
        return [dtype_of(one) for one in inputs], [dtype_of(one) for one in results]
    if isinstance(given, (tuple, list)):
        return [dtype_of(one) for one in given], []
    if not isinstance(given, str):
        return [dtype_of(given)], []  # a type by itself
    found = _CALL.fullmatch(given)
    if not found:
        return _dtypes_of(given), []
    return _dtypes_of(found["inputs"]), _dtypes_of(found["result"])
