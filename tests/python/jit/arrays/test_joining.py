"""Arrays that compiled functions make of others: concatenate, stack and their kin, diag, and those like a number."""

import numpy
import pytest
import weft as np


def plain(value):
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, (np.ndarray, numpy.ndarray)):
        return str(value.dtype), value.shape, numpy.asarray(value).tolist()
    return value.item() if hasattr(value, "item") else value


def agree(function, *arguments):
    found, expected = plain(np.jit(function)(*arguments)), plain(function(*arguments))
    assert found == expected
    return found


def strides(function, *arguments):
    assert numpy.asarray(np.jit(function)(*arguments)).strides == function(*arguments).strides


A = numpy.arange(24).reshape(4, 3, 2)
TRIPLES = [
    (A, A + 10, A + 20),
    (A, A[::-1], numpy.asfortranarray(A)),
    (A.T, A.T, (A + 5).T),
    (A, A + 0.5, A.astype("i2")),
    (A.astype("f4"), A.astype("i2"), A > 5),
    (A * 1j, A, A),
    (A[:0], A[:0], A[:0]),
]


@pytest.mark.parametrize("arrays", TRIPLES, ids=range(len(TRIPLES)))
@pytest.mark.parametrize("axis", range(-3, 3))
def test_concatenate_and_stack(arrays, axis):
    agree(lambda a, b, c, axis: numpy.concatenate((a, b, c), axis=axis), *arrays, axis)
    agree(lambda a, b, c, axis: numpy.concatenate((a, b, c), axis), *arrays, axis)
    agree(lambda a, b, c, axis: numpy.stack((a, b, c), axis), *arrays, axis)
    agree(lambda a, b, c: numpy.stack((a, b, c), axis=-4), *arrays)
    if arrays[0].size > 0:
        strides(lambda a, b, c, axis: numpy.concatenate((a, b, c), axis), *arrays, axis)
        strides(lambda a, b, c, axis: numpy.stack((a, b, c), axis), *arrays, axis)


@pytest.mark.parametrize("arrays", TRIPLES, ids=range(len(TRIPLES)))
def test_kin_of_stack(arrays):
    agree(lambda a, b, c: numpy.concatenate((a, b, c)), *arrays)
    agree(lambda a, b, c: numpy.concatenate((a, b[0], c), axis=None), *arrays) if len(arrays[0]) else None
    agree(lambda a, b, c: (np.vstack((a, b, c)), np.hstack((a, b, c)), np.dstack((a, b, c))), *arrays)
    agree(lambda a, b: np.column_stack((a[:, 0], b[:, 0, 0])), arrays[0], arrays[1])


@pytest.mark.parametrize("shape", [(), (3,), (1,), (0,), (2, 3)], ids=str)
def test_stacks_of_few_dimensions(shape):
    a = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape)
    b = a + 7.5
    agree(lambda a, b: (np.vstack((a, b, a)), np.hstack((a, b)), np.dstack((a, b)), np.stack((b, a))), a, b)
    if a.ndim > 0:
        agree(lambda a, b: np.column_stack((a, b, b)), a, b)
    agree(lambda x: (np.stack((x, 2)), np.vstack((1, x)), np.hstack((x, x))), 2.5)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_lists_of_arrays(count):
    def rows(n, x):
        items = []
        for k in range(n):
            items.append(numpy.full((k + 1, 2), x + k))
        return numpy.concatenate(items), numpy.vstack(items), len(items)

    def columns(n, axis):
        items = [numpy.full((2, 3), k) for k in range(n)]
        return numpy.stack(items, axis), numpy.concatenate(items, axis=1), np.hstack(items), np.dstack(items)

    agree(rows, count, 0.5)
    for axis in (0, 1, -1):
        agree(columns, count, axis)
    agree(lambda a, b: numpy.concatenate([a[:2], b, a[::2]]), numpy.arange(5), numpy.arange(3))


def test_joined_arrays_do_not_share_memory():
    def f(a):
        b = numpy.concatenate((a, a))
        b[0] = 7
        return b

    a = numpy.zeros(2)
    assert np.jit(f)(a).tolist() == [7, 0, 0, 0]
    assert a.tolist() == [0, 0]


