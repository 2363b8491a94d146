"""NumPy's windows, in the Python that weft.jit compiles; see of_math.py."""

import numpy

CHECKED = ()


def around_middle(M):
    return numpy.arange(1.0 - M, M, 2.0)


def bartlett(M):
    if M < 1:
        return numpy.zeros(0)
    if M == 1:
        return numpy.ones(1)
    n = around_middle(M)
    return numpy.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1))


def cosines(M, first, second, third):
    """Cosines of one and two periods over M points."""
    if M < 1:
        return numpy.zeros(0)
    if M == 1:
        return numpy.ones(1)
    n = around_middle(M)
    window = first + second * numpy.cos(numpy.pi * n / (M - 1))
    if third != 0:
        window += third * numpy.cos(2.0 * numpy.pi * n / (M - 1))
    return window


def blackman(M):
    return cosines(M, 0.42, 0.5, 0.08)


def hamming(M):
    return cosines(M, 0.54, 0.46, 0.0)


def hanning(M):
    return cosines(M, 0.5, 0.5, 0.0)


def kaiser(M, beta):
    if M < 1:
        return numpy.zeros(0)
    if M == 1:
        return numpy.ones(1)
    n = numpy.arange(0.0, M)
    alpha = (M - 1) / 2.0
    return numpy.i0(beta * numpy.sqrt(1 - ((n - alpha) / alpha) ** 2.0)) / numpy.i0(numpy.float64(beta))


def i0_of(x):
    # Abramowitz and Stegun 9.6.12 near 0, and 9.7.1 far from it.
    size = abs(x)
    if size != size:
        return size
    if size <= 32.0:
        square = size * size * 0.25
        total = 1.0
        for k in range(80, 0, -1):
            total = total * square * (1.0 / (k * k)) + 1
        return total
    tail = 1.0
    for k in range(20, 0, -1):
        tail = tail * ((2 * k - 1) ** 2 / (8.0 * k)) / size + 1
    half = numpy.exp(0.5 * size)
    return half * (tail / numpy.sqrt(2 * numpy.pi * size)) * half


def i0_into(x, out):
    for k in range(len(x)):
        out[k] = i0_of(float(x[k]))


def i0(x):
    if numpy.iscomplexobj(x):
        raise TypeError("i0 not supported for complex values")
    values = numpy.asarray(x) + 0.0
    out = numpy.empty_like(values)
    i0_into(numpy.ravel(values), numpy.ravel(out))
    return out
