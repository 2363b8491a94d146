"""NumPy's helpers of Fourier transforms, in the Python that weft.jit compiles; see of_math.py."""

import numpy

CHECKED = ()


def fftfreq(n, d=1.0):
    out = numpy.empty(n, numpy.int64)
    for k in range(n):
        out[k] = k if k < (n + 1) // 2 else k - n
    return out * (1.0 / (n * d))


def rfftfreq(n, d=1.0):
    return numpy.arange(n // 2 + 1) * (1.0 / (n * d))


def shifted(x, axes, back):
    if axes is None:
        out = numpy.copy(x)
        for axis in range(x.ndim):
            half = x.shape[axis] // 2
            out = numpy.roll(out, -half if back else half, axis=axis)
        return out
    half = x.shape[axes] // 2
    return numpy.roll(x, -half if back else half, axis=axes)


def fftshift(x, axes=None):
    return shifted(x, axes, False)


def ifftshift(x, axes=None):
    return shifted(x, axes, True)
