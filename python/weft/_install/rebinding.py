"""Modules of the program's that imported NumPy before weft was installed: their names are bound anew."""

import sys
from types import ModuleType

from weft._install import callers, modules, theirs

_MISSING = object()
_bound = []  # (globals, name, NumPy's value, the program's)


def _programs():
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if type(names) is dict and not isinstance(module, modules.Module) and callers.gets_weft(names):
            yield names


def _ours(value):
    """What the program gets in place of a module, function or type of NumPy's."""
    if isinstance(value, ModuleType):
        name = getattr(value, "__name__", "")
        if not (name == "numpy" or name.startswith("numpy.")) or not theirs.is_real(value):
            return _MISSING
        if sys.modules.get(name) is not value:
            return _MISSING
        found = modules.module("numpy")
        for part in name.split(".")[1:]:
            found = getattr(found, part, _MISSING)
            if found is _MISSING:
                return _MISSING
        return found if found is not value else _MISSING
    module = getattr(value, "__module__", None)
    if isinstance(value, theirs.loaded("numpy").ufunc):
        module = "numpy"
    if not isinstance(module, str) or module.partition(".")[0] != "numpy":
        return _MISSING
    name = getattr(value, "__name__", None)
    if not isinstance(name, str) or not callable(value):
        return _MISSING
    for path in ("numpy", "numpy.linalg", "numpy.fft", "numpy.random", module):
        real = theirs.loaded(path)
        if real is not None and vars(real).get(name, _MISSING) is value:
            if "._" in path:
                return _MISSING
            found = getattr(modules.module(path), name, _MISSING)
            return found if found is not value else _MISSING
    return _MISSING


def bind():
    if theirs.loaded("numpy") is None:
        return
    for names in _programs():
        for name, value in list(names.items()):
            if name.startswith("__") and name.endswith("__"):
                continue
            try:
                ours = _ours(value)
            except Exception:  # an object of the program's whose attributes raise what they like
                continue
            if ours is not _MISSING:
                _bound.append((names, name, value, ours))
                names[name] = ours


def unbind():
    """Puts back what was bound, and NumPy's modules where the program imported weft's meanwhile."""
    for names, name, value, ours in _bound:
        if names.get(name) is ours:
            names[name] = value
    _bound.clear()
    for names in _programs():
        for name, value in list(names.items()):
            if isinstance(value, modules.Module) and not name.startswith("__"):
                real = theirs.load(value.__name__)
                if real is not None:
                    names[name] = real
