"""Products of arrays, sorts and searches in compiled functions, which the engine computes: the bits that weft has
outside of functions."""

import numpy
import pytest
import weft

np = weft
DTYPES = "?bBhHiIlLefdFD"


def compiled(text):
    source = f"f = lambda a, b: {text}"
    names = {"np": numpy}
    exec(source, names)
    outside = {"np": weft}
    exec(source, outside)
    return weft.jit(names["f"], source=source), outside["f"]


def numbers(shape, dtype, seed=5):
    values = numpy.random.default_rng(seed).standard_normal(shape) * 4
    if numpy.dtype(dtype).kind == "c":
        values = values + 1j * values[..., ::-1]
    with numpy.errstate(all="ignore"):
        return numpy.abs(values).astype(dtype) if numpy.dtype(dtype).kind in "?u" else values.astype(dtype)


def layouts(shape, dtype, seed=5):
    yield numbers(shape, dtype, seed)
    yield numbers(shape[::-1], dtype, seed).T
    yield numbers(tuple(2 * n for n in shape), dtype, seed)[tuple(slice(None, None, -2) for _ in shape)]
    memory = numpy.zeros(int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize + 1, numpy.uint8)
    unaligned = memory[1:].view(dtype).reshape(shape)
    unaligned[...] = numbers(shape, dtype, seed)
    yield unaligned


def same(found, expected):
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert numpy.array_equal(found, expected, equal_nan=found.dtype.kind in "fc"), (found, expected)


@pytest.mark.parametrize("text", ["a @ b", "np.dot(a, b)", "np.matmul(a, b)", "a.dot(b)"])
def test_products_of_matrices(text):
    f, outside = compiled(text)
    for dtype in DTYPES:
        for a in layouts((5, 7), dtype):
            for b in layouts((7, 3), dtype, 6):
                same(f(a, b), outside(weft.asarray(a), weft.asarray(b)))


