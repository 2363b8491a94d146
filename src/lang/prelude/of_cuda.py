"""Bits of integers for kernels, in the Python that weft.jit compiles; see of_math.py. `x` is unsigned, of 64 bits."""

import numpy


def leading_zeros(x, bits):
    if x == numpy.uint64(0):
        return bits
    count, step = 0, bits >> 1
    while step > 0:
        if x >> numpy.uint64(bits - step) == numpy.uint64(0):
            count += step
            x <<= numpy.uint64(step)
            if bits < 64:
                x &= (numpy.uint64(1) << numpy.uint64(bits)) - numpy.uint64(1)
        step >>= 1
    return count


def first_set(x):
    if x == numpy.uint64(0):
        return 0
    place = 1
    for step in (32, 16, 8, 4, 2, 1):
        if x & ((numpy.uint64(1) << numpy.uint64(step)) - numpy.uint64(1)) == numpy.uint64(0):
            x >>= numpy.uint64(step)
            place += step
    return place


def reversed_bits(x, bits):
    result = numpy.uint64(0)
    for k in range(bits):
        if x >> numpy.uint64(k) & numpy.uint64(1):
            result |= numpy.uint64(1) << numpy.uint64(bits - 1 - k)
    return result
