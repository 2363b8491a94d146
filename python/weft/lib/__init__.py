"""numpy.lib: views by strides, mixins, checks of axes, the npy format, functions with complex results.

stride_tricks and npyio are weft's own; the others are the installed NumPy's Python sources over weft's arrays.
"""

from importlib import import_module as _import_module

from weft._engine import numpy_version as _version
from weft._numpys import loader as _loader
from weft._numpys.private import add_docstring, add_newdoc, tracemalloc_domain
from weft.lib import stride_tricks

_MODULES = (
    "array_utils",
    "format",
    "introspect",
    "mixins",
    "npyio",
    "recfunctions",
    "scimath",
    "stride_tricks",
    "user_array",
)
_CLASSES = {"Arrayterator": "_arrayterator_impl", "NumpyVersion": "_version"}

__all__ = [
    "Arrayterator",
    "NumpyVersion",
    "add_docstring",
    "add_newdoc",
    "array_utils",
    "format",
    "introspect",
    "mixins",
    "npyio",
    "scimath",
    "stride_tricks",
    "tracemalloc_domain",
]

_loader.package(globals(), run=False)


def __getattr__(name):
    if name in _MODULES or f"numpy.lib.{name}" in _loader.RUN:
        return _import_module(f"weft.lib.{name}")
    if name in _CLASSES:
        value = getattr(_import_module(f"weft.lib.{_CLASSES[name]}"), name)
    elif name == "math" and not _version.numpy_is_at_least(2, 5):
        import math
        import warnings

        warnings.warn(
            "`np.lib.math` is a deprecated alias for the standard library `math` module (Deprecated Numpy 1.25). "
            "Replace usages of `numpy.lib.math` with `math`",
            DeprecationWarning,
            stacklevel=2,
        )
        return math
    elif name == "test":
        value = _loader.private.PytestTester(__name__)
    else:
        raise AttributeError(f"module 'weft.lib' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
