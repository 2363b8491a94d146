"""The classes behind weft.numba.types."""

import sys


class Type:
    """A type of values; equal where its name is."""

    def __init__(self, name):
        self.name = name

    @property
    def key(self):
        return self.name

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, Type) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __call__(self, *arguments):
        """A signature of types that returns this one."""
        return Signature(self, arguments)

    def __getitem__(self, index):
        """The array type that `index` spells: [:], [:, :], [::1] of C's order, [::1, :] of Fortran's."""
        dimensions = index if isinstance(index, tuple) else (index,)
        if not all(isinstance(each, slice) and each.start is each.stop is None for each in dimensions):
            raise KeyError(f"an array type is written {self}[:] or {self}[:, ::1], not {self}[{index}]")
        steps = [each.step for each in dimensions]
        if steps[-1] == 1:
            return Array(self, len(steps), "C")
        return Array(self, len(steps), "F" if steps[0] == 1 else "A")

    def is_precise(self):
        return True


class Number(Type):
    """A type of numbers. Called with a number it casts it, as in a compiled function."""

    def __init__(self, name, bitwidth):
        super().__init__(name)
        self.bitwidth = bitwidth

    def __call__(self, *arguments):
        if len(arguments) != 1 or isinstance(arguments[0], (Type, str)):
            return super().__call__(*arguments)
        return self.cast_python_value(arguments[0])

    def cast_python_value(self, value):
        """`value` as NumPy's scalar of this type."""
        return _numpy().asarray(value).astype(self.name)[()]


class Integer(Number):
    """int8 to uint64."""

    def __init__(self, name, bitwidth):
        super().__init__(name, bitwidth)
        self.signed = not name.startswith("u")

    @property
    def minval(self):
        return -(1 << (self.bitwidth - 1)) if self.signed else 0

    @property
    def maxval(self):
        return (1 << (self.bitwidth - self.signed)) - 1


class Float(Number):
    """float16, float32 and float64."""


class Complex(Number):
    """complex64 and complex128."""

    @property
    def underlying_float(self):
        return names["float32" if self.bitwidth == 64 else "float64"]


class Boolean(Number):
    """bool."""

    def __init__(self, name):
        super().__init__(name, 8)

    def cast_python_value(self, value):
        return bool(value)


class NPDatetime(Type):
    """numpy.datetime64 of a unit."""

    _kind = "datetime64"

    def __init__(self, unit=""):
        self.unit = unit
        super().__init__(f"{self._kind}[{unit}]")

    @property
    def numpy_dtype(self):
        return _numpy().dtype(f"{self._kind}[{self.unit}]" if self.unit else self._kind)


class NPTimedelta(NPDatetime):
    """numpy.timedelta64 of a unit."""

    _kind = "timedelta64"


class NoneType(Type):
    """None, and what a function without a result returns."""


class UnicodeType(Type):
    """str."""


class SliceType(Type):
    """slice."""


class Dummy(Type):
    """What has no values of its own: functions, modules, and whatever is not known."""


class Function(Dummy):
    """A function."""


class Array(Type):
    """An array. `layout` is C, F, or A for any strides."""

    def __init__(self, dtype, ndim, layout="A", readonly=False, aligned=True):
        self.dtype, self.ndim, self.layout = dtype, ndim, layout
        self.mutable, self.aligned = not readonly, aligned
        kind = ("readonly " if readonly else "") + ("" if aligned else "unaligned ")
        super().__init__(
            f"{kind.strip().replace(' ', ', ')}{' ' if kind else ''}array({dtype}, {ndim}d, {layout})"
        )

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        """The same but for what is given."""
        return Array(
            self.dtype if dtype is None else dtype,
            self.ndim if ndim is None else ndim,
            self.layout if layout is None else layout,
            not self.mutable if readonly is None else readonly,
            self.aligned,
        )

    @property
    def is_c_contig(self):
        return self.layout == "C" or (self.ndim <= 1 and self.layout == "F")

    @property
    def is_f_contig(self):
        return self.layout == "F" or (self.ndim <= 1 and self.layout == "C")

    @property
    def is_contig(self):
        return self.layout in "CF"


class MemoryView(Array):
    """A memoryview."""

    def __init__(self, dtype, ndim, layout="A", readonly=False, aligned=True):
        super().__init__(dtype, ndim, layout, readonly, aligned)
        self.name = self.name.replace("array(", "memoryview(")


