"""numpy.core, the old name of NumPy's insides that programs of NumPy 1 use: np.core.records, np.core.multiarray."""

import warnings
from importlib import import_module

import weft

_MODULES = {"records": "weft.rec", "defchararray": "weft.char"}
_PARTS = frozenset(
    """
    arrayprint einsumfunc fromnumeric function_base getlimits multiarray numeric numerictypes overrides shape_base umath
    """.split()
)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'weft.core' has no attribute {name!r}")
    warnings.warn(
        f"weft.core is NumPy's old name of what is public elsewhere: use weft.{name}",
        DeprecationWarning,
        stacklevel=2,
    )
    if name in _MODULES:
        return import_module(_MODULES[name])
    return weft if name in _PARTS else getattr(weft, name)
