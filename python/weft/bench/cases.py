"""What the benchmarks run: each case with its input, its goal, and the text that each contender's user would write.

A case names its row of the list of workloads. `goal` is the ratio to the best peer that is aimed at (less is better).
`moves` and `work` say what bounds the time from below, see `Case`. Contenders get their input as their own arrays and
return a result that `CONTENDERS[name].finish` waits for.
"""

import dataclasses
import functools
import importlib
import math
from collections.abc import Callable

import numpy

load = functools.cache(importlib.import_module)  # which takes longer than the smallest cases


@dataclasses.dataclass
class Case:
    name: str
    row: int
    goal: float
    inputs: Callable[[], tuple]
    contenders: dict[str, Callable]  # name: function of the inputs
    tolerance: float = 0.0  # relative difference from NumPy's result; 0: every bit
    stray: int = 0  # elements that may differ by more
    # steady: repeated calls; first: the first call of a process; again: the same, seen in an earlier process; import
    kind: str = "steady"
    # The limit is the longer of two times. Bytes that must move, over the measured bandwidth; without a number, the
    # inputs and the result once each. Vector functions and fused multiply-adds ("multiply_add"), by dtype and number
    # of elements, at their measured throughput.
    moves: int | None = None
    work: dict[tuple[str, str], float] = dataclasses.field(default_factory=dict)
    has_limit: bool = True
    note: str = ""
    device: str = "cpu"


@dataclasses.dataclass
class Contender:
    """How to hand a NumPy array to a contender, and how to wait for its result."""

    module: str
    convert: Callable = lambda array: array
    finish: Callable = lambda result: result
    settle: Callable = lambda: None  # after the first call: waits for the compilers in the background
    give_back: Callable = lambda: None  # returns spare memory to the system


def weft_finish(result):
    weft = load("weft")
    weft.eval(*(result if isinstance(result, tuple) else (result,)))
    return result


def weft_settle():
    load("weft").cache_info()  # it counts, once the queue of kernels to compile is done


def weft_give_back():
    load("weft").empty_pool()


