"""Random numbers: NumPy's own for the same seed, drawn on all threads, uniform ones in the kernels that read them.

>>> rng = np.random.default_rng(42)
>>> rng.integers(0, 10, 5)
array([0, 7, 6, 4, 4])
"""

from weft.random._bit_generators import MT19937, PCG64, PCG64DXSM, SFC64, BitGenerator, Philox
from weft.random._generator import Generator, default_rng
from weft.random._seed_sequence import SeedSequence


def __getattr__(name):
    """The functions from before Generator, at their first use."""
    from importlib import import_module

    if name in ("mtrand", "bit_generator"):
        return import_module(f"weft.random.{name}")
    if name == "test":
        return import_module("numpy.random").test  # NumPy's own tests
    if not name.startswith("_") or name == "_rand":
        found = import_module("weft.random.mtrand").find(name)
        if found is not None:
            globals()[name] = found
            return found
    raise AttributeError(f"module 'weft.random' has no attribute {name!r}")


def __dir__():
    from importlib import import_module

    return sorted(
        {*globals(), *import_module("weft.random.mtrand").names(), "mtrand", "bit_generator", "test"}
    )


__all__ = [
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "SFC64",
    "BitGenerator",
    "Generator",
    "Philox",
    "SeedSequence",
    "default_rng",
]
