"""NumPy's `lib`: weft has its stride_tricks."""

from weft.lib import stride_tricks

__all__ = ["stride_tricks"]
