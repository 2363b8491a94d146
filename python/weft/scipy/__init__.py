"""Functions of SciPy's that weft computes itself."""


def __getattr__(name):
    if name == "special":
        from importlib import import_module

        return import_module("weft.scipy.special")
    raise AttributeError(f"weft.scipy has no {name!r}; meanwhile use SciPy's with numpy.asarray(x)")
