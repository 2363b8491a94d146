"""Arrays as values of compiled functions: views, slices, arrays that are made inside, and who keeps their memory."""

import gc
import resource

import numpy
import pytest
import weft as np


def same(function, *arguments):
    """Compares a compiled function with Python's, on copies of the arguments."""

    def copies():
        return [a.copy() if isinstance(a, numpy.ndarray) else a for a in arguments]

    compiled, expected = copies(), copies()
    result = np.jit(function)(*compiled)
    reference = function(*expected)
    for a, b in zip([result, *compiled], [reference, *expected], strict=True):
        for x, y in zip(*(v if isinstance(v, tuple) else (v,) for v in (a, b)), strict=True):
            x, y = numpy.asarray(x), numpy.asarray(y)
            assert x.dtype == y.dtype and x.shape == y.shape
            numpy.testing.assert_array_equal(x, y)


def made(n):
    a = np.zeros(n)
    b = np.ones((2, n), np.int32)
    c = np.full((n,), 2.5)
    d = np.empty_like(b)
    for i in range(2):
        for j in range(n):
            d[i, j] = b[i, j] + j
    for i in range(n):
        a[i] = i
    return a, b, c, d, np.full_like(a, 3), np.zeros_like(d)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_arrays_are_made_and_returned(n):
    results = np.jit(made)(n)
    assert all(type(r) is np.ndarray for r in results)
    same(made, n)


def slices(a, k):
    return a[k:], a[:k], a[-k:], a[::2], a[::-1], a[k::-2], a[1:-1], a[10**9 :], a[-(10**9) : 3], a[3:1]


@pytest.mark.parametrize("k", [0, 1, 3, 7, 9, -2, -20, 20])
def test_slices_take_what_numpy_takes(k):
    for a in (numpy.arange(8.0), numpy.arange(16.0)[::-2], numpy.arange(8, dtype="i1"), numpy.arange(0.0)):
        same(slices, a, k)


def views(a):
    return a[0], a[:, 1], a[1:, ::-1], a.T, a[..., 0], a[None, 1], a[-1, 1:], a.T[1].T, a[:, None, 0]


def test_views_of_two_dimensions():
    a = numpy.arange(12.0).reshape(3, 4)
    for array in (a, a.T, a[::-1, ::2], numpy.asfortranarray(a), a[:2]):
        same(views, array)


def test_results_share_memory_with_each_other_and_with_arguments():
    @np.jit
    def parts(n):
        a = np.zeros((n, n))
        return a, a[1:], a.T

    a, b, c = parts(3)
    b[0, 2] = 5
    assert a[1, 2] == 5 and c[2, 1] == 5
    a += 1
    assert b[0, 2] == 6

    @np.jit
    def tail(a):
        return a[1:]

    for x in (np.arange(4.0), numpy.arange(4.0)):
        t = tail(x)
        t[0] = 9
        assert x[1] == 9
        x[2] = 8
        assert t[1] == 8
        del x
        gc.collect()
        assert t.tolist() == [9, 8, 3]

    @np.jit
    def itself(a):
        return a

    w = np.arange(3.0)
    assert itself(w) is w


def swapped(u, steps):
    new = u.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            new[i] = (u[i - 1] + u[i + 1]) / 2
        u, new = new, u
    return u


def test_buffers_are_swapped():
    same(swapped, numpy.random.default_rng(0).random(20), 7)
    same(swapped, numpy.random.default_rng(0).random(20), 0)


def stored(a, b):
    a[1:] = a[:-1]
    a[:3] = 7
    b[:, 1] = a[0]
    b[0] = a[: b.shape[1]]
    b[1:] = b[:-1]
    return a


def test_parts_are_stored_also_over_themselves():
    same(stored, numpy.arange(9.0), numpy.arange(12.0).reshape(3, 4))
    with pytest.raises(ValueError, match="could not broadcast"):
        np.jit(stored_part)(numpy.zeros(4))


