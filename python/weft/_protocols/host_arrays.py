"""Arrays of dtypes that weft leaves to NumPy: objects, strings, dates, structures, long doubles.

A HostArray is an ndarray to the program, over memory of NumPy's on the host, and NumPy runs its operations at the call.
Numeric results are weft's own arrays again; those that are views of NumPy's memory, such as a field of a structure,
share it. What NumPy does so is counted (fallback.py).
"""

import contextlib
import functools
import importlib
import inspect
import sys
import weakref

import numpy

from weft import _core
from weft._engine.device import device
from weft._engine.fallback import counting
from weft._protocols import texts
from weft._protocols.writers import first_argument, writes_first

_ndarray, _generic, _dtype = _core.ndarray, _core.generic, _core.dtype
mapped = None  # weft's memmap, once the program has it
masked = None  # what converts masked arrays, once the program has loaded numpy.ma's module of weft


_NATIVE = frozenset(
    ("b1", *(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)), "f2", "f4", "f8", "c8", "c16")
)


def is_native(dtype):
    """Whether weft has arrays of this dtype of NumPy's."""
    if dtype.kind == "V":
        return dtype.type.__name__ == "bfloat16"
    return dtype.isnative and f"{dtype.kind}{dtype.itemsize}" in _NATIVE and dtype.names is None


# Objects that mean the same to NumPy and to weft, so that long lists of them are passed on as they are.
_SAME = frozenset((str, bytes, int, float, complex, bool, type(None)))


def is_same(sequence):
    """Whether NumPy and weft see the same in each element of a list or tuple."""
    return _SAME.issuperset(_core._element_types(sequence))


class Conversion:
    """The arguments of a call for NumPy, and its results for the program."""

    __slots__ = ("_given", "moved")

    def __init__(self):
        self.moved = 0  # bytes from other devices
        self._given = {}  # by the id of NumPy's array: the program's and NumPy's, which keeps the id its own

    def to_numpy(self, value):
        kind = type(value)
        if kind in _SAME:
            return value
        if kind is HostArray:
            array = value._array
            self._given[id(array)] = value, array
            return array
        if isinstance(value, _ndarray):
            of_masked = kind is not _ndarray and masked is not None and masked.is_masked(value)
            array = masked.to_numpy(value) if of_masked else numpy.asarray(value)
            if value.device != "cpu":
                self.moved += array.nbytes
                if not of_masked:
                    array.flags.writeable = False  # a write into the copy would be lost: see call_with_copies
            self._given[id(array)] = value, array
            return array
        if kind is tuple or kind is list:
            return value if is_same(value) else kind([self.to_numpy(each) for each in value])
        if kind is dict:
            return {key: self.to_numpy(each) for key, each in value.items()}
        if kind is _dtype:
            return value.__numpy_dtype__
        if isinstance(value, _generic):
            return numpy.asarray(value)[()]
        if isinstance(value, type):
            return _class_to_numpy(value)
        return value

    def target(self, given):
        """A copy on the host of an array on a GPU, for NumPy to write into."""
        array = numpy.array(self.to_numpy(given), copy=True, subok=True)
        self._given[id(array)] = given, array
        return array

    def keep(self, out):
        """Arrays that results go into are the results."""
        for each in out if isinstance(out, tuple) else (out,):
            if isinstance(each, numpy.ndarray):
                self._given.setdefault(id(each), (each, each))

    def to_weft(self, value):
        kind = type(value)
        if isinstance(value, numpy.ndarray):
            known = self._given.get(id(value))
            return known[0] if known is not None else as_array(value)
        if issubclass(kind, numpy.generic):
            return as_scalar(value)
        if kind is tuple or kind is list:
            return value if is_same(value) else kind([self.to_weft(each) for each in value])
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*map(self.to_weft, value))
        return value


def _class_to_numpy(kind):
    """NumPy's class of the same name as a scalar type, ndarray or a class of masked arrays."""
    if issubclass(kind, _generic) or kind is _ndarray:
        return getattr(numpy, kind.__name__, kind)
    return kind if masked is None else masked.class_to_numpy(kind)


def as_array(array):
    """NumPy's array as the program gets it: weft's over the same memory, or a HostArray."""
    if type(array) is not numpy.ndarray and isinstance(array, numpy.ma.MaskedArray):
        return array if masked is None else masked.to_weft(array)
    if type(array) is numpy.ndarray and is_native(array.dtype):
        if array.base is None and _core.empty(0).device != "cpu":
            return _core.asarray(array)  # a new array, which goes where new arrays are made
        try:
            return _core.asarray(array, copy=False)
        except (
            ValueError,
            BufferError,
            TypeError,
        ):  # memory that weft cannot share, such as unaligned fields
            if array.base is None:
                return _core.asarray(array)
    return HostArray(array)


def as_scalar(value):
    """NumPy's scalar as the program gets it: weft's, or NumPy's where weft has no such type."""
    return _core.asarray(value)[()] if is_native(value.dtype) else value


