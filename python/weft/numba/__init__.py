"""The names of Numba, with Numba's meaning, for weft: a program changes its import line and nothing else.

>>> import numpy
>>> from weft.numba import njit
>>> @njit
... def doubled(a):
...     out = numpy.empty_like(a)
...     for i in range(len(a)):
...         out[i] = 2 * a[i]
...     return out
>>> doubled(numpy.array([1.0, 2.0]))
array([2., 4.])
"""

import sys as _sys
from importlib import import_module as _import_module
from importlib.machinery import PathFinder as _PathFinder

from weft._jit._decorator import prange
from weft.numba import _types, config, core, errors, extending, typed, types
from weft.numba._decorators import (
    cfunc,
    from_dtype,
    jit,
    jit_module,
    literal_unroll,
    literally,
    njit,
    objmode,
    typeof,
)
from weft.numba._threads import (
    get_num_threads,
    get_parallel_chunksize,
    get_thread_id,
    parallel_chunksize,
    set_num_threads,
    set_parallel_chunksize,
    threading_layer,
)
from weft.numba._ufuncs import guvectorize, stencil, vectorize
from weft.numba.errors import *

globals().update({name: value for name, value in _types.names.items() if name not in ("none", "string")})
none = _types.names["none"]
optional = _types.Optional
__version__ = "0.68.1"  # of the Numba whose names these are

# What is not there, and what to write instead.
_MISSING = {
    "jitclass": "a NamedTuple or a dataclass, with functions",
    "gdb": "WEFT_JIT=0 and a debugger of Python",
    "gdb_init": "WEFT_JIT=0 and a debugger of Python",
    "gdb_breakpoint": "WEFT_JIT=0 and a debugger of Python",
}
_LATER = ("cuda", "experimental", "np")


class _OwnFinder:
    """Finds weft.numba.cuda, for which numba-cuda's finder, wherever it is installed, asks itself without end."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        is_own = name.startswith("weft.numba.cuda")
        return _PathFinder.find_spec(name, path, target) if is_own else None


if "_numba_cuda_redirector" in _sys.modules:
    _sys.meta_path.insert(0, _OwnFinder)


def __getattr__(name):
    if name in _LATER:
        return _import_module(f"weft.numba.{name}")
    advice = _MISSING.get(name)
    if advice is not None:
        raise AttributeError(f"weft.numba has no {name} yet; write {advice}")
    raise AttributeError(f"module 'weft.numba' has no attribute {name!r}")
