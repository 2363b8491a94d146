"""Records, global arrays, inner functions, texts and prints in loops over prange."""

import collections
import io
import sys

import numpy
import pytest
import weft as np

Pair = collections.namedtuple("Pair", "values scale")
TABLE = numpy.arange(1000.0)
N = 100_000


def test_global_arrays_and_records():
    def inner(i):
        return TABLE[i % 1000]

    @np.jit
    def f(pair, out):
        total = 0.0
        for i in np.prange(len(out)):
            out[i] = pair.values[i] * pair.scale + TABLE[i % 1000] + inner(i)
            total += out[i]
        return Pair(total, len(out))

    out = numpy.zeros(N)
    values = numpy.arange(float(N))
    expected = values * 2 + 2 * TABLE[numpy.arange(N) % 1000]
    result = f(Pair(values, 2.0), out)
    assert type(result) is Pair and (out == expected).all()
    assert result.values == pytest.approx(expected.sum(), rel=1e-12)


def test_inner_functions_of_before_the_loop():
    @np.jit
    def f(n, out):
        k = n * 2

        def add(x, more=1):
            return x + k + more

        for i in np.prange(len(out)):
            out[i] = add(i)

    out = numpy.zeros(N, "i8")
    f(3, out)
    assert (out == numpy.arange(N) + 7).all()

    @np.jit
    def late(out):
        k = 0

        def add(x):
            return x + k

        for i in np.prange(len(out)):
            k = i
            out[i] = add(1)

    with pytest.raises(np.CompileError, match="'k'"):
        late(out)

    @np.jit
    def within(out):
        for i in np.prange(len(out)):
            out[i] = (lambda x: x + i)(1)

    with pytest.raises(np.CompileError):
        within(out)


@pytest.mark.parametrize("nogil", [False, True])
def test_prints_of_all_iterations_come(monkeypatch, nogil):
    def f(a, n):
        for i in np.prange(len(a)):
            a[i] = a[i] * 3 + i
            if i % n == 0:
                print("at", i)

    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    np.jit(f, nogil=nogil, parallel=True)(numpy.zeros(N), 1000)
    monkeypatch.undo()
    lines = stream.getvalue().splitlines()
    assert sorted(lines) == sorted(f"at {i}" for i in range(0, N, 1000))


def test_texts_of_errors():
    @np.jit
    def f(a):
        for i in np.prange(len(a)):
            if a[i] > 5:
                raise ValueError(f"{a[i]} at {i}")

    a = numpy.zeros(N)
    a[70_000] = 7.5
    a[90_000] = 8.5
    with pytest.raises(ValueError, match=r"^7.5 at 70000$"):
        f(a)


def test_variables_that_functions_read_behind_a_loop():
    @np.jit
    def f(a):
        least, at = 1e9, -1
        for i in np.prange(len(a)):
            t = a[i] * 2
            if t < least:
                least = t
                at = i
        g = lambda x, s=t: x + at + s  # noqa: E731
        return g(1) + least

    a = numpy.arange(N, 0.0, -1.0)
    assert f(a) == f.py_func(a) == 1 + (N - 1) + 2 + 2

    @np.jit
    def perhaps(a, k):
        if len(a) > 2:
            g = lambda x: x + k  # noqa: E731
        for i in np.prange(len(a)):
            k = a[i]
            a[i] = g(k)

    with pytest.raises(np.CompileError, match="'<lambda>' reads 'k', which this loop over prange changes"):
        perhaps(a, 1.0)

    @np.jit
    def in_a_tuple(a):
        k = 1.0
        pair = (lambda x: x + k, 2)
        for i in np.prange(len(a)):
            k = a[i]
            a[i] = pair[0](k)

    with pytest.raises(np.CompileError, match="'<lambda>' reads 'k', which this loop over prange changes"):
        in_a_tuple(a)
