"""Random numbers: NumPy's own for the same seed, drawn on all threads, uniform ones in the kernels that read them.

>>> rng = np.random.default_rng(42)
>>> rng.integers(0, 10, 5)
array([0, 7, 6, 4, 4])
"""

from weft.random._bit_generators import PCG64, PCG64DXSM, BitGenerator, Philox
from weft.random._generator import Generator, default_rng
from weft.random._seed_sequence import SeedSequence


def __getattr__(name):
    """The functions from before Generator, at their first use."""
    from importlib import import_module

    if name.startswith("_"):
        raise AttributeError(f"module 'weft.random' has no attribute {name!r}")
    _legacy = import_module("weft.random._legacy")
    if name == "RandomState":
        return _legacy.RandomState
    if name in _legacy.NAMES:
        import numpy

        return _legacy.function_of(numpy.random, name)
    raise AttributeError(f"module 'weft.random' has no attribute {name!r}")


__all__ = ["PCG64", "PCG64DXSM", "BitGenerator", "Generator", "Philox", "SeedSequence", "default_rng"]
