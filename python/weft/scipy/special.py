"""Special functions, named as in scipy.special."""

from weft._core import _ufuncs

__all__ = [name for name, ufunc in _ufuncs.items() if ufunc._namespace == "scipy.special"]
globals().update({name: _ufuncs[name] for name in __all__})


def __getattr__(name):
    raise AttributeError(
        f"weft.scipy.special has no {name!r} yet; meanwhile use scipy.special's on numpy.asarray(x)"
    )
