"""Functions of `math` for weft.jit, in the Python that it compiles.

tools/pack_prelude.py makes trees of them. What they raise is raised where they are called. Floats come as floats.
"""

import math

import numpy


def isqrt(n):
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(n)), 3037000499)  # whose square is the last below 2**63
    while root * root > n:
        root -= 1
    while root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root


def factorial(n):
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    if n > 20:
        raise OverflowError("the factorial does not fit in 64 bits")
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product


def comb(n, k):
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    k = min(k, n - k)
    result = 1
    for i in range(1, k + 1):
        common = math.gcd(result, i)
        factor = (n - k + i) // (i // common)
        if result // common > 9223372036854775807 // factor:
            raise OverflowError("the number of combinations does not fit in 64 bits")
        result = result // common * factor
    return result


def perm(n, k=None):
    if k is None:
        return factorial(n)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    if k > n:
        return 0
    result = 1
    for factor in range(n - k + 1, n + 1):
        if result > 9223372036854775807 // factor:
            raise OverflowError("the number of permutations does not fit in 64 bits")
        result *= factor
    return result


def dist(p, q):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    scale = 0.0
    for i in range(len(p)):
        scale = max(scale, abs(float(p[i]) - float(q[i])))
    if math.isinf(scale):
        return scale
    total = 0.0
    for i in range(len(p)):
        distance = float(p[i]) - float(q[i])
        if scale > 0.0:
            distance /= scale
        total += distance * distance
    return math.sqrt(total) * scale if scale > 0.0 else total


def hypot(*numbers):
    scale = 0.0
    for x in numbers:
        scale = max(scale, abs(float(x)))
    if math.isinf(scale):
        return scale
    total = 0.0
    for x in numbers:
        part = float(x)
        if scale > 0.0:
            part /= scale
        total += part * part
    return math.sqrt(total) * scale if scale > 0.0 else total


def prod(items, start=1):
    product = start
    for x in items:
        product = product * x
    return product


def remainder(x, y):
    x, y = float(x), float(y)
    if math.isinf(y) and math.isfinite(x):
        return x
    size = abs(y)
    rest = math.fmod(abs(x), size)
    other = size - rest
    if rest > other:
        rest = -other
    elif rest == other:  # halfway: to the even multiple
        rest -= 2.0 * math.fmod(0.5 * (abs(x) - rest), size)
    return math.copysign(1.0, x) * rest


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    a, b = float(a), float(b)
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    distance = abs(b - a)
    return distance <= abs(rel_tol * b) or distance <= abs(rel_tol * a) or distance <= abs_tol


def ulp(x):
    x = abs(float(x))
    if not math.isfinite(x):
        return x
    above = math.nextafter(x, math.inf)
    return x - math.nextafter(x, 0.0) if math.isinf(above) else above - x


def gamma_between_2_and_3(t):  # of t + 2.5
    total = 3.329125646482475e-08
    total = total * t - 8.312435079672132e-08
    total = total * t + 1.685124864158984e-07
    total = total * t - 4.1777172328856477e-07
    total = total * t + 1.0829914823314093e-06
    total = total * t - 2.5623512284561174e-06
    total = total * t + 7.253750203859473e-06
    total = total * t - 1.28013080342882e-05
    total = total * t + 6.132998881756122e-05
    total = total * t + 3.941751363613351e-06
    total = total * t + 0.0007544741279764075
    total = total * t + 0.0016074004868597799
    total = total * t + 0.010392403425935072
    total = total * t + 0.028360780594778156
    total = total * t + 0.10967323400215975
    total = total * t + 0.25387124684114376
    total = total * t + 0.6545585779813368
    total = total * t + 0.9347345216260855
    total = total * t + 1.329340388179137
    return total


def lgamma_near_1(t):  # divided by t
    total = -0.06470688441746338
    total = total * t + 0.06785262190913538
    total = total * t - 0.05008883586736069
    total = total * t + 0.05289964373707078
    total = total * t - 0.059029733143864144
    total = total * t + 0.062715855154221
    total = total * t - 0.06665861504885953
    total = total * t + 0.07142240752712099
    total = total * t - 0.0769328270841159
    total = total * t + 0.08335416499804651
    total = total * t - 0.09095401117119359
    total = total * t + 0.10009945127330616
    total = total * t - 0.11133426593847819
    total = total * t + 0.12550966959671012
    total = total * t - 0.1440498967684099
    total = total * t + 0.16955717699695264
    total = total * t - 0.20738555102867526
    total = total * t + 0.27058080842778587
    total = total * t - 0.40068563438653143
    total = total * t + 0.8224670334241132
    total = total * t - 0.5772156649015329
    return total


