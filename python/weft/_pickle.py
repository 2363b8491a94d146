"""How arrays are pickled: `__reduce__`, `__reduce_ex__` and `__setstate__`, with NumPy's states.

What a pickle says is checked before memory is asked for: pickles come from files and from networks.
"""

import sys

from weft import _core
from weft._core import dtype as _dtype
from weft._core import ndarray

_VERSION = 1


def reconstruct(subtype, shape, dtype):
    """An empty array of a subclass, to be given its state."""
    if not (isinstance(subtype, type) and issubclass(subtype, ndarray)):
        raise TypeError("_reconstruct: First argument must be a sub-type of ndarray")
    return ndarray.__new__(subtype, shape, "int8" if dtype in (b"b", "b") else dtype)


def from_buffer(buffer, dtype, shape, order):
    """An array over a buffer that was pickled apart from the rest. Bytes that the pickle itself held are copied."""
    if hasattr(buffer, "raw"):  # a PickleBuffer, whose array may lie in Fortran order
        buffer = buffer.raw()
    if not isinstance(order, str):  # the axes from the outermost in memory to the innermost
        within = from_buffer(buffer, dtype, tuple(shape[axis] for axis in order), "C")
        return within.transpose(sorted(range(len(order)), key=order.__getitem__))
    flat = _core.frombuffer(buffer, dtype)
    if isinstance(buffer, (bytes, bytearray)):
        flat, writeable = flat.copy(), isinstance(buffer, bytearray)
        flat = flat.reshape(shape, order=order)
        if not writeable:
            flat.flags.writeable = False
        return flat
    return flat.reshape(shape, order=order)


def reduce(self):
    """The way that every protocol of pickle has."""
    fortran = self.flags.fnc
    return (
        reconstruct,
        (type(self), (0,), b"b"),
        (_VERSION, self.shape, self.dtype, fortran, ndarray.tobytes(self, "F" if fortran else "C")),
    )


def reduce_ex(self, protocol):
    """From protocol 5 on the elements are a buffer, which may travel apart from the rest."""
    flags = self.flags
    if protocol < 5 or type(self) is not ndarray:
        return self.__reduce__()
    order, lent = "F" if flags.fnc else "C", self
    if not flags.forc:
        order = tuple(sorted(range(self.ndim), key=lambda axis: -self.strides[axis]))
        lent = self.transpose(order)
        if not lent.flags.c_contiguous:
            return self.__reduce__()
    from pickle import PickleBuffer

    try:
        buffer = PickleBuffer(lent)
    except (TypeError, BufferError):  # on a GPU, or of a dtype that the buffer protocol has not
        return self.__reduce__()
    return from_buffer, (buffer, self.dtype, self.shape, order)


def _count_of(shape):
    count = 1
    for extent in shape:
        if not isinstance(extent, int) or extent < 0:
            raise TypeError("impossible dimension while unpickling array")
        count *= extent
    return count


def set_state(self, state):
    """Makes `self` the array that `state` describes: (version, shape, dtype, is_fortran, bytes)."""
    if not isinstance(state, tuple) or len(state) not in (4, 5):
        kind = type(state).__name__
        said = (
            f"sequence of length 4, not {len(state)}"
            if isinstance(state, tuple)
            else f"4-item sequence, not {kind}"
        )
        raise TypeError(f"__setstate__() argument 1 must be {said}")
    version, shape, dtype, fortran, data = state if len(state) == 5 else (0, *state)
    if version not in (0, 1):
        raise ValueError(f"can't handle version {version} of numpy.ndarray pickle")
    if not isinstance(shape, tuple):
        raise TypeError(f"__setstate__() argument 1 must hold a shape, not {type(shape).__name__}")
    count = _count_of(shape)
    dtype = _dtype(dtype)
    if isinstance(data, str):  # pickled by Python 2
        data = data.encode("latin1")
    if not isinstance(data, (bytes, bytearray)):
        raise TypeError("pickle not returning string or buffer")
    if len(data) != count * dtype.itemsize:
        raise ValueError("buffer size does not match array size")
    if fortran:
        made = _core._from_bytes(bytes(data), dtype, shape[::-1]).T.copy("F")
    else:
        made = _core._from_bytes(bytes(data), dtype, shape)
    _core._adopt(self, made)


def ufunc_named(name):
    """A ufunc that the package has under another module's name."""
    return _core._ufuncs[name]


def ufunc_of_function(module, name):
    """What stands where a function was defined, which a decorator made a ufunc."""
    import importlib
    import operator

    return operator.attrgetter(name)(importlib.import_module(module))


def reduce_ufunc(self):
    """A ufunc is its name, as functions are."""
    name = self.__name__
    if getattr(sys.modules["weft"], name, None) is self:
        return name
    if _core._ufuncs.get(name) is self:
        return ufunc_named, (name,)
    function = getattr(self, "py_func", None)
    if function is not None:  # as functions are: by the place where it is defined
        return ufunc_of_function, (function.__module__, function.__qualname__)
    raise TypeError(f"cannot pickle the ufunc {name}")
