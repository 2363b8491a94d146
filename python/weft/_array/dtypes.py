"""What is known about the element types: limits, kinds, NumPy's further names."""

import sys

from weft import _core
from weft._array.class_attributes import with_attributes
from weft._core import asarray, dtype
from weft._engine.numpy_version import deprecated_in_numpy_2_5, numpy_is_at_least

# NumPy's other names of the same scalar types.
aliases = {
    "bool_": "bool",
    "byte": "int8",
    "ubyte": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "intc": "int32",
    "uintc": "uint32",
    "int_": "int64",
    "uint": "uint64",
    "intp": "int64",
    "uintp": "uint64",
    "long": "int64",
    "ulong": "uint64",
    "longlong": "int64",
    "ulonglong": "uint64",
    "half": "float16",
    "single": "float32",
    "double": "float64",
    "csingle": "complex64",
    "cdouble": "complex128",
}

# Of the significand without its leading bit, of the exponent, of decimal digits that survive.
_FLOATS = {
    "float16": (10, 5, 3),
    "bfloat16": (7, 8, 2),
    "float32": (23, 8, 6),
    "float64": (52, 11, 15),
}


_LINE = "-" * 63  # of the tables that print(finfo(...)) shows

_described = {}  # finfo by dtype: NumPy has one object for each


def _refuse_none():
    if numpy_is_at_least(2, 5):
        raise TypeError("dtype must not be None")
    import warnings

    warnings.warn(
        "finfo() dtype cannot be None. This behavior will raise an error in the future. (Deprecated in NumPy 1.25)",
        DeprecationWarning,
        stacklevel=3,
    )


@with_attributes(
    "bits", "dtype", "eps", "epsneg", "iexp", "machep", "max", "maxexp", "min", "minexp", "negep", "nexp", "nmant",
    "precision", "resolution", "smallest_normal", "smallest_subnormal", "tiny",
)  # fmt: skip
class finfo:
    """The limits of a floating-point type.

    >>> np.finfo(np.float32).eps
    np.float32(1.1920929e-07)
    """

    __module__ = "weft"  # as pickles name it

    def __new__(cls, dtype):
        if dtype is None:
            _refuse_none()
        described = dtype if isinstance(dtype, type) else getattr(dtype, "dtype", dtype)
        if described in ("g", "G") if isinstance(described, str) else _is_long(described):
            import numpy

            return numpy.finfo(described)
        given = dtype
        if isinstance(dtype, (_core.ndarray, _core.generic)):
            dtype = dtype.dtype
        elif isinstance(dtype, (float, complex)):
            dtype = type(dtype)
        dtype = _core.dtype(dtype)
        known = _described.get(dtype)
        if known is not None and cls is finfo:
            return known
        if dtype.kind == "c" and isinstance(dtype, _core.dtype):
            return cls(_core.dtype(f"f{dtype.itemsize // 2}"))
        if dtype.kind in "fc" and not isinstance(dtype, _core.dtype):  # another order of bytes
            return cls(dtype.newbyteorder("="))
        if dtype.kind != "f":
            fault = "not compatible with finfo" if numpy_is_at_least(2, 5) else "not inexact"
            raise ValueError(f"data type {given!r} {fault}")
        self = super().__new__(cls)
        self._describe(dtype)
        return _described.setdefault(dtype, self) if cls is finfo else self

    def __getnewargs__(self):
        return (self.dtype,)

    def _describe(self, dtype):
        self.dtype = dtype
        self.nmant, self.nexp, self.precision = _FLOATS[dtype.name]
        self.bits = dtype.itemsize * 8
        self.iexp = self.nexp
        self.machep, self.negep = -self.nmant, -self.nmant - 1
        self.maxexp = 1 << (self.nexp - 1)
        self.minexp = 2 - self.maxexp
        kind = dtype.type
        self.eps = kind(2.0**-self.nmant)
        self.epsneg = kind(2.0 ** (-self.nmant - 1))
        self.max = kind((2.0 - 2.0**-self.nmant) * 2.0 ** (self.maxexp - 1))
        self.min = kind(-((2.0 - 2.0**-self.nmant) * 2.0 ** (self.maxexp - 1)))
        self.smallest_normal = self.tiny = kind(2.0**self.minexp)
        self.smallest_subnormal = kind(2.0**self.minexp * 2.0**-self.nmant)
        self.resolution = kind(10.0**-self.precision)

    def __str__(self):
        return (
            f"Machine parameters for {self.dtype!s}\n{_LINE}\n"
            f"precision = {self.precision!s}   resolution = {self.resolution!s}\n"
            f"machep = {self.machep!s}   eps =        {self.eps!s}\n"
            f"negep =  {self.negep!s}   epsneg =     {self.epsneg!s}\n"
            f"minexp = {self.minexp!s}   tiny =       {self.tiny!s}\n"
            f"maxexp = {self.maxexp!s}   max =        {self.max!s}\n"
            f"nexp =   {self.nexp!s}   min =        -max\n"
            f"smallest_normal = {self.smallest_normal!s}   smallest_subnormal = {self.smallest_subnormal!s}\n{_LINE}\n"
        )

    def __repr__(self):
        return f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, dtype={self.dtype.name})"


