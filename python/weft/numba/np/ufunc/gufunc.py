"""The class of what guvectorize makes."""

from weft.numba._ufuncs import GUFunc

__all__ = ["GUFunc"]
