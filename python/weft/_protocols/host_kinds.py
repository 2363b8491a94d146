"""isinstance and issubclass for dtypes and scalars that are NumPy's own: strings, dates, objects, long doubles.

`np.dtype("U5")` is NumPy's object, and an instance of weft's `np.dtype` to the program all the same; `np.str_` is a
subclass of `np.generic`. Numbers that weft has itself are not: a float64 of NumPy's stays a stranger.
"""

import sys

from weft import _core

KINDS = (
    _core.dtype,
    _core.generic,
    _core.number,
    _core.integer,
    _core.signedinteger,
    _core.inexact,
    _core.floating,
    _core.complexfloating,
)
_NATIVE_TOO = ("longlong", "ulonglong")  # NumPy's further names of what weft has


class HostKind(type):
    """The type of these types. The binding decides what is usual; what follows runs for the rest."""

    __instancecheck__ = _core._check_instance
    __subclasscheck__ = _core._check_subclass

    def _is_instance(cls, instance):
        other = _of_numpy(cls)
        if other is None or not isinstance(instance, other):
            return False
        kind = instance.type if cls is _core.dtype else type(instance)
        return (_is_foreign(kind) or _has_other_bytes(instance)) and not _asked_by_weft()

    def _is_subclass(cls, kind):
        if not isinstance(kind, type):
            return type.__subclasscheck__(cls, kind)
        other = _of_numpy(cls)
        return (
            other is not None
            and cls is not _core.dtype
            and issubclass(kind, other)
            and _is_foreign(kind)
            and not _asked_by_weft()
        )


def _of_numpy(cls):
    numpy = sys.modules.get("numpy")
    return getattr(numpy, cls.__name__, None) if cls in KINDS else None


def _is_foreign(kind):
    return not hasattr(_core, kind.__name__) and kind.__name__ not in _NATIVE_TOO


def _has_other_bytes(instance):
    return not getattr(instance, "isnative", True)


def _asked_by_weft():
    """Whether weft itself wants to know what is its own."""
    name = sys._getframe(2).f_globals.get("__name__")
    return name is not None and (name == "weft" or name.startswith("weft.")) and not _runs_numpys(name)


def _runs_numpys(name):
    """Whether the module is one of NumPy's sources over weft."""
    module = sys.modules.get(name)
    return "/numpy/" in (getattr(module, "__file__", None) or "").replace("\\", "/")


def set_kinds():
    for kind in KINDS:
        _core._set_metaclass(kind, HostKind)