class BaseTuple(Type):
    def __len__(self):
        return len(self.types)

    def __iter__(self):
        return iter(self.types)

    @property
    def count(self):
        return len(self.types)

    def __getitem__(self, index):
        if isinstance(index, int):
            return self.types[index]
        return super().__getitem__(index)


class UniTuple(BaseTuple):
    """A tuple of `count` values of one type."""

    def __init__(self, dtype, count):
        self.dtype, self.types = dtype, (dtype,) * count
        super().__init__(f"UniTuple({dtype} x {count})")


class Tuple(BaseTuple):
    """A tuple of values of several types; of one type it is a UniTuple."""

    def __new__(cls, types):
        types = tuple(types)
        if cls is Tuple and types and all(each == types[0] for each in types):
            return UniTuple(types[0], len(types))
        return super().__new__(cls)

    def __init__(self, types):
        self.types = tuple(types)
        super().__init__(f"Tuple({', '.join(map(str, self.types))})")


class NamedTuple(BaseTuple):
    """An instance of a namedtuple."""

    def __init__(self, types, instance_class):
        self.types, self.instance_class = tuple(types), instance_class
        self.fields = instance_class._fields
        super().__init__(f"{instance_class.__name__}({', '.join(map(str, self.types))})")


class NamedUniTuple(NamedTuple):
    """The same, of one type; Numba tells the two apart."""

    def __init__(self, dtype, count, instance_class):
        super().__init__((dtype,) * count, instance_class)


class List(Type):
    """A list of Python's."""

    def __init__(self, dtype, reflected=True):
        self.dtype, self.reflected = dtype, reflected
        super().__init__(f"{'reflected ' if reflected else ''}list({dtype})")


class ListType(Type):
    """A typed.List."""

    def __init__(self, dtype):
        self.dtype = self.item_type = dtype
        super().__init__(f"ListType[{dtype}]")


class Optional(Type):
    """A value or None."""

    def __init__(self, type):
        self.type = type
        super().__init__(f"OptionalType({type})")


class CPointer(Type):
    """Where elements begin, as functions in CUDA C++ take it."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"{dtype}*")


class DType(Type):
    """A dtype, as an argument."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"dtype({dtype})")


class Record(Type):
    """An element of an array of structures."""

    def __init__(self, dtype):
        self.numpy_dtype = dtype
        super().__init__(f"Record({', '.join(f'{n}[type={dtype[n]}]' for n in dtype.names)})")


class StructRef(Type):
    """The base of the types of structref's classes."""

    def __init__(self, fields):
        self.fields = tuple(fields)
        super().__init__(
            f"{type(self).__name__}({', '.join(f'{name}: {kind}' for name, kind in self.fields)})"
        )


class Literal(Type):
    """A constant."""

    def __init__(self, value):
        self.literal_value = value
        super().__init__(f"Literal[{type(value).__name__}]({value})")


class IntegerLiteral(Literal):
    """An int that is a constant."""


class StringLiteral(Literal):
    """A str that is a constant."""


class Signature:
    """Types of arguments and of the result; the latter may be None."""

    def __init__(self, return_type, arguments):
        self.return_type = return_type
        self.args = tuple(from_python(each) for each in arguments)

    def __repr__(self):
        return f"({', '.join(map(str, self.args))}) -> {self.return_type}"

    def __eq__(self, other):
        return (
            isinstance(other, Signature) and self.args == other.args and self.return_type == other.return_type
        )

    def __hash__(self):
        return hash((self.args, self.return_type))


def _numpy():
    import numpy

    return numpy


def from_python(given):
    """The type for what signatures may have: a type, None, or a class of Python's or NumPy's."""
    if isinstance(given, Type):
        return given
    if given is None:
        return names["none"]
    plain = {bool: "boolean", int: "int64", float: "float64", complex: "complex128", str: "unicode_type"}
    if isinstance(given, type) and given in plain:
        return names[plain[given]]
    if isinstance(given, (tuple, list)):
        return Tuple(map(from_python, given)) if isinstance(given, tuple) else List(from_python(given[0]))
    try:
        return from_numpy(given)
    except TypeError:
        raise TypeError(f"{given!r} is no type of weft.numba") from None