class iinfo:
    """The limits of an integer type.

    >>> np.iinfo(np.int8).max
    127
    """

    __module__ = "weft"  # as pickles name it

    def __init__(self, int_type):
        given = int_type
        if isinstance(int_type, (_core.ndarray, _core.generic)):
            int_type = int_type.dtype
        elif isinstance(int_type, int):
            int_type = int
        self.dtype = dtype(int_type)
        self.kind, self.bits = self.dtype.kind, self.dtype.itemsize * 8
        if self.kind not in "iu":
            raise ValueError(f"Invalid integer data type {self.kind!r}.") from None
        del given

    @property
    def min(self):
        return 0 if self.kind == "u" else -(1 << (self.bits - 1))

    @property
    def max(self):
        return (1 << (self.bits - (self.kind == "i"))) - 1

    def __str__(self):
        return f"Machine parameters for {self.dtype}\n{_LINE}\nmin = {self.min}\nmax = {self.max}\n{_LINE}\n"

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype.name})"


def issubdtype(arg1, arg2):
    """Whether the first type is, or is below, the second in the hierarchy of scalar types.

    >>> np.issubdtype(np.float32, np.floating)
    True
    """

    def scalar_type(arg):
        if isinstance(arg, type) and (issubclass(arg, _core.generic) or _is_of_numpy(arg)):
            return arg
        return dtype(arg).type

    first, second = scalar_type(arg1), scalar_type(arg2)
    if _is_of_numpy(first) or _is_of_numpy(second):  # a type that weft leaves to NumPy
        import numpy

        first, second = (getattr(numpy, each.__name__, each) for each in (first, second))
    return issubclass(first, second)


def _is_long(described):
    """Whether a dtype or a type is NumPy's long double, whose arrays are NumPy's memory."""
    name = getattr(described, "__name__", None) or getattr(described, "name", None)
    return name in ("longdouble", "clongdouble", "float128", "complex256")


def _is_of_numpy(kind):
    return kind.__module__ == "numpy"


_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def isdtype(dtype, kind):
    """Whether a dtype is of a kind: 'integral', 'real floating' and so on, another dtype, or one of a tuple."""
    if not _is_scalar_type(dtype):
        raise TypeError(f"dtype argument must be a NumPy dtype, but it is a {type(dtype)}.")
    found = False
    for each in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(each, str):
            if each not in _KINDS:
                raise ValueError(f"kind argument is a string, but {each!r} is not a known kind name.")
            found = _core.dtype(dtype).kind in _KINDS[each] or found
        elif _is_scalar_type(each):
            found = _type_of(each) is _type_of(dtype) or found
        else:
            raise TypeError(
                f"kind argument must be comprised of NumPy dtypes or strings only, but is a {type(each)}."
            )
    return found


