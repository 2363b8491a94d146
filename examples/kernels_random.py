"""CUDA-style kernels that draw random numbers: pi, by positions in NumPy's own stream and by a generator a thread; and
the prices of two options, beside the formula of Black and Scholes and beside NumPy.

python examples/kernels_random.py
"""

import math

import numpy
import weft as np
from weft import cuda
from weft.cuda.random import (
    create_xoroshiro128p_states,
    philox_normal_float64,
    philox_random,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float64,
)

BLOCK = 64

total = cuda.reduce(lambda a, b: a + b)


@cuda.jit
def hits_by_position(key, points, hits):
    """Each thread takes every so-manieth point. A point's two numbers are at its place in the stream."""
    own = cuda.shared.array(BLOCK, np.int64)
    t = cuda.threadIdx.x
    count = 0
    for point in range(cuda.grid(1), points, cuda.gridsize(1)):
        x, y = philox_random(key, 2 * point), philox_random(key, 2 * point + 1)
        if x * x + y * y < 1.0:
            count += 1
    own[t] = count
    stride = BLOCK // 2
    while stride > 0:
        cuda.syncthreads()
        if t < stride:
            own[t] += own[t + stride]
        stride //= 2
    if t == 0:
        cuda.atomic.add(hits, 0, own[0])


def hits_by_numpy(key, points):
    x, y = numpy.random.Generator(numpy.random.Philox(key=key)).random((points, 2)).T
    return numpy.count_nonzero(x * x + y * y < 1.0)


@cuda.jit
def hits_by_state(states, points, hits):
    i = cuda.grid(1)
    if i < states.size:
        count = 0
        for _ in range(points):
            x = xoroshiro128p_uniform_float64(states, i)
            y = xoroshiro128p_uniform_float64(states, i)
            if x * x + y * y < 1.0:
                count += 1
        hits[i] = count


@cuda.jit
def payoffs(states, paths, spot, strike, rate, volatility, years, sums, squares):
    """Sums over a thread's paths of what a European call pays, each path with its mirror image."""
    i = cuda.grid(1)
    if i < states.size:
        drift = (rate - 0.5 * volatility * volatility) * years
        spread = volatility * np.sqrt(years)
        discount = np.exp(-rate * years)
        of_thread = of_squares = 0.0
        for _ in range(paths):
            z = spread * xoroshiro128p_normal_float64(states, i)
            up = max(spot * np.exp(drift + z) - strike, 0.0)
            down = max(spot * np.exp(drift - z) - strike, 0.0)
            pays = 0.5 * discount * (up + down)
            of_thread += pays
            of_squares += pays * pays
        sums[i] = of_thread
        squares[i] = of_squares


def price(spot, strike, rate, volatility, years, threads=2000, paths=250, seed=5):
    """The price of a European call, and its standard error."""
    states = create_xoroshiro128p_states(threads, seed)
    sums, squares = cuda.device_array(threads), cuda.device_array(threads)
    launch = -(-threads // BLOCK), BLOCK
    payoffs[launch](states, paths, spot, strike, rate, volatility, years, sums, squares)
    count = threads * paths
    mean = float(total(sums)) / count
    return mean, math.sqrt((float(total(squares)) / count - mean * mean) / count)


def price_by_formula(spot, strike, rate, volatility, years):
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + rate * years) / spread + spread / 2
    below = [0.5 * math.erfc(-d / math.sqrt(2)) for d in (d1, d1 - spread)]
    return spot * below[0] - strike * math.exp(-rate * years) * below[1]


@cuda.jit
def mean_payoffs(seed, steps, spot, strike, drift, spread, pays):
    """What a call on the mean of a path pays. Each path is a sequence of its own, and a step is its counter."""
    i = cuda.grid(1)
    if i < pays.size:
        value, mean = spot, 0.0
        for step in range(steps):
            value *= np.exp(drift + spread * philox_normal_float64(seed, step, i))
            mean += value
        pays[i] = max(mean / steps - strike, 0.0)


@cuda.jit
def normals(seed, out):
    step, i = cuda.grid(2)
    if i < out.shape[0] and step < out.shape[1]:
        out[i, step] = philox_normal_float64(seed, step, i)


def mean_payoffs_of(seed, paths, steps, spot, strike, drift, spread):
    pays = numpy.zeros(paths)
    mean_payoffs[-(-paths // BLOCK), BLOCK](seed, steps, spot, strike, drift, spread, pays)
    return pays


def mean_payoffs_by_numpy(seed, paths, steps, spot, strike, drift, spread):
    z = numpy.zeros((paths, steps))
    normals[(-(-steps // 8), -(-paths // 8)), (8, 8)](seed, z)
    values = spot * numpy.exp(numpy.cumsum(drift + spread * z, axis=1))
    return numpy.maximum(values.mean(axis=1) - strike, 0.0)


def main():
    points = 100_001
    hits = numpy.zeros(1, int)
    hits_by_position[20, BLOCK](2024, points, hits)
    print("pi, by NumPy's Philox     ", hits[0] == hits_by_numpy(2024, points))

    hits = numpy.zeros(1000, int)
    hits_by_state[-(-hits.size // BLOCK), BLOCK](create_xoroshiro128p_states(1000, seed=3), 1000, hits)
    share, spread = hits.mean() / 1000, math.sqrt(math.pi / 4 * (1 - math.pi / 4) / 1e6)
    print("pi, a generator a thread  ", abs(share - math.pi / 4) < 4 * spread, f"({4 * share:.4f})")

    terms = {"spot": 100.0, "strike": 105.0, "rate": 0.03, "volatility": 0.25, "years": 1.5}
    found, error = price(**terms)
    exact = price_by_formula(**terms)
    print("price of a European call  ", abs(found - exact) < 4 * error, f"({found:.3f}, exactly {exact:.3f})")

    case = 9, 2003, 52, 100.0, 100.0, 0.0002, 0.03
    print("a call on a path's mean   ", numpy.allclose(mean_payoffs_of(*case), mean_payoffs_by_numpy(*case)))


if __name__ == "__main__":
    main()