def stored_part(a):
    a[1:] = a[:2]
    return 0


def chosen(a, c):
    if c:
        b = a[1:]
    else:
        b = np.zeros(3)
    for i in range(len(b)):
        b[i] += 1
    x = a if c else b
    return b, x


def test_arrays_meet_in_branches():
    same(chosen, numpy.arange(4.0), True)
    same(chosen, numpy.arange(4.0), False)


def rows(a):
    s = 0.0
    for row in a:
        for x in row[::-1]:
            s = s * 0.5 + x
    return s


def test_loops_over_rows():
    same(rows, numpy.random.default_rng(0).random((3, 4)))


def helper(n, k):
    a = np.zeros(n)
    if k < 0:
        raise ValueError("k")
    a[k] = 1
    return a, a[k:]


def many(n, k):
    s = 0.0
    t = np.zeros(1)
    for i in range(n):
        a, b = helper(2000, k)
        if i % 3 == 0:
            continue
        c = np.ones(1000)
        if i % 5 == 0:
            t = c
        elif i % 7 == 0:
            t = b
            if i > 10**9:
                break
        s += a[k] + b[0] + t[0] + (np.ones(3) if i % 2 else c)[0]
    return s


@pytest.mark.measures
def test_memory_is_given_back_on_every_way():
    same(many, 100, 5)
    f = np.jit(many)
    f(100, 5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    f(100_000, 5)
    for _ in range(3000):
        with pytest.raises(IndexError):
            f(100, 2000)
        with pytest.raises(ValueError, match="k"):
            f(100, -1)
    assert (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
    )  # KiB; it would be 2 GB and more


def test_bad_sizes_raise():
    f = np.jit(made)
    with pytest.raises(ValueError, match="negative dimensions"):
        f(-1)
    with pytest.raises(MemoryError):
        f(2**58)
    with pytest.raises(ValueError, match="array is too big"):
        f(2**60)
    assert f(1)[0].tolist() == [0]


def test_tuples_are_looped_over():
    def f(x):
        s = 0
        for d in (1, 2, x):
            s = s * 10 + d
        return s

    same(f, 5)


def test_what_is_not_compiled_says_so():
    for body, text in [
        ("a[b * 0.5]", "arrays used as indices must be of integer"),
        ("a.byteswap()", "method 'byteswap'"),
    ]:
        source = f"def f(a, b):\n    return {body}\n"
        space = {}
        exec(source, space)
        with pytest.raises(np.CompileError, match=text):
            np.jit(space["f"], source=source)(numpy.arange(3), numpy.arange(3))


class OwnArray(numpy.ndarray):
    pass


@pytest.mark.parametrize("code", "?bBhHiIlLqQfdFD")
def test_every_type_code_of_numpy_is_taken_as_it_is(code):
    first = np.jit(lambda a: a[0, 1])
    a = numpy.array([[0, 1, 0], [1, 1, 0]]).astype(code)
    packed = numpy.zeros(13 * a.itemsize, numpy.uint8)[1 : 1 + 6 * a.itemsize].view(code).reshape(2, 3)
    packed[:] = a
    arrays = (a, a[::-1], a.T.copy().T, packed, a.view(OwnArray), a[:, ::1], numpy.broadcast_to(a[0], (2, 3)))
    for each in arrays:
        found = first(each)
        assert found == each[0, 1]
        assert numpy.asarray(found).dtype == a.dtype
    with pytest.raises(TypeError, match=r"elements of format '[>!]"):
        first(numpy.ones((2, 3), ">f8"))


def test_read_only_arrays_of_numpy_are_not_written():
    def f(a):
        a[0] = 2.0

    a = numpy.ones(3)
    a.flags.writeable = False
    with pytest.raises(np.CompileError, match="read-only"):
        np.jit(f)(a)
    b = numpy.ones(3)
    np.jit(f)(b)
    assert b[0] == 2