def from_numpy(dtype):
    """The type of an array's elements."""
    dtype = _numpy().dtype(getattr(dtype, "name", dtype) if not hasattr(dtype, "names") else dtype)
    if dtype.names is not None:
        return Record(dtype)
    if dtype.kind in "mM" and dtype.isnative:
        unit, multiple = _numpy().datetime_data(dtype)
        unit = "" if unit == "generic" else f"{'' if multiple == 1 else multiple}{unit}"
        return (NPDatetime if dtype.kind == "M" else NPTimedelta)(unit)
    name = "boolean" if dtype.name == "bool" else dtype.name
    if name not in names:
        raise NotImplementedError(f"compiled functions have no arrays of {dtype}")
    return names[name]


def literal(value):
    """The type of a constant."""
    kinds = {int: IntegerLiteral, str: StringLiteral}
    return kinds.get(type(value), Literal)(value)


def of_value(value):
    """The type of a value, as `typeof` answers it."""
    plain = {
        bool: "boolean",
        float: "float64",
        complex: "complex128",
        str: "unicode_type",
        type(None): "none",
        slice: "slice2_type",
    }.get(type(value))
    if plain is not None:
        return names["slice3_type" if plain == "slice2_type" and value.step is not None else plain]
    if type(value) is int:
        if not -(1 << 63) <= value < 1 << 64:
            raise ValueError(f"Int value is too large: {value}")
        return names["int64" if value < 1 << 63 else "uint64"]
    if isinstance(value, tuple):
        parts = [of_value(each) for each in value]
        if hasattr(value, "_fields"):
            return NamedTuple(parts, type(value))
        return Tuple(parts)
    if isinstance(value, list):
        if not value:
            raise ValueError("cannot compute the type of an empty list")
        return (ListType if type(value).__name__ == "List" else List)(of_value(value[0]))
    if isinstance(value, Type):
        return DType(value)
    numpy = _numpy()
    if isinstance(value, memoryview):
        seen = _of_array(numpy.asarray(value))
        return MemoryView(seen.dtype, seen.ndim, seen.layout, value.readonly)
    if isinstance(value, numpy.dtype):
        return DType(from_numpy(value))
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _of_array(value)
    if callable(value):
        return Function(f"type({getattr(value, '__name__', value)!s})")
    raise ValueError(f"cannot determine Numba type of {type(value)}")


def _of_array(value):
    element = from_numpy(value.dtype)
    weft = sys.modules["weft"]
    if not isinstance(value, (_numpy().ndarray, weft.ndarray)):
        return element
    flags = value.flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return Array(element, value.ndim, layout, not flags.writeable, getattr(flags, "aligned", True))


def _names():
    found = {"boolean": Boolean("bool")}
    for bits in (8, 16, 32, 64):
        for kind in ("int", "uint"):
            found[f"{kind}{bits}"] = Integer(f"{kind}{bits}", bits)
    found["float16"] = Float("float16", 16)
    for bits in (32, 64):
        found[f"float{bits}"] = Float(f"float{bits}", bits)
        found[f"complex{2 * bits}"] = Complex(f"complex{2 * bits}", 2 * bits)
    other = {
        "bool_": "boolean",
        "b1": "boolean",
        "byte": "uint8",
        "uchar": "uint8",
        "char": "int8",
        "short": "int16",
        "ushort": "uint16",
        "int_": "int64",
        "uint": "uint64",
        "intc": "int32",
        "uintc": "uint32",
        "intp": "int64",
        "uintp": "uint64",
        "ssize_t": "int64",
        "size_t": "uint64",
        "long_": "int64",
        "ulong": "uint64",
        "longlong": "int64",
        "ulonglong": "uint64",
        "float_": "float32",
        "double": "float64",
    }
    for size in (1, 2, 4, 8):
        other[f"i{size}"], other[f"u{size}"] = f"int{8 * size}", f"uint{8 * size}"
    other |= {"f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128"}
    found |= {name: found[target] for name, target in other.items()}
    found["none"] = found["void"] = NoneType("none")
    found["unicode_type"] = found["string"] = UnicodeType("unicode_type")
    found["slice2_type"] = SliceType("slice<a:b>")
    found["slice3_type"] = SliceType("slice<a:b:c>")
    found["pyobject"] = Dummy("pyobject")
    return found


names = _names()
