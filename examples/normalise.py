"""Normalises the columns of a table: from each its mean, divided by its standard deviation.

python examples/normalise.py [weft|numpy]
"""

import importlib
import sys
import time

import numpy


def table(size=4000):
    """`size` rows of `size` measurements, float32; each column has its own level and its own spread."""
    generator = numpy.random.default_rng(2)
    level, spread = generator.normal(size=size), generator.random(size) + 0.5
    return (generator.random((size, size), dtype=numpy.float32) * spread + level).astype(numpy.float32)


def normalise(q):
    return (q - q.mean(0)) / q.std(0)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    q = np.asarray(table())
    start = time.perf_counter()
    result = normalise(q)
    mean, deviation = float(result[:, 7].mean()), float(result[:, 7].std())
    elapsed = (time.perf_counter() - start) * 1e3
    print(f"column 7 has mean {mean:.1e} and standard deviation {deviation:.4f}, {elapsed:.1f} ms")
