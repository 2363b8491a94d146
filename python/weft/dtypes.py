"""numpy.dtypes: classes of dtypes. A dtype is an instance of the class that is named after it.

>>> isinstance(np.dtype("f8"), np.dtypes.Float64DType)
True
>>> np.dtypes.Int8DType()
dtype('int8')
"""

from operator import index

from weft._core import dtype

__all__ = []
# What the classes that stand for many dtypes tell them by.
_PARAMETERS = {"S": "size", "U": "size", "V": "length", "M": "unit", "m": "unit"}


class _ClassOfDTypes(type):
    """Calls make the dtype, and isinstance asks which dtype it is."""

    def __call__(cls, *arguments, **options):
        parameter = _PARAMETERS.get(cls._code)
        if parameter == "size":
            if len(arguments) != 1 or options:
                raise TypeError(f"function takes exactly 1 positional argument ({len(arguments)} given)")
            size = index(arguments[0])
            if size < 0:
                raise ValueError(f"Strings cannot have a negative size but a size of {size} was given")
            return dtype(f"{cls._code}{size}")
        if parameter is not None:
            raise TypeError(
                f"Preliminary-API: Flexible/Parametric legacy DType '{cls!r}' can only be instantiated using "
                "`np.dtype(...)`"
            )
        if arguments or options:
            raise TypeError(
                "currently only the no-argument instantiation is supported; use `np.dtype` instead."
            )
        return dtype(cls._code)

    @property
    def __signature__(cls):
        from inspect import Parameter, Signature

        parameter = _PARAMETERS.get(cls._code)
        return Signature([] if parameter is None else [Parameter(parameter, Parameter.POSITIONAL_ONLY)])

    def __instancecheck__(cls, value):
        return isinstance(value, dtype) and value.char in cls._chars

    def __subclasscheck__(cls, other):
        return other is cls

    def __repr__(cls):
        return f"<class 'weft.dtypes.{cls.__name__}'>"

    @property
    def type(cls):
        return dtype(cls._code).type


def _add(name, code, alias=None):
    try:
        chars = dtype(code).char
    except TypeError:
        return  # weft has no such dtype
    made = _ClassOfDTypes(name, (), {"_code": code, "_chars": chars, "__module__": "weft.dtypes"})
    for each in (name, alias):
        if each is not None:
            globals()[each] = made
            __all__.append(each)


for _kind, _letters, _names in (
    ("Int", "bhil", ("Byte", "Short", None, None)),
    ("UInt", "BHIL", ("UByte", "UShort", None, None)),
):
    for _letter, _bits, _alias in zip(_letters, (8, 16, 32, 64), _names):
        _add(f"{_kind}{_bits}DType", _letter, f"{_alias}DType" if _alias else None)
for _name, _code, _alias in (
    ("BoolDType", "?", None),
    ("IntDType", "i", None),
    ("LongDType", "l", None),
    ("LongLongDType", "q", None),
    ("UIntDType", "I", None),
    ("ULongDType", "L", None),
    ("ULongLongDType", "Q", None),
    ("Float16DType", "e", None),
    ("Float32DType", "f", None),
    ("Float64DType", "d", None),
    ("LongDoubleDType", "g", None),
    ("Complex64DType", "F", None),
    ("Complex128DType", "D", None),
    ("CLongDoubleDType", "G", None),
    ("ObjectDType", "O", None),
    ("BytesDType", "S", None),
    ("StrDType", "U", None),
    ("VoidDType", "V", None),
    ("DateTime64DType", "M", None),
    ("TimeDelta64DType", "m", None),
):
    if _name not in globals():
        _add(_name, _code, _alias)

__all__.append("StringDType")


def __getattr__(name):
    if name == "StringDType":  # NumPy's own
        from numpy.dtypes import StringDType

        return StringDType
    if name == "register_dlpack_dtype":  # NumPy's own, since 2.5: arrays of such dtypes are over its memory
        import numpy.dtypes

        if hasattr(numpy.dtypes, name):
            return numpy.dtypes.register_dlpack_dtype
    raise AttributeError(f"module 'weft.dtypes' has no attribute {name!r}")
