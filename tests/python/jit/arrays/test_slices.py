"""Slices as values: made by slice(), given, returned, global, and their attributes and indices()."""

import itertools

import numpy
import pytest
import weft as np


def plain(value):
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, (np.ndarray, numpy.ndarray)):
        return str(value.dtype), value.shape, numpy.asarray(value).tolist()
    return value


def outcome(function, *arguments):
    try:
        return plain(function(*arguments))
    except Exception as error:
        return type(error), str(error)


BOUNDS = [None, -7, -2, 0, 1, 3, 9]
STEPS = [None, -3, -1, 1, 2, 0]
SLICES = [slice(*each) for each in itertools.product(BOUNDS, BOUNDS, STEPS)]


def take(a, s):
    return a[s]


@pytest.mark.parametrize("items", [numpy.arange(6.0), [5, 4, 3, 2, 1]], ids=["array", "list"])
def test_slices_are_given(items):
    compiled = np.jit(take)
    for s in SLICES[::3]:
        assert outcome(compiled, items, s) == outcome(take, items, s)


def test_slices_are_made():
    def one(a, i):
        return a[slice(i)]

    def two(a, i, j):
        s = slice(i, j)
        return a[s], a[s][::-1], s.start, s.stop, s.step

    def three(a, i, j, k):
        return a[slice(i, j, k)], a[slice(i, None, k)]

    a = numpy.arange(24).reshape(8, 3)
    for i, j, k in itertools.product((-9, -2, 0, 3), (-1, 0, 2, 9), (-2, -1, 1, 3)):
        for function, arguments in ((one, (a, i)), (two, (a, i, j)), (three, (a, i, j, k))):
            assert outcome(np.jit(function), *arguments) == outcome(function, *arguments)


def test_slices_stand_among_other_indices():
    def f(a, rows, columns):
        a[rows, 1] = 7
        a[1, columns] += 1
        index = (rows, columns)
        return a[rows], a[..., columns], a[rows, columns].sum(), a[index], a[rows, None, 0]

    for rows, columns in itertools.product(SLICES[:40:7], SLICES[1:50:9]):
        a, b = numpy.arange(20.0).reshape(4, 5), numpy.arange(20.0).reshape(4, 5)
        assert outcome(np.jit(f), a, rows, columns) == outcome(f, b, rows, columns)
        assert a.tolist() == b.tolist()


def test_slices_of_lists_are_assigned_and_deleted():
    def f(n, s):
        items = list(range(n))
        items[s] = [50, 60]
        del items[slice(0, 1)]
        return items, items[slice(None, None, -1)]

    for s in (slice(1, 3), slice(None, 2), slice(5, None)):
        assert np.jit(f)(8, s) == f(8, s)


def test_bounds_that_may_be_none():
    def f(a, i, j):
        start = i if i > 0 else None
        step = j if j != 0 else None
        return a[start:4:step], a[slice(None, start, step)], a[:start]

    for i, j in itertools.product((0, 1, 2, 5), (-2, 0, 1, 3)):
        assert outcome(np.jit(f), numpy.arange(6), i, j) == outcome(f, numpy.arange(6), i, j)


def test_indices():
    def f(s, n):
        return s.indices(n)

    compiled = np.jit(f)
    for s, n in itertools.product(SLICES[::5], (-1, 0, 4)):
        assert outcome(compiled, s, n) == outcome(f, s, n)


def test_slices_are_returned_and_known():
    known = slice(1, None, 2)
    table = (slice(0, 2), slice(None))
    items = (1, 2.5, "c", 4)
    assert np.jit(lambda: known)() == known
    assert np.jit(lambda s: s)(slice(3, None)) == slice(3, None)
    assert np.jit(lambda i: slice(i, None, 2))(3) == slice(3, None, 2)
    assert np.jit(lambda: items[known])() == items[known]
    assert np.jit(lambda a: a[table[0]])(numpy.arange(5)).tolist() == [0, 1]
    assert np.jit(lambda x: isinstance(x, slice))(known) is True
    assert np.jit(lambda x: isinstance(x, slice))(3) is False
    assert np.jit(lambda c: slice(1, 2) if c else slice(None))(0) == slice(None)


def test_ellipsis_is_a_value():
    a = numpy.arange(24).reshape(2, 3, 4)
    assert np.jit(take)(a, ...).tolist() == a.tolist()
    assert np.jit(lambda a, e: a[e, 1])(a, ...).tolist() == a[..., 1].tolist()
    assert np.jit(lambda e: (e is ..., e is None, e))(...) == (True, False, ...)
    assert np.jit(lambda x: x is ...)(3) is False


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda a: a[slice(1.5)], "an integer is needed here, not float"),
        (lambda a: slice(1, 2, 3, 4), "slice"),
        (lambda a: (1, 2, 3)[slice(a.size)], "known numbers only"),
        (lambda a: slice(1) is slice(1), "'is' is not compiled for slice and slice"),
    ],
)
def test_what_is_no_slice_is_refused(wrong, text):
    with pytest.raises(np.CompileError, match=text):
        np.jit(wrong)(numpy.arange(3))
    with pytest.raises(TypeError):
        np.jit(take)(numpy.arange(3), slice(1.5, None))
