"""Functions of SciPy's that weft computes itself."""

_MODULES = ("fft", "linalg", "special")


def __getattr__(name):
    if name in _MODULES:
        from importlib import import_module

        return import_module(f"weft.scipy.{name}")
    raise AttributeError(f"weft.scipy has no {name!r}; meanwhile use SciPy's with numpy.asarray(x)")
