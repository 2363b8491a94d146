"""Time against size, from one element to 1e8, and against threads, weft beside NumPy."""

import math
import statistics
import timeit

import numpy

import weft
from weft.bench import measure

BAR = 1.2  # no more of NumPy's time at any size

# What is timed, as a user writes it: a and b are rows of float64 between 0 and 1, m the same as a as a matrix that is
# about square, i a row of random positions.
OPERATIONS = (
    "a + b",
    "2*a + 3*b",
    "np.sqrt(a*a + b*b)",
    "np.sin(a)",
    "np.where(a > b, a, b)",
    "a[1:] - a[:-1]",
    "a.astype(np.float32)",
    "m.T + 0",
    "a.sum()",
    "a.std()",
    "a.argmax()",
    "m.sum(axis=0)",
    "np.cumsum(a)",
    "a[a > 0.5]",
    "a[i]",
    "np.sort(a)",
)
SIZES = tuple(int(x * 10**k) for k in range(9) for x in (1, 3.2) if x * 10**k <= 10**8)
SECONDS_A_TURN = 0.004


def inputs(operation, size):
    """What the statement reads, as NumPy's arrays."""
    random = numpy.random.default_rng(size)
    arrays = {"a": random.random(size)}
    if "b" in operation.replace("numpy", ""):
        arrays["b"] = random.random(size)
    if "[i]" in operation:
        arrays["i"] = random.integers(0, size, size)
    if "m." in operation:
        rows = math.isqrt(size)
        arrays["m"] = arrays.pop("a")[: size // rows * rows].reshape(rows, -1)
    return arrays


def returned(result):
    return result


def works(operation, size):
    """For weft and NumPy a function that runs the statement so many times, over the same memory.

    A result of weft's is waited for by `weft.eval`; NumPy's goes through a function, too, that returns it.
    """
    ours = {name: weft.asarray(array) for name, array in inputs(operation, size).items()}
    weft.eval(*ours.values())
    on_gpu = weft.config.device.startswith("cuda")
    theirs = (
        inputs(operation, size) if on_gpu else {name: numpy.asarray(array) for name, array in ours.items()}
    )
    if on_gpu:

        def finish(result):
            weft.eval(result)
            weft.synchronize()
    else:
        finish = weft.eval
    result = {}
    for name, module, arrays, wait in (
        ("weft", weft, ours, finish),
        ("numpy", numpy, theirs, returned),
    ):
        names = {"np": module, "finish": wait, **arrays}
        result[name] = timeit.Timer(f"finish({operation})", globals=names).timeit
    result["weft"](1)
    weft.cache_info()  # it counts, once the queue of kernels to compile is done
    return result


def point(operation, size, seconds):
    """Medians in milliseconds and the median of the rounds' ratios; what is over the bar is measured again, longer."""
    functions = works(operation, size)
    times = measure.in_turns(functions, seconds, SECONDS_A_TURN, least=3)
    again = 0
    while (
        ratio := statistics.median(measure.ratios(times["weft"], times["numpy"]))
    ) > 0.95 * BAR and again < 2:
        again += 1
        times = measure.in_turns(functions, 3 * again * seconds, SECONDS_A_TURN, most=201)
    to_numpy = measure.ratios(times["weft"], times["numpy"])
    return {
        "operation": operation,
        "size": size,
        "threads": weft.config.num_threads,
        "weft_ms": statistics.median(times["weft"]),
        "numpy_ms": statistics.median(times["numpy"]),
        "ratio": ratio,
        "ratio_spread": measure.spread(to_numpy),
        "ratio_of_least": min(times["weft"]) / min(times["numpy"]),
        "rounds": len(to_numpy),
    }


def against_size(only="", seconds=0.15, largest=SIZES[-1], show=lambda point: None):
    """Points for each operation whose text contains `only`, at each size up to `largest`."""
    points = []
    for size in SIZES:
        for operation in OPERATIONS:
            if only in operation and size <= largest:
                points.append(point(operation, size, seconds))
                show(points[-1])
                weft.empty_pool()
    return points


def against_threads(only="", seconds=0.15, size=10**7, show=lambda point: None):
    """Points for each operation at one size, with 1, 2, 4 … threads and with as many as there may be."""
    points = []
    most = weft.config.num_threads
    counts = sorted({1 << k for k in range(most.bit_length()) if 1 << k < most} | {most})
    for operation in OPERATIONS:
        for count in counts:
            if only in operation:
                with weft.config(num_threads=count):
                    points.append(point(operation, size, seconds))
                show(points[-1])
                weft.empty_pool()
    return points


def over(points):
    """What is over the bar, the worst first."""
    return sorted((p for p in points if p["ratio"] > BAR), key=lambda p: -p["ratio"])
