"""Rows of the list of workloads on a GPU, weft beside CuPy where that is installed.

The same text for both, inputs on the device, the device waited for after each call.

    WEFT_DEVICE=cuda python bench/gpu.py [--numpy] [TEXT ...]     cases whose names contain one of the texts

Prints a line of JSON a case: the goal in milliseconds, the first call, the median and the smallest of the calls of half
a second, kernels of one call, what ran on the CPU instead and why, and the largest difference from CuPy's result in
parts of its largest element. With --numpy also NumPy's times of the same text on this machine's CPU.
"""

import dataclasses
import importlib
import importlib.util
import json
import sys
import time

import numpy
import weft
import weft.scipy.special

SECONDS = 0.5


def timed(work, wait):
    start = time.perf_counter()
    work()
    wait()
    first = time.perf_counter() - start
    work()
    wait()
    times = []
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        work()
        wait()
        times.append(time.perf_counter() - start)
    times.sort()
    return [round(seconds * 1e3, 4) for seconds in (first, times[len(times) // 2], times[0])]


def error_function(np):
    homes = {"numpy": "scipy.special", "cupy": "cupyx.scipy.special"}
    return np.scipy.special.erf if np is weft else importlib.import_module(homes[np.__name__]).erf


def black_scholes(np, price, strike, years):
    erf, rate, volatility = error_function(np), 0.1, 0.2
    d1 = np.log(price / strike) + (rate + volatility**2 / 2) * years
    d1 = d1 / (volatility * np.sqrt(years))
    d2 = d1 - volatility * np.sqrt(years)
    discounted = strike * np.exp(-rate * years)
    half = 0.7071067811865476
    return price * (0.5 + 0.5 * erf(d1 * half)) - discounted * (0.5 + 0.5 * erf(d2 * half))


def laplace(steps):
    def run(np, u):
        for _ in range(steps):
            u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1]) * 0.25 + (u[1:-1, 2:] + u[1:-1, :-2]) * 0.25
        return u

    return run


def diffusion(steps):
    def run(np, u):
        for _ in range(steps):
            around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
            u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (around - 4 * u[1:-1, 1:-1])
        return u

    return run


def nine(x):
    return (
        x[:-2, :-2] + x[:-2, 1:-1] + x[:-2, 2:] + x[1:-1, :-2] + x[1:-1, 1:-1] + x[1:-1, 2:]
        + x[2:, :-2] + x[2:, 1:-1] + x[2:, 2:]
    )  # fmt: skip


def periodogram(np, times, values, frequencies):
    angles = 2 * numpy.pi * frequencies[:, None] * times
    c, s = np.cos(angles), np.sin(angles)
    return (values * c).sum(1) ** 2 / (c * c).sum(1) + (values * s).sum(1) ** 2 / (s * s).sum(1)


def softmax(np, q):
    e = np.exp(q - q.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def small(np, q):
    for _ in range(1000):
        q = q * 1.0001 + 0.5
    return q


RANDOM = numpy.random.default_rng(0)


@dataclasses.dataclass
class Seed:
    """Stands among inputs for a generator, made once as its user makes it."""

    seed: int


def given(np, inputs):
    """The inputs as `np`'s arrays, copied, and generators."""
    return [np.random.default_rng(x.seed) if isinstance(x, Seed) else np.array(x) for x in inputs]


def numbers(*shape, dtype="float32"):
    return RANDOM.random(shape, dtype=dtype)


def options(dtype):
    return [numbers(2 * 10**7, dtype=dtype) * 50 + 10 for _ in range(3)]


def samples(dtype):
    arrays = (
        numpy.sort(RANDOM.random(2**10) * 100),
        RANDOM.standard_normal(2**10),
        numpy.linspace(0.01, 10, 2**20),
    )
    return [array.astype(dtype) for array in arrays]


def layer(units, inputs):
    """Weights, what is seen, biases and the generator of a layer of units that are sampled."""

    def make():
        weights = RANDOM.standard_normal((units, inputs)).astype("f4") * numpy.float32(0.05)
        return [weights, numbers(inputs, 256), numbers(units, 1), Seed(1)]

    return make


def sampled(np, weights, seen, bias, generator):
    hidden = weights @ seen + bias
    return generator.random(hidden.shape, dtype=np.float32) < 1 / (1 + np.exp(-hidden))


# Name, goal in ms, inputs, program.
CASES = [
    ("1 2*a + 3*b*c, 1e8 f64", 0.76, lambda: [numbers(10**8, dtype="f8") for _ in range(3)],
     lambda np, a, b, c: 2 * a + 3 * b * c),
    ("3 Black-Scholes, 2e7 f32", 0.12, lambda: options("f4"), black_scholes),
    ("3 Black-Scholes, 2e7 f64", 0.33, lambda: options("f8"), black_scholes),
    ("4 Laplace by slices, 2000² f32, 100 steps", 1.05, lambda: [numbers(2000, 2000)], laplace(100)),
    ("4 Laplace by slices, 4000² f64, 100 steps", 6.5, lambda: [numbers(4000, 4000, dtype="f8")], laplace(100)),
    ("5 a sampled layer of units, 512×784 @ 784×256 f32", 0.035, layer(512, 784), sampled),
    ("5 a sampled layer of units, 4096×2048 @ 2048×256 f32", 0.12, layer(4096, 2048), sampled),
    ("6 (A @ B).sum(0), 10000×5000 @ 5000×7000 f32", 0.11, lambda: [numbers(10000, 5000), numbers(5000, 7000)],
     lambda np, a, b: (a @ b).sum(axis=0)),
    ("6 einsum ij,jk->k, the same", 0.11, lambda: [numbers(10000, 5000), numbers(5000, 7000)],
     lambda np, a, b: np.einsum("ij,jk->k", a, b)),
    ("6 A @ B, 4096² f32", None, lambda: [numbers(4096, 4096), numbers(4096, 4096)], lambda np, a, b: a @ b),
    ("8 smoothing by slices, 10000² int8", 0.15, lambda: [RANDOM.integers(0, 12, (10000, 10000), dtype="int8")],
     lambda np, x: nine(x) // 9),
    ("8 smoothing, uint8 widened", None, lambda: [RANDOM.integers(0, 256, (10000, 10000), dtype="uint8")],
     lambda np, x: (nine(x.astype(np.int16)) // 9).astype(np.uint8)),
    ("9 Lomb-Scargle by broadcasting, 2^10 × 2^20 f64", 3.0, lambda: samples("f8"), periodogram),
    ("9 Lomb-Scargle by broadcasting, f32", 1.6, lambda: samples("f4"), periodogram),
    ("11 diffusion by slices, 2000² f32, 1000 steps", 10.5, lambda: [numbers(2000, 2000)], diffusion(1000)),
    ("15 sum, 8000² f32", 0.07, lambda: [numbers(8000, 8000)], lambda np, q: q.sum()),
    ("15 sum, axis 0", 0.07, lambda: [numbers(8000, 8000)], lambda np, q: q.sum(axis=0)),
    ("15 sum, axis 1", 0.07, lambda: [numbers(8000, 8000)], lambda np, q: q.sum(axis=1)),
    ("15 std", 0.08, lambda: [numbers(8000, 8000)], lambda np, q: q.std()),
    ("15 softmax over rows", 0.18, lambda: [numbers(8000, 8000)], softmax),
    ("15 (q - q.mean(0)) / q.std(0)", 0.22, lambda: [numbers(8000, 8000)],
     lambda np, q: (q - q.mean(axis=0)) / q.std(axis=0)),
    ("15 argmax, axis 1", 0.08, lambda: [numbers(8000, 8000)], lambda np, q: q.argmax(axis=1)),
    ("15 cumsum, axis 1", 0.16, lambda: [numbers(8000, 8000)], lambda np, q: q.cumsum(axis=1)),
    ("15 q.T + 0", 0.13, lambda: [numbers(8000, 8000)], lambda np, q: q.T + 0),
    ("15 h[idx] random, 1e8 f64", 2.8, lambda: [numbers(10**8, dtype="f8"), RANDOM.integers(0, 10**8, 10**8)],
     lambda np, h, index: h[index]),
    ("15 take, 1e8 f64", None, lambda: [numbers(10**8, dtype="f8"), RANDOM.integers(0, 10**8, 10**8)],
     lambda np, h, index: np.take(h, index)),
    ("15 cumsum, 1e8 f64", 0.5, lambda: [numbers(10**8, dtype="f8")], lambda np, h: np.cumsum(h)),
    ("15 random, 1e8 f64", 0.4, lambda: [Seed(1)], lambda np, generator: generator.random(10**8)),
    ("15 random, 1e8 f32", None, lambda: [Seed(1)], lambda np, generator: generator.random(10**8, dtype=np.float32)),
    ("15 normal, 1e7 f64", None, lambda: [Seed(1)], lambda np, generator: generator.standard_normal(10**7)),
    ("15 sort, 1e8 f32", 2.4, lambda: [numbers(10**8)], lambda np, h: np.sort(h)),
    ("15 sort, 1e8 f64", None, lambda: [numbers(10**8, dtype="f8")], lambda np, h: np.sort(h)),
    ("15 sort of rows, 8000² f32", None, lambda: [numbers(8000, 8000)], lambda np, q: np.sort(q)),
    ("15 sort of columns, 1e5 × 1000 f32", None, lambda: [numbers(10**5, 1000)], lambda np, q: np.sort(q, 0)),
    ("15 argsort, 1e8 f32", None, lambda: [numbers(10**8)], lambda np, h: np.argsort(h)),
    ("15 h[h > 0.5], 1e8 f64", 0.5, lambda: [numbers(10**8, dtype="f8")], lambda np, h: h[h > 0.5]),
    ("15 nonzero, 1e8 f64", None, lambda: [numbers(10**8, dtype="f8")], lambda np, h: np.nonzero(h > 0.5)[0]),
    ("15 bincount, 1e8 below 1000", 0.6, lambda: [RANDOM.integers(0, 1000, 10**8)], lambda np, k: np.bincount(k)),
    ("15 bincount, 1e8 below 1e6", None, lambda: [RANDOM.integers(0, 10**6, 10**8)], lambda np, k: np.bincount(k)),
    ("15 bincount with weights, 1e7 below 1000", None,
     lambda: [RANDOM.integers(0, 1000, 10**7), numbers(10**7, dtype="f8")], lambda np, k, w: np.bincount(k, w)),
    ("15 unique, 1e8 below 1e6", None, lambda: [RANDOM.integers(0, 10**6, 10**8)], lambda np, k: np.unique(k)),
    ("15 searchsorted, 1e8 in 1e6 f64", None,
     lambda: [numpy.sort(numbers(10**6, dtype="f8")), numbers(10**8, dtype="f8")],
     lambda np, row, h: np.searchsorted(row, h)),
    ("15 percentile, 1e8 f32", None, lambda: [numbers(10**8)], lambda np, h: np.percentile(h, [5, 50, 95])),
    ("16 2000 dependent operations on 1000 f64", 0.5, lambda: [numbers(1000, dtype="f8")], small),
]  # fmt: skip


def of_weft(program, inputs):
    """The figures, and the result of one call."""
    arrays = given(weft, inputs)
    weft.synchronize()
    weft.clear_kernel_history()
    result = program(weft, *arrays)
    weft.eval(result)
    history = weft.kernel_history()
    figures = {
        "kernels": len(history),
        "fallbacks": sorted({k["fallback"] for k in history if k["fallback"]}),
    }
    value = numpy.asarray(result.to_device("cpu"))
    arrays = given(weft, inputs)
    weft.synchronize()
    figures["weft"] = timed(lambda: weft.eval(program(weft, *arrays)), weft.synchronize)
    return figures, value


def of_cupy(cupy, program, inputs, value):
    arrays = given(cupy, inputs)
    expected = cupy.asnumpy(program(cupy, *arrays)).astype("f8")
    arrays = given(cupy, inputs)
    scale = float(numpy.nanmax(numpy.abs(expected))) or 1.0
    figures = {"difference": float(numpy.nanmax(numpy.abs(value.astype("f8") - expected))) / scale}
    figures["cupy"] = timed(lambda: program(cupy, *arrays), cupy.cuda.Device().synchronize)
    return figures


def of_numpy(program, inputs):
    """NumPy's first call, median and smallest."""
    arrays = given(numpy, inputs)
    return {"numpy": timed(lambda: program(numpy, *arrays), lambda: None)}


def main():
    texts = [text for text in sys.argv[1:] if text != "--numpy"]
    with_numpy = "--numpy" in sys.argv[1:]
    cupy = importlib.import_module("cupy") if importlib.util.find_spec("cupy") else None
    for name, goal, make, program in CASES:
        if texts and not any(text in name for text in texts):
            continue
        inputs = make()
        row = {"case": name, "goal": goal}
        figures, value = of_weft(program, inputs)
        row.update(figures)
        weft.empty_pool()
        if cupy is not None:
            row.update(of_cupy(cupy, program, inputs, value))
            cupy.get_default_memory_pool().free_all_blocks()
        if with_numpy:
            row.update(of_numpy(program, inputs))
        print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
