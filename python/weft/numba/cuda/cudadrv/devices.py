"""The devices, by the names that they have here in numba.cuda."""

from weft.cuda import current_context as get_context
from weft.cuda import gpus

__all__ = ["get_context", "gpus"]
