"""What expressions of the table call, in the Python that weft.jit compiles."""

import math

import numpy

from weft import cuda
from weft.cuda.libdevice import _roundings, _special

# Bits.


def bits_of_float64(x):
    place = cuda.local.array(1, numpy.float64)
    place[0] = x
    return place.view(numpy.int64)[0]


def bits_of_float32(x):
    place = cuda.local.array(1, numpy.float32)
    place[0] = x
    return place.view(numpy.int32)[0]


def bits_of_float16(x):
    place = cuda.local.array(1, numpy.float16)
    place[0] = numpy.float16(x)
    return place.view(numpy.int16)[0]


def float64_of_bits(x):
    place = cuda.local.array(1, numpy.int64)
    place[0] = x
    return place.view(numpy.float64)[0]


def float32_of_bits(x):
    place = cuda.local.array(1, numpy.int32)
    place[0] = x
    return place.view(numpy.float32)[0]


def float16_of_bits(x):
    place = cuda.local.array(1, numpy.int16)
    place[0] = x
    return place.view(numpy.float16)[0]


# Integers.


def unsigned(x):
    """The number that an int32 is without a sign, as int64."""
    return numpy.int64(x) & 0xFFFFFFFF


def low_24_bits(x):
    return (numpy.int64(x) & 0xFFFFFF ^ 0x800000) - 0x800000


def chosen_bytes(x, y, which):
    both = numpy.uint64(unsigned(x) | unsigned(y) << 32)
    result = 0
    for k in range(4):
        place = numpy.int64(which) >> 4 * k
        byte = numpy.int64(both >> numpy.uint64((place & 7) * 8)) & 0xFF
        if place & 8:  # its sign alone
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << 8 * k
    return result


def high_of_unsigned_product(x, y):
    half, mask = numpy.uint64(32), numpy.uint64(0xFFFFFFFF)
    low = (x & mask) * (y & mask)
    middle = (x >> half) * (y & mask) + (low >> half)
    other = (x & mask) * (y >> half) + (middle & mask)
    return (x >> half) * (y >> half) + (middle >> half) + (other >> half)


def high_of_product(x, y):
    high = numpy.int64(high_of_unsigned_product(numpy.uint64(x), numpy.uint64(y)))
    if x < 0:
        high -= y
    if y < 0:
        high -= x
    return high


# Whole floats as integers.


def to_int32(x, of_nan):
    if numpy.isnan(x):
        return of_nan
    return int(min(max(numpy.float64(x), -2147483648.0), 2147483647.0))


def to_uint32(x, of_nan):
    if numpy.isnan(x):
        return of_nan
    return int(min(max(numpy.float64(x), 0.0), 4294967295.0))


def to_int64(x):
    if x >= 2.0**63:
        return numpy.int64(0x7FFFFFFFFFFFFFFF)
    if x > -(2.0**63):
        return numpy.int64(x)
    return numpy.int64(-0x7FFFFFFFFFFFFFFF) - numpy.int64(1)  # of NaN, too


def to_uint64(x):
    if x >= 2.0**64:
        return numpy.int64(-1)
    if x > 0.0:
        return numpy.int64(numpy.uint64(x))
    if x <= 0.0:
        return numpy.int64(0)
    return numpy.int64(-0x7FFFFFFFFFFFFFFF) - numpy.int64(1)


# Floats and their exponents.


def rounded_half_away(number):
    x = numpy.float64(number)
    whole = numpy.trunc(x)
    if abs(x - whole) >= 0.5:
        whole += numpy.copysign(1.0, x)
    return numpy.copysign(whole, x)


def positive_difference(first, second):
    x, y = numpy.float64(first), numpy.float64(second)
    if numpy.isnan(x) or numpy.isnan(y):
        return math.nan
    return x - y if x > y else 0.0


def parts_of_two(x):
    if not numpy.isfinite(x):
        return x, 0
    part, power = numpy.frexp(x)
    return part, int(power)


def scaled_by_two(x, power):
    return numpy.ldexp(x, power)


def exponent_as_integer(x):
    if numpy.isinf(x):
        return 2147483647
    if numpy.isnan(x) or x == 0:
        return -2147483648
    return int(numpy.frexp(x)[1]) - 1


def exponent(number):
    x = numpy.float64(number)
    if not numpy.isfinite(x):
        return x * x
    return -math.inf if x == 0.0 else float(numpy.frexp(x)[1] - 1)


def remainder_and_quotient(x, y):
    """The remainder by the nearest quotient, an even one of two, and the last three bits of that."""
    x, y = numpy.float64(x), numpy.float64(y)
    size, divisor = abs(x), abs(y)
    if numpy.isnan(x) or numpy.isnan(y) or numpy.isinf(x) or divisor == 0.0:
        return math.nan, 0
    if numpy.isinf(divisor):
        return x, 0
    rest, quotient = size, 0
    if divisor < 2.0**1020:
        rest = numpy.fmod(rest, 8.0 * divisor)
    for step in (4, 2, 1):
        if step * (divisor * 2.0**-10) < 2.0**1014 and rest >= step * divisor:
            rest -= step * divisor
            quotient += step
    other = divisor - rest
    if rest > other or (rest == other and quotient & 1):
        rest = -other
        quotient += 1
    quotient &= 7
    if (x < 0.0) != (y < 0.0):
        quotient = -quotient
    return (-rest if numpy.signbit(x) else rest), quotient


NAMES = {
    name: value
    for module in (_roundings, _special)
    for name, value in vars(module).items()
    if not name.startswith("__")
}
NAMES |= {name: value for name, value in globals().items() if not name.startswith("_") and name != "NAMES"}
