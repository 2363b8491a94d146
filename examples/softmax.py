"""Softmax over the rows of a table: scores become probabilities.

python examples/softmax.py [weft|numpy]
"""

import importlib
import sys
import time

import numpy


def scores(size=4000):
    """`size` rows of `size` scores, float32."""
    return 4 * numpy.random.default_rng(4).standard_normal((size, size), dtype=numpy.float32)


def softmax(np, q):
    e = np.exp(q - q.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    q = np.asarray(scores())
    start = time.perf_counter()
    result = softmax(np, q)
    least, most = float(result.max(axis=1).min()), float(result.max())
    elapsed = (time.perf_counter() - start) * 1e3
    print(f"the likeliest of each row has {least:.4f} to {most:.4f}, {elapsed:.1f} ms")
