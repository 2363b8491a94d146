"""Signatures of compiled functions that other compiled functions call."""

import functools

import numpy as np
import pytest
from weft import numba


@numba.njit("i4(i8)")
def narrow(x):
    return x


@numba.njit("f4(f8)")
def single(x):
    return x


@numba.njit([numba.float64(numba.int64), "float64(i8,)"])
def real(x):
    return x


@numba.njit("i4(i8[:])")
def turned(state):
    state[0] = (state[0] * 1103515245 + 12345) & 0xFFFFFFFFFF
    return state[0]


@numba.njit(["f8(f8)"])
def factorial(n):
    return 1 if n <= 0 else n * factorial(n - 1)


def test_results_are_of_the_signature():
    assert numba.njit(lambda: narrow(2**40 + 5))() == narrow(2**40 + 5) == 5
    assert numba.njit(lambda: narrow(2**31 + 7) * 1.0)() == -2147483641.0
    assert numba.njit(lambda: narrow(2**30) * 4)() == 2**32  # computed on in 64 bits
    assert numba.njit(lambda: single(0.1))() == float(np.float32(0.1))


def test_arguments_are_of_the_signature():
    result = numba.njit(lambda: real(3) / 2)()
    assert result == 1.5 and type(numba.njit(lambda: real(3))()) is float
    assert numba.njit(lambda: factorial(5))() == 120.0


def test_keywords_and_signatures_that_differ():
    assert numba.njit(lambda: real(x=4))() == 4.0

    @numba.njit(["i4(i4)", "f8(f8)"])
    def either(x):
        return x

    assert numba.njit(lambda: (either(3), either(2.5)))() == (3, 2.5)


def test_arrays_stay_the_same():
    state = np.array([7], np.int64)
    plain = np.array([7], np.int64)
    draw = numba.njit(lambda s: turned(s) / 0x7FFFFFFF)
    for _ in range(20):
        value = draw(state)
        plain[:] = (plain * 1103515245 + 12345) & 0xFFFFFFFFFF
        assert value == int(plain.astype(np.int32)[0]) / 0x7FFFFFFF and -1.0000001 <= value <= 1
    assert state.tolist() == plain.tolist()


def test_a_signature_with_fewer_parameters_is_refused():
    with pytest.raises(TypeError, match="parameters"):
        numba.njit("f8(f8)")(lambda x, y: x)


def test_wrappers_of_signed_functions_are_called_themselves():
    @numba.njit("i4(i4)")
    def signed(n):
        return n

    @functools.wraps(signed)
    def plain(n):
        return signed(n) + 100

    wrapped = numba.njit(plain)
    assert numba.njit(lambda n: plain(n))(1) == 101
    assert numba.njit(lambda n: wrapped(n))(1) == 101


@numba.vectorize(["f8(f8)"])
def one_more(x):
    return x + 1


def test_wrappers_of_ufuncs_are_called_themselves():
    @functools.wraps(one_more)
    def first(a):
        return 100 * one_more(a)[0]

    assert numba.njit(lambda a: first(a))(np.arange(3.0)) == 100.0


def test_wrappers_of_stencils_are_called_themselves():
    stencil = numba.stencil(lambda a: a[0] + 1)

    @functools.wraps(stencil)
    def first(a):
        return 100 * stencil(a)[0]

    assert numba.njit(lambda a: first(a))(np.arange(3.0)) == 100.0


def test_signatures_hold_for_functions_that_are_given():
    given = numba.njit(lambda function, x: function(x))
    assert given(narrow, 2**33 + 1) == narrow(2**33 + 1) == 1

    @functools.wraps(narrow)
    def wider(x):
        return narrow(x) + 2**33

    assert given(wider, 1) == 2**33 + 1