def _copy_back(given, array):
    if isinstance(array, numpy.ma.MaskedArray):
        _copy_back(given._data, array._data)
        if array._mask is not numpy.ma.nomask:
            given._mask = _core.asarray(array._mask).to_device(given.device)
        return
    given[...] = _core.asarray(array).to_device(given.device)


def _is_on_gpu(value):
    return isinstance(value, _ndarray) and type(value) is not HostArray and value.device != "cpu"


def _outputs_by_place(function, args):
    """The arguments without a name that one of NumPy's functions takes for `out`."""
    if isinstance(function, numpy.ufunc):
        return args[function.nin :]
    if not any(map(_is_on_gpu, args)):
        return ()
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function in C that does not tell
        return ()
    if "out" not in parameters or parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY:
        return ()
    place = list(parameters).index("out")
    return args[place : place + 1]


def _converted(value, copies, to_numpy):
    if copies and isinstance(value, tuple):
        return tuple(_converted(each, copies, to_numpy) for each in value)
    return copies[id(value)][1] if id(value) in copies else to_numpy(value)


def call_with_copies(function, args, kwargs, first, to_numpy, target):
    """NumPy's result of a call. What it writes into arrays on a GPU goes into copies, which are copied back.

    `first`: it writes into its first argument. `to_numpy` converts the others, `target` makes the copies.
    """
    written = [kwargs.get("out"), *_outputs_by_place(function, args)]
    if first:
        written.append(first_argument(args, kwargs))
    copies = {}
    for given in written:
        for each in given if isinstance(given, tuple) else (given,):
            if _is_on_gpu(each) and id(each) not in copies:
                copies[id(each)] = each, target(each)
                copies[id(each)][1].flags.writeable = each.flags.writeable

    result = function(
        *(_converted(each, copies, to_numpy) for each in args),
        **{key: _converted(each, copies, to_numpy) for key, each in kwargs.items()},
    )
    for given, copy in copies.values():
        _copy_back(given, copy)
    return next((given for given, copy in copies.values() if copy is result), result)


