"""Runs the installed NumPy's own Python sources over weft.

`package("weft.polynomial")` executes numpy/polynomial/__init__.py as weft's module, and its submodules when they are
imported. In these modules `import numpy` gives weft, and what NumPy keeps in private places comes from `private.py`.
NumPy itself is not imported, and Python's compiled files of its sources are used.
"""

import builtins
import functools
import importlib
import importlib.util
import os
import sys
import types
from importlib.machinery import ModuleSpec, SourceFileLoader

import weft
from weft._numpys import private

# NumPy's folders of what is private.
_PLACES = {"_core", "_utils", "_pytesttester", "matrixlib"}
# Private modules of NumPy that weft's own modules of that name run; other private places are names of private.py.
RUN = {
    "numpy.lib." + name
    for name in (
        "_array_utils_impl _arrayterator_impl _datasource _format_impl _index_tricks_impl _iotools _npyio_impl "
        "_scimath_impl _user_array_impl _utils_impl _version"
    ).split()
}
# Modules inside of numpy._core and numpy.linalg, which are one place of names here.
_INSIDE = frozenset(
    "umath multiarray numeric numerictypes fromnumeric shape_base overrides records getlimits function_base "
    "_multiarray_umath _umath_linalg _internal arrayprint".split()
)
_packages = set()
_REALLY = builtins.__import__


def ours(name):
    """The name of weft's module in the place of one of NumPy's."""
    return "weft" + name.removeprefix("numpy")


def _is_private(name):
    if name in RUN or name.startswith(("numpy.testing._private", "numpy.polynomial._", "numpy.ctypeslib._")):
        return False
    return any(part.startswith("_") for part in name.split(".")) or name == "numpy.matrixlib"


class Facade(types.ModuleType):
    """A module of NumPy's as its own sources see it: weft's, or names of private.py."""

    def __getattr__(self, name):
        own = self.__name__
        full = f"{own}.{name}"
        if _is_private(own):
            if name.startswith("__") and not name.startswith("__cpu_"):
                raise AttributeError(name)
            return module(full) if name in _INSIDE else private.find(name)
        if name in _PLACES or full in _facades or any(key.startswith(full + ".") for key in _facades):
            return _facades.setdefault(full, Facade(full))
        ours = importlib.import_module("weft" + own.removeprefix("numpy"))
        try:
            found = getattr(ours, name)
        except AttributeError:
            found = None if name.startswith("__") or own != "numpy" else private.find(name)
            if found is None or not (private.loading or isinstance(found, type)):
                raise
            return found
        if name == "dtype" and private.loading[-1:] == ["numpy.ctypeslib._ctypeslib"]:
            return private.dtype_of
        if private.loading[-1:] == ["numpy.ma.core"] and callable(found) and not isinstance(found, type):
            return _undocumented(found)
        return found


# What the sources call np._core.<module>.
for _name in _INSIDE:
    if not hasattr(weft._core, _name):
        setattr(weft._core, _name, Facade(f"numpy._core.{_name}"))


def _undocumented(function):
    """numpy.ma rewrites what docstrings say of results, and demands NumPy's words, unless there is no docstring."""
    if isinstance(function, weft.ufunc):
        return function
    partial = functools.partial(function)
    partial.__name__ = partial.__qualname__ = function.__name__
    partial.__doc__ = None
    return partial


_facades = {}


def module(name):
    """What `import name` gives where NumPy's sources say it."""
    if name == "numpy":
        return weft
    if _is_private(name):
        return _facades.setdefault(name, Facade(name))
    return importlib.import_module(ours(name))


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if level or name.split(".")[0] != "numpy":
        return _REALLY(name, globals, locals, fromlist or (), level)
    if not fromlist:
        # A module that runs for the first time sees the facade, which lends names that weft has not (_run).
        module(name)
        if name == "numpy" and not private.loading:
            return weft
        return _facades.setdefault("numpy", Facade("numpy"))
    found = module(name)
    if found is weft:
        for each in fromlist:
            if not hasattr(weft, each):
                private.absent(each)
                return _Partial(fromlist)
    return found


class _Partial(types.ModuleType):
    """weft for a `from numpy import` in which one name is not there: it is told when it is used."""

    def __init__(self, names):
        super().__init__("numpy")
        for name in names:
            setattr(self, name, getattr(weft, name) if hasattr(weft, name) else private.absent(name))


_BUILTINS = {**vars(builtins), "__import__": _import}


def _place(name):
    """The file of a module of NumPy's, and whether it is a package; NumPy is not imported."""
    spec = importlib.util.find_spec("numpy")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            f"{ours(name)} runs NumPy's own Python source, and there is no NumPy here", name="numpy"
        )
    path = os.path.join(os.path.dirname(spec.origin), *name.split(".")[1:])
    for file, is_package in ((os.path.join(path, "__init__.py"), True), (path + ".py", False)):
        if os.path.isfile(file):
            return file, is_package
    return None, False


def _with_memory_of_devices(code):
    """numpy.ma asks where an array begins, by a name that arrays on a GPU have not: NumPy would read from there."""
    names = tuple("_beginning" if name == "__array_interface__" else name for name in code.co_names)
    inner = tuple(
        _with_memory_of_devices(each) if isinstance(each, types.CodeType) else each for each in code.co_consts
    )
    return code.replace(co_names=names, co_consts=inner)


def _run(name, namespace):
    file, _ = _place(name)
    if file is None:
        raise ModuleNotFoundError(f"No module named {ours(name)!r}", name=ours(name))
    namespace["__builtins__"] = _BUILTINS
    namespace["__file__"] = file
    private.loading.append(name)
    try:
        code = SourceFileLoader(name, file).get_code(name)
        exec(_with_memory_of_devices(code) if name == "numpy.ma.core" else code, namespace)
    finally:
        private.loading.pop()
    if name.startswith("numpy.ma") and not hasattr(weft, "void"):
        return  # it asks for types that weft has not
    facade = _facades.get("numpy")
    for key, value in namespace.items():
        if value is facade:
            namespace[key] = weft


class _Loader:
    """Finds and runs the submodules of packages that `package` has taken over."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.rpartition(".")[0] not in _packages or _is_private("numpy" + name.removeprefix("weft")):
            return None
        file, is_package = _place("numpy" + name.removeprefix("weft"))
        if file is None:
            return None
        spec = ModuleSpec(name, _Loader, origin=file, is_package=is_package)
        spec.has_location = True
        if is_package:
            _packages.add(name)
            spec.submodule_search_locations = []
        return spec

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        _run("numpy" + module.__name__.removeprefix("weft"), module.__dict__)

    @staticmethod
    def get_source(name):
        with open(_place("numpy" + name.removeprefix("weft"))[0], encoding="utf-8") as file:
            return file.read()


def package(namespace, run=True):
    """Makes a module of weft's a package over NumPy's sources, and executes NumPy's __init__ in it."""
    name = namespace["__name__"]
    _packages.add(name)
    if _Loader not in sys.meta_path:
        sys.meta_path.append(_Loader)
    if run:
        own = namespace["__file__"]
        _run("numpy" + name.removeprefix("weft"), namespace)
        namespace["__file__"] = own


def run(name, namespace):
    """Executes one module of NumPy's in a namespace of weft's."""
    own = namespace["__file__"]
    _run(name, namespace)
    namespace["__file__"] = own
