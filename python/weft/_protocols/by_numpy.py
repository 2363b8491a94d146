"""Calls that failed because of a dtype that weft leaves to NumPy: NumPy's answer instead of the error.

The binding comes here with a TypeError or an OverflowError (python/bindings/protocols/by_numpy.h).
"""

import threading

from weft import _core
from weft._engine.fallback import counting
from weft._protocols.writers import writes_first

_running = threading.local()
_NONE_IS_NO_ARRAY = "weft has no arrays of 'NoneType' objects"


def instead(name, kind, args, kwargs, error):
    """NumPy's result of a call of a "function", a "ufunc", a "method" or "dtype", or NotImplemented where the error has
    another reason. Errors of NumPy's are raised."""
    if getattr(_running, "now", False) or "like" in kwargs:
        return NotImplemented
    _running.now = True
    try:
        import numpy

        from weft._protocols import host_arrays

        if kind == "dtype":
            found = _foreign_dtype(args[0], numpy, host_arrays)
            if found is not None and (args[1] or args[2] is not None):  # align, metadata
                options = {} if args[2] is None else {"metadata": args[2]}
                found = numpy.dtype(
                    host_arrays.Conversion().to_numpy(args[0]), align=bool(args[1]), **options
                )
            return NotImplemented if found is None else found
        if name in ("array", "asarray") and len(args) == 1 and not kwargs and type(args[0]) is list:
            made = host_arrays.texts.from_list(args[0])
            if made is not None:
                return host_arrays.HostArray(made)
        reason = _reason(name, args, kwargs, numpy, host_arrays)
        if reason is None and str(error) == _NONE_IS_NO_ARRAY:
            reason = "dtype |O"
        if reason is None:
            return NotImplemented
        if kind == "method":
            function = getattr(numpy.ndarray, name, None)
        else:
            function = numpy
            for part in name.split("."):
                function = getattr(function, part, None)
        if function is None:
            return NotImplemented
    finally:
        _running.now = False
    first = writes_first(name)
    return host_arrays.run(
        name if kind != "method" else f"ndarray.{name}", function, args, kwargs, reason, first
    )


def _foreign_dtype(value, numpy, host_arrays):
    """NumPy's dtype for what describes one that weft has not."""
    if value is None or isinstance(value, (bool, int, float, complex)):
        return None
    try:
        dtype = numpy.dtype(host_arrays.Conversion().to_numpy(value))
    except Exception:
        return None
    return None if host_arrays.is_native(dtype) else dtype


def _reason(name, args, kwargs, numpy, host_arrays):
    """What makes the call NumPy's: the first operand or dtype that weft has not."""
    if name == "ndarray":  # its buffer is no operand
        args, kwargs = (), {"dtype": args[1] if len(args) > 1 else kwargs.get("dtype")}
    given = [(None, value) for value in args]
    for key, value in (*kwargs.items(), *given) if "dtype" in kwargs else (*given, *kwargs.items()):
        if value is None:
            continue
        if key == "out":
            outputs = value if isinstance(value, tuple) else (value,)
            if any(isinstance(each, numpy.ndarray) for each in outputs):
                return "out is NumPy's array"
        if (
            key == "dtype"
            or isinstance(value, (type, numpy.dtype))
            or (isinstance(value, list) and _describes(value))
        ):
            dtype = _foreign_dtype(value, numpy, host_arrays)
            if dtype is not None:
                return f"dtype {dtype.str if dtype.names is None else 'with fields'}"
            if key == "dtype" or not isinstance(value, list):
                continue
        if key is not None and isinstance(value, str):
            continue  # an option
        if type(value) is host_arrays.HostArray and host_arrays.is_native(value.dtype):
            return f"NumPy's class {type(value._array).__name__}"
        dtype = _dtype_of(value, numpy, host_arrays)
        if dtype is not None and not host_arrays.is_native(dtype):
            return f"dtype {dtype.str if dtype.names is None else 'with fields'}"
    if args and args[0] is None and not kwargs.get("dtype"):
        return "dtype |O"
    if name in ("array", "asarray", "asanyarray") and args and callable(args[0]) and "dtype" not in kwargs:
        return "dtype |O"  # a function, or an object such as a polynomial
    if name == "where" and len(args) > 1:  # None is one of its operands, or one is missing, as NumPy says
        return "dtype |O"
    if name == "array" and kwargs.get("ndmax"):
        return "dtype |O"
    # A string that is no operand: zeros(3, "U5").
    for value in args:
        if isinstance(value, str):
            dtype = _foreign_dtype(value, numpy, host_arrays)
            if dtype is not None:
                return f"dtype {dtype.str}"
    return None


