"""Python's own functions for weft.jit, in the Python that it compiles; see of_math.py."""

# ruff: noqa: UP028

import math

import numpy


def times_modulo(a, b, m):  # of numbers from 0 to below m
    if m <= 3037000499:
        return a * b % m
    result = 0
    while b > 0:
        if b & 1:
            result = result - (m - a) if result >= m - a else result + a
        a = a - (m - a) if a >= m - a else a + a
        b >>= 1
    return result


def inverse_modulo(a, m):
    before, now, rest_before, rest = 0, 1, m, a
    while rest > 1:
        quotient = rest_before // rest
        before, now = now, before - quotient * now
        rest_before, rest = rest, rest_before - quotient * rest
    if rest == 0 and m > 1:
        raise ValueError("base is not invertible for the given modulus")
    return now % m


def pow_modulo(base, exponent, modulus):
    if modulus == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    m = abs(modulus)
    factor = base % m
    if exponent < 0:
        factor = inverse_modulo(factor, m)
        exponent = -exponent
    result = 1 % m
    while exponent > 0:
        if exponent & 1:
            result = times_modulo(result, factor, m)
        factor = times_modulo(factor, factor, m)
        exponent >>= 1
    return result + modulus if modulus < 0 and result > 0 else result


def power_of_ten(digits):  # exact up to 22
    power = 1.0
    for _ in range(digits):
        power *= 10.0
    return power


def product_error(a, b, product):  # what the product is short of, exactly
    scaled = 134217729.0 * a
    high = scaled - (scaled - a)
    low = a - high
    scaled = 134217729.0 * b
    other_high = scaled - (scaled - b)
    other_low = b - other_high
    return low * other_low - (((product - high * other_high) - low * other_high) - high * other_low)


def round_digits(x, digits):
    """A float to so many digits behind the point, as its decimal digits tell: Python's own numbers."""
    if not math.isfinite(x) or x == 0.0:
        return x
    if digits > 22:
        if digits > 400 or abs(x) >= 1e-6:
            return x
        raise ValueError("round() to more than 22 digits is not compiled for numbers below 1e-6")
    if digits >= 0:
        power = power_of_ten(digits)
        product = x * power
        if abs(product) >= 9007199254740992.0:
            return x
        nearest = float(numpy.rint(product))
        distance = product - nearest
        if abs(distance) == 0.5:
            error = product_error(x, power, product)
            if distance > 0.0 and error > 0.0:
                nearest += 1.0
            elif distance < 0.0 and error < 0.0:
                nearest -= 1.0
        return math.copysign(nearest / power, x)
    if digits < -22:
        if digits < -309 or abs(x) < 1e22:
            return math.copysign(0.0, x)
        raise ValueError("round() to more than 22 digits before the point is not compiled")
    power = power_of_ten(-digits)
    quotient = x / power
    if abs(quotient) >= 9007199254740992.0:
        return x
    nearest = float(numpy.rint(quotient))
    if abs(quotient - nearest) == 0.5:  # perhaps by the rounding of the quotient
        middle = quotient * power
        error = (x - middle) - product_error(quotient, power, middle)
        if quotient > nearest and error > 0.0:
            nearest += 1.0
        elif quotient < nearest and error < 0.0:
            nearest -= 1.0
    return math.copysign(nearest * power, x)


def round_scalar(x, digits):
    """As NumPy rounds its scalars: scaled, rounded and scaled back."""
    power = power_of_ten(abs(digits))
    if digits >= 0:
        return numpy.rint(x * power) / power
    return numpy.rint(x / power) * power


def round_whole(n, digits):
    if digits >= 0:
        return n
    if digits < -18:
        if digits == -19 and (n > 5000000000000000000 or n < -5000000000000000000):
            raise OverflowError("the rounded number does not fit in 64 bits")
        return 0
    power = 1
    for _ in range(-digits):
        power *= 10
    below = n // power
    rest = n % power
    if rest > power // 2 or (rest == power // 2 and below & 1):
        below += 1
    if below > 9223372036854775807 // power:
        raise OverflowError("the rounded number does not fit in 64 bits")
    return below * power


