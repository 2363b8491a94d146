"""structref: classes with fields. In Python they are objects; compiled functions take NamedTuples and dataclasses."""

from weft.numba._types import StructRef

__all__ = [
    "StructRef",
    "StructRefProxy",
    "define_attributes",
    "define_boxing",
    "define_constructor",
    "define_proxy",
    "register",
]


class StructRefProxy:
    """The base of such classes."""

    def __new__(cls, *values):
        made = object.__new__(cls)
        made.__dict__.update(zip(cls._weft_fields, values, strict=True))
        return made


def register(type_class):
    """A type's class, as it is."""
    return type_class


def define_proxy(proxy, struct_type, fields):
    """Names the fields of a class."""
    proxy._weft_fields = tuple(fields)


def define_attributes(struct_type):
    """Nothing: fields are attributes."""


def define_boxing(struct_type, proxy):
    """Nothing: objects are as they are."""


define_constructor = define_proxy
