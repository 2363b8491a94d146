"""Sums, products and so on that are rounded down, up or toward zero, in the Python that weft.jit compiles.

First comes what is rounded to the nearest, then which side of it the exact value is on: `rest` has the sign of the
exact value less the rounded one. Where nothing is between, as with NaN and infinite operands, it is 0 or NaN.
"""

import numpy

from weft import cuda


def down(c, rest):
    return numpy.nextafter(c, numpy.float32(-numpy.inf)) if rest < 0.0 else c


def up(c, rest):
    return numpy.nextafter(c, numpy.float32(numpy.inf)) if rest > 0.0 else c


def chopped(c, rest):
    away = (c > 0.0 and rest < 0.0) or (c < 0.0 and rest > 0.0)
    return numpy.nextafter(c, numpy.float32(0)) if away else c


def zero_below(c, rest, x, y):
    """The sum of x and y rounded down: an exact zero is -0.0, but that of two zeros that are 0.0."""
    if c == 0.0 and rest == 0.0:
        return -c if numpy.signbit(c) != (numpy.signbit(x) or numpy.signbit(y)) else c
    return down(c, rest)


def two_sum(x, y):
    """The rounded sum, and what is left."""
    if abs(x) < abs(y):
        x, y = y, x
    s = x + y
    return s, y - (s - x)


def rest_of_sum(x, y, c):
    if numpy.isinf(c):
        return -c if numpy.isfinite(x) and numpy.isfinite(y) else 0.0
    return two_sum(x, y)[1]


def nearest_sum(x, y):
    return x + y


def down_sum(x, y):
    c = x + y
    return zero_below(c, rest_of_sum(x, y, c), x, y)


def up_sum(x, y):
    c = x + y
    return up(c, rest_of_sum(x, y, c))


def chopped_sum(x, y):
    c = x + y
    return chopped(c, rest_of_sum(x, y, c))


def rest_of_product(x, y, c):
    if numpy.isinf(c):
        return -c if numpy.isfinite(x) and numpy.isfinite(y) else 0.0
    if c == 0.0:
        return numpy.copysign(1.0, c) if x != 0.0 and y != 0.0 else 0.0
    if abs(c) < 2.0**-900:  # what is left would be too small
        if abs(x) > abs(y):
            x, y = y, x
        return cuda.fma(x * 2.0**120, y, -(c * 2.0**120))
    return cuda.fma(x, y, -c)


def nearest_product(x, y):
    return x * y


def down_product(x, y):
    c = x * y
    return down(c, rest_of_product(x, y, c))


def up_product(x, y):
    c = x * y
    return up(c, rest_of_product(x, y, c))


def chopped_product(x, y):
    c = x * y
    return chopped(c, rest_of_product(x, y, c))


def rest_of_quotient(x, y, c):
    d = y
    if abs(x) < 2.0**-900:
        x *= 2.0**200
        if abs(c) < abs(d):
            c *= 2.0**200
        else:
            d *= 2.0**200
    rest = cuda.fma(-c, d, x)
    return -rest if y < 0.0 else rest


def nearest_quotient(x, y):
    return x / y


def down_quotient(x, y):
    c = x / y
    return down(c, rest_of_quotient(x, y, c))


def up_quotient(x, y):
    c = x / y
    return up(c, rest_of_quotient(x, y, c))


def chopped_quotient(x, y):
    c = x / y
    return chopped(c, rest_of_quotient(x, y, c))


def rest_of_root(x, c):
    if x < 2.0**-900:
        x, c = x * 2.0**200, c * 2.0**100
    return cuda.fma(-c, c, x)


def nearest_root(x):
    return numpy.sqrt(x)


def down_root(x):
    c = numpy.sqrt(x)
    return down(c, rest_of_root(x, c))


def up_root(x):
    c = numpy.sqrt(x)
    return up(c, rest_of_root(x, c))


def chopped_root(x):
    return down_root(x)


def sign_of_sum(a, b, c, d):
    """A number with the sign of an exact sum."""
    for _ in range(6):
        a, r = two_sum(a, b)
        a, s = two_sum(a, c)
        a, t = two_sum(a, d)
        b, c, d = t, s, r
    return a if a != 0.0 else b if b != 0.0 else c if c != 0.0 else d


def rest_of_fma(x, y, z, c):
    if not (numpy.isfinite(x) and numpy.isfinite(y) and numpy.isfinite(z)):
        return 0.0
    if numpy.isinf(c):
        return -c
    if x == 0.0 or y == 0.0:
        return 0.0
    if z == 0.0:
        return rest_of_product(x, y, c)
    first, k = numpy.frexp(x)
    second, more = numpy.frexp(y)
    third, place = numpy.frexp(z)
    product = first * second
    left = cuda.fma(first, second, -product)
    k += more
    place -= k
    if place >= 110:  # the product is too small to be seen
        return product
    rounded = numpy.ldexp(c, -k)
    if place <= -110:  # z is
        rest = product - rounded + left
        return rest if rest != 0.0 else z
    total, more_left = two_sum(numpy.ldexp(third, place), product)
    total, more_still = two_sum(total, -rounded)
    return sign_of_sum(total, more_still, more_left, left)


