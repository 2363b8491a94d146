"""Derives the polynomials of src/ops/scalar/error_function.h, exponential.h, roots.h and trigonometry.h, and of
src/ops/gpu, by Remez' exchange in mpmath.

    python tools/derive_error_function.py

prints each polynomial as C++ constants, lowest power first, with its largest weighted error as a power of two.
The weights say what error counts: 1/f for a relative error of f itself; for the tail of erf the error of
1 - exp(-q) relative to it. A coefficient list is rounded to the type at the end; its constant term is fixed
beforehand where it must be exact.
"""

import struct
import sys

from mpmath import atanh, cbrt, cos, erf, erfc, exp, log, lu_solve, matrix, mp, mpf, pi, sin, sqrt

mp.dps = 60


def remez(function, weight, lower, upper, powers, iterations=30):
    """The polynomial with these powers that minimises max |weight * (p - function)| over the interval."""
    count = len(powers)
    middle, half = (mpf(lower) + upper) / 2, (mpf(upper) - lower) / 2
    nodes = [middle - half * cos(pi * i / count) for i in range(count + 1)]
    grid = [middle - half * cos(pi * i / (60 * count)) for i in range(60 * count + 1)]
    values = [(x, function(x), weight(x)) for x in grid]
    for _ in range(iterations):
        rows, right = [], []
        for i, x in enumerate(nodes):
            rows.append([x**p for p in powers] + [(-1) ** i / weight(x)])
            right.append(function(x))
        solution = lu_solve(matrix(rows), matrix(right))
        coefficients = [solution[i] for i in range(count)]
        error = [(w * (sum(c * x**p for c, p in zip(coefficients, powers)) - f), x) for x, f, w in values]
        # One extremum in each stretch of one sign.
        extrema = []
        for e, x in error:
            if extrema and (e > 0) == (extrema[-1][0] > 0):
                if abs(e) > abs(extrema[-1][0]):
                    extrema[-1] = (e, x)
            else:
                extrema.append((e, x))
        while len(extrema) > count + 1:
            extrema.pop(0 if abs(extrema[0][0]) < abs(extrema[-1][0]) else -1)
        largest = max(abs(e) for e, _ in extrema)
        if len(extrema) < count + 1 or largest < min(abs(e) for e, _ in extrema) * mpf("1.01"):
            break
        nodes = [x for _, x in extrema]
    return coefficients, largest


def show(name, kind, coefficients, largest):
    print(f"// {name}: 2**{float(log(largest, 2)):.1f}")
    for c in coefficients:
        if kind == "f":
            value = struct.unpack("f", struct.pack("f", float(c)))[0]
            print(f"    {value.hex()}F,")
        else:
            print(f"    {float(c).hex()},")


