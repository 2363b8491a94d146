"""A matrix product of which only the sum over its rows is wanted, written as a product and as an einsum.

python examples/products.py [weft|numpy]
"""

import importlib
import sys
import time

import numpy


def matrices(rows=2000, inner=1000, columns=1400):
    """Two matrices of float32, rows × inner and inner × columns."""
    generator = numpy.random.default_rng(6)
    return tuple(generator.random(shape, dtype=numpy.float32) for shape in ((rows, inner), (inner, columns)))


def product_then_sum(a, b):
    return (a @ b).sum(axis=0)


def einsum(np, a, b):
    return np.einsum("ij,jk->...k", a, b)


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    a, b = (np.asarray(x) for x in matrices())
    for name, function in (
        ("product, then sum", product_then_sum),
        ("einsum", lambda a, b: einsum(np, a, b)),
    ):
        start = time.perf_counter()
        result = function(a, b)
        total = float(result.sum())
        print(f"{name}: {total:.6g} in all, {(time.perf_counter() - start) * 1e3:.1f} ms")
