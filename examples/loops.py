"""Loops over numbers and elements, compiled by weft.jit, beside Numba where it is installed.

python examples/loops.py [--small] [--picture FILE]

Prints the time of the first call, which compiles, and of a later one, and checks that both compilers agree.
"""

import argparse
import math
import time

import numpy
import weft

prange = weft.prange


def total(a):
    s = 0.0
    for x in a:
        s += x
    return s


def smoothed(image, out):
    rows, columns = image.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            s = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    s += image[i + di, j + dj]
            out[i, j] = s // 9
    return out


def relaxed(plate, steps):
    new = plate.copy()
    for _ in range(steps):
        for i in range(1, plate.shape[0] - 1):
            for j in range(1, plate.shape[1] - 1):
                new[i, j] = (plate[i - 1, j] + plate[i + 1, j] + plate[i, j - 1] + plate[i, j + 1]) / 4
        plate, new = new, plate
    return plate


def escape_time(c, limit):
    z = 0j
    for n in range(limit):
        if z.real * z.real + z.imag * z.imag > 4:
            return n
        z = z * z + c
    return limit


def mandelbrot(rows, columns, limit, out):
    for i in range(rows):
        for j in range(columns):
            out[i, j] = escape_time(complex(-2.2 + 3.2 * j / columns, -1.2 + 2.4 * i / rows), limit)
    return out


def orbits(positions, velocities, masses, steps, dt):
    n = len(masses)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = positions[i, 0] - positions[j, 0]
                dy = positions[i, 1] - positions[j, 1]
                dz = positions[i, 2] - positions[j, 2]
                squared = dx * dx + dy * dy + dz * dz + 1e-3
                pull = dt / (squared * math.sqrt(squared))
                for k, d in enumerate((dx, dy, dz)):
                    velocities[i, k] -= d * masses[j] * pull
                    velocities[j, k] += d * masses[i] * pull
        for i in range(n):
            for k in range(3):
                positions[i, k] += dt * velocities[i, k]
    return positions


def queens(n, columns, left, right):
    """How many ways n queens stand on the free columns and diagonals, given as bits."""
    free = ((1 << n) - 1) & ~(columns | left | right)
    if columns == (1 << n) - 1:
        return 1
    count = 0
    while free != 0:
        bit = free & -free
        free -= bit
        count += queens(n, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


def pi_by_darts(throws, seed):
    hits = 0
    for _ in range(throws):
        seed = (1103515245 * seed + 12345) % 2147483648
        x = seed / 2147483648
        seed = (1103515245 * seed + 12345) % 2147483648
        y = seed / 2147483648
        if x * x + y * y < 1:
            hits += 1
    return 4 * hits / throws


def periodogram(times, values, frequencies, out):
    """Lomb and Scargle's, with frequencies on all cores (Scargle, ApJ 263, 1982)."""
    for i in prange(len(frequencies)):
        w = 2 * math.pi * frequencies[i]
        twice_sine, twice_cosine = 0.0, 0.0
        for t in times:
            twice_sine += math.sin(2 * w * t)
            twice_cosine += math.cos(2 * w * t)
        shift = math.atan2(twice_sine, twice_cosine) / (2 * w)
        c, s, cc, ss = 0.0, 0.0, 0.0, 0.0
        for j in range(len(times)):
            cosine = math.cos(w * (times[j] - shift))
            sine = math.sin(w * (times[j] - shift))
            c += values[j] * cosine
            s += values[j] * sine
            cc += cosine * cosine
            ss += sine * sine
        out[i] = 0.5 * (c * c / cc + s * s / ss)
    return out


def diffused(field, rate, steps):
    new = field.copy()
    for _ in range(steps):
        for i in prange(1, field.shape[0] - 1):
            for j in range(1, field.shape[1] - 1):
                around = field[i - 1, j] + field[i + 1, j] + field[i, j - 1] + field[i, j + 1]
                new[i, j] = field[i, j] + rate * (around - 4 * field[i, j])
        field, new = new, field
    return field


def programs(small):
    """Names, functions, and what makes their arguments."""
    random = numpy.random.default_rng(0)
    n = 40 if small else 1000
    numbers = random.random(n * n)
    plate = numpy.zeros((n, n))
    plate[0] = 1
    image = random.integers(0, 256, (n, n)).astype(numpy.uint8)
    moments, frequencies = numpy.sort(100 * random.random(n // 2)), numpy.linspace(0.1, 2, n)
    signal = numpy.sin(2 * math.pi * 0.7 * moments)
    bodies = random.random((10, 3)), numpy.zeros((10, 3)), random.random(10)
    return [
        ("sum of a loop", total, lambda: (numbers,)),
        ("3 x 3 smoothing", smoothed, lambda: (image, numpy.zeros_like(image))),
        ("Laplace, swapped buffers", relaxed, lambda: (plate.copy(), 20)),
        ("Mandelbrot", mandelbrot, lambda: (n * 3 // 4, n, 100, numpy.zeros((n * 3 // 4, n), numpy.int64))),
        ("n bodies", orbits, lambda: (*(a.copy() for a in bodies), n, 1e-3)),
        ("n queens", queens, lambda: (5 if small else 10, 0, 0, 0)),
        ("pi by darts", pi_by_darts, lambda: (n * n, 42)),
        ("Lomb-Scargle, all cores", periodogram, lambda: (moments, signal, frequencies, numpy.zeros(n))),
        ("diffusion, all cores", diffused, lambda: (plate.copy(), 0.2, 20)),
    ]


def picture(path, counts):
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(8, 6), layout="constrained")
    axis.imshow(numpy.log1p(counts), cmap="magma", interpolation="nearest")
    axis.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def timed(run, arguments):
    times = []
    for _ in range(4):
        given = arguments()
        start = time.perf_counter()
        result = run(*given)
        times.append((time.perf_counter() - start) * 1e3)
    return times, result


def options_of(function):
    return {"parallel": True} if "prange" in function.__code__.co_names else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--picture", help="saves Mandelbrot's set there")
    options = parser.parse_args()
    compilers, ranges = {"weft": weft.jit}, {"weft": weft.prange}
    try:
        import numba

        compilers["numba"], ranges["numba"] = numba.njit, numba.prange
    except ModuleNotFoundError:
        pass
    plain = dict(globals())
    print(f"{'milliseconds':26}" + "".join(f"{name + ' first':>14}{name:>10}" for name in compilers))
    for title, function, arguments in programs(options.small):
        line, results = f"{title:26}", []
        for name, jit in compilers.items():
            globals().update(plain)
            for callee in (escape_time, queens):
                globals()[callee.__name__] = jit(callee)
            globals()["prange"] = ranges[name]
            run = (
                globals()[function.__name__] if function is queens else jit(function, **options_of(function))
            )
            try:
                times, result = timed(run, arguments)
            except Exception as error:
                if name == "weft":
                    raise
                line += f"{type(error).__name__[:23]:>24}"
                continue
            results.append(numpy.asarray(result))
            line += f"{times[0]:14.1f}{min(times[1:]):10.2f}"
            if options.picture and function is mandelbrot and name == "weft":
                picture(options.picture, results[-1])
        globals().update(plain)
        same = all(numpy.allclose(results[0], other, rtol=1e-12) for other in results[1:])
        print(line + ("" if same else "   they differ"))


if __name__ == "__main__":
    main()
