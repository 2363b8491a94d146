"""Special functions that math has not, of float64, in the Python that weft.jit compiles."""

import math

import numpy

from weft import cuda

_EULER = 0.5772156649015329
_TWO_OVER_ROOT_OF_PI = 1.1283791670955126
_ROOT_OF_PI = 1.772453850905516


def sine_of_pi(number):
    x = numpy.float64(number)
    rest = numpy.fmod(abs(x), 2.0)
    sign = numpy.copysign(1.0, x)
    if rest >= 1.0:
        sign, rest = -sign, rest - 1.0
    if rest == 0.0:
        return numpy.copysign(0.0, x)
    if rest > 0.5:
        rest = 1.0 - rest
    return sign * (numpy.sin(math.pi * rest) if rest <= 0.25 else numpy.cos(math.pi * (0.5 - rest)))


def cosine_of_pi(number):
    rest = numpy.fmod(abs(numpy.float64(number)), 2.0)
    if rest > 1.0:
        rest = 2.0 - rest
    sign = 1.0
    if rest > 0.5:
        sign, rest = -1.0, 1.0 - rest
    if rest == 0.5:
        return 0.0
    return sign * (numpy.cos(math.pi * rest) if rest <= 0.25 else numpy.sin(math.pi * (0.5 - rest)))


def scaled_erfc(number):
    """exp(x * x) * erfc(x)"""
    x = numpy.float64(number)
    if x >= 10.0:
        term = total = 1.0
        square = 0.5 / x / x
        for k in range(1, 13):
            term *= -(2 * k - 1) * square
            total += term
        return total / (x * _ROOT_OF_PI)
    if x < -27.0:
        return math.inf
    square = x * x
    rest = cuda.fma(x, x, -square)
    scaled = numpy.exp(square) * math.erfc(x)
    return scaled + scaled * rest if numpy.isfinite(scaled) else scaled


def inverse_of_erf_near_0(x):
    y = 0.5 * _ROOT_OF_PI * x * (1.0 + x * x * (0.2617993877991494 + x * x * 0.14393173084921978))
    for _ in range(3):
        step = (math.erf(y) - x) / (_TWO_OVER_ROOT_OF_PI * numpy.exp(-y * y))
        y -= step / (1.0 + y * step)
    return y


def inverse_of_erfc_near_0(x):  # of x up to 0.5
    if x == 0.0:
        return math.inf
    wanted = numpy.log(x)
    y = numpy.sqrt(-wanted - 0.5 * numpy.log(-math.pi * wanted))
    for _ in range(6):
        scaled = scaled_erfc(y)
        y += 0.5 * _ROOT_OF_PI * scaled * (numpy.log(scaled) - y * y - wanted)
    return y


def inverse_of_erf(number):
    x = numpy.float64(number)
    size = abs(x)
    if not size <= 1.0:
        return math.nan
    if size <= 0.5:
        return inverse_of_erf_near_0(x)
    return numpy.copysign(inverse_of_erfc_near_0(1.0 - size), x)


def inverse_of_erfc(number):
    x = numpy.float64(number)
    if not 0.0 <= x <= 2.0:
        return math.nan
    if x < 0.5:
        return inverse_of_erfc_near_0(x)
    return inverse_of_erf_near_0(1.0 - x) if x <= 1.5 else -inverse_of_erfc_near_0(2.0 - x)


def normal_distribution(number):
    """The probability of a normal variable up to x."""
    x = numpy.float64(number)
    t = x * -0.7071067811865476
    probability = 0.5 * math.erfc(t)
    if abs(x) > 40.0:
        return probability
    rest = cuda.fma(x, -0.7071067811865476, -t) + x * 4.833646656726457e-17
    return probability - 0.5 * _TWO_OVER_ROOT_OF_PI * numpy.exp(-t * t) * rest


def inverse_of_normal_distribution(number):
    return -1.4142135623730951 * inverse_of_erfc(2.0 * numpy.float64(number))


# Bessel's functions. Up to 25 backward recurrence gives all that are needed of the first kind, and these the second
# kind's. Beyond, the asymptotic series has all bits.