def lgamma_near_2(t):  # divided by t
    total = -1.6093831644698248e-09
    total = total * t + 7.99886332998371e-09
    total = total * t - 2.183566815161646e-08
    total = total * t + 4.801768120923705e-08
    total = total * t - 1.0076651483518706e-07
    total = total * t + 2.121294455284658e-07
    total = total * t - 4.492163752136698e-07
    total = total * t + 9.551284165006387e-07
    total = total * t - 2.039216299325561e-06
    total = total * t + 4.374867788261076e-06
    total = total * t - 9.439488353299925e-06
    total = total * t + 2.0507212735178725e-05
    total = total * t - 4.4926236732284956e-05
    total = total * t + 9.945751278271872e-05
    total = total * t - 0.00022315475845376004
    total = total * t + 0.0005096695247430314
    total = total * t - 0.0011927539117032582
    total = total * t + 0.0028905103307415234
    total = total * t - 0.007385551028673986
    total = total * t + 0.020580808427784546
    total = total * t - 0.0673523010531981
    total = total * t + 0.3224670334241132
    total = total * t + 0.42278433509846713
    return total


def lgamma_between(t):  # of t + 1.5, for t between -0.25 and 0.25
    total = 4.238629723108147e-05
    total = total * t - 6.727657701265957e-05
    total = total * t + 9.456663106836277e-05
    total = total * t - 0.00015134882391521236
    total = total * t + 0.00024491354926201573
    total = total * t - 0.0003958383900660724
    total = total * t + 0.0006437012510267884
    total = total * t - 0.0010549129604986176
    total = total * t + 0.0017450356184914692
    total = total * t - 0.0029209705260556636
    total = total * t + 0.004965728808858285
    total = total * t - 0.00862260392819676
    total = total * t + 0.015435484170054133
    total = total * t - 0.02895208188890117
    total = total * t + 0.0587121264167682
    total = total * t - 0.1381327740390533
    total = total * t + 0.46740110027233966
    total = total * t + 0.03648997397857652
    total = total * t - 0.12078223763524522
    return total


def stirling(x):
    s = 1.0 / (x * x)
    series = -691.0 / 360360.0 + s / 156.0
    series = 1.0 / 1188.0 + s * series
    series = -1.0 / 1680.0 + s * series
    series = 1.0 / 1260.0 + s * series
    series = -1.0 / 360.0 + s * series
    return (1.0 / 12.0 + s * series) / x


def sine_of_pi(x):  # of x not below 0
    rest = math.fmod(x, 2.0)
    sign = 1.0
    if rest > 1.0:
        sign, rest = -1.0, rest - 1.0
    if rest > 0.5:
        rest = 1.0 - rest
    return sign * (math.sin(math.pi * rest) if rest <= 0.25 else math.cos(math.pi * (0.5 - rest)))


def gamma_above_0(x):
    if x >= 10.0:
        if x > 171.7:
            return math.inf
        power = x ** (0.5 * x - 0.25)
        return power * math.exp(-x) * math.exp(stirling(x)) * 2.5066282746310007 * power
    product = 1.0
    while x >= 3.0:
        x -= 1.0
        product *= x
    divisor = 1.0
    while x < 2.0:
        divisor *= x
        x += 1.0
    return gamma_between_2_and_3(x - 2.5) * product / divisor


def gamma(number):
    x = float(number)
    if math.isnan(x) or x == math.inf:
        return x
    if x == 0.0:
        return math.copysign(math.inf, x)
    size = abs(x)
    whole = size == numpy.floor(size)
    if x < 0.0 and (whole or math.isinf(x)):
        return math.nan
    if size < 1e-20:
        return 1.0 / x
    if whole and x <= 23.0:
        product = 1.0
        for k in range(2, int(x)):
            product *= k
        return product
    if x > 0.0:
        return gamma_above_0(x)
    return -math.pi / (size * sine_of_pi(size) * gamma_above_0(size))


def lgamma_above_0(x):
    if x >= 10.0:
        return (x - 0.5) * (math.log(x) - 1.0) + (0.41893853320467274 + stirling(x))
    product = 1.0
    while x > 2.5:
        x -= 1.0
        product *= x
    before = 0.0
    if x < 0.75:
        before = -math.log(x)
        x += 1.0
    if product > 1.0:
        before = math.log(product)
    if x < 1.25:
        return before + (x - 1.0) * lgamma_near_1(x - 1.0)
    if x < 1.75:
        return before + lgamma_between(x - 1.5)
    return before + (x - 2.0) * lgamma_near_2(x - 2.0)


def lgamma(number):
    x = float(number)
    if math.isnan(x):
        return x
    size = abs(x)
    if math.isinf(x):
        return math.inf
    if x <= 0.0 and size == numpy.floor(size):
        return math.inf
    if size < 1e-20:
        return -math.log(size)
    if x > 0.0:
        return lgamma_above_0(x)
    return math.log(math.pi / abs(sine_of_pi(size)) / size) - lgamma_above_0(size)
