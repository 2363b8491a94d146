"""Random numbers in kernels: xoroshiro128+ by numba.cuda.random's names, and Philox, which needs no state.

>>> from weft import cuda
>>> states = cuda.random.create_xoroshiro128p_states(2, seed=1).copy_to_host()
>>> cuda.random.xoroshiro128p_uniform_float64(states, 0)
0.1331231503445619
"""

from weft.cuda.random._philox import (
    philox4x32,
    philox4x64,
    philox_next,
    philox_normal_float32,
    philox_normal_float64,
    philox_random,
    philox_uniform_float32,
    philox_uniform_float64,
)
from weft.cuda.random._xoroshiro import (
    create_xoroshiro128p_states,
    init_xoroshiro128p_state,
    init_xoroshiro128p_states,
    xoroshiro128p_dtype,
    xoroshiro128p_jump,
    xoroshiro128p_next,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_state",
    "init_xoroshiro128p_states",
    "philox4x32",
    "philox4x64",
    "philox_next",
    "philox_normal_float32",
    "philox_normal_float64",
    "philox_random",
    "philox_uniform_float32",
    "philox_uniform_float64",
    "xoroshiro128p_dtype",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]
