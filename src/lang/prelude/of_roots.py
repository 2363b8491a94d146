"""NumPy's polynomials whose coefficients begin with that of the highest degree, for weft.jit; see of_math.py."""

import numpy

CHECKED = ()


def polyval(p, x):
    value = x * 0 + p.dtype.type(0)
    for k in range(len(p)):
        value = value * x + p[k]
    return value


def polyfit(x, y, deg):
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if len(x) == 0:
        raise TypeError("expected non-empty vector for x")
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
    powers = numpy.vander(x + 0.0, deg + 1)
    scale = numpy.sqrt(numpy.sum(powers * powers, axis=0))
    powers /= scale
    return numpy.linalg.lstsq(powers, y + 0.0, len(x) * 2.0**-52)[0] / scale


def roots(p):
    if p.ndim != 1:
        raise ValueError("Input must be a 1d array.")
    places = numpy.flatnonzero(p)
    if len(places) == 0:
        return numpy.linalg.eigvals(numpy.zeros((0, 0), (p[:1] / 1).dtype))
    inner = p[places[0] : places[-1] + 1]
    count = len(inner) - 1
    zeros = len(p) - 1 - places[-1]
    companion = numpy.zeros((count, count), (inner[:1] / 1).dtype)
    for k in range(count):
        companion[0, k] = -inner[k + 1] / inner[0]
        if k + 1 < count:
            companion[k + 1, k] = 1
    found = numpy.linalg.eigvals(companion)
    return numpy.concatenate((found, numpy.zeros(zeros, found.dtype)))


def sum_of(a, b):
    out = numpy.zeros(max(len(a), len(b)), (a[:1] * 0 + b[:1] * 0).dtype)
    out[len(out) - len(a) :] = a
    out[len(out) - len(b) :] += b
    return out


def polyadd(a1, a2):
    return sum_of(numpy.atleast_1d(a1), numpy.atleast_1d(a2))


def polysub(a1, a2):
    return sum_of(numpy.atleast_1d(a1), -numpy.atleast_1d(a2))


def without_zeros(p):
    if len(p) == 0:
        return numpy.zeros(1, p.dtype)
    first = 0
    while first < len(p) - 1 and p[first] == 0:
        first += 1
    return p[first:]


def polymul(a1, a2):
    return numpy.convolve(without_zeros(numpy.atleast_1d(a1)), without_zeros(numpy.atleast_1d(a2)))


def polyder(p, m=1):
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    out = numpy.asarray(p) * numpy.ones(1, numpy.int64)
    for _ in range(m):
        degree = len(out) - 1
        out = out[:-1] * numpy.arange(degree, 0, -1)
    return out


def polyint(p, m=1):
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    out = numpy.asarray(p) / numpy.ones(1, numpy.int64)
    for _ in range(m):
        out = numpy.concatenate((out / numpy.arange(len(out), 0, -1), numpy.zeros(1, out.dtype)))
    return out