def _lends_memory(value, numpy, host_arrays):
    """Whether a foreign object lends its memory, or an element of a list does."""
    if isinstance(value, (list, tuple)):
        if host_arrays.is_same(value):
            return False
        different = {type(each): each for each in value}.values()  # long lists have few types
        return any(
            _lends_memory(each, numpy, host_arrays)
            for each in (value if _holds_more(different) else different)
        )
    return not issubclass(type(value), (bytes, str, numpy.ndarray, numpy.generic)) and _core._lends_memory(
        value
    )


def _holds_more(values):
    return any(isinstance(each, (list, tuple)) for each in values)


def _describes(value):
    """Whether a list looks like the fields of a structure."""
    return bool(value) and all(
        isinstance(each, tuple) and each and isinstance(each[0], str) for each in value
    )


def _dtype_of(value, numpy, host_arrays):
    """The dtype that NumPy gives an operand, None where weft's own is as good."""
    if isinstance(value, host_arrays._ndarray) and type(value) is not host_arrays.HostArray:
        return None
    if value is None or isinstance(value, (bool, float, complex, _core.generic, slice)):
        return None
    if isinstance(value, int):
        return None if -(2**63) <= value < 2**64 else numpy.dtype(object)
    kind = type(value)
    if not issubclass(kind, numpy.ndarray) and any(
        hasattr(kind, name) for name in ("__cuda_array_interface__", "__dlpack__", "__array_interface__")
    ):
        if not issubclass(kind, (numpy.generic, host_arrays.HostArray)):
            return None  # memory of another library, which weft has refused
    if hasattr(value, "dtype") and isinstance(value.dtype, numpy.dtype) and hasattr(value, "__array__"):
        return value.dtype  # sparse matrices have one, too, and are objects to NumPy
    if callable(value) and not hasattr(value, "__array__"):
        return None
    if _lends_memory(value, numpy, host_arrays):
        return None  # elements that weft has refused, or memory that is not what it says
    try:
        return numpy.asarray(host_arrays.Conversion().to_numpy(value)).dtype
    except Exception:
        if not isinstance(value, (list, tuple)):
            return None
    found = (_dtype_of(each, numpy, host_arrays) for each in value)  # of several arrays
    return next((each for each in found if each is not None and not host_arrays.is_native(each)), None)


def assign(array, index, value):
    """array[index] = value for values that weft has no dtype for; NotImplemented where another reason has failed."""
    if getattr(_running, "now", False):
        return NotImplemented
    _running.now = True
    try:
        import numpy

        from weft._protocols import host_arrays

        if not hasattr(value, "dtype"):
            return NotImplemented
        found = _dtype_of(value, numpy, host_arrays)
        if found is None or host_arrays.is_native(found):
            return NotImplemented
        with counting("setitem", f"dtype {found.str}"):
            converted = numpy.asarray(host_arrays.Conversion().to_numpy(value))
            # Rounded to the array's dtype by NumPy, whose errors say what does not fit.
            converted = converted.astype(array.dtype.__numpy_dtype__)
    finally:
        _running.now = False
    array[index] = converted
    return None
