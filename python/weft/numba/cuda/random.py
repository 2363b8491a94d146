"""numba.cuda.random's names: xoroshiro128+ in kernels, with Numba's numbers for the same seed."""

from weft.cuda.random import *  # noqa: F403
from weft.cuda.random import __all__ as _names
from weft.cuda.random import xoroshiro128p_dtype
from weft.numba._types import from_numpy

xoroshiro128p_type = from_numpy(xoroshiro128p_dtype)

__all__ = [*_names, "xoroshiro128p_type"]