def test_what_does_not_fit_is_an_error():
    def of(function, *arguments):
        with pytest.raises(ValueError) as expected:
            function(*arguments)
        with pytest.raises(ValueError) as found:
            np.jit(function)(*arguments)
        assert str(found.value) == str(expected.value)

    a, b = numpy.zeros((2, 3)), numpy.zeros((3, 3))
    of(lambda a, b: numpy.concatenate((a, a, b), axis=1), a, b)
    of(lambda a, b: numpy.concatenate([a, a, b], axis=1), a, b)
    of(lambda a, b: numpy.stack((a, b)), a, b)
    of(lambda a, axis: numpy.concatenate((a, a), axis), a, 2)
    of(lambda a, axis: numpy.stack((a, a), axis), a, -4)
    of(lambda a: numpy.concatenate([x for x in a if x[0] > 0]), a)
    for wrong, text in [
        (lambda a: numpy.concatenate((a, a[0])), "same number of dimensions"),
        (lambda a: numpy.concatenate((a[0, 0], a[0, 1])), "takes arrays here, not float64"),
        (lambda a: numpy.concatenate(()), "need at least one array"),
        (lambda a: numpy.concatenate([]), "need at least one array"),
        (lambda a: numpy.concatenate(a), "a tuple or a list of arrays"),
        (lambda a: numpy.vstack((a, a), dtype="f4"), "takes no keyword 'dtype'"),
    ]:
        with pytest.raises(np.CompileError, match=text):
            np.jit(wrong)(a)


@pytest.mark.parametrize("k", [-4, -3, -1, 0, 1, 2, 5])
def test_diag(k):
    agree(lambda a, k: np.diag(a, k), numpy.arange(3) + 0.5, k)
    agree(lambda a, k: np.diag(a, k=k), numpy.arange(3, dtype="i2")[::-1], k)
    for a in (numpy.arange(12).reshape(3, 4), numpy.arange(12).reshape(4, 3)[::-1].T, numpy.zeros((0, 3))):
        agree(lambda a, k: np.diag(a, k), a, k)
        agree(lambda a: np.diag(v=a), a)


def test_diagonals_are_views_that_are_read():
    def f(a):
        d = np.diag(a)
        a[1, 1] = 5
        return d[1]

    assert np.jit(f)(numpy.zeros((2, 2))) == 5

    def write(a):
        np.diag(a)[0] = 1

    with pytest.raises(np.CompileError, match="read-only"):
        np.jit(write)(numpy.zeros((2, 2)))
    with pytest.raises(np.CompileError, match="one or two dimensions"):
        np.jit(lambda a: np.diag(a))(numpy.zeros((2, 2, 2)))


@pytest.mark.parametrize("x", [3, 2.5, True, numpy.float32(1.5), numpy.int16(4), 1 + 2j], ids=repr)
def test_arrays_like_numbers(x):
    agree(lambda x: (np.zeros_like(x), np.ones_like(x), np.full_like(x, 1)), x)
    agree(lambda x: np.full_like(x, 7, dtype=np.int32), x)
    assert np.jit(lambda x: np.empty_like(x, dtype="f4"))(x).shape == ()
    agree(lambda x: (np.real(x), np.imag(x)), x)


def test_arrays_of_nested_sequences():
    agree(lambda: (np.array(()), np.array(((), ())), np.array([(), ()]), np.array((), dtype=np.int32)))
    agree(lambda n: np.array([[[i * j + k for k in range(4)] for j in range(n)] for i in range(2)]), 3)
    agree(lambda n: np.array([[[[i, j]] for j in range(n)] for i in range(2)], dtype=np.float32), 3)
    agree(lambda: np.array([[(1, 2.5), (3, 4)], [(5, 6), (7, 8)]]))
    with pytest.raises(ValueError, match="one length"):
        np.jit(lambda n: np.array([[[1.0] * j for j in range(n)]]))(3)
    agree(lambda n: (np.eye(N=n, M=4, k=1, dtype=np.int32), np.eye(n, M=2), np.identity(n=n)), 3)


def test_arrays_that_no_memory_holds():
    zeros = np.jit(lambda shape: np.zeros(shape, np.int64))
    for shape in ((1 << 62,), (1 << 56, 64), (1 << 60,)):
        with pytest.raises(ValueError, match="array is too big"):
            zeros(shape)
    for shape in ((1 << 59,), (1 << 50,)):
        with pytest.raises(MemoryError):
            zeros(shape)

    def which(n):
        try:
            return len(np.zeros(n))
        except MemoryError:
            return -1
        except ValueError:
            return -2

    assert [np.jit(which)(n) for n in (3, 1 << 50, 1 << 62)] == [3, -1, -2]