def main():
    chosen = sys.argv[1:]

    def derive(name, kind, *arguments):
        if not chosen or name in chosen:
            show(name, kind, *remez(*arguments))

    # erf(x) / x - 1 as a polynomial in t = x**2; the error relative to erf(x) / x.
    def core(t):
        x = sqrt(t)
        return erf(x) / x - 1 if t else 2 / sqrt(pi) - 1

    for name, kind, degree in (("core_f64", "d", 11), ("core_f32", "f", 6)):
        derive(name, kind, core, lambda t: 1 / (1 + core(t)), 0, 1, range(degree + 1))

    # log(erfc(x)), whose error counts by erfc / erf.
    def tail(x):
        return log(erfc(x))

    for name, kind, upper, degree in (("tail_f64", "d", mpf("5.95"), 17), ("tail_f32", "f", mpf("4"), 6)):
        derive(name, kind, tail, lambda x: erfc(x) / erf(x), 1, upper, range(degree + 1))

    # The same to the base 2, for GPUs.
    def binary_tail(x):
        return log(erfc(x)) / log(mpf(2))

    derive("binary_tail_f32", "f", binary_tail, lambda x: log(mpf(2)) * erfc(x) / erf(x), 1, mpf(4), range(7))
    # exp(x**2) * erfc(x) * (1 + 2x) as a polynomial in s = (x - k) / (x + k).
    for name, kind, k, upper, degree in (
        ("scaled_f64", "d", mpf(4), mpf(28), 22),
        ("scaled_f32", "f", mpf(2), mpf("10.1"), 9),
    ):

        def to_x(s, k=k):
            return k * (1 + s) / (1 - s)

        def scaled(s, to_x=to_x):
            return exp(to_x(s) ** 2) * erfc(to_x(s)) * (1 + 2 * to_x(s))

        derive(
            name, kind, scaled, lambda s, f=scaled: 1 / f(s), -1, (upper - k) / (upper + k), range(degree + 1)
        )

    # (exp(r) - 1 - r) / r**2 on half an octave; the error relative to exp(r) - 1 (near 0, where r by itself is
    # exact, the weight is held above zero).
    def rest(r):
        return (exp(r) - 1 - r) / r**2 if abs(r) > 1e-20 else mpf(1) / 2

    for name, kind, degree in (("exp_f64", "d", 9), ("exp_f32", "f", 4)):
        bound = log(mpf(2)) / 2 * mpf("1.001")
        derive(name, kind, rest, lambda r: abs(r) + mpf("1e-4"), -bound, bound, range(degree + 1))

    # (sin(r) / r - 1) / r**2 and (cos(r) - 1) / r**2 as polynomials in t = r**2, up to pi/4 and a little.
    def sine(t):
        r = sqrt(t)
        return (sin(r) / r - 1) / t if t > 1e-20 else mpf(-1) / 6

    def cosine(t):
        return (cos(sqrt(t)) - 1) / t if t > 1e-20 else mpf(-1) / 2

    square = (pi / 4) ** 2 * mpf("1.02")
    for name, kind, function, degree in (
        ("sine_f64", "d", sine, 5),
        ("sine_f32", "f", sine, 2),
        ("cosine_f64", "d", cosine, 6),
        ("cosine_f32", "f", cosine, 3),
        ("short_cosine_f64", "d", cosine, 5),
        ("short_cosine_f32", "f", cosine, 2),
    ):
        derive(name, kind, function, lambda t: t + mpf("1e-3"), 0, square, range(degree + 1))

    # (2 * atanh(s) / s - 2) / s**2 as a polynomial in t = s**2; log(x) = 2 * atanh(s) for s = (x - 1) / (x + 1).
    def logarithm(t):
        s = sqrt(t)
        return (2 * atanh(s) / s - 2) / t if t > 1e-20 else mpf(2) / 3

    most = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.0005")
    # For powers: what is behind the first two terms of log2((1 + s) / (1 - s)) = c s (1 + t / 3 + t**2 / 5 + …), over
    # t**2, and the whole over s; and 2**r.
    scale = 2 / log(mpf(2))

    def behind(t):
        s = sqrt(t)
        return scale * (atanh(s) / s - 1 - t / 3) / t**2 if t > 1e-12 else scale / 5

    derive("log2_behind_f64", "d", behind, lambda t: mpf(1), 0, most, range(8))
    derive(
        "log2_of_floats",
        "d",
        lambda t: scale * (atanh(sqrt(t)) / sqrt(t) if t > 1e-20 else 1),
        lambda t: mpf(1),
        0,
        most,
        range(5),
    )
    half = mpf("0.50001")
    derive("exp2_of_floats", "d", lambda r: mpf(2) ** r, lambda r: mpf(2) ** -r, -half, half, range(7))
    derive("root_f64", "d", lambda z: 1 / cbrt(z), cbrt, 1, 2, range(5))
    derive("log_f64", "d", logarithm, lambda t: t + mpf("1e-4"), 0, most, range(7))


if __name__ == "__main__":
    main()
