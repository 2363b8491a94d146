"""Attributes and methods of arrays, and functions that make them or go over their indices."""

import operator

import numpy
import pytest
import weft as np


def plain(value):
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, (np.ndarray, numpy.ndarray)):
        return str(value.dtype), numpy.asarray(value).tolist()
    return value.item() if hasattr(value, "item") else value


def agree(function, *arguments):
    found, expected = plain(np.jit(function)(*arguments)), plain(function(*arguments))
    assert found == expected
    return found


ARRAYS = [
    numpy.arange(24.0).reshape(2, 3, 4),
    numpy.arange(6, dtype="i4").reshape(2, 3).T,
    numpy.arange(5)[::-2],
    numpy.array(3.5),
    numpy.zeros((0, 3)),
]


@pytest.mark.parametrize("a", ARRAYS, ids=range(len(ARRAYS)))
def test_attributes(a):
    agree(lambda a: (a.shape, a.ndim, a.size, a.itemsize, a.nbytes), a)
    if a.size > 0:
        agree(lambda a: a.strides, a)
    agree(
        lambda a: (a.dtype == np.float64, a.dtype != np.int32, a.dtype.name, a.dtype.kind, a.dtype.itemsize),
        a,
    )
    assert np.jit(lambda a: np.zeros(2, a.dtype))(a).dtype == a.dtype
    assert np.jit(lambda a: a.dtype.type(1))(a) == 1
    agree(lambda a: a.flatten(), a)


def test_parts_of_complex_arrays():
    def f(a):
        a.real[1] = 7.0
        a.imag[0] += 2.0
        return a.real[0] + a.imag[2], a.imag[1]

    for dtype in ("c16", "c8"):
        for step in (1, -1, 2):
            a, b = ((numpy.arange(8) * (1 + 2j)).astype(dtype)[::step] for _ in range(2))
            assert plain(np.jit(f)(a)) == plain(f(b))
            assert a.tolist() == b.tolist()
    agree(lambda a: (a.real[1], a.real.shape), numpy.arange(3))


def test_reshape():
    a = numpy.arange(24.0).reshape(2, 3, 4)
    agree(lambda a: (a.reshape(6, 4), a.reshape((4, -1)), a.reshape(-1), a.ravel(), a[1].reshape(2, 6)), a)
    agree(lambda a, n: a.reshape(n, -1)[n - 1, 1], a, 3)

    def write(a):
        a.reshape(24)[5] = -1.0

    np.jit(write)(a)
    assert a[0, 1, 1] == -1
    made = np.jit(lambda n: np.zeros(n * 2).reshape(n, 2))(3)
    assert made.shape == (3, 2)
    agree(lambda a: a.reshape(3, 0), numpy.zeros((0, 2)))
    reshape = np.jit(lambda a, i, j: a.reshape(i, j))
    for i, j in ((5, 5), (-1, -1), (-2, 12), (7, -1)):
        with pytest.raises(ValueError, match=r"reshape|unknown dimension"):
            reshape(a, i, j)
    with pytest.raises(ValueError, match="copy it before"):
        reshape(a[:, :, ::2], 3, 4)


def test_arange():
    agree(lambda n: np.arange(n), 5)
    agree(lambda n: np.arange(n), -3)
    agree(lambda a, b, c: np.arange(a, b, c), 1, 20, 3)
    agree(lambda a, b, c: np.arange(a, b, c), 20, 1, -4)
    agree(lambda a, b, c: np.arange(a, b, c), 0.5, 3, 0.1)
    agree(lambda n: np.arange(n, dtype=np.float64), 4)
    agree(lambda n: np.arange(2, n, dtype=np.int64), 4)
    with pytest.raises(ZeroDivisionError):
        np.jit(lambda n: np.arange(0, n, 0))(3)
    agree(lambda n: np.arange(n, dtype=np.float32), 4)


def test_indices_in_order():
    def indices(a, n):
        seen = np.zeros(40)
        at = 0
        for i, j in numpy.ndindex(a.shape):
            seen[at] = i * 10 + j
            at += 1
        for i, j in numpy.ndindex(n, 2):
            seen[at] = a[j, i] + 0.5
            at += 1
        for (k,) in numpy.ndindex(n):
            seen[at] = k
            at += 1
        for index in numpy.ndindex(()):
            seen[at] = len(index) + 3
        return seen

    agree(indices, numpy.arange(12).reshape(4, 3), 2)

    def elements(a):
        total = 0.0
        for (i, j), x in numpy.ndenumerate(a):
            total = total * 1.5 + x * i - j
        return total

    for a in (numpy.arange(12).reshape(4, 3), numpy.arange(12.0).reshape(3, 4).T, numpy.zeros((0, 2))):
        agree(elements, a)


def test_attributes_by_name():
    agree(
        lambda a: (a.shape, getattr(a, "nothing", 3), hasattr(a, "size"), hasattr(a, "x")),
        ARRAYS[0],
    )


def test_operators_as_functions():
    agree(
        lambda a, b: (operator.add(a, b), operator.mul(a, b), operator.floordiv(a, b), operator.iadd(a, b)),
        7,
        2,
    )
    agree(lambda a, b: (operator.lt(a, b), operator.eq(a, b), operator.and_(a, b), operator.not_(a)), 7, 2)
    agree(
        lambda a, b: (operator.neg(a), operator.invert(b), operator.truth(a), operator.contains((1, 2), b)),
        7,
        2,
    )


def test_texts_as_arguments_are_known():
    def f(a, how):
        if how == "sum":
            return a + 1
        if how in ("product", "prod"):
            return a * 10
        raise ValueError("unknown: " + how)

    for how in ("sum", "prod"):
        agree(f, 3, how)
    with pytest.raises(ValueError, match="unknown: other"):
        np.jit(f)(3, "other")


def test_extremes_of_ranges():
    agree(lambda n: (min(range(n)), max(range(n)), max(range(n, -5, -2)), min(range(n, -5, -2))), 6)
    with pytest.raises(ValueError, match="empty sequence"):
        np.jit(lambda n: max(range(n)))(0)


def test_slices_with_steps_that_are_not_known():
    def f(a, i, j, k):
        part = a[i:j:k]
        a[i:j:k] = 7
        return len(part), a[::k][-1], len(a[i::k]), len(a[:j:k])

    compiled = np.jit(f)
    for k in (1, 2, -1, -3, 5, 2**62, -(2**62), -(2**63)):
        for i in (0, 2, -3, 9, -9):
            for j in (0, 4, -1, 12, -12):
                a, b = numpy.arange(7), numpy.arange(7)
                assert plain(compiled(a, i, j, k)) == plain(f(b, i, j, k)) and a.tolist() == b.tolist()
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        np.jit(f)(numpy.arange(3), 0, 1, 0)


def test_items_of_tuples_by_any_index():
    arrays = (numpy.arange(3.0), numpy.ones(2), numpy.zeros(1))
    agree(lambda t, i: (t[i][0], len(t[i])), arrays, 2)
    agree(lambda t, i: t[i], ((1, 2.5), (3, 4.5)), -1)

    def total(t):
        s = 0.0
        for a in t:
            for x in a:
                s += x
        for i, (p, q) in enumerate(((1, 2.5), (3, 4.5))):
            s += i * p + q
        return s

    agree(total, arrays)


BEYOND = 2**64 - 1


def test_global_numbers_that_only_uint64_holds():
    found = np.jit(lambda: BEYOND)()
    assert found == BEYOND and found.dtype == np.uint64