def test_arrays_that_repeat_themselves():
    for dtype in "dFi":
        a, b = (
            numpy.broadcast_to(numbers((7,), dtype), (5, 7)),
            numpy.broadcast_to(numbers((3,), dtype), (7, 3)),
        )
        for text in ("a @ b", "np.dot(a, a.T)", "np.sort(a, 0)", "np.argsort(a)", "np.vdot(a, a)"):
            f, _ = compiled(text)
            numpy.testing.assert_allclose(f(a, b), eval(text, {"np": numpy, "a": a, "b": b}), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4"])
def test_large_products(dtype):
    f, outside = compiled("a @ b")
    a, b = numbers((200, 310), dtype), numbers((310, 150), dtype, 8)
    same(f(a, b), outside(weft.asarray(a), weft.asarray(b)))
    same(f(a.T.copy().T, b[::-1]), outside(weft.asarray(a.T.copy().T), weft.asarray(b[::-1])))


@pytest.mark.parametrize(
    "text, left, right",
    [
        ("a @ b", (5,), (5,)),
        ("a @ b", (4, 5), (5,)),
        ("a @ b", (5,), (5, 4)),
        ("a @ b", (2, 4, 5), (5, 3)),
        ("a @ b", (2, 4, 5), (2, 5, 3)),
        ("a @ b", (2, 1, 4, 5), (3, 5, 3)),
        ("a @ b", (1, 4, 5), (6, 5, 3)),
        ("a @ b", (2, 4, 5), (5,)),
        ("np.dot(a, b)", (5,), (5,)),
        ("np.dot(a, b)", (2, 4, 5), (5,)),
        ("np.dot(a, b)", (2, 4, 5), (3, 5, 6)),
        ("np.inner(a, b)", (5,), (5,)),
        ("np.inner(a, b)", (2, 5), (3, 5)),
        ("np.vdot(a, b)", (5,), (5,)),
        ("np.vdot(a, b)", (2, 3), (3, 2)),
        ("np.vdot(a, b)", (6,), (3, 2)),
        ("np.outer(a, b)", (4,), (3, 2)),
    ],
)
def test_shapes(text, left, right):
    f, outside = compiled(text)
    for dtypes in ("dd", "FF", "fd", "il", "?B"):
        for a in layouts(left, dtypes[0]):
            for b in layouts(right, dtypes[1], 6):
                same(f(a, b), outside(weft.asarray(a), weft.asarray(b)))


@pytest.mark.parametrize("left, right", [((0, 5), (5, 3)), ((4, 0), (0, 3)), ((4, 5), (5, 0)), ((0,), (0,))])
def test_no_elements(left, right):
    for text in ("a @ b", "np.dot(a, b)"):
        f, _ = compiled(text)
        for dtype in "dFi":
            a, b = numpy.zeros(left, dtype), numpy.zeros(right, dtype)
            same(f(a, b), a @ b)


def test_products_of_numbers():
    for text in ("np.dot(a, b)", "np.dot(3, a)", "np.dot(a, a[0, 0])"):
        f, outside = compiled(text)
        a, b = numbers((3, 3), "d"), 2.5
        same(f(a, b), outside(weft.asarray(a), b))


@pytest.mark.parametrize("text", ["a @ b", "np.dot(a, b)", "np.matmul(a, b)"])
def test_shapes_that_do_not_fit(text):
    f, _ = compiled(text)
    a, b = numpy.ones((2, 3)), numpy.ones((4, 5))
    with pytest.raises(ValueError) as expected:
        eval(text, {"np": numpy, "a": a, "b": b})
    with pytest.raises(ValueError) as found:
        f(a, b)
    assert str(found.value) == str(expected.value)


def test_out_is_written():
    def f(a, b, out):
        return np.dot(a, b, out=out)

    a, b, out = numbers((3, 4), "d"), numbers((4, 2), "d"), numpy.zeros((3, 2))
    result = np.jit(f)(a, b, out)
    same(out, weft.asarray(a) @ weft.asarray(b))
    same(result, out)
    with pytest.raises(ValueError, match="output array has wrong dimensions"):
        np.jit(f)(a, b, numpy.zeros((2, 3)))
    with pytest.raises(np.CompileError, match="output array is not acceptable"):
        np.jit(f)(a, b, numpy.zeros(3))


def test_products_in_loops_and_prange():
    def power(a, n):
        result = np.eye(len(a))
        for _ in range(n):
            result = result @ a
        return result

    a = numbers((6, 6), "d") / 8
    expected = numpy.eye(6)
    for _ in range(9):
        expected = weft.asarray(expected) @ weft.asarray(a)
    same(np.jit(power)(a, 9), expected)

    def rows(a, b):
        out = np.empty((len(a), len(b)))
        for i in np.prange(len(a)):
            for j in range(len(b)):
                out[i, j] = np.dot(a[i], b[j])
        return out

    a, b = numbers((50, 40), "d"), numbers((30, 40), "d", 9)
    numpy.testing.assert_allclose(np.jit(rows)(a, b), a @ b.T, rtol=1e-12)


def test_keywords_that_are_not_taken_are_named():
    with pytest.raises(np.CompileError, match="matmul\\(\\) takes no 'order'"):
        compiled("np.matmul(a, b, order='F')")[0](numpy.ones((2, 2)), numpy.ones((2, 2)))
    with pytest.raises(np.CompileError, match="unexpected keyword argument 'where'"):
        compiled("np.dot(a, b, where=3)")[0](numpy.ones((2, 2)), numpy.ones((2, 2)))


@pytest.mark.parametrize(
    "text", ["np.sort(a)", "np.sort(a, axis=0)", "np.sort(a, 1)", "np.sort(a, axis=None)"]
)
@pytest.mark.parametrize("places", [False, True])
def test_orders(text, places):
    text = text.replace("sort", "argsort") if places else text
    f, outside = compiled(text)
    for dtype in DTYPES:
        for a in layouts((7, 9), dtype):
            same(f(a, 0), outside(weft.asarray(a), 0))
    for shape in ((0, 3), (3, 0)):
        same(f(numpy.zeros(shape), 0), outside(weft.zeros(shape), 0))


def test_orders_of_nan_and_many():
    for text in ("np.sort(a)", "np.argsort(a)"):
        f, outside = compiled(text)
        a = numbers((5000,), "d")
        a[::7] = numpy.nan
        a[::11] = 0.0
        a[::13] = -0.0
        same(f(a, 0), outside(weft.asarray(a), 0))


def test_arrays_are_sorted_in_place():
    def f(a, b):
        a.sort()
        b.sort(axis=0)

    for a in layouts((5, 7), "d"):
        if not a.flags.writeable:
            continue
        expected = numpy.sort(a)
        b = numbers((5, 7), "i4")
        np.jit(f)(a, b)
        same(a, expected)
        same(b, numpy.sort(numbers((5, 7), "i4"), axis=0))


@pytest.mark.parametrize(
    "text", ["np.searchsorted(a, b)", "np.searchsorted(a, b, side='right')", "a.searchsorted(b)"]
)
def test_searches(text):
    f, _outside = compiled(text)
    for dtypes in ("dd", "ii", "id", "fd", "DD", "?B", "eh"):
        row = numpy.sort(numbers((40,), dtypes[0]))
        for a in (row, numpy.repeat(row, 2)[::2], row[:0]):
            for b in layouts((6, 5), dtypes[1]):
                same(f(a, b), numpy.searchsorted(a, b, "right" if "right" in text else "left"))
            same(f(a, 1), numpy.searchsorted(a, 1, "right" if "right" in text else "left"))


@np.jit
def of_vectors(a, b):
    return np.dot(a, b), a @ b


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "complex128", "complex64", "int64", "int8", "bool"]
)
def test_vectors_of_every_length(dtype):
    random = numpy.random.default_rng(6)
    values = random.integers(-3, 4, 300) * (0.37 if numpy.dtype(dtype).kind in "fc" else 1)
    values = values.astype(dtype)
    unaligned = numpy.zeros(300 * values.itemsize + 1, numpy.uint8)[1:].view(dtype)
    unaligned[:] = values
    for count in [*range(36), 100, 144]:
        for a, b in [
            (values[:count], values[150 : 150 + count]),
            (values[: 2 * count : 2], values[150 : 150 + count]),
            (values[150 - count : 150][::-1], values[150 : 150 + 1][:1].repeat(count)),
            (unaligned[:count], values[:count]),
        ]:
            # Arrays with steps may be summed in another order than their copies, which weft makes of small ones.
            exact = all(each.flags.c_contiguous for each in (a, b))
            expected = numpy.asarray(np.dot(np.array(a), np.array(b)))
            for found in map(numpy.asarray, of_vectors(a, b)):
                assert found.dtype == expected.dtype
                if exact or found.dtype.kind not in "fc":
                    assert numpy.array_equal(found, expected), (count, a.strides)
                else:
                    rough = 1e-5 if found.real.dtype.itemsize < 8 else 1e-12
                    numpy.testing.assert_allclose(found, expected, rtol=rough, atol=rough)
