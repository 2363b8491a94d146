"""numpy.char for weft's arrays: NumPy computes, on the host, and weft.fallback_report() counts it."""

import importlib

_theirs = importlib.import_module("numpy.char")
__all__ = [name for name in _theirs.__all__ if hasattr(_theirs, name)]


def __getattr__(name):
    from weft._protocols.host_names import of_module

    if name.startswith("_") or not hasattr(_theirs, name):
        raise AttributeError(f"module 'weft.char' has no attribute {name!r}")
    globals()[name] = of_module(_theirs, name)
    return globals()[name]


def __dir__():
    return sorted(__all__)
