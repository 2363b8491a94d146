"""CUDA-style kernels in Python, compiled for all cores of the CPU, with numba.cuda's names."""

from weft.cuda import _arrays
from weft.cuda._kernel import RaceError, jit
from weft.cuda._place import NAMES
from weft.cuda._reduce import Reduce, reduce
from weft.cuda._ufuncs import guvectorize, vectorize
from weft.cuda._vectors import VECTORS

_ARRAYS = (
    "as_cuda_array close default_stream defer_cleanup device_array device_array_like event event_elapsed_time "
    "external_stream is_available is_cuda_array legacy_default_stream managed_array mapped mapped_array "
    "mapped_array_like per_thread_default_stream pinned pinned_array pinned_array_like profile_start profile_stop "
    "select_device stream synchronize to_device"
).split()
globals().update(NAMES | VECTORS)
globals().update({name: getattr(_arrays, name) for name in _ARRAYS})

__all__ = [
    "RaceError",
    "Reduce",
    "guvectorize",
    "jit",
    "random",
    "reduce",
    "vectorize",
    *NAMES,
    *VECTORS,
    *_ARRAYS,
]


def __getattr__(name):
    """`random` at its first use, since it needs NumPy."""
    if name == "random":
        from importlib import import_module

        return import_module("weft.cuda.random")
    raise AttributeError(f"module 'weft.cuda' has no attribute {name!r}")
