"""print() and computed texts in compiled functions, beside CPython's."""

import io
import sys
from typing import NamedTuple

import numpy
import pytest
import weft as np


class Point(NamedTuple):
    x: float
    y: int


class CustomError(Exception):
    pass


def printed(capsys, function, *arguments):
    """What a call prints and comes to."""
    try:
        result = function(*arguments)
    except Exception as error:
        result = type(error), error.args
    return capsys.readouterr().out, result


def agree(capsys, function, *arguments):
    found, expected = printed(capsys, np.jit(function), *arguments), printed(capsys, function, *arguments)
    assert found == expected
    return found


def test_print(capsys):
    def f(n, x, flag, z, p):
        print()
        print(n, x, flag, z, None, "text {} äö", (n, (x, "a\n"), ()), p)
        for i in range(n):
            print(i, i * x, sep=", ", end=";\n")
        print("a", "b", sep="", end="")
        print(x if n > 1 else 0.5, n / 3, -0.0, 1e300, 1e-5, 2**62)
        print("c", sep=None, end=None, flush=True)
        return n

    for n in (0, 3):
        agree(capsys, f, n, 0.1, True, 1 - 2j, Point(0.5, 3))
    agree(capsys, lambda x: print(x, float("nan"), float("-inf")), 1e16)


def test_print_of_numpy_s_numbers_and_optional_ones(capsys):
    def f(a):
        print(a[0], a[1])

    for dtype in ("f8", "i4", "u8", "?"):
        agree(capsys, f, numpy.array([1, 0], dtype))

    def g(n):
        x = None
        if n > 2:
            x = 1.5
        print(x, (x, n))

    for n in (1, 5):
        agree(capsys, g, n)


def test_print_of_arrays(capsys):
    balls = numpy.zeros(2, [("flag", "u1"), ("mass", "f8")])

    def f(a, balls):
        print(a)
        print((a, 1), a.T, a[0], [a[0], a[1]], sep="|")
        print(balls, balls["mass"], balls[1])
        b = numpy.arange(3000.0) * 2  # memory of the function's own
        print(b, "x", b[:5] * 1j, b[::1000])

    agree(capsys, f, numpy.arange(6).reshape(2, 3), balls)
    with pytest.raises(np.CompileError, match="has no text"):  # its memory may be gone by then
        np.jit(lambda a: f"{a}")(numpy.arange(3))


def test_print_of_arrays_from_all_threads(capsys):
    def f(a):
        for i in np.prange(40):
            print(a[i])

    np.jit(f)(numpy.arange(40 * 3000.0).reshape(40, 3000))
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == sorted(str(row) for row in numpy.arange(40 * 3000.0).reshape(40, 3000))


def test_print_is_in_order_with_errors_and_in_called_functions(capsys):
    def inner(i):
        print("inner", i)
        if i == 3:
            raise CustomError(f"at {i}", i)
        return i

    def f(n):
        total = 0
        for i in range(n):
            total += inner(i)
            print(total)
        return total

    assert agree(capsys, f, 3)[1] == 3
    assert agree(capsys, f, 9) == (
        "inner 0\n0\ninner 1\n1\ninner 2\n3\ninner 3\n",
        (CustomError, ("at 3", 3)),
    )


def test_print_that_fails_ends_the_function(monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            if "2" in text:
                raise OSError("closed")
            return super().write(text)

    stream = Closed()
    a = numpy.zeros(5)

    def f(a):
        for i in range(5):
            print(i)
            a[i] = 1
        return np.zeros(3)

    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(OSError, match="closed"):
        np.jit(f)(a)
    monkeypatch.undo()
    assert a.tolist() == [1, 1, 0, 0, 0] and stream.getvalue() == "0\n1\n"


def test_print_without_the_gil(capsys):
    f = np.jit(lambda x: print(x), nogil=True)
    f(3)
    assert capsys.readouterr().out == "3\n"


def test_texts_of_exceptions(capsys):
    def f(n, x):
        if n == 0:
            raise ValueError(f"n is {n} and x is {x:.3f}, {x!r:>10} {n:{n + 5}d}|{{}}{n=}")
        if n == 1:
            raise CustomError(n, x, "text", (n, None))
        if n == 2:
            raise KeyError("a" + str(n) + f"{x}" + "{b}" + repr("c"))
        if n == 3:
            raise RuntimeError(n)
        if n == 4:
            raise ValueError(f"{'known'} {x:d}")
        return n

    for n in range(6):
        agree(capsys, f, n, 2.5)


def test_assertions_make_their_text_when_they_fail(capsys):
    def f(n, a):
        assert n < 3, f"{n} is not below {3}: {a[n]}"
        assert n != 2, n
        assert n != 1, "one"
        assert n >= 0
        return n

    compiled = np.jit(f)
    a = numpy.arange(5.0)
    assert compiled(0, a) == 0
    for n, expected in ((4, "4 is not below 3: 4.0"), (2, 2), (1, "one")):
        with pytest.raises(AssertionError) as error:
            compiled(n, a)
        assert error.value.args == (expected,)
    with pytest.raises(IndexError):
        compiled(9, a)
    with pytest.raises(AssertionError) as error:
        compiled(-1, a)
    assert error.value.args == ()


def test_texts_are_values(capsys):
    def f(n, x):
        text = f"{n}/" + str(x)
        print(text, "x" + text, (text, n))
        return text + "!"

    agree(capsys, f, 3, 0.25)
    assert agree(capsys, lambda: "only a text")[1] == "only a text"
    assert agree(capsys, lambda n: ("a", f"b{n}"), 2)[1] == ("a", "b2")


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda a: print(f"{a}"), "array(float64, 1d) has no text"),
        (lambda a: print(1, file=a), "print() takes no keyword 'file'"),
        (lambda a: print(1, sep=f"{a[0]}"), "'sep' of print() has to be a known text"),
        (lambda a: f"{a}", "array(float64, 1d) has no text"),
        (lambda a: print(print), "has no text in a compiled function"),
    ],
)
def test_what_is_wrong_is_said(function, text):
    with pytest.raises(np.CompileError) as error:
        np.jit(function)(numpy.zeros(2))
    assert text in str(error.value) and str(error.value).count("\n") < 8