def bit_length(n):
    if n < 0:
        if n == -9223372036854775808:
            return 64
        n = -n
    length = 0
    if n >= 4294967296:
        n >>= 32
        length = 32
    if n >= 65536:
        n >>= 16
        length += 16
    if n >= 256:
        n >>= 8
        length += 8
    if n >= 16:
        n >>= 4
        length += 4
    if n >= 4:
        n >>= 2
        length += 2
    return length + (2 if n >= 2 else n)


def is_integer(x):
    return math.isfinite(x) and bool(numpy.floor(x) == x)


def sum_of(items, start=0):
    total = start
    for x in items:
        total = total + x
    return total


def any_of(items):
    for x in items:
        if x:
            return True
    return False


def all_of(items):
    for x in items:
        if not x:
            return False
    return True


def min_of(items):
    if len(items) == 0:
        raise ValueError("min() arg is an empty sequence")
    best = items[0]
    for x in items:
        if x < best:
            best = x
    return best


def max_of(items):
    if len(items) == 0:
        raise ValueError("max() arg is an empty sequence")
    best = items[0]
    for x in items:
        if x > best:
            best = x
    return best


def in_items(x, items):
    for item in items:
        if x == item:
            return True
    return False


def in_range(x, start, stop, step):
    inside = (start <= x and x < stop) if step > 0 else (stop < x and x <= start)
    return inside and (x - start) % step == 0


def min_of_range(start, stop, step):
    count = len(range(start, stop, step))
    if count == 0:
        raise ValueError("min() arg is an empty sequence")
    return min(start, start + (count - 1) * step)


def max_of_range(start, stop, step):
    count = len(range(start, stop, step))
    if count == 0:
        raise ValueError("max() arg is an empty sequence")
    return max(start, start + (count - 1) * step)


def iterate(items):
    for x in items:
        yield x


def next_of(items):
    for x in items:
        return x
    raise StopIteration


def next_or(items, otherwise):
    for x in items:
        return x
    return otherwise


def hash_of(n):  # modulo 2**61 - 1, with the sign; -1 stands for an error in CPython
    result = n % 2305843009213693951 if n >= 0 else -(-(n + 1) % 2305843009213693951) - 1
    if result == -2305843009213693951:
        result = 0
    return -2 if result == -1 else result


def hash_of_float(x):
    if x - x != 0.0:
        if x == math.inf:
            return 314159
        return -314159 if x == -math.inf else 0
    most = 2305843009213693951
    m, e = math.frexp(abs(x))
    result = 0
    while m != 0.0:
        result = ((result & 8589934591) << 28) | (result >> 33)
        m *= 268435456.0
        e -= 28
        whole = int(m)
        m -= whole
        result += whole
        if result >= most:
            result -= most
    e %= 61
    result = ((result & (most >> e)) << e) | (result >> (61 - e))
    if x < 0.0:
        result = -result
    return -2 if result == -1 else result


def thread_count():
    return numpy._engine_thread_count()


def reduce_from(function, items, start):
    result = start
    for x in items:
        result = function(result, x)
    return result


def reduce_of(function, items):
    rest = iter(items)
    first = next_or_none(rest)
    if first is None:
        raise TypeError("reduce() of empty iterable with no initial value")
    return reduce_from(function, rest, first)


def next_or_none(items):
    for x in items:
        return x
    return None


def slice_indices(start, stop, step, length):
    if length < 0:
        raise ValueError("length should not be negative")
    by = 1
    if step is not None:
        by = step
    if by == 0:
        raise ValueError("slice step cannot be zero")
    low = 0 if by > 0 else -1
    high = length if by > 0 else length - 1
    first = low if by > 0 else high
    if start is not None:
        first = min(max(start + length if start < 0 else start, low), high)
    last = high if by > 0 else low
    if stop is not None:
        last = min(max(stop + length if stop < 0 else stop, low), high)
    return first, last, by
