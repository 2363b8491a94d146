"""Views as elements of another size, indices that are arrays without dimensions, and getattr() of modules."""

import numpy
import pytest
import weft as np


def plain(value):
    value = numpy.asarray(value)
    return str(value.dtype), value.shape, value.tolist()


def outcome(function, *arguments):
    try:
        return plain(function(*arguments))
    except ValueError as error:
        return str(error)


A = numpy.arange(48, dtype="i4").reshape(3, 16)
ARRAYS = [A, A[::2], A[:, :3], A[:, ::2], A.T, A[:, :1], A[:0], A[:, :0], A[0], A[0, ::-1]]


@pytest.mark.parametrize("a", ARRAYS, ids=range(len(ARRAYS)))
@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "i8", "f8", "c16"])
def test_views_of_another_size(a, dtype):
    found, expected = outcome(np.jit(lambda a, dtype: a.view(dtype)), a, dtype), outcome(a.view, dtype)
    if isinstance(expected, str):
        assert found == expected
    else:
        assert found[:2] == expected[:2]
        assert repr(found) == repr(expected)


def test_views_of_another_size_are_written():
    def f(a, b):
        halves = a.view(b.dtype)
        halves[1] = 7
        return halves, a.sum()

    a, b = numpy.arange(3), numpy.zeros(1, "i2")
    halves, total = np.jit(f)(a, b)
    assert a.tolist() == [7 << 16, 1, 2]
    assert total == a.sum()
    assert plain(halves) == plain(a.view("i2"))
    with pytest.raises(np.CompileError, match="of a 0d array"):
        np.jit(lambda a: a.view("i2"))(numpy.array(3))


def test_indices_without_dimensions():
    def f(a, rows, items, i):
        rows[i, 1] = a[i]
        items[i] += 1
        return a[i], a[i:], rows[i], items[i], (1, 2, 3)[i]

    for i in (0, 1, -1):
        for dtype in ("i8", "i2", "u1")[: 2 if i < 0 else 3]:
            index = numpy.array(i, dtype)
            a, rows, items = numpy.arange(3.0), numpy.zeros((3, 2)), [1, 2, 3]
            b, others, more = a.copy(), rows.copy(), items[:]
            found, expected = np.jit(f)(a, rows, items, index), f(b, others, more, index)
            assert [plain(x) for x in found] == [plain(x) for x in expected]
            assert (rows.tolist(), items) == (others.tolist(), more)
    with pytest.raises(IndexError, match="index 3"):
        np.jit(lambda a, i: a[i])(numpy.arange(3), numpy.array(3))


def test_known_attributes_of_modules():
    assert np.jit(lambda x: getattr(numpy, "pi") + getattr(np, "sqrt")(x))(4.0) == numpy.pi + 2  # noqa: B009
    module = numpy.zeros(2)
    assert np.jit(lambda a: getattr(a, "size"))(module) == 2  # noqa: B009
    with pytest.raises(np.CompileError, match="no attribute"):
        np.jit(lambda: getattr(numpy, "no_such_name"))()  # noqa: B009


def test_where_an_array_begins():
    def f(a):
        where = a.ctypes
        return where.data, a[1:].ctypes.data

    a = numpy.arange(4.0)
    assert np.jit(f)(a) == (a.ctypes.data, a[1:].ctypes.data)


def test_an_array_without_elements_is_given_back_as_itself():
    out = numpy.zeros((3, 0))
    assert np.jit(lambda a, b, out: np.dot(a, b, out))(numpy.zeros((3, 2)), numpy.zeros((2, 0)), out) is out
    empty = np.zeros((2, 0))
    assert np.jit(lambda a: a)(empty) is empty


def test_a_number_is_a_dtype():
    assert np.jit(lambda n: np.eye(n, dtype=numpy.complex64(1)))(2).dtype == numpy.complex64
