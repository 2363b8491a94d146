"""CUDA's vectors of one to four numbers: float32x4, which is float4 as well, and so on."""

import dataclasses
import functools

import weft

_FIELDS = ("x", "y", "z", "w")
_KINDS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
# CUDA's names of the numbers.
_ALIASES = {
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "longlong": "int64",
    "uchar": "uint8",
    "ushort": "uint16",
    "uint": "uint32",
    "ulong": "uint64",
    "ulonglong": "uint64",
    "float": "float32",
    "double": "float64",
}


def _pickled(vector):
    return VECTORS[type(vector).__name__], dataclasses.astuple(vector)


@functools.cache
def _records(kind):
    """The classes of vectors of one to four such numbers."""
    return [
        dataclasses.make_dataclass(
            f"{kind}x{count}",
            _FIELDS[:count],
            frozen=True,
            namespace={"__module__": "weft.cuda", "__reduce__": _pickled},
        )
        for count in range(1, 5)
    ]


def _parts_of(number, one, two, three, four):
    """What makes a tuple of numbers of a part of a vector: a number, or a vector of such."""

    def parts(given):
        if isinstance(given, four):
            return (given.x, given.y, given.z, given.w)
        if isinstance(given, three):
            return (given.x, given.y, given.z)
        if isinstance(given, two):
            return (given.x, given.y)
        if isinstance(given, one):
            return (given.x,)
        return (number(given),)

    return parts


def _maker(record, parts):
    """A function that makes a vector of numbers and shorter vectors."""

    def make(*given):
        if len(given) == 0:
            return record()
        if len(given) == 1:
            return record(*parts(given[0]))
        if len(given) == 2:
            return record(*parts(given[0]), *parts(given[1]))
        if len(given) == 3:
            return record(*parts(given[0]), *parts(given[1]), *parts(given[2]))
        first, second = parts(given[0]) + parts(given[1]), parts(given[2]) + parts(given[3])
        return record(*first, *second, *given[4:])

    return make


class VectorType:
    """A vector of numbers of one type, made of numbers and of shorter vectors, in kernels and outside.

    Its numbers are the fields `x`, `y`, `z` and `w`, which stay what they are. Numbers of other types are cast. Vectors
    may be variables, elements of tuples, and arguments and results of functions that kernels call, and arguments of
    kernels, and elements of the arrays that `shared.array` and `local.array` make with a vector's type as dtype.

    Raises
    ------
    TypeError
        When the parts have more or fewer numbers than the vector, or are vectors of another type; in kernels, too, as
        weft.CompileError.

    Examples
    --------
    >>> from weft import cuda
    >>> @cuda.jit
    ... def kernel(out):
    ...     front = cuda.float32x2(1, 2)
    ...     whole = cuda.float4(front, 3, 4)
    ...     out[0] = whole.x * whole.w
    >>> out = np.zeros(1)
    >>> kernel[1, 1](out)
    >>> out
    array([4.])
    """

    _is_weft_vector_type = True
    __module__ = "weft.cuda"

    def __init__(self, kind, count):
        self._kind, self._count = kind, count
        self.__name__ = self.__qualname__ = f"{kind}x{count}"

    @functools.cached_property
    def _record(self):
        return _records(self._kind)[self._count - 1]

    @functools.cached_property
    def dtype(self):
        """The structured dtype of NumPy's that has its numbers as fields."""
        import numpy

        return numpy.dtype([(name, self._kind) for name in _FIELDS[: self._count]])

    @functools.cached_property
    def _function(self):
        """What kernels call."""
        parts = _parts_of(getattr(weft, self._kind), *_records(self._kind))
        return _maker(self._record, parts)

    def __call__(self, *parts):
        return self._function(*parts)

    def __instancecheck__(self, value):
        return isinstance(value, self._record)

    def __repr__(self):
        return f"<weft.cuda.{self.__name__}>"

    def __reduce__(self):
        return self.__name__  # found in the module that __module__ names


VECTORS = {f"{kind}x{count}": VectorType(kind, count) for kind in _KINDS for count in range(1, 5)}
VECTORS |= {
    f"{alias}{count}": VECTORS[f"{kind}x{count}"] for alias, kind in _ALIASES.items() for count in range(1, 5)
}
