"""Functions of NumPy's for weft.jit, in the Python that it compiles; see of_math.py."""

import numpy


def arange_of_integers(start, stop, step):
    count = max(-((start - stop) // step), 0)
    values = numpy.empty(count, numpy.int64)
    for i in range(count):
        values[i] = start + i * step
    return values


def arange_of_floats(start, stop, step):
    length = (stop - start) / step
    if not length < 9.0e15:
        raise ValueError("Maximum allowed size exceeded")
    count = max(int(numpy.ceil(length)), 0)
    values = numpy.empty(count, numpy.float64)
    distance = (start + step) - start
    for i in range(count):
        values[i] = start + i * distance
    return values
