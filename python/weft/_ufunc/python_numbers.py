"""Python's arithmetic in compiled functions: what Python computes, or an error where compiled numbers cannot tell.

Python's ints grow, its floats raise where NumPy's give infinities or NaN, and a power of floats may be complex. Each
function here gives Python's result, or raises: then whoever called the loop leaves it to Python.
"""

import re

# 9223372036854774784 is the largest float below 2**63, and 9007199254740992 is 2**53: ints up to it are floats, too.
_TEXT = """
def _add(a, b):
    r = a + b
    if ((a ^ r) & (b ^ r)) < 0:
        raise OverflowError
    return r

def _sub(a, b):
    r = a - b
    if ((a ^ b) & (a ^ r)) < 0:
        raise OverflowError
    return r

def _mul(a, b):
    if abs(float(a) * float(b)) > 9.2e18:
        raise OverflowError
    return a * b

def _neg(a):
    if a < -9223372036854775807:
        raise OverflowError
    return -a

def _exact(a):
    if a > 9007199254740992 or a < -9007199254740992:
        raise OverflowError
    return float(a)

def _div(a, b):
    return _exact(a) / _exact(b)

def _floordiv(a, b):
    if a < -9223372036854775807:
        raise OverflowError
    return a // b

def _mod(a, b):
    if a < -9223372036854775807:
        raise OverflowError
    return a % b

def _shl(a, b):
    if b < 0 or b > 62:
        raise OverflowError
    r = a << b
    if r >> b != a:
        raise OverflowError
    return r

def _shr(a, b):
    if b < 0 or b > 63:
        raise OverflowError
    return a >> b

def _ipow(a, b):
    if b < 0:
        raise OverflowError
    r = 1
    while b > 0:
        if b & 1:
            r = _mul(r, a)
        b = b >> 1
        if b > 0:
            a = _mul(a, a)
    return r

def _finite(r, a):
    if r - r != 0.0:
        if r != r and a == a:
            raise ValueError
        if r == r and a - a == 0.0:
            raise OverflowError
    return r

def _finite2(r, a, b):
    if r - r != 0.0:
        if r != r and a == a and b == b:
            raise ValueError
        if r == r and a - a == 0.0 and b - b == 0.0:
            raise OverflowError
    return r

def _pow(a, b):
    if a < 0.0 and b != np.floor(b):
        raise ValueError
    return _finite2(a ** b, a, b)

def _iabs(a):
    if a < 0:
        return _neg(a)
    return a

def _max(a, b):
    return b if b > a else a

def _min(a, b):
    return b if b < a else a

def _in_range(a):
    if not (a < 9223372036854774784.0 and a > -9223372036854774784.0):
        raise OverflowError
    return a

def _int(a):
    return int(_in_range(a))

def _round(a):
    return int(np.rint(_in_range(a)))

def _floor(a):
    return int(np.floor(_in_range(a)))

def _ceil(a):
    return int(np.ceil(_in_range(a)))
"""

_DEFINITIONS = {re.match(r"def (\w+)", part)[1]: part for part in re.split(r"\n(?=def )", _TEXT.strip())}


def definitions_for(text):
    """The definitions of what a text calls, and of what these call, in an order in which they can be made."""
    wanted, waiting = set(), [text]
    while waiting:
        found = set(re.findall(r"\b(_\w+)\(", waiting.pop())) & _DEFINITIONS.keys()
        waiting += [_DEFINITIONS[name] for name in found - wanted]
        wanted |= found
    return [part for name, part in _DEFINITIONS.items() if name in wanted]
