"""Arrays of globals and closures in compiled functions: read where they are, at each call."""

import collections
import gc
import weakref

import numpy
import pytest
import weft as np

Pair = collections.namedtuple("Pair", "first second")
TABLE = numpy.arange(5.0)
WEFTS = np.arange(6).reshape(2, 3) * 2
TABLES = (TABLE, numpy.ones(2))
RECORD = Pair(numpy.arange(3), 10)


def entry(i):
    return TABLE[i] + WEFTS[1, 2]


@np.jit
def calls(i, n):
    return entry(i) if n == 0 else calls(i, n - 1) + TABLE[0]


def test_they_are_read_as_they_are_now():
    f = np.jit(entry)
    assert f(2) == 12.0
    TABLE[2] = 7.0
    assert f(2) == 17.0
    TABLE[2] = 2.0
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 5"):
        f(9)
    assert np.jit(lambda: (TABLE.shape, WEFTS.size, len(TABLE)))() == ((5,), 6, 5)


def test_functions_that_are_called_read_them_too():
    assert calls(3, 4) == 13.0
    assert np.jit(lambda f, i: f(i) + 1)(entry, 1) == 12.0
    assert np.jit(lambda f, g, i: f(i) + g(i))(entry, lambda i: TABLES[1][i], 1) == 12.0


def test_tuples_and_records_of_arrays():
    assert np.jit(lambda: TABLES[0][1] + TABLES[1][0] + RECORD.first[2] + RECORD.second)() == 14.0


def test_another_array_is_read_after_the_name_is_bound_again():
    space = {"a": numpy.arange(3)}
    text = "def f(i):\n    return a[i]\n"
    exec(text, space)
    f = np.jit(space["f"], source=text)
    assert f(2) == 2
    before = weakref.ref(space["a"])
    space["a"] = numpy.array([0.5, 1.5, 2.5])
    assert f(2) == 2.5
    gc.collect()
    assert before() is None
    space["a"] = 3
    with pytest.raises(np.CompileError, match="cannot be indexed"):
        f(2)
    space["a"] = np.ones((2, 2))
    assert f(1).tolist() == [1, 1]


def test_closures_and_shapes_that_change():
    def of(a):
        return np.jit(lambda i: a[i] * 2)

    f, g = of(numpy.arange(4)), of(numpy.arange(4.0)[::-1])
    assert f(3) == 6 and g(3) == 0.0
    array = numpy.arange(6)
    h = np.jit(lambda: array.ndim * 10 + len(array))
    assert h() == 16
    array.shape = (2, 3)
    assert h() == 22


def test_what_is_returned_is_the_array():
    assert np.jit(lambda: WEFTS)() is WEFTS
    part = np.jit(lambda: TABLE[1:3])()
    assert part.tolist() == TABLE[1:3].tolist()


def test_they_are_not_written():
    def f(x):
        TABLE[0] = x

    def g(x):
        TABLE[1:] += x

    def h(x):
        part = TABLE[1:]
        part[0] = x

    for function in (f, g, h):
        with pytest.raises(np.CompileError, match=r"only reads|read-only"):
            np.jit(function)(1.0)


def test_an_argument_may_be_the_same_array():
    def f(a):
        total = 0.0
        for i in range(len(a)):
            a[i] = i + 10.0
            total += TABLE[i]
        return total

    before = TABLE.copy()
    jitted = np.jit(f)
    assert jitted(numpy.zeros(5)) == before.sum()
    assert jitted(TABLE) == 60.0
    TABLE[:] = before


INDEX = (slice(1, 3), numpy.array([0, 1, 2]), ...)
MASKED = (..., numpy.array([True, False, True]), 1)
ADDED = (numpy.arange(2), slice(None, None, -1), None)


def test_tuples_of_slices_and_arrays_are_indices():
    global INDEX

    def read(a):
        return a[INDEX], a[MASKED], a[ADDED]

    def write(a):
        a[INDEX] = 7

    a = numpy.arange(60).reshape(3, 4, 5)[:, :3]
    compiled, written = np.jit(read), np.jit(write)
    before = INDEX
    try:
        for index in (before, (slice(0, 1), numpy.array([2, 0]), 0)):
            INDEX = index
            for got, expected in zip(compiled(a), read(a), strict=True):
                numpy.testing.assert_array_equal(numpy.asarray(got), expected)
            ours, theirs = a.copy(), a.copy()
            written(ours)
            write(theirs)
            numpy.testing.assert_array_equal(ours, theirs)
    finally:
        INDEX = before
