"""Functions of numpy.polynomial.polynomial for weft.jit, in the Python that it compiles; see of_math.py.

Coefficients begin with that of degree 0.
"""

import numpy

CHECKED = ("polydiv", "polyval")  # indices of these may be beyond the ends


def trimmed(c):
    count = len(c)
    while count > 1 and c[count - 1] == 0:
        count -= 1
    return numpy.copy(c[:count])


def series(c):
    coefficients = numpy.atleast_1d(c)
    if coefficients.size == 0:
        raise ValueError("Coefficient array is empty")
    return coefficients / 1  # floats, of whole numbers too


def polyadd(c1, c2):
    a = series(c1)
    b = series(c2)
    out = numpy.zeros(max(len(a), len(b)), (a[:1] + b[:1]).dtype)
    out[: len(a)] = a
    out[: len(b)] = out[: len(b)] + b
    return trimmed(out)


def polysub(c1, c2):
    return polyadd(series(c1), -series(c2))


def polymul(c1, c2):
    return trimmed(numpy.convolve(trimmed(series(c1)), trimmed(series(c2))))


def polydiv(c1, c2):
    rest = trimmed(series(c1)) + 0 * series(c2)[:1]
    divisor = trimmed(series(c2))
    degree = len(divisor)
    if divisor[degree - 1] == 0:
        raise ZeroDivisionError("division by zero")
    if len(rest) < degree:
        return rest[:1] * 0, rest
    quotient = numpy.zeros(len(rest) - degree + 1, rest.dtype)
    for k in range(len(quotient) - 1, -1, -1):
        quotient[k] = rest[k + degree - 1] / divisor[degree - 1]
        for j in range(degree):
            rest[k + j] = rest[k + j] - quotient[k] * divisor[j]
    return quotient, trimmed(rest[: max(degree - 1, 1)] if degree > 1 else rest[:1] * 0)


def polyval(x, c):
    each = numpy.atleast_1d(c) / 1
    out = each[len(each) - 1] + x * 0
    for k in range(len(each) - 2, -1, -1):
        out = each[k] + out * x
    return out


def constant_of(constants, i):
    return constants[i] if i < len(constants) else constants.dtype.type(0)


def polyint(c, m=1, k=None, lbnd=0, scl=1):
    out = numpy.atleast_1d(c) / 1
    constants = numpy.zeros(0, numpy.float64) if k is None else numpy.atleast_1d(k)
    if m < 0:
        raise ValueError("The order of integration must be non-negative")
    if len(constants) > m:
        raise ValueError("Too many integration constants")
    for i in range(m):
        out[:] = out * scl
        if len(out) == 1 and numpy.all(out[0] == 0):
            out[0] = out[0] + constant_of(constants, i)
        else:
            higher = numpy.zeros((len(out) + 1,) + out.shape[1:], out.dtype)
            higher[0] = out[0] * 0
            for j in range(len(out)):
                higher[j + 1] = out[j] / (j + 1)
            higher[0] = higher[0] + (constant_of(constants, i) - polyval(lbnd, higher))
            out = higher
    return out


def polyder(c, m=1, scl=1):
    out = numpy.atleast_1d(c) / 1
    if m < 0:
        raise ValueError("The order of derivation must be non-negative")
    if m > 0 and m >= len(out):
        return out[:1] * 0
    for _ in range(m):
        lower = numpy.zeros((len(out) - 1,) + out.shape[1:], out.dtype)
        for k in range(1, len(out)):
            lower[k - 1] = k * (out[k] * scl)
        out = lower
    return out
