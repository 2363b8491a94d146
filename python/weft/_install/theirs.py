"""NumPy itself: loaded when it is needed, described without being loaded."""

import importlib.machinery
import os
import sys
import threading
from types import ModuleType

_lock = threading.RLock()
_state = {"loading": False}
when_loaded = []  # functions that are called once NumPy is there


class Shown(ModuleType):
    """What the program sees in place of a module of NumPy's."""


def _import(name):
    """`import name` by the import system, whoever asks."""
    return importlib._bootstrap._gcd_import(name)


def is_real(module):
    """Whether it is a module of NumPy's, and not what the program sees."""
    return isinstance(module, ModuleType) and not isinstance(module, Shown)


def _shown_modules():
    """What the program sees in place of NumPy's modules, where it stands in sys.modules."""
    return [
        name
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "numpy" and not is_real(module)
    ]


def loaded(path="numpy"):
    """NumPy's module of that name if it is loaded, or None."""
    module = sys.modules.get(path)
    return module if module is not None and is_real(module) else None


def load(path="numpy"):
    """NumPy's module of that name; None where NumPy is not installed."""
    if loaded("numpy") is None or _state["loading"]:
        with _lock:
            if loaded("numpy") is None:
                shown = {name: sys.modules.pop(name) for name in _shown_modules()}
                _state["loading"] = True
                try:
                    _import("numpy")
                except ModuleNotFoundError as error:
                    sys.modules.update(shown)
                    if error.name == "numpy":
                        return None
                    raise
                finally:
                    _state["loading"] = False
                for each in when_loaded:
                    each()
    if path != "numpy" and loaded(path) is None:
        try:
            _import(path)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
            # A name of NumPy's that is a module elsewhere, as numpy.emath is.
            value = sys.modules["numpy"]
            for part in path.split(".")[1:]:
                value = getattr(value, part)
            return value
        prepare = when_loaded[0] if when_loaded else None
        if prepare is not None:
            prepare()
    return loaded(path)


def is_loading():
    return _state["loading"]


def _spec(path):
    real = loaded(path)
    if real is not None:
        return real.__spec__
    if path == "numpy":
        return importlib.machinery.PathFinder.find_spec("numpy")
    parent = _spec(path.rpartition(".")[0])
    if parent is None:
        return None
    return importlib.machinery.PathFinder.find_spec(path, parent.submodule_search_locations)


def about(path, name):
    """`__spec__`, `__file__` and the like of a module of NumPy's."""
    spec = _spec(path)
    if spec is None:
        if name in ("__spec__", "__loader__", "__doc__"):
            return None
        raise AttributeError(f"module {path!r} has no attribute {name!r}")
    if name == "__spec__":
        return spec
    if name == "__loader__":
        return spec.loader
    if name == "__package__":
        return spec.parent
    if name == "__path__" and spec.submodule_search_locations is not None:
        return spec.submodule_search_locations
    if name == "__file__":
        return spec.origin
    if name == "__cached__":
        return spec.cached
    real = load(path)
    return getattr(real, name)


def version():
    """NumPy's version, as its package says; what weft follows where NumPy is not installed."""
    real = loaded("numpy")
    if real is not None:
        return real.__version__
    spec = _spec("numpy")
    if spec is None:
        return "2.4.6"
    values = {}
    with open(os.path.join(os.path.dirname(spec.origin), "version.py"), "rb") as file:
        exec(compile(file.read(), "version.py", "exec"), values)
    return values["version"]


def scalars():
    return loaded("numpy").generic
