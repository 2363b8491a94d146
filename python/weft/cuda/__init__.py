"""CUDA-style kernels in Python, compiled for all cores of the CPU, with numba.cuda's names."""

from weft.cuda import _arrays, _devices
from weft.cuda._external import LINKED, declare_device
from weft.cuda._kernel import RaceError, jit
from weft.cuda._place import NAMES
from weft.cuda._reduce import Reduce, reduce
from weft.cuda._ufuncs import guvectorize, vectorize
from weft.cuda._vectors import VECTORS
from weft.exceptions import DeviceError

_ARRAYS = (
    "In InOut Out as_cuda_array default_stream defer_cleanup device_array device_array_like event event_elapsed_time "
    "external_stream from_cuda_array_interface is_available is_cuda_array legacy_default_stream managed_array mapped "
    "mapped_array mapped_array_like per_thread_default_stream pinned pinned_array pinned_array_like profile_start "
    "profile_stop profiling stream synchronize to_device"
).split()
_DEVICES = (
    "close current_context detect get_current_device gpus is_float16_supported is_supported_version list_devices "
    "require_context select_device"
).split()
globals().update(NAMES | VECTORS)
globals().update({each.__name__: each for each in LINKED})
globals().update({name: getattr(_arrays, name) for name in _ARRAYS})
globals().update({name: getattr(_devices, name) for name in _DEVICES})
CudaSupportError = DeviceError

__all__ = [
    "CudaSupportError",
    "RaceError",
    "Reduce",
    "declare_device",
    "guvectorize",
    "jit",
    "libdevice",
    "random",
    "reduce",
    "vectorize",
    *NAMES,
    *VECTORS,
    *(each.__name__ for each in LINKED),
    *_ARRAYS,
    *_DEVICES,
]


def __getattr__(name):
    """`random` and `libdevice` at their first use, since they need NumPy."""
    if name in ("libdevice", "random"):
        from importlib import import_module

        return import_module(f"weft.cuda.{name}")
    raise _devices.why_missing("weft.cuda", name)
