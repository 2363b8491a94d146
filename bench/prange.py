"""Times parallel loops with weft.jit beside Numba's parallel=True, and compares their results.

    python bench/prange.py [--only TEXT] [--rounds N] [--error-model numpy]

Both run in one process and take turns. Columns have the shortest processor time of all threads, which what else the
machine does changes least, and the shortest time by the clock. "first" is the first call, compilation included. Numba
is taken from this interpreter.
"""

import argparse
import math
import time

import numpy
import weft


def black_scholes(price, strike, years, rate, volatility, call, put):
    for i in prange(len(price)):
        deviation = volatility[i] * math.sqrt(years[i])
        drift = (rate + 0.5 * volatility[i] * volatility[i]) * years[i]
        above = (math.log(price[i] / strike[i]) + drift) / deviation
        below = above - deviation
        n_above = 0.5 + 0.5 * math.erf(above / 1.4142135623730951)
        n_below = 0.5 + 0.5 * math.erf(below / 1.4142135623730951)
        discounted = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * n_above - discounted * n_below
        put[i] = discounted * (1 - n_below) - price[i] * (1 - n_above)
    return call[0]


def total(a):
    s = 0.0
    for i in prange(len(a)):
        s += a[i]
    return s


def dot(a, b):
    s = 0.0
    for i in prange(len(a)):
        s += a[i] * b[i]
    return s


def smoothed(a, out):
    rows, columns = a.shape
    for i in prange(1, rows - 1):
        for j in range(1, columns - 1):
            out[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] + a[i, j]) / 5.0
    return out[1, 1]


def mandelbrot(out, most):
    rows, columns = out.shape
    for y in prange(rows):
        for x in range(columns):
            real = -2.0 + 3.0 * x / columns
            imaginary = -1.5 + 3.0 * y / rows
            a = 0.0
            b = 0.0
            k = 0
            while k < most and a * a + b * b < 4.0:
                a, b = a * a - b * b + real, 2 * a * b + imaginary
                k += 1
            out[y, x] = k
    return out[0, 0]


def periodogram(times, values, frequencies, out):
    for i in prange(len(frequencies)):
        w = 2 * math.pi * frequencies[i]
        c, s, cc, ss = 0.0, 0.0, 0.0, 0.0
        for j in range(len(times)):
            cosine = math.cos(w * times[j])
            sine = math.sin(w * times[j])
            c += values[j] * cosine
            s += values[j] * sine
            cc += cosine * cosine
            ss += sine * sine
        out[i] = 0.5 * (c * c / cc + s * s / ss)
    return out[0]


def programs():
    random = numpy.random.default_rng(1).random
    options = [50 + 50 * random(2_000_000) for _ in range(2)]
    options += [0.1 + random(2_000_000), 0.03, 0.1 + 0.3 * random(2_000_000)]
    return {
        black_scholes: (*options, random(2_000_000), random(2_000_000)),
        total: (random(10_000_000),),
        dot: (random(5_000_000), random(5_000_000)),
        smoothed: (random((2000, 2000)), random((2000, 2000))),
        mandelbrot: (numpy.zeros((400, 400)), 200),
        periodogram: (numpy.sort(100 * random(2000)), random(2000), 5 * random(500), random(500)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--error-model", default="python", choices=("python", "numpy"))
    options = parser.parse_args()
    try:
        import numba
    except ModuleNotFoundError:
        numba = None
    print(f"{'':15}{'weft':>10}{'numba':>10}{'ratio':>7}{'by clock':>10}{'first':>17}")
    for function, arguments in programs().items():
        if options.only not in function.__name__:
            continue
        found, compiled = {}, {}
        for name in ("weft", "numba") if numba is not None else ("weft",):
            function.__globals__["prange"] = weft.prange if name == "weft" else numba.prange
            if name == "weft":
                compiled[name] = weft.jit(function, error_model=options.error_model)
            else:
                compiled[name] = numba.njit(function, parallel=True, error_model=options.error_model)
            begin = time.perf_counter()
            found[name] = compiled[name](*arguments)
            first = time.perf_counter() - begin
            compiled[name] = (compiled[name], first, [], [])
        function.__globals__["prange"] = weft.prange
        if numba is not None and not math.isclose(found["weft"], found["numba"], rel_tol=1e-9):
            raise SystemExit(f"{function.__name__} is {found['weft']} with weft, {found['numba']} with Numba")
        for _ in range(options.rounds):
            for call, _, used, passed in compiled.values():
                begin, start = time.perf_counter(), time.process_time()
                call(*arguments)
                used.append(time.process_time() - start)
                passed.append(time.perf_counter() - begin)
        line = f"{function.__name__:15}"
        best = [
            (1e3 * min(used), 1e3 * min(passed), 1e3 * first) for _, first, used, passed in compiled.values()
        ]
        line += "".join(f"{each[0]:10.3f}" for each in best)
        if numba is not None:
            line += f"{best[0][0] / best[1][0]:7.2f}{best[0][1] / best[1][1]:10.2f}"
            line += f"{best[0][2]:10.0f} /{best[1][2]:5.0f}"
        print(line, flush=True)


prange = weft.prange

if __name__ == "__main__":
    main()