def bessel_series(n, x):  # of x up to 1
    term = 1.0
    for k in range(1, n + 1):
        term *= 0.5 * x / k
    total, square = term, -0.25 * x * x
    for k in range(1, 12):
        term *= square / (k * (n + k))
        total += term
    return total


def bessel_sums(n, x):
    """J of orders n, 0 and 1, and the sums that Y of orders 0 and 1 have of the others; of x from 0.01 on."""
    k = 2 * int(0.5 * (max(float(n), x) + 40.0 + 3.0 * math.sqrt(float(n) + x)))
    above, here, found, one = 0.0, 1e-290, 0.0, 0.0
    norm = sum_of_0 = sum_of_1 = 0.0
    while k > 0:
        if k == n:
            found = here
        if k == 1:
            one = here
        if k & 1 == 0:
            norm += 2.0 * here
            half = k // 2
            sum_of_0 += (here if half & 1 == 0 else -here) / half
        elif k > 1:
            half = k // 2
            sum_of_1 += (here if half & 1 == 0 else -here) * (k / (half * (half + 1.0)))
        above, here = here, 2.0 * k / x * here - above
        k -= 1
        if abs(here) > 1e250:
            above, here, found, one = above * 1e-250, here * 1e-250, found * 1e-250, one * 1e-250
            norm, sum_of_0, sum_of_1 = norm * 1e-250, sum_of_0 * 1e-250, sum_of_1 * 1e-250
    norm += here
    if n == 0:
        found = here
    return found / norm, here / norm, one / norm, sum_of_0 / norm, sum_of_1 / norm


def bessel_beyond(n, x):
    """J and Y of order n, which is 0 or 1."""
    term, p, q = 1.0, 1.0, 0.0
    for k in range(1, 24):
        odd = 2.0 * k - 1.0
        term *= (4.0 * n * n - odd * odd) / (8.0 * k * x)
        part = -term if k & 2 else term
        if k & 1:
            q += part
        else:
            p += part
    sine, cosine = numpy.sin(x), numpy.cos(x)
    c, s = cosine + sine, sine - cosine
    if n == 1:
        c, s = s, -c
    scale = 1.0 / (_ROOT_OF_PI * numpy.sqrt(x))
    return scale * (p * c - q * s), scale * (p * s + q * c)


def bessel_j(n, number):
    """Of the first kind."""
    x = abs(numpy.float64(number))
    if n < 0 or numpy.isnan(x):
        return math.nan
    if numpy.isinf(x):
        return 0.0
    if x <= 1.0:
        found = bessel_series(n, x)
    elif x < 25.0 or float(n) > 0.5 * x:
        found = bessel_sums(n, x)[0]
    else:
        found, above = bessel_beyond(0, x)[0], bessel_beyond(1, x)[0]
        for k in range(1, n + 1):
            found, above = above, 2.0 * k / x * above - found
    return -found if numpy.signbit(number) and n & 1 else found


def bessel_y_0_1(x):
    if x >= 25.0:
        return bessel_beyond(0, x)[1], bessel_beyond(1, x)[1]
    if x >= 0.01:
        _, zero, one, sum_of_0, sum_of_1 = bessel_sums(0, x)
    else:
        zero, one = bessel_series(0, x), bessel_series(1, x)
        sum_of_0 = sum_of_1 = 0.0
        for k in range(3, 0, -1):
            sign = 1.0 if k & 1 == 0 else -1.0
            sum_of_0 += sign * bessel_series(2 * k, x) / k
            sum_of_1 += sign * bessel_series(2 * k + 1, x) * (2.0 * k + 1.0) / (k * (k + 1.0))
    log = numpy.log(0.5 * x) + _EULER
    first = log * zero - 2.0 * sum_of_0
    second = -zero / x + (log - 1.0) * one - sum_of_1
    return first * (2.0 / math.pi), second * (2.0 / math.pi)


def bessel_y(n, number):
    """Of the second kind."""
    x = numpy.float64(number)
    if n < 0 or not x >= 0.0:
        return math.nan
    if x == 0.0:
        return -math.inf
    if numpy.isinf(x):
        return 0.0
    here, above = bessel_y_0_1(x)
    for k in range(1, n + 1):
        if numpy.isinf(here):
            break
        here, above = above, 2.0 * k / x * above - here
    return here