def jax_convert(array):
    jax = load("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray(array)


CONTENDERS = {
    "weft": Contender("weft", lambda a: load("weft").asarray(a), weft_finish, weft_settle, weft_give_back),
    "numpy": Contender("numpy"),
    "numexpr": Contender("numexpr"),
    "numba": Contender("numba"),
    "scipy": Contender("scipy"),
    "jax": Contender("jax", jax_convert, lambda result: load("jax").block_until_ready(result)),
    "torch": Contender("torch", lambda a: load("torch").from_numpy(a)),
}

CASES: list[Case] = []


def the_same(function, jit=True, without=()):
    """Contenders that run one text, `function(np, *arrays)`, with their own module as `np`."""

    def jax(*arrays):
        if "compiled" not in cache:
            import jax

            jax.config.update("jax_enable_x64", True)
            bound = functools.partial(function, jax.numpy)
            cache["compiled"] = jax.jit(bound) if jit else bound
        return cache["compiled"](*arrays)

    cache = {}
    contenders = {
        "numpy": lambda *arrays: function(numpy, *arrays),
        "weft": lambda *arrays: function(load("weft"), *arrays),
        "jax": jax,
        "torch": lambda *arrays: function(load("torch"), *arrays),
    }
    return {name: run for name, run in contenders.items() if name not in without}


def only(contender, function):
    """One contender that runs a text of its own, `function(np, *arrays)`."""
    return {contender: the_same(function)[contender]}


def compiled_by_numba(make):
    """A contender whose loops Numba compiles on first use: `make(numba)` gives the function."""
    cache = {}

    def run(*arrays):
        if "function" not in cache:
            cache["function"] = make(load("numba"))
        return cache["function"](*arrays)

    return run


def case(name, row, goal, inputs, contenders, **more):
    CASES.append(Case(name, row, goal, inputs, contenders, **more))


def random(shape, dtype="f8", seed=0, add=0.0):
    return lambda: ((numpy.random.default_rng(seed).random(shape) + add).astype(dtype, copy=False),)


def three(size, dtype="f8", add=0.0):
    return lambda: tuple((numpy.random.default_rng(0).random((3, size)) + add).astype(dtype, copy=False))


# --- 1: an expression of several arrays --------------------------------------------------------------------


def evaluated_by_numexpr(text):
    return lambda a, b, c: load("numexpr").evaluate(text, {"a": a, "b": b, "c": c})


case(
    "2*a + 3*b*c, 1e7 f64", 1, 0.8, three(10**7),
    {**the_same(lambda np, a, b, c: 2 * a + 3 * b * c), "numexpr": evaluated_by_numexpr("2*a + 3*b*c")},
    tolerance=1e-15,
)  # fmt: skip


# --- 2: transcendental functions ---------------------------------------------------------------------------

case(
    "sin(a)*exp(b) + sqrt(c), 1e7 f64", 2, 0.25, three(10**7),
    {
        **the_same(lambda np, a, b, c: np.sin(a) * np.exp(b) + np.sqrt(c)),
        "numexpr": evaluated_by_numexpr("sin(a)*exp(b) + sqrt(c)"),
    },
    tolerance=1e-14, work={("sin", "f8"): 1e7, ("exp", "f8"): 1e7, ("sqrt", "f8"): 1e7},
)  # fmt: skip


# --- 3: Black-Scholes --------------------------------------------------------------------------------------


def error_function(np):
    if np.__name__ == "torch":
        return np.erf
    homes = {"numpy": "scipy.special", "jax.numpy": "jax.scipy.special"}
    return load(homes.get(np.__name__, np.__name__ + ".scipy.special")).erf


def black_scholes(np, spot, strike, years):
    erf = error_function(np)

    def normal_cdf(z):
        return 0.5 * (1 + erf(z * 0.7071067811865476))

    d1 = (np.log(spot / strike) + 0.065 * years) / (0.3 * np.sqrt(years))
    d2 = d1 - 0.3 * np.sqrt(years)
    return spot * normal_cdf(d1) - strike * np.exp(-0.02 * years) * normal_cdf(d2)


def black_scholes_loops(numba):
    @numba.njit(parallel=True)
    def prices(spot, strike, years):
        result = numpy.empty_like(spot)
        for i in numba.prange(spot.size):
            s, k, t = spot[i], strike[i], years[i]
            spread = 0.3 * math.sqrt(t)
            d1 = (math.log(s / k) + 0.065 * t) / spread
            d2 = d1 - spread
            result[i] = s * 0.5 * (1 + math.erf(d1 * 0.7071067811865476)) - k * math.exp(-0.02 * t) * 0.5 * (
                1 + math.erf(d2 * 0.7071067811865476)
            )
        return result

    return prices


for dtype, goal, tolerance in (("f4", 0.4, 2e-4), ("f8", 0.3, 1e-12)):
    case(
        f"Black-Scholes, 2e6 {dtype.replace('f4', 'f32').replace('f8', 'f64')}", 3, goal,
        three(2 * 10**6, dtype, add=1.0),
        {**the_same(black_scholes), "numba": compiled_by_numba(black_scholes_loops)}, tolerance=tolerance,
        work={(name, dtype): 2e6 * times for name, times in (("log", 1), ("exp", 1), ("sqrt", 1), ("erf", 2))},
    )  # fmt: skip


# --- 4: Laplace over slices; 11: diffusion -----------------------------------------------------------------


def own_copy(np, u):
    return u.clone() if np.__name__ == "torch" else u.copy()


def laplace(np, u):
    u = own_copy(np, u)
    for _ in range(10):
        u[1:-1, 1:-1] = ((u[2:, 1:-1] + u[:-2, 1:-1]) * 0.5 + (u[1:-1, 2:] + u[1:-1, :-2]) * 0.5) * 0.5
    return u


def laplace_by_jax(np, u):
    for _ in range(10):
        inner = ((u[2:, 1:-1] + u[:-2, 1:-1]) * 0.5 + (u[1:-1, 2:] + u[1:-1, :-2]) * 0.5) * 0.5
        u = u.at[1:-1, 1:-1].set(inner)
    return u


def laplace_loops(numba):
    @numba.njit(parallel=True)
    def step(u, v):
        for i in numba.prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = ((u[i + 1, j] + u[i - 1, j]) * 0.5 + (u[i, j + 1] + u[i, j - 1]) * 0.5) * 0.5

    def run(u):
        u, v = u.copy(), u.copy()
        for _ in range(10):
            step(u, v)
            u, v = v, u
        return u

    return run


def diffusion(np, u):
    u = own_copy(np, u)
    for _ in range(20):
        inner = u[1:-1, 1:-1]
        u[1:-1, 1:-1] = inner + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner)
    return u


