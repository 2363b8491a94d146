"""Times ufuncs, generalized ufuncs and stencils of Python functions beside Numba's, and beside the same written out.

    python bench/user_ufuncs.py [--only TEXT] [--rounds N]

Contenders take turns in one process, and their results are compared. Columns have the median time by the clock. weft's
arrays are weft's own, Numba's are NumPy's. Numba is taken from this interpreter; without it its column is empty.
"""

import argparse
import math
import statistics
import time

import numpy
import weft

try:
    import numba
except ImportError:
    numba = None


def cubic(x):
    return x * x * 3.0 - x


def damped(x):
    if x < 0.5:
        return math.sqrt(x)
    return math.exp(-x) * x


def escape(re, im):
    x, y = 0.0, 0.0
    for k in range(50):
        x, y = x * x - y * y + re, 2.0 * x * y + im
        if x * x + y * y > 4.0:
            return k
    return 50


def moving_mean(a, window, out):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        if i >= window:
            total -= a[i - window]
        out[i] = total / min(i + 1, window)


def mean_of_nine(a):
    return (
        a[-1, -1] + a[-1, 0] + a[-1, 1] + a[0, -1] + a[0, 0] + a[0, 1] + a[1, -1] + a[1, 0] + a[1, 1]
    ) // 9


def mean_of_four(a):
    return 0.25 * (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 1])


def by_loops(source, out):
    rows, columns = source.shape
    for i in weft.prange(1, rows - 1):
        for j in range(1, columns - 1):
            out[i, j] = (
                source[i - 1, j - 1] + source[i - 1, j] + source[i - 1, j + 1] + source[i, j - 1] + source[i, j]
                + source[i, j + 1] + source[i + 1, j - 1] + source[i + 1, j] + source[i + 1, j + 1]
            ) // 9  # fmt: skip


def evaluated(result):
    weft.eval(result)
    return result


def cases():
    """(name, weft, Numba, the same written out) of calls without arguments; the last may be None."""
    x, y = numpy.linspace(0, 1, 4_000_000), numpy.linspace(1, 2, 4_000_000)
    a, b = weft.array(x), weft.array(y)
    signatures = ["float64(float64)"]
    mine, theirs = weft.vectorize(signatures)(cubic), numba and numba.vectorize(signatures)(cubic)
    yield (
        "2 * f(a) + b",
        lambda: evaluated(2 * mine(a) + b),
        lambda: 2 * theirs(x) + y,
        lambda: evaluated(2 * (a * a * 3.0 - a) + b),
    )
    mine2, theirs2 = (
        weft.vectorize(signatures)(damped),
        numba and numba.vectorize(signatures, target="parallel")(damped),
    )
    yield (
        "f with a branch",
        lambda: evaluated(mine2(a)),
        lambda: theirs2(x),
        lambda: evaluated(weft.where(a < 0.5, weft.sqrt(a), weft.exp(-a) * a)),
    )
    re, im = numpy.linspace(-2, 1, 1000), numpy.linspace(-1.5, 1.5, 700)[:, None]
    re_of, im_of = weft.array(re), weft.array(im)
    both = ["int64(float64, float64)"]
    mine3 = weft.vectorize(both)(escape)
    theirs3 = numba and numba.vectorize(both, target="parallel")(escape)
    yield "escape times", lambda: evaluated(mine3(re_of, im_of)), lambda: theirs3(re, im), None
    ten = numpy.arange(10.0)
    of_ten = weft.array(ten)
    yield "a call on 10 elements", lambda: mine(of_ten), lambda: theirs(ten), lambda: weft.sqrt(of_ten)
    rows = numpy.linspace(0, 1, 10**7).reshape(10**4, 10**3)
    rows_of = weft.array(rows)
    layout = (["void(float64[:], int64, float64[:])"], "(n),()->(n)")
    mine4 = weft.guvectorize(*layout)(moving_mean)
    theirs4 = numba and numba.guvectorize(*layout, target="parallel")(moving_mean)
    yield "moving mean of rows", lambda: mine4(rows_of, 20), lambda: theirs4(rows, 20), None
    image = numpy.random.default_rng(0).integers(-100, 100, (6000, 6000)).astype("int8")
    image_of, out, out_of = weft.array(image), numpy.zeros_like(image), weft.zeros(image.shape, "int8")
    mine5, theirs5 = weft.stencil(mean_of_nine), numba and numba.stencil(mean_of_nine)
    loops, target = weft.jit(by_loops), weft.zeros(image.shape, "int8")
    yield (
        "mean of nine int8",
        lambda: evaluated(mine5(image_of, out=out_of)),
        lambda: theirs5(image, out=out),
        lambda: (loops(image_of, target), target)[1],
    )
    field = numpy.random.default_rng(0).random((3000, 3000))
    field_of = weft.array(field)
    mine6 = weft.stencil(mean_of_four)
    inner = numba and numba.stencil(mean_of_four)
    theirs6 = numba and numba.njit(parallel=True)(lambda f: inner(f))
    yield "mean of four float64", lambda: evaluated(mine6(field_of)), lambda: theirs6(field), None


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def measured(calls, rounds):
    """Medians of the calls' seconds; those that are short are repeated."""
    repeats = [max(1, int(2e-3 / max(seconds(call), 1e-7))) for call in calls]
    found = [[] for _ in calls]
    for _ in range(rounds):
        for call, repeat, times in zip(calls, repeats, found):
            begin = time.perf_counter()
            for _ in range(repeat):
                call()
            times.append((time.perf_counter() - begin) / repeat)
    return [statistics.median(times) for times in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    print(f"{'':24}{'weft ms':>10}{'Numba ms':>10}{'ratio':>8}{'written out':>13}{'ratio':>8}")
    for name, mine, theirs, written in cases():
        if arguments.only not in name:
            continue
        calls = [mine, *([theirs] if numba else []), *([written] if written else [])]
        results = [numpy.asarray(call()) for call in calls]
        if "call on 10" not in name:
            for other in results[1:]:
                inside = tuple(slice(1, -1) for _ in other.shape)
                numpy.testing.assert_allclose(results[0][inside], other[inside], rtol=1e-12)
        time.sleep(0.2)  # what is compiled in the background
        times = measured(calls, arguments.rounds)
        line = f"{name:24}{times[0] * 1e3:10.4f}"
        line += f"{times[1] * 1e3:10.4f}{times[0] / times[1]:8.2f}" if numba else " " * 18
        if written:
            line += f"{times[-1] * 1e3:13.4f}{times[0] / times[-1]:8.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
