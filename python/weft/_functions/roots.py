"""The zeros of polynomials, all at once, by the method of Aberth and Ehrlich."""

import cmath
import math
from itertools import pairwise

from weft import _core
from weft._core import asarray, concatenate
from weft._functions.shapes import atleast_1d
from weft.exceptions import LinAlgError

_EPSILON = 2.0**-52
_MOST_STEPS = 500


def _first_guesses(coefficients):
    """Points on circles whose radii the convex hull of log |coefficient| tells (Bini, 1996)."""
    degree = len(coefficients) - 1
    heights = [math.log(abs(c)) if c else -math.inf for c in reversed(coefficients)]
    hull = []
    for k, height in enumerate(heights):
        if height == -math.inf:
            continue
        while len(hull) > 1:
            (i, first), (j, second) = hull[-2:]
            if (second - first) * (k - i) > (height - first) * (j - i):
                break
            hull.pop()
        hull.append((k, height))
    guesses = []
    for (i, first), (j, second) in pairwise(hull):
        radius = math.exp(min(max((first - second) / (j - i), -700.0), 700.0))
        turn = 2 * math.pi * i / degree + 0.7
        guesses += [radius * cmath.exp(1j * (2 * math.pi * k / (j - i) + turn)) for k in range(j - i)]
    return guesses


def _newton_step(coefficients, z):
    """p(z) / p'(z), 0 where p(z) is as good as 0; beyond the unit circle by the polynomial of 1 / z."""
    inside = abs(z) <= 1
    point = z if inside else 1 / z
    value, slope, bound = 0j, 0j, 0.0
    for c in coefficients if inside else reversed(coefficients):
        slope = slope * point + value
        value = value * point + c
        bound = bound * abs(point) + abs(value)
    if abs(value) <= _EPSILON * bound:
        return 0j
    if inside:
        return value / slope if slope else 1e-3 * (1 + 1j)
    inverse = (len(coefficients) - 1) * point - point * point * slope / value
    return 1 / inverse if inverse else 1e-3 * z * (1 + 1j)


def _zeros_of(coefficients):
    zeros = _first_guesses(coefficients)
    moving = set(range(len(zeros)))
    for _ in range(_MOST_STEPS):
        for k in sorted(moving):
            z = zeros[k]
            step = _newton_step(coefficients, z)
            if not step:
                moving.discard(k)
                continue
            push = sum(1 / (z - other) for j, other in enumerate(zeros) if j != k and other != z)
            away = 1 - step * push
            step = step / away if away else step
            zeros[k] = z - step
            if abs(step) <= _EPSILON * abs(z):
                moving.discard(k)
        if not moving:
            break
    return zeros


def _real_or_paired(zeros):
    """Zeros of a real polynomial: those near the real axis on it, the others as exact pairs."""
    result = [complex(z.real, 0) for z in zeros if abs(z.imag) <= 1e-12 * abs(z)]
    above = sorted((z for z in zeros if z.imag > 1e-12 * abs(z)), key=abs)
    below = [z for z in zeros if z.imag < -1e-12 * abs(z)]
    for z in above:
        if not below:
            result.append(complex(z.real, 0))
            continue
        partner = min(below, key=lambda other, z=z: abs(other.conjugate() - z))
        below.remove(partner)
        middle = (z + partner.conjugate()) / 2
        result += [middle, middle.conjugate()]
    return result + [complex(z.real, 0) for z in below]


def roots(p):
    """The zeros of the polynomial with coefficients `p`, the highest power first; the largest zeros first.

    Computed on the CPU. NumPy has them in another order.

    >>> np.roots([1, -6, 11, -6]).round(6)
    array([3., 2., 1.])
    """
    p = atleast_1d(asarray(p))
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    coefficients = p.tolist()
    filled = [k for k, c in enumerate(coefficients) if c != 0]
    if not filled:
        return _core.empty(0)
    if not all(cmath.isfinite(c) for c in coefficients):
        raise LinAlgError("Array must not contain infs or NaNs")
    behind = len(coefficients) - 1 - filled[-1]
    inner = coefficients[filled[0] : filled[-1] + 1]
    zeros = []
    if len(inner) > 1:
        largest = max(map(abs, inner))
        zeros = _zeros_of([complex(c) / largest for c in inner])
        zeros = _real_or_paired(zeros) if p.dtype.kind != "c" else zeros
        zeros.sort(key=lambda z: (-abs(z), -z.real, -z.imag))
    plain = p.dtype.kind != "c" and all(z.imag == 0 for z in zeros)
    is_single = p.dtype in ("float32", "complex64")
    dtype = ("float32" if is_single else "float64") if plain else ("complex64" if is_single else "complex128")
    result = asarray([z.real for z in zeros] if plain else zeros, dtype)
    return concatenate([result, _core.zeros(behind, result.dtype)]) if behind else result