def _by_engine(name, args, kwargs):
    """The engine's result of a call with arrays of texts, as the program gets it, or NotImplemented."""
    result = texts.instead(name, args, kwargs)
    if type(result) is numpy.ndarray:
        return HostArray(result)
    if isinstance(result, tuple):
        parts = [HostArray(each) if type(each) is numpy.ndarray else each for each in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result


def run(name, function, args, kwargs, reason, first=False):
    """A call that NumPy runs, counted, if it is none of texts that the engine has. `first`: it writes into its first
    argument."""
    result = _by_engine(name, args, kwargs)
    if result is not NotImplemented:
        return result
    conversion = Conversion()
    if str(kwargs.pop("device", None) or "cpu") != "cpu":
        raise TypeError(f"{name}: arrays of {reason} are on the host alone")
    with counting(name, reason) as count:
        conversion.keep(kwargs.get("out"))
        result = call_with_copies(function, args, kwargs, first, conversion.to_numpy, conversion.target)
        count.bytes += conversion.moved
    if name == "ndarray.tolist" and reason.startswith(("dtype <U", "dtype |S")):
        return result  # Python's texts
    return conversion.to_weft(result)


def _reason(array):
    return f"dtype {array.dtype.str if array.dtype.names is None else 'with fields'}"


def numpy_name(function):
    """NumPy's object of the same name as one of weft's, or None."""
    module = (getattr(function, "__module__", None) or "weft").split(".")
    name = getattr(function, "__name__", "")
    if module[1:2] == ["lib"] and len(module) > 2:
        with contextlib.suppress(ImportError):  # numpy.lib.recfunctions is no attribute before it is loaded
            importlib.import_module("numpy." + ".".join(module[1:]))
    for path in (module[1:], [part for part in module[1:] if not part.startswith("_")], []):
        found = numpy
        for part in [*path, *name.split(".")]:
            found = getattr(found, part, None)
        if found is not None:
            return found
    return None


class HostArray(_core._HostMemory):
    """An array over NumPy's memory, for dtypes that weft leaves to NumPy."""

    __slots__ = ("__weakref__",)
    __array_priority__ = 1.0
    __hash__ = None

    def __init__(self, array):
        object.__setattr__(self, "_array", array)

    # To isinstance, and to the program, it is an ndarray.
    @property
    def __class__(self):
        if (
            type(self._array) is not numpy.ndarray
            and masked is not None
            and isinstance(self._array, numpy.ma.MaskedArray)
        ):
            return masked.class_of(self._array)
        if type(self._array) is numpy.memmap:
            return mapped or _ndarray
        return _ndarray

    device = property(lambda self: device("cpu"))

    def to_device(self, device, /, *, stream=None):
        if str(device) != "cpu":
            raise TypeError(
                f"arrays of {_reason(self._array)} are on the host alone, and cannot go to {device}"
            )
        return self

    def __getattr__(self, name):
        if name in (
            "__array_struct__",
            "__array_interface__",
        ):  # __array__ says it all; these lose strings' lengths
            raise AttributeError(name)
        value = getattr(self._array, name)
        if callable(value) and not isinstance(value, (numpy.ndarray, type)):
            return functools.partial(_call_method, self, name, value)
        if isinstance(value, numpy.ndarray):
            return as_array(value)
        return value

    def __setattr__(self, name, value):
        setattr(self._array, name, Conversion().to_numpy(value))

    def __delattr__(self, name):
        delattr(self._array, name)

    def __dir__(self):
        return dir(self._array)

    def __array__(self, dtype=None, copy=None):
        return numpy.array(self._array, dtype, copy=copy)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        theirs = ufunc if isinstance(ufunc, numpy.ufunc) else getattr(numpy, ufunc.__name__, None)
        if theirs is None:
            return NotImplemented
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        return run(name, getattr(theirs, method), inputs, options, _reason(self._array), method == "at")

    def __array_function__(self, function, types, args, kwargs):
        theirs = function if getattr(function, "__module__", "").startswith("numpy") else numpy_name(function)
        if theirs is None:
            return NotImplemented
        name = function.__name__
        return run(name, theirs, args, kwargs, _reason(self._array), writes_first(name))

    def __getitem__(self, index):
        conversion = Conversion()
        value = self._array[conversion.to_numpy(index)]
        return conversion.to_weft(value)

    def __setitem__(self, index, value):
        conversion = Conversion()
        self._array[conversion.to_numpy(index)] = conversion.to_numpy(value)

    def __len__(self):
        return len(self._array)

    def __iter__(self):
        return map(Conversion().to_weft, self._array)

    def __repr__(self):
        return _text(repr, self._array)

    def __str__(self):
        return _text(str, self._array)

    def __format__(self, spec):
        return format(self._array, spec)

    def resize(self, /, *new_shape, refcheck=True):
        # The caller's name, the argument here and that of getrefcount are three. NumPy looks at views.
        if refcheck and (sys.getrefcount(self) > 3 or weakref.getweakrefcount(self)):
            raise ValueError(
                "cannot resize an array that references or is referenced\nby another object in this way.\nUse the "
                "np.resize function to get a new resized copy or\n set refcheck=False to disable this check"
            )
        self._array.resize(*new_shape, refcheck=refcheck)

    def __copy__(self):
        return HostArray(self._array.copy())

    def __deepcopy__(self, memo):
        import copy

        return HostArray(copy.deepcopy(self._array, memo))

    def __reduce_ex__(self, protocol):
        return as_array, (self._array,)


def _text(function, array):
    options = getattr(_core, "_print_options", None)  # what the program has changed in weft
    if options is None:
        return function(array)
    with numpy.printoptions(**options()):
        return function(array)


_PLACE_OF_INITIAL = {"sum": 4, "prod": 4, "max": 3, "min": 3}


def _call_method(self, name, method, *args, **kwargs):
    place = _PLACE_OF_INITIAL.get(name, len(args))
    if place < len(args) and args[place] is ...:  # weft's default of it
        args = (*args[:place], numpy._NoValue, *args[place + 1 :])
    result = _by_engine(f"ndarray.{name}", (self, *args), kwargs)
    if result is not NotImplemented:
        return result
    result = run(f"ndarray.{name}", method, args, kwargs, _reason(self._array))
    return self if type(result) is HostArray and result._array is self._array else result


_UFUNCS = {
    "__eq__": "equal",
    "__ne__": "not_equal",
    "__lt__": "less",
    "__le__": "less_equal",
    "__gt__": "greater",
    "__ge__": "greater_equal",
    "__add__": "add",
}


def _operator(name, in_place):
    ufunc = _UFUNCS.get(name)

    def method(self, *others):
        if ufunc is not None:
            result = _by_engine(ufunc, (self, *others), {})
            if result is not NotImplemented:
                return result
        conversion = Conversion()
        theirs = getattr(type(self._array), name)
        with counting(name.strip("_"), _reason(self._array)) as count:
            result = theirs(self._array, *map(conversion.to_numpy, others))
            count.bytes += conversion.moved
        return self if in_place and result is self._array else conversion.to_weft(result)

    method.__name__ = name
    return method


def _conversion(name):
    def method(self, *others):
        return getattr(type(self._array), name)(self._array, *others)

    method.__name__ = name
    return method


_BINARY = "add sub mul truediv floordiv mod divmod pow matmul lshift rshift and or xor".split()
for _name in _BINARY:
    for _form in ("", "r"):
        setattr(HostArray, f"__{_form}{_name}__", _operator(f"__{_form}{_name}__", False))
    if _name != "divmod":
        setattr(HostArray, f"__i{_name}__", _operator(f"__i{_name}__", True))
for _name in "eq ne lt le gt ge neg pos abs invert".split():
    setattr(HostArray, f"__{_name}__", _operator(f"__{_name}__", False))
for _name in "bool int float complex index contains".split():
    setattr(HostArray, f"__{_name}__", _conversion(f"__{_name}__"))
HostArray.__name__ = HostArray.__qualname__ = "ndarray"
HostArray.__module__ = "weft"
del _name, _form
