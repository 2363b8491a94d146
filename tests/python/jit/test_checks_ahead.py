"""Loops whose checks are looked at ahead of a block: errors come where they did, after what was written before."""

import math

import numpy
import pytest
import weft

SIZES = (1, 31, 32, 33, 256, 257, 600)


@weft.jit
def divided(a, b, out):
    for i in range(len(a)):
        out[i] = math.exp(a[i]) / b[i] + math.log(a[i])
    return 0


@weft.jit
def gathered(a, b, out):
    s = 0.0
    for i in range(len(a)):
        out[i] = math.exp(a[int(b[i])]) * math.sin(a[i])
        s += out[i]
    return s


@pytest.mark.parametrize("function", (divided, gathered), ids=lambda each: each.__name__)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bad", (0.0, 1e6, -1e6, math.nan, math.inf))
def test_errors_come_where_they_did(function, size, bad):
    for at in {0, size // 2, size - 1}:
        a = numpy.random.default_rng(size).random(size) + 0.5
        b = numpy.arange(size, dtype=float)[::-1] + (function is divided)
        if function is gathered:
            b %= size
        b[at] = bad
        expected, found = numpy.zeros(size), numpy.zeros(size)
        outcomes = []
        for call, out in ((function.py_func, expected), (function, found)):
            plain = a.tolist() if call is not function else a
            try:
                with numpy.errstate(all="ignore"):
                    outcomes.append(call(plain, b.tolist() if call is not function else b, out))
            except (ArithmeticError, IndexError, ValueError) as error:
                outcomes.append(type(error))
        if isinstance(outcomes[0], type):
            assert outcomes[0] is outcomes[1]
        else:
            assert outcomes[0] == pytest.approx(outcomes[1], rel=1e-12, nan_ok=True)
        numpy.testing.assert_allclose(found, expected, rtol=1e-13)