def diffusion_by_jax(np, u):
    for _ in range(20):
        inner = u[1:-1, 1:-1]
        sums = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u = u.at[1:-1, 1:-1].set(inner + 0.1 * (sums - 4 * inner))
    return u


def diffusion_loops(numba):
    @numba.njit(parallel=True)
    def step(u, v):
        for i in numba.prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = u[i, j] + numpy.float32(0.1) * (
                    u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - numpy.float32(4) * u[i, j]
                )

    def run(u):
        u, v = u.copy(), u.copy()
        for _ in range(20):
            step(u, v)
            u, v = v, u
        return u

    return run


case(
    "Laplace by slices, 2000² f64, 10 steps", 4, 1.03, random((2000, 2000)),
    {**the_same(laplace), **only("jax", laplace_by_jax), "numba": compiled_by_numba(laplace_loops)},
    tolerance=1e-14, moves=(1 + 10) * 2 * 2000**2 * 8,  # a copy, and ten times a read and a write
)  # fmt: skip
case(
    "diffusion by slices, 2000² f32, 20 steps", 11, 1.03, random((2000, 2000), "f4"),
    {**the_same(diffusion), **only("jax", diffusion_by_jax), "numba": compiled_by_numba(diffusion_loops)},
    tolerance=1e-5, moves=(1 + 20) * 2 * 2000**2 * 4,
)  # fmt: skip


# --- 5: a layer of units, sampled; 6: a product, then a sum -------------------------------------------------


def standard_layer(rows, inputs, samples):
    """Weights, inputs, biases, and the numbers that decide: random numbers are not what is timed."""

    def make():
        generator = numpy.random.default_rng(0)
        return (
            generator.standard_normal((rows, inputs)).astype("f4") * numpy.float32(0.05),
            generator.random((inputs, samples)).astype("f4"),
            generator.random((rows, 1)).astype("f4"),
            generator.random((rows, samples)).astype("f4"),
        )

    return make


def layer(np, weights, inputs, bias, numbers):
    return (numbers < 1 / (1 + np.exp(-(weights @ inputs + bias)))) * np.ones_like(numbers)


def drawing_layer(np, weights, inputs, bias, numbers):
    numbers = np.random.default_rng(1).random(numbers.shape)
    return (numbers < 1 / (1 + np.exp(-(weights @ inputs + bias)))) * np.float32(1)


def two(*shapes):
    return lambda: tuple(numpy.random.default_rng(k).random(s).astype("f4") for k, s in enumerate(shapes))


