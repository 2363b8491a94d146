"""Random calls of NumPy's functions: the table, and what its parts share (every_function.py has the parts)."""

from random_calls import OMIT

INTS = "bBhHiIlL"
WHOLE = "?" + INTS
REAL = WHOLE + "efd"
WIDE = "lfd"  # where NumPy's own result depends on how a small type overflows

TABLE = {}
TOLERANCE = {}
LOOSE = set()  # of no promised order in memory


def entry(*names, tolerance=0.0, strides=True):
    """Puts a function that draws a Call under the names of functions."""

    def put(draw_call):
        for name in names:
            TABLE[name] = draw_call
            TOLERANCE[name] = tolerance
            if not strides:
                LOOSE.add(name)
        return draw_call

    return put


def maybe(g, part, value):
    return value if g.chance(part) else OMIT


def same(x):
    return x