def _type_of(value):
    """The scalar type of a dtype, weft's where there is one; other types as they are."""
    kind = value if isinstance(value, type) else getattr(value, "type", None)
    if isinstance(kind, type) and kind.__module__ == "numpy":
        return getattr(_core, kind.__name__, kind)
    return kind


def _is_scalar_type(value):
    """Whether a value is a scalar type, or a dtype that has one: StringDType has none."""
    kind = _type_of(value)
    theirs = getattr(sys.modules.get("numpy"), "generic", _core.generic)
    return isinstance(kind, type) and issubclass(kind, (_core.generic, theirs))


def min_scalar_type(a, /):
    """The smallest dtype that holds a scalar's value; of an array its dtype."""
    a = _core.asarray(a)
    if a.ndim or a.dtype.kind == "b":
        return a.dtype
    value = a.item()
    if a.dtype.kind == "c":
        limit = float(finfo("float32").max)
        wide = any(part - part == 0 and abs(part) > limit for part in (value.real, value.imag))
        return a.dtype if wide else dtype("complex64")
    if a.dtype.kind == "f":
        for name in ("float16", "float32"):
            if value - value != 0 or abs(value) <= float(finfo(name).max):
                return dtype(name)
        return a.dtype
    for name in (
        ("uint8", "uint16", "uint32", "uint64") if value >= 0 else ("int8", "int16", "int32", "int64")
    ):
        if iinfo(name).min <= value <= iinfo(name).max:
            return dtype(name)
    return a.dtype


def common_type(*arrays):
    """The floating type that holds the arrays' elements, float64 at least where one is of integers.

    >>> np.common_type(np.array([1.0], "f4"), np.array([1]))
    <class 'weft.float64'>
    """
    dtypes = [_core.dtype("float16")]
    for a in arrays:
        kind = asarray(a).dtype.kind
        if kind not in "iufc":
            raise TypeError("can't get common type for non-numeric array")
        dtypes.append(_core.dtype("float64") if kind in "iu" else asarray(a).dtype)
    if not any(one.kind == "c" for one in dtypes):
        return _core.result_type(*dtypes).type
    size = max(one.itemsize // (2 if one.kind == "c" else 1) for one in dtypes)
    return _core.dtype("complex128" if size > 4 else "complex64").type


def mintypecode(typechars, typeset="GDFgdf", default="d"):
    """The smallest character of `typeset` that all the types may be cast to."""
    characters = [one if isinstance(one, str) else asarray(one).dtype.char for one in typechars]
    found = {one for one in characters if one in typeset}
    if not found:
        return default
    if "F" in found and "d" in found:
        return "D"
    return min(found, key="GDFgdf".index) if typeset == "GDFgdf" else min(found, key=typeset.index)


_TYPE_NAMES = {
    "S1": "character",
    "?": "bool",
    "b": "signed char",
    "B": "unsigned char",
    "h": "short",
    "H": "unsigned short",
    "i": "integer",
    "I": "unsigned integer",
    "l": "long integer",
    "L": "unsigned long integer",
    "q": "long long integer",
    "Q": "unsigned long long integer",
    "f": "single precision",
    "d": "double precision",
    "g": "long precision",
    "F": "complex single precision",
    "D": "complex double precision",
    "G": "complex long double precision",
    "S": "string",
    "U": "unicode",
    "V": "void",
    "O": "object",
}


def typename(char):
    """The words for a dtype's character.

    >>> np.typename("d")
    'double precision'
    """
    deprecated_in_numpy_2_5("numpy.typename is deprecated. Use numpy.dtype.name instead.")
    return _TYPE_NAMES[char]


def newbyteorder(self, new_order="S", /):
    """The dtype with another order of bytes, which is NumPy's where it is not the machine's.

    >>> np.dtype("i4").newbyteorder("=")
    dtype('int32')
    """
    return dtype(self.__numpy_dtype__.newbyteorder(new_order))


newbyteorder.__qualname__ = "dtype.newbyteorder"
dtype.newbyteorder = newbyteorder
del newbyteorder