for rows, inputs, samples in ((512, 784, 256), (4096, 2048, 256)):
    layer_work = {("multiply_add", "f4"): rows * inputs * samples, ("exp", "f4"): rows * samples}
    case(
        f"layer of units, {rows}×{inputs} @ {inputs}×{samples} f32", 5, 0.8,
        standard_layer(rows, inputs, samples), the_same(layer), stray=10, work=layer_work,
        note="the numbers are drawn beforehand; a unit on the edge may differ",
    )  # fmt: skip
    case(
        f"layer of units, drawing, {rows}×{inputs} @ {inputs}×{samples} f32", 5, 0.8,
        standard_layer(rows, inputs, samples), the_same(drawing_layer, without=("jax", "torch")), stray=10,
        work=layer_work, note="NumPy's numbers; a unit on the edge may differ",
    )  # fmt: skip
case(
    "(A @ B).sum(0), 2000×1000 @ 1000×1400 f32", 6, 0.05, two((2000, 1000), (1000, 1400)),
    the_same(lambda np, a, b: (a @ b).sum(0)), tolerance=1e-4,
    note="weft multiplies the sums: docs/reference/rewrites.md",
)  # fmt: skip
case(
    "einsum ij,jk->k, 2000×1000, 1000×1400 f32", 6, 1.0, two((2000, 1000), (1000, 1400)),
    {
        **the_same(lambda np, a, b: np.einsum("ij,jk->k", a, b)),
        "numpy": lambda a, b: numpy.einsum("ij,jk->k", a, b, optimize=True),
    },
    tolerance=1e-4,
)  # fmt: skip
case(
    "A @ B, 2000×1000 @ 1000×1400 f32", 6, 1.03, two((2000, 1000), (1000, 1400)),
    the_same(lambda np, a, b: a @ b), tolerance=1e-4, work={("multiply_add", "f4"): 2000 * 1000 * 1400},
)  # fmt: skip
case(
    "A @ B, 3×3 f32", 16, 1.0, two((3, 3), (3, 3)),
    the_same(lambda np, a, b: a @ b, jit=False, without=("jax", "torch")), tolerance=1e-5,
)  # fmt: skip


# --- 8: smoothing an image by slices -----------------------------------------------------------------------


def nine(x):
    return (
        x[:-2, :-2] + x[:-2, 1:-1] + x[:-2, 2:] + x[1:-1, :-2] + x[1:-1, 1:-1] + x[1:-1, 2:]
        + x[2:, :-2] + x[2:, 1:-1] + x[2:, 2:]
    )  # fmt: skip


def smooth_loops(numba):
    @numba.njit(parallel=True)
    def step(x, result):
        for i in numba.prange(1, x.shape[0] - 1):
            for j in range(1, x.shape[1] - 1):
                total = 0
                for k in range(-1, 2):
                    total += x[i + k, j - 1] + x[i + k, j] + x[i + k, j + 1]
                result[i - 1, j - 1] = total // 9

    def run(x):
        result = numpy.empty((x.shape[0] - 2, x.shape[1] - 2), x.dtype)
        step(x, result)
        return result

    return run


def widened(np, x):
    x = x.to(np.int16) if np.__name__ == "torch" else x.astype(np.int16)
    result = nine(x) // 9
    return result.to(np.uint8) if np.__name__ == "torch" else result.astype(np.uint8)


