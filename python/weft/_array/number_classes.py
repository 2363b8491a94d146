"""`x.__class__` of scalars: isinstance(x, float) holds, and isinstance(x, numpy.integer) in libraries.

NumPy's float64 is a subclass of Python's float. A scalar of weft's may not have been computed yet, and C code reads the
number of such an instance without asking. So the types are no subclasses, and say what they stand for by `__class__`,
as isinstance looks at both. json, which looks at the type alone, is given float(x) (weft._protocols.libraries).
Once NumPy is loaded, they stand for its scalar types as well, which libraries ask for.
"""

from weft import _core


class _StandsFor(type):
    """Classes that are equal to a scalar type, and make instances of it."""

    def __call__(cls, *args):
        return cls._type(*args)

    def __eq__(cls, other):
        return other is cls or other is cls._type

    def __hash__(cls):
        return hash(cls._type)

    def __instancecheck__(cls, instance):
        return isinstance(instance, cls._type)

    def __subclasscheck__(cls, other):
        return other is cls or issubclass(other, cls._type)


def _class_for(kind, number):
    namespace = {"__slots__": (), "__module__": "weft", "__doc__": kind.__doc__, "_type": kind}
    return _StandsFor(kind.__name__, (number,), namespace)


_NUMPYS = (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
)
_OF_ARRAYS_ALONE = {"argpartition", "ctypes", "dot", "mT", "partition"}


def _names(self):
    """What dir() tells of a scalar, which would ask `__class__`: its type's names, and those that arrays have."""
    of_arrays = {name for name in dir(_core.ndarray) if not name.startswith("_")}
    return sorted({*dir(type(self)), *of_arrays - _OF_ARRAYS_ALONE})


_core.generic.__dir__ = _names
_core._set_number_class("float64", _class_for(_core.float64, float))
_core._set_number_class("complex128", _class_for(_core.complex128, complex))


def _set_numpys(numpy):
    """The classes are subclasses of NumPy's. Its bool has none, and stands for itself."""
    for name in _NUMPYS:
        _core._set_number_class(name, _class_for(getattr(_core, name), getattr(numpy, name)))
    _core._set_number_class("bool", numpy.bool_)


_core._set_numpys_classes_by(_set_numpys)
