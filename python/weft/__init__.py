"""weft: NumPy's arrays, fused and compiled.

>>> import weft as np
>>> a = np.arange(3.0)
>>> 2 * a + 1
array([1., 3., 5.])
"""

from atexit import register as _register
from importlib import import_module as _import_module

from weft import _core, _methods, _names, exceptions
from weft._array.dtypes import aliases as _aliases
from weft._core import *
from weft._core import __version__, _ufuncs
from weft._protocols import host_kinds as _host_kinds
from weft._protocols import libraries as _libraries
from weft._protocols import overrides as _overrides
from weft._protocols.array_api import __array_api_version__, __array_namespace_info__
from weft._protocols.no_value import NO_VALUE as _NoValue

pi = 3.141592653589793
e = 2.718281828459045
euler_gamma = 0.5772156649015329
inf = float("inf")
nan = float("nan")
newaxis = None
little_endian = True

for _module, _some in _names.LOADED.items():
    _module = _import_module(f"weft.{_module}")
    for _name in _some:
        globals()[_name] = getattr(_module, _name)

# The functions of the op table that NumPy has too, and NumPy's further names of scalar types.
for _name, _ufunc in _ufuncs.items():
    if _ufunc._is_numpy and _name not in globals():
        globals()[_name] = _ufunc
for _name, _target in _aliases.items():
    globals()[_name] = getattr(_core, _target)
True_, False_ = _core.bool(True), _core.bool(False)

del _name, _ufunc, _target, _module, _some
_overrides.dispatch_all(globals())
_host_kinds.set_kinds()
_libraries.watch()

# What was queued to be compiled is still compiled, so that the next process finds it on disk.
_register(_core._end_compilations)
del _register

_IPYTHON = "ipython"
_SUBMODULES = frozenset(
    "char core ctypeslib cuda dtypes fft lib linalg ma numba polynomial random rec scipy strings testing typing "
    "version".split()
)


def __getattr__(name):
    module = _names.LATER.get(name)
    if module is not None:
        value = getattr(_import_module(f"weft.{module}"), name)
        if name in _names.OVERRIDES:
            value = _overrides.dispatcher(name, value)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        try:
            return _import_module(f"weft.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"weft.{name}":
                raise
    if name in ("load_ipython_extension", "unload_ipython_extension"):  # %load_ext asks for them here
        return getattr(_import_module(f"weft.{_IPYTHON}"), name)
    if name == "special":  # where SciPy looks for the functions of scipy.special that a namespace has
        return _import_module("weft.scipy.special")
    if name == "emath":
        return _import_module("weft.lib.scimath")
    if name == "f2py":  # NumPy's own: it compiles Fortran, and has no arrays
        return _import_module("numpy.f2py")
    if name == "matlib":  # NumPy's functions of matrices
        return _import_module("numpy.matlib")
    if name == "chararray" and not _import_module("weft._engine.numpy_version").numpy_is_at_least(2, 5):
        import warnings

        warnings.warn(
            "`np.chararray` is deprecated and will be removed from the main namespace in the future. Use an array "
            "with a string or bytes dtype instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return __getattr__("char").chararray
    if name == "_CopyMode":
        return _import_module("numpy")._CopyMode
    if name.startswith("__"):
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    from weft._protocols.missing import module_message

    raise AttributeError(module_message(name))


def __dir__():
    own = {name for name in globals() if not name.startswith("_") or name.startswith("__")}
    return sorted(own | {*_names.LATER} | (_SUBMODULES - {"core", "version"}) | {"emath", "f2py"})
