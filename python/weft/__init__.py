"""weft: NumPy's arrays, fused and compiled."""

from weft import _core

__version__ = "0.1.0"
