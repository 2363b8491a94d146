"""isinstance in both directions, and pickles that NumPy alone can read.

In the program `np.ndarray` is weft's type, and stays the type of weft's arrays. While weft is installed its metaclass
also says yes to NumPy's own arrays, scalars, dtypes, ufuncs and generators, which libraries give to the program.
"""

import abc
import copyreg
import sys

import weft
from weft import _core, exceptions
from weft._install import theirs
from weft._protocols import host_kinds

_same = {}  # NumPy's type by weft's; None until NumPy is loaded
_scalar_names = {}
_caught = {}  # weft's exception by NumPy's
_pickled = {}


class Kind(abc.ABCMeta):
    """The type of weft's types while weft is installed. Classes of the program's own derive from them as ever."""

    __instancecheck__ = _core._check_instance

    def _is_instance(cls, instance):
        if cls not in _same:
            return abc.ABCMeta.__instancecheck__(cls, instance)
        if type.__instancecheck__(cls, instance):
            return True
        other = _same[cls]
        return other is not None and isinstance(instance, other) and not _asked_by_weft()

    __subclasscheck__ = _core._check_subclass

    def _is_subclass(cls, subclass):
        if cls not in _same:
            return abc.ABCMeta.__subclasscheck__(cls, subclass)
        if type.__subclasscheck__(cls, subclass):
            return True
        other = _same[cls]
        return other is not None and issubclass(subclass, other) and not _asked_by_weft()


def _asked_by_weft():
    """Whether weft itself wants to know what is its own."""
    name = sys._getframe(2).f_globals.get("__name__")
    return name is not None and (name == "weft" or name.startswith("weft."))


def _scalar_types():
    waiting, found = [_core.generic], []
    while waiting:
        kind = waiting.pop()
        found.append(kind)
        waiting += kind.__subclasses__()
    return found


def _others():
    """weft's types that are no scalars, with the place of NumPy's."""
    pairs = {_core.ndarray: "ndarray", _core.dtype: "dtype", _core.ufunc: "ufunc"}
    for name in ("flatiter", "broadcast"):
        kind = getattr(weft, name, None)
        if isinstance(kind, type):
            pairs[kind] = name
    return pairs


def _know(pairs):
    for kind, name in pairs.items():
        if kind not in _same:
            _same[kind] = None
            _scalar_names[kind] = name
            if type(kind) in (type, host_kinds.HostKind):
                _core._set_metaclass(kind, Kind)


def know_random():
    """The program uses weft.random, which is loaded when it does."""
    pairs = {}
    for name in (
        "Generator",
        "BitGenerator",
        "RandomState",
        "SeedSequence",
        "PCG64",
        "PCG64DXSM",
        "Philox",
        "MT19937",
        "SFC64",
    ):
        kind = getattr(weft.random, name, None)
        if isinstance(kind, type) and kind.__module__.startswith("weft."):
            pairs[kind] = f"random.{name}"
    _know(pairs)
    if theirs.loaded("numpy") is not None:
        meet()


def install():
    _know({kind: kind.__name__ for kind in _scalar_types()} | _others())
    copyreg.pickle(Kind, _reduce_kind)
    for kind, methods in {
        _core.ndarray: {"__reduce_ex__": _reduce_array, "__reduce__": _reduce_array_old},
        _core.generic: {"__reduce_ex__": _reduce_scalar},
        _core.dtype: {"__reduce_ex__": _reduce_dtype},
        _core.ufunc: {"__reduce_ex__": _reduce_ufunc},
    }.items():
        for name, method in methods.items():
            before = vars(kind).get(name)
            _pickled[kind, name] = before, getattr(kind, name)
            setattr(kind, name, method)
    if theirs.loaded("numpy") is not None:
        meet()


def meet():
    """NumPy is loaded: its types are known from now on."""
    numpy = theirs.loaded("numpy")
    for kind, name in _scalar_names.items():
        if kind not in _same or _same[kind] is not None:
            continue
        other = numpy
        for part in name.split("."):
            other = getattr(other, part, None)
        if isinstance(other, type) and other is not kind:
            _same[kind] = other
    for name in exceptions.__all__:
        ours = getattr(exceptions, name)
        other = getattr(numpy.exceptions, name, None) or getattr(numpy.linalg, name, None)
        if isinstance(other, type) and other is not ours and other not in _caught and type(other) is type:
            _caught[other] = ours
            _core._set_metaclass(other, _Caught)
            other.__bases__ = other.__bases__  # which asks for mro()


class _Caught(type):
    """The type of NumPy's exceptions while weft is installed: the program catches them under weft's names, too."""

    def mro(cls):
        order = type.mro(cls)
        ours = _caught.get(cls)
        return order if ours is None else [cls, ours, *order[1:]]


def uninstall():
    known = list(_caught)
    _caught.clear()
    for other in known:
        other.__bases__ = other.__bases__
        _core._set_metaclass(other, type)
    for (kind, name), (before, _) in _pickled.items():
        if before is None:
            delattr(kind, name)
        else:
            setattr(kind, name, before)
    _pickled.clear()
    copyreg.dispatch_table.pop(Kind, None)
    for kind in _same:
        if type(kind) is Kind:
            _core._set_metaclass(kind, host_kinds.HostKind if kind in host_kinds.KINDS else type)
    # Classes that the program has derived keep Kind, and are then as other classes are.
    _same.clear()
    _scalar_names.clear()


# ---- pickles ----


def _reduce_array(self, protocol):
    if type(self) is _core.ndarray:
        numpy = theirs.load("numpy")
        if numpy is not None:
            return numpy.asarray(self).__reduce_ex__(protocol)
    return _pickled[_core.ndarray, "__reduce_ex__"][1](self, protocol)


def _reduce_array_old(self):
    if type(self) is _core.ndarray:
        numpy = theirs.load("numpy")
        if numpy is not None:
            return numpy.asarray(self).__reduce__()
    return _pickled[_core.ndarray, "__reduce__"][1](self)


def _reduce_scalar(self, protocol):
    if theirs.load("numpy") is None:
        return _pickled[_core.generic, "__reduce_ex__"][1](self, protocol)
    return self.dtype.__numpy_dtype__.type(self.item()).__reduce__()


def _reduce_dtype(self, protocol):
    if theirs.load("numpy") is None:
        return _pickled[_core.dtype, "__reduce_ex__"][1](self, protocol)
    return self.__numpy_dtype__.__reduce__()


def _reduce_ufunc(self, protocol):
    other = getattr(theirs.load("numpy"), self.__name__, None)
    if other is None or not isinstance(other, _same[_core.ufunc]):
        return _pickled[_core.ufunc, "__reduce_ex__"][1](self, protocol)
    from copy import copy

    return copy, (other,)


def _reduce_kind(kind):
    """A type of weft's becomes NumPy's of that name. Classes of the program's are found by their names."""
    other = _same.get(kind)
    if other is None or theirs.load("numpy") is None:
        return kind.__qualname__
    from copy import copy

    return copy, (other,)
