"""An expression of several arrays: 2*a + 3*b*c on three arrays of ten million float64.

python examples/expression.py [weft|numpy]
"""

import importlib
import sys
import time

import numpy


def inputs(size=10_000_000):
    """Three arrays of `size` random numbers, the same ones every time."""
    return tuple(numpy.random.default_rng(1).random((3, size)))


def expression(a, b, c):
    return 2 * a + 3 * b * c


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    a, b, c = (np.asarray(x) for x in inputs())
    start = time.perf_counter()
    result = expression(a, b, c)
    mean = float(result.mean())
    print(f"mean {mean:.6f} of {result.size} elements in {(time.perf_counter() - start) * 1e3:.1f} ms")