case(
    "3×3 smoothing by slices, 10000² int8", 8, 0.8,
    lambda: (numpy.random.default_rng(0).integers(0, 12, (10000, 10000), dtype=numpy.int8),),
    {**the_same(lambda np, x: nine(x) // 9), "numba": compiled_by_numba(smooth_loops)},
)  # fmt: skip
case(
    "3×3 smoothing, uint8 widened, 10000²", 8, 0.8,
    lambda: (numpy.random.default_rng(0).integers(0, 256, (10000, 10000), dtype=numpy.uint8),),
    {**the_same(widened), "numba": compiled_by_numba(smooth_loops)},
)  # fmt: skip


# --- 9: Lomb-Scargle by broadcasting -----------------------------------------------------------------------


def samples(dtype):
    def make():
        random = numpy.random.default_rng(0)
        times, values = numpy.sort(random.random(1024) * 100), random.standard_normal(1024)
        return tuple(x.astype(dtype) for x in (times, values, numpy.linspace(0.01, 10, 2**13)))

    return make


def periodogram(np, x, y, f):
    phase = f[:, None] * x
    c, s = np.cos(phase), np.sin(phase)
    yc, ys, cc, ss, cs = (y * c).sum(1), (y * s).sum(1), (c * c).sum(1), (s * s).sum(1), (c * s).sum(1)
    tau = np.arctan2(2 * cs, cc - ss) / (2 * f)
    ct, st = np.cos(f * tau), np.sin(f * tau)
    along = (ct * yc + st * ys) ** 2 / (ct * ct * cc + 2 * ct * st * cs + st * st * ss)
    across = (ct * ys - st * yc) ** 2 / (ct * ct * ss - 2 * ct * st * cs + st * st * cc)
    return 0.5 * (along + across)


def periodogram_loops(numba):
    @numba.njit(parallel=True, fastmath=True)
    def power(x, y, f):
        result = numpy.empty_like(f)
        for i in numba.prange(f.shape[0]):
            yc = ys = cc = ss = cs = y.dtype.type(0)
            for j in range(x.shape[0]):
                c, s = math.cos(f[i] * x[j]), math.sin(f[i] * x[j])
                yc += y[j] * c
                ys += y[j] * s
                cc += c * c
                ss += s * s
                cs += c * s
            tau = math.atan2(2 * cs, cc - ss) / (2 * f[i])
            ct, st = math.cos(f[i] * tau), math.sin(f[i] * tau)
            along = (ct * yc + st * ys) ** 2 / (ct * ct * cc + 2 * ct * st * cs + st * st * ss)
            across = (ct * ys - st * yc) ** 2 / (ct * ct * ss - 2 * ct * st * cs + st * st * cc)
            result[i] = (along + across) / 2
        return result

    return power


for dtype, tolerance in (("f8", 1e-9), ("f4", 2e-2)):
    case(
        f"Lomb-Scargle by broadcasting, 2^10 × 2^13 {dtype.replace('f8', 'f64').replace('f4', 'f32')}", 9, 0.1,
        samples(dtype),
        {
            **the_same(periodogram), "numba": compiled_by_numba(periodogram_loops),
            "scipy": lambda x, y, f: load("scipy.signal").lombscargle(x, y, f),
        },
        tolerance=tolerance, work={("sin", dtype): 2**23, ("cos", dtype): 2**23},
        note="f32: sums of 1024 float32 differ" if dtype == "f4" else "",
    )  # fmt: skip


# --- 15: everyday operations -------------------------------------------------------------------------------


def softmax(np, q):
    most = q.amax(1, keepdims=True) if np.__name__ == "torch" else q.max(1, keepdims=True)
    e = np.exp(q - most)
    return e / e.sum(1, keepdims=True)


def std(np, q, *axis):
    return q.std(*axis, correction=0) if np.__name__ == "torch" else q.std(*axis)


def everyday(name, goal, function, tolerance=1e-5, **more):
    case(
        f"{name}, 4000² f32",
        15,
        goal,
        random((4000, 4000), "f4"),
        the_same(function),
        tolerance=tolerance,
        **more,
    )


everyday("sum", 1.0, lambda np, q: q.sum(), tolerance=1e-4)
everyday("sum, axis 0", 0.9, lambda np, q: q.sum(0), tolerance=1e-4)
everyday("sum, axis 1", 1.0, lambda np, q: q.sum(1), tolerance=1e-4)
everyday("std", 0.6, std)
everyday("softmax over rows", 0.35, softmax, work={("exp", "f4"): 1.6e7})
everyday(
    "(q - q.mean(0)) / q.std(0)", 0.35, lambda np, q: (q - q.mean(0)) / std(np, q, 0),
    # 4000 additions in a row, which float32 rounds, divided by what is nearly 0: NumPy's error, not weft's.
    tolerance=1e-2, moves=3 * 4000**2 * 4, note="NumPy adds rows one by one, in float32",
)  # fmt: skip
everyday("argmax, axis 1", 0.85, lambda np, q: q.argmax(1), tolerance=0)
everyday("cumsum, axis 1", 0.3, lambda np, q: q.cumsum(1), tolerance=1e-4)
everyday("q.T + 0", 0.7, lambda np, q: q.T + 0, tolerance=0)


def random_positions(size):
    def inputs():
        rng = numpy.random.default_rng(0)
        return rng.random(size), rng.integers(0, size, size)

    return inputs


case(
    "h[idx] random, 1e7 f64", 15, 0.5, random_positions(10**7), the_same(lambda np, h, idx: h[idx]),
    has_limit=False, note="the same indices each time: weft checks their bounds once",
)  # fmt: skip
case(
    "h[idx % n] * 2 + h, 1e7 f64", 15, 0.5, random_positions(10**7),
    the_same(lambda np, h, idx: h[idx % 10**7] * 2 + h), has_limit=False,
)  # fmt: skip


def first(result):
    """Of PyTorch's sort and the like, which give positions, too."""
    return result[0] if isinstance(result, tuple) else result


def integers(size, most):
    return lambda: (numpy.random.default_rng(0).integers(0, most, size),)


numbers = random(10**7)
case("sort, 1e7 f64", 15, 0.7, numbers, the_same(lambda np, h: first(np.sort(h))), has_limit=False)
case(
    "argsort, 1e7 f64", 15, 0.3, numbers, the_same(lambda np, h: np.argsort(h)), has_limit=False,
    note="weft's keeps the order of equal elements",
)  # fmt: skip
case("h[h > .5], 1e7 f64", 15, 0.2, numbers, the_same(lambda np, h: h[h > 0.5], jit=False), has_limit=False)
for name, goal, method in (("random", 0.3, "random"), ("normal", 0.25, "standard_normal")):
    case(
        f"{name}, 1e7 f64", 15, goal, lambda: (),
        the_same(
            lambda np, method=method: getattr(np.random.default_rng(1), method)(10**7), without=("jax", "torch")
        ),
        has_limit=False, note="NumPy's numbers",
    )  # fmt: skip
case(
    "bincount, 1e7 below 1000", 15, 0.6, integers(10**7, 1000),
    the_same(lambda np, k: np.bincount(k), jit=False), has_limit=False,
)  # fmt: skip
case(
    "unique, 1e7 below 1e6", 15, 0.1, integers(10**7, 10**6),
    the_same(lambda np, k: np.unique(k), jit=False), has_limit=False,
)  # fmt: skip


# --- 16: many small operations -----------------------------------------------------------------------------


def small(np, q):
    for _ in range(1000):
        q = q * 1.0001 + 0.5
    return q


for size, goal in ((10, 0.35), (1000, 0.2), (100_000, 0.3)):
    case(
        f"2000 dependent operations on {size:,} f64", 16, goal, random(size),
        the_same(small, jit=False, without=("jax",)), tolerance=1e-13, has_limit=False,
    )  # fmt: skip


# --- 17: first use; 18: import -----------------------------------------------------------------------------

for kind, what, note in (
    ("first", "never seen", "goal: NumPy's time + 2 ms"),
    ("again", "seen in an earlier process", "goal: NumPy's time"),
):
    case(
        f"first use of a*b + sqrt(c) - a/2, 1e6 f64, {what}", 17, math.nan, three(10**6),
        the_same(lambda np, a, b, c: a * b + np.sqrt(c) - a / 2), tolerance=1e-15, kind=kind, note=note,
    )  # fmt: skip
case(
    "import, fresh process, less Python's own", 18, 0.3, lambda: (),
    {"numpy": None, "weft": None}, kind="import",
)  # fmt: skip