def nearest_fma(x, y, z):
    return cuda.fma(x, y, z)


def down_fma(x, y, z):
    c = cuda.fma(x, y, z)
    rest = rest_of_fma(x, y, z, c)
    return zero_below(c, rest, numpy.copysign(1.0, x) * numpy.copysign(1.0, y), z)


def up_fma(x, y, z):
    c = cuda.fma(x, y, z)
    return up(c, rest_of_fma(x, y, z, c))


def chopped_fma(x, y, z):
    c = cuda.fma(x, y, z)
    return chopped(c, rest_of_fma(x, y, z, c))


# Of float32, whose products and whose sums but for the last bits are exact in float64.


def rest_of_float32(x, more, c):
    """Of x + more, where `more` is less than half of x's last bit."""
    if numpy.isinf(c):
        return -numpy.float64(c) if numpy.isfinite(x) else 0.0
    rest = x - numpy.float64(c)
    return rest if rest != 0.0 else more


def nearest_float32(x):
    return numpy.float32(x)


def down_float32(x):
    c = numpy.float32(x)
    return down(c, rest_of_float32(x, 0.0, c))


def up_float32(x):
    c = numpy.float32(x)
    return up(c, rest_of_float32(x, 0.0, c))


def chopped_float32(x):
    c = numpy.float32(x)
    return chopped(c, rest_of_float32(x, 0.0, c))


def nearest_sum32(x, y):
    return x + y


def down_sum32(x, y):
    s, more = two_sum(numpy.float64(x), numpy.float64(y))
    c = numpy.float32(s)
    return zero_below(c, rest_of_float32(s, more, c), x, y)


def up_sum32(x, y):
    s, more = two_sum(numpy.float64(x), numpy.float64(y))
    c = numpy.float32(s)
    return up(c, rest_of_float32(s, more, c))


def chopped_sum32(x, y):
    s, more = two_sum(numpy.float64(x), numpy.float64(y))
    c = numpy.float32(s)
    return chopped(c, rest_of_float32(s, more, c))


def rest_of_quotient32(x, y, c):
    product = numpy.float64(c) * numpy.float64(y)
    if numpy.isinf(c) and numpy.isfinite(x) and y != numpy.float32(0):
        return -numpy.float64(c)
    rest = numpy.float64(x) - product
    return -rest if y < numpy.float32(0) else rest


def nearest_quotient32(x, y):
    return x / y


def down_quotient32(x, y):
    c = x / y
    return down(c, rest_of_quotient32(x, y, c))


def up_quotient32(x, y):
    c = x / y
    return up(c, rest_of_quotient32(x, y, c))


def chopped_quotient32(x, y):
    c = x / y
    return chopped(c, rest_of_quotient32(x, y, c))


def rest_of_root32(x, c):
    return numpy.float64(x) - numpy.float64(c) * numpy.float64(c)


def nearest_root32(x):
    return numpy.sqrt(x)


def down_root32(x):
    c = numpy.sqrt(x)
    return down(c, rest_of_root32(x, c))


def up_root32(x):
    c = numpy.sqrt(x)
    return up(c, rest_of_root32(x, c))


def chopped_root32(x):
    return down_root32(x)


def fma_parts(x, y, z):
    return two_sum(numpy.float64(x) * numpy.float64(y), numpy.float64(z))


def nearest_fma32(x, y, z):
    return cuda.fma(x, y, z)


def down_fma32(x, y, z):
    s, more = fma_parts(x, y, z)
    c = numpy.float32(s)
    return zero_below(c, rest_of_float32(s, more, c), numpy.float64(x) * numpy.float64(y), z)


def up_fma32(x, y, z):
    s, more = fma_parts(x, y, z)
    c = numpy.float32(s)
    return up(c, rest_of_float32(s, more, c))


def chopped_fma32(x, y, z):
    s, more = fma_parts(x, y, z)
    c = numpy.float32(s)
    return chopped(c, rest_of_float32(s, more, c))


# Of integers: `c` is the nearest float.


def rest_of_int64(c, x):
    if c >= 2.0**63:
        return -1.0
    there = numpy.int64(c)
    return 1.0 if x > there else -1.0 if x < there else 0.0


def rest_of_uint64(c, x):
    if c >= 2.0**64:
        return -1.0
    there = numpy.uint64(c)
    return 1.0 if x > there else -1.0 if x < there else 0.0


def nearest_of_int64(c, x):
    return c


def down_of_int64(c, x):
    return down(c, rest_of_int64(c, x))


def up_of_int64(c, x):
    return up(c, rest_of_int64(c, x))


def chopped_of_int64(c, x):
    return chopped(c, rest_of_int64(c, x))


def nearest_of_uint64(c, x):
    return c


def down_of_uint64(c, x):
    return down(c, rest_of_uint64(c, x))


def up_of_uint64(c, x):
    return up(c, rest_of_uint64(c, x))


def chopped_of_uint64(c, x):
    return chopped(c, rest_of_uint64(c, x))
