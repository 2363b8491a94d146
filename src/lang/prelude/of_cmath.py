"""Functions of `cmath` for weft.jit, in the Python that it compiles; see of_math.py."""

import cmath
import math


def phase(number):
    z = complex(number)
    return math.atan2(z.imag, z.real)


def polar(number):
    z = complex(number)
    return abs(z), math.atan2(z.imag, z.real)


def rect(r, phi):
    r, phi = float(r), float(phi)
    if phi == 0.0:
        if math.isfinite(r):
            return complex(r, r * phi)
        return complex(r, 0.0 if math.isnan(r) else math.copysign(0.0, r) * math.copysign(1.0, phi))
    if math.isfinite(phi):
        return complex(r * math.cos(phi), r * math.sin(phi))
    if r == 0.0:
        return complex(0.0, 0.0)
    if math.isinf(phi) and not math.isnan(r):
        raise ValueError("math domain error")
    return complex(math.inf if math.isinf(r) else math.nan, math.nan)


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    a, b = complex(a), complex(b)
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if cmath.isinf(a) or cmath.isinf(b):
        return False
    distance = abs(a - b)
    return distance <= rel_tol * abs(b) or distance <= rel_tol * abs(a) or distance <= abs_tol
