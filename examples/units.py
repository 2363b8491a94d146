"""A layer of units that are on or off, as of a Boltzmann machine: each is on with a probability that its inputs say.

python examples/units.py [weft|numpy]
"""

import importlib
import itertools
import sys
import time

import numpy


class Layer:
    """Fixed weights and biases, float32, inputs that are new each time, and a stream that decides."""

    def __init__(self, np, rows=512, inputs=784, samples=256):
        rng = numpy.random.default_rng(5)
        self.np = np
        self.weights = np.asarray(0.05 * rng.standard_normal((rows, inputs), dtype=numpy.float32))
        self.bias = np.asarray(rng.standard_normal((rows, 1), dtype=numpy.float32))
        batches = rng.random((3, inputs, samples), dtype=numpy.float32) < 0.3
        self.batches = itertools.cycle([np.asarray(batch.astype(numpy.float32)) for batch in batches])
        self.rng = np.random.default_rng(6)

    def sample(self):
        return sampled(self.np, self.rng, self.weights, next(self.batches), self.bias)


def sampled(np, rng, W, V, c):
    h = W @ V + c
    return rng.random(h.shape) < 1 / (1 + np.exp(-h))


if __name__ == "__main__":
    np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "weft")
    layer = Layer(np)
    layer.sample()
    start = time.perf_counter()
    share = float(layer.sample().mean())
    elapsed = (time.perf_counter() - start) * 1e3
    print(f"{share:.4f} of the units are on, {elapsed:.1f} ms")
