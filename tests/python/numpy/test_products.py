"""Products against NumPy: values, shapes, strides, errors, layouts of operands, threads, and what runs for them."""

import itertools
import os
import subprocess
import sys

import numpy
import pytest
import weft
from comparing import DTYPES, assert_same_kind, exception_kind, outcome
from hypothesis import given, settings
from hypothesis import strategies as st

FLOATS = [d for d in DTYPES if d.kind in "fc"]
TOLERANCE = {"e": 2e-3, "f": 2e-6, "F": 2e-6, "d": 4e-15, "D": 4e-15}


def some(shape, dtype, seed=0):
    dtype = numpy.dtype(dtype)
    generator = numpy.random.default_rng([seed, dtype.num, *shape])
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        limits = numpy.iinfo(dtype)
        return generator.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    real = generator.standard_normal(shape)
    return (real + 1j * generator.standard_normal(shape) if dtype.kind == "c" else real).astype(dtype)


def laid_out(a, layout):
    """weft's array with these values: dense in C or Fortran order, every other element, reversed, or broadcast."""
    if layout == "F":
        return weft.array(a, order="F")
    if layout == "strided":
        wide = weft.zeros([2 * n for n in a.shape], a.dtype.name)
        view = wide[tuple(slice(1, None, 2) for _ in a.shape)]
        view[...] = weft.array(a)
        return view
    if layout == "padded":
        wide = weft.zeros([n + 3 for n in a.shape], a.dtype.name)
        view = wide[tuple(slice(1, n + 1) for n in a.shape)]
        view[...] = weft.array(a)
        return view
    if layout == "reversed":
        back = tuple(slice(None, None, -1) for _ in a.shape)
        return weft.array(a[back].copy())[back]
    return weft.array(a)


LAYOUTS = ["C", "F", "strided", "padded", "reversed"]


def assert_close(result, expected, magnitude=None):
    """Equal for integers; else within a bound of the sum of the products' magnitudes."""
    result, expected = numpy.asarray(result), numpy.asarray(expected)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    if expected.dtype.kind in "biu":
        assert (result == expected).all()
        return
    if expected.size == 0:
        return
    bound = TOLERANCE[expected.dtype.char] * (abs(expected) if magnitude is None else magnitude)
    assert (abs(result - expected) <= bound + TOLERANCE[expected.dtype.char]).all(), abs(
        result - expected
    ).max()


def magnitude(a, b):
    return numpy.matmul(abs(a).astype("f8"), abs(b).astype("f8")) if a.dtype.kind in "fc" else None


SHAPES = [
    ((3,), (3,)), ((3, 4), (4,)), ((3,), (3, 4)), ((3, 3), (3, 3)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (3, 4, 5)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 4)), ((1, 1), (1, 1)),
    ((70, 90), (90, 65)), ((5, 30, 33), (5, 33, 40)), ((3, 600), (600, 2)), ((1, 90), (90, 1)), ((33,), (33, 70)),
    ((17, 90), (90,)), ((2, 3, 20, 30), (30,)), ((4, 9000), (9000, 3)), ((6000, 3), (3, 3)), ((1, 5), (5, 600)),
]  # fmt: skip


@pytest.mark.parametrize("small", [None, 0], ids=["eager", "as nodes"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_matmul_of_every_dtype_and_shape(dtype, small):
    with weft.config(**({} if small is None else {"small": small})):
        for a_shape, b_shape in SHAPES:
            a, b = some(a_shape, dtype), some(b_shape, dtype, 1)
            result, expected = weft.matmul(weft.array(a), weft.array(b)), numpy.matmul(a, b)
            assert_same_kind(result, expected)
            assert_close(result, expected, magnitude(a, b))
            if isinstance(expected, numpy.ndarray) and expected.size:
                assert result.strides == expected.strides


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_matmul_of_every_layout(dtype):
    for a_shape, b_shape in [
        ((3, 4), (4, 5)),
        ((40, 70), (70, 50)),
        ((2, 30, 20), (2, 20, 40)),
        ((30, 40), (40,)),
    ]:
        a, b = some(a_shape, dtype), some(b_shape, dtype, 1)
        expected = numpy.matmul(a, b)
        for first, second in itertools.product(LAYOUTS, LAYOUTS):
            assert_close(laid_out(a, first) @ laid_out(b, second), expected, magnitude(a, b))
        bt = weft.array(numpy.ascontiguousarray(b.T)).T if b.ndim == 2 else weft.array(b)
        assert_close(weft.array(a) @ bt, expected, magnitude(a, b))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tiny_products_have_the_same_bits_by_the_fast_path_and_as_nodes(dtype):
    for a_shape, b_shape in [((3, 3), (3, 3)), ((2, 5), (5,)), ((4,), (4, 3)), ((7, 1), (1, 2))]:
        a, b = some(a_shape, dtype), some(b_shape, dtype, 1)
        for first, second in itertools.product(LAYOUTS, LAYOUTS):
            by_fast_path = laid_out(a, first) @ laid_out(b, second)
            with weft.config(small=0):
                node = laid_out(a, first) @ laid_out(b, second)
                weft.eval(node)
            assert by_fast_path.tobytes() == node.tobytes()
            assert (
                by_fast_path.strides == node.strides
                and by_fast_path.dtype == node.dtype
                and by_fast_path.base is None
            )


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c16"])
def test_matmul_of_broadcast_operands(dtype):
    row, b = some((1, 50), dtype), some((50, 40), dtype, 1)
    a = numpy.broadcast_to(row, (30, 50))
    expected = numpy.matmul(a, b)
    assert_close(weft.broadcast_to(weft.array(row), (30, 50)) @ weft.array(b), expected, magnitude(a, b))
    column = some((30, 1), dtype)
    a = numpy.broadcast_to(column, (30, 50))
    assert_close(weft.broadcast_to(weft.array(column), (30, 50)) @ weft.array(b), a @ b, magnitude(a, b))


@pytest.mark.parametrize("a", DTYPES, ids=str)
@pytest.mark.parametrize("b", DTYPES, ids=str)
def test_matmul_of_mixed_dtypes(a, b):
    x, y = some((3, 4), a), some((4, 2), b)
    expected = numpy.matmul(x, y)
    with numpy.errstate(all="ignore"):
        big = numpy.matmul(abs(x).astype("f8"), abs(y).astype("f8")) if expected.dtype.kind in "fc" else None
    assert_close(weft.array(x) @ weft.array(y), expected, big)


def ones(*shape, dtype="f8"):
    return lambda module: module.ones(shape, dtype=dtype)


WRONG = [
    ("matmul", ones(2, 3), ones(4, 5)),
    ("matmul", ones(2, 3), 3),
    ("matmul", 3.0, ones(2, 3)),
    ("matmul", ones(2, 3, 4), ones(3, 4, 5)),
    ("matmul", ones(2, 7, 3, 4), ones(3, 4, 5)),
    ("matmul", ones(7, 3, 4), ones(2, 3, 4, 5)),
    ("matmul", ones(3), ones(4)),
    ("dot", ones(2, 3), ones(4, 5)),
    ("dot", ones(3), ones(4)),
    ("vdot", ones(3), ones(4)),
    ("inner", ones(2, 3), ones(4, 5)),
    ("inner", ones(3), ones(4)),
    ("tensordot", ones(2, 3), ones(4, 5)),
    ("vecdot", ones(3), ones(4)),
    ("matvec", ones(2, 3), ones(4)),
    ("matvec", ones(3), ones(3)),
    ("vecmat", ones(4), ones(2, 3)),
    ("vecmat", ones(4), ones(4)),
    ("trace", ones(3)),
]


def given_to(module, operand):
    return operand(module) if callable(operand) else operand


@pytest.mark.parametrize("name, operands", [(name, operands) for name, *operands in WRONG])
def test_errors_are_numpys(name, operands):
    expected = outcome(lambda: getattr(numpy, name)(*(given_to(numpy, x) for x in operands)))
    result = outcome(lambda: getattr(weft, name)(*(given_to(weft, x) for x in operands)))
    assert isinstance(expected, Exception)
    assert exception_kind(result) == exception_kind(expected)
    assert str(result) == str(expected)


@pytest.mark.parametrize(
    "options, shapes",
    [
        ({"dtype": "f4"}, ((2, 3), (3, 2))),
        ({"dtype": "i8"}, ((2, 3), (3, 2))),
        ({"dtype": "i8", "casting": "unsafe"}, ((2, 3), (3, 2))),
        ({"dtype": "f4", "casting": "no"}, ((2, 3), (3, 2))),
        ({"order": "F"}, ((20, 30), (30, 2))),
        ({"order": "C"}, ((20, 30), (30, 2))),
    ],
)
def test_matmul_options(options, shapes):
    a, b = (some(shape, "f8") for shape in shapes)
    expected = outcome(lambda: numpy.matmul(a, b, **options))
    result = outcome(lambda: weft.matmul(weft.array(a), weft.array(b), **options))
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected)
        assert str(result) == str(expected)
    else:
        assert result.strides == expected.strides
        assert_close(result, expected)


@pytest.mark.parametrize("n", [3, 90])
@pytest.mark.parametrize("out", ["f8", "f4", "c16", "F", "strided", "self", "transposed self", "wider"])
def test_matmul_into_out(n, out):
    a, b = some((n, n), "f8"), some((n, n), "f8", 1)
    x, y = weft.array(a), weft.array(b)
    if out == "self":
        ours, theirs = x, a
    elif out == "transposed self":
        ours, theirs = x.T, a.T
    elif out == "wider":
        ours, theirs = weft.zeros((2, n, n)), numpy.zeros((2, n, n))
    elif out in ("F", "strided"):
        ours, theirs = laid_out(numpy.zeros((n, n)), out), numpy.zeros((n, n))
    else:
        ours, theirs = weft.zeros((n, n), out), numpy.zeros((n, n), out)
    assert weft.matmul(x, y, out=ours) is ours
    numpy.matmul(a, b, out=theirs)
    assert_close(ours, theirs, n)
    assert_close(x, a, n)


def test_matmul_into_wrong_out():
    a, b = weft.ones((2, 3)), weft.ones((3, 2))
    for out in [(2, 3), (3, 2), (2,), (2, 2, 3)]:
        expected = outcome(numpy.matmul, numpy.ones((2, 3)), numpy.ones((3, 2)), numpy.ones(out))
        result = outcome(weft.matmul, a, b, weft.ones(out))
        assert exception_kind(result) == exception_kind(expected) == {ValueError}
    with pytest.raises(ValueError, match="read-only"):
        weft.matmul(a, b, out=weft.broadcast_to(weft.ones(2), (2, 2)))
    with pytest.raises(TypeError, match=r"Cannot cast ufunc 'matmul' output from dtype\('float64'\)"):
        weft.matmul(a, b, out=weft.ones((2, 2), "i4"))
    with pytest.raises(TypeError, match="return arrays must be of ArrayType"):
        weft.matmul(a, b, out=[1])


@pytest.mark.parametrize("n", [3, 80])
def test_in_place(n):
    a, b = some((n, n), "f4"), some((n, n), "f8", 1)
    x = before = weft.array(a)
    alias = x[1:]
    x @= weft.array(b)
    a @= b
    assert x is before
    assert_close(x, a, n)
    assert_close(alias, a[1:], n)
    for wrong in [weft.ones(n), weft.ones((n, n + 1)), weft.ones((n + 1, n)), 3]:
        with pytest.raises(ValueError):
            x @= wrong
    whole = weft.ones((n, n), "i4")
    with pytest.raises(TypeError, match="Cannot cast ufunc 'matmul' output"):
        whole @= weft.ones((n, n))


def test_operator_with_lists_and_strangers():
    assert (weft.ones((2, 3)) @ [1, 2, 3]).tolist() == [6, 6]
    assert ([1, 2, 3] @ weft.ones((3, 2))).tolist() == [6, 6]
    with pytest.raises(TypeError, match="unsupported operand"):
        weft.ones((2, 3)) @ None

    class Other:
        __array_ufunc__ = None

        def __rmatmul__(self, other):
            return "other"

    assert weft.ones((2, 3)) @ Other() == "other"


DOTS = [
    ((), (2, 3)), ((2, 3), ()), ((), ()), ((3,), (3,)), ((3, 4), (4,)), ((4,), (4, 3)), ((3, 4), (4, 5)),
    ((2, 3, 4), (5, 4, 6)), ((2, 3, 4), (4,)), ((30, 40), (40, 50)), ((0,), (0,)), ((2, 0), (0, 3)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["?", "i2", "f2", "f4", "f8", "c16"])
def test_dot_inner_outer_vdot_tensordot(dtype):
    for a_shape, b_shape in DOTS:
        a, b = some(a_shape, dtype), some(b_shape, dtype, 1)
        x, y = weft.array(a), weft.array(b)
        expected = numpy.dot(a, b)
        result = weft.dot(x, y)
        assert_same_kind(result, expected)
        assert_close(result, expected, 200)
        assert_close(x.dot(y), expected, 200)
        assert_close(
            weft.inner(x, weft.array(b.T if b.ndim == 2 else b)) if b.ndim < 3 else expected, expected, 200
        )
        assert_close(weft.outer(x, y), numpy.outer(a, b), 20)
        if a.size == b.size:
            assert_same_kind(weft.vdot(x, y), numpy.vdot(a, b))
            assert_close(weft.vdot(x, y), numpy.vdot(a, b), 200)
        if a.ndim and b.ndim:
            axes = ([-1], [b.ndim - 2 if b.ndim > 1 else 0])
            expected = numpy.tensordot(a, b, axes)
            result = weft.tensordot(x, y, axes)
            assert type(result) is weft.ndarray
            assert expected.size == 0 or result.strides == expected.strides
            assert_close(result, expected, 200)
        assert_close(weft.tensordot(x, y, 0), numpy.tensordot(a, b, 0), 20)


def test_tensordot_of_many_axes():
    a, b = some((3, 4, 5, 6), "f8"), some((6, 4, 3, 7), "f8", 1)
    axes = ([0, 1, 3], [2, 1, 0])
    assert_close(weft.tensordot(weft.array(a), weft.array(b), axes), numpy.tensordot(a, b, axes), 100)
    axes = ([3, 1], [0, 1])
    assert_close(weft.tensordot(weft.array(a), weft.array(b), axes), numpy.tensordot(a, b, axes), 100)
    with pytest.raises(IndexError):
        weft.tensordot(weft.ones((2, 3)), weft.ones((2, 3)), 3)
    with pytest.raises(ValueError, match="shape-mismatch for sum"):
        weft.tensordot(weft.ones((2, 3)), weft.ones((2, 3)), ([0, 1], [0]))


def test_dot_into_out():
    a, b = weft.ones((2, 3)), weft.ones((3, 2))
    out = weft.empty((2, 2))
    assert weft.dot(a, b, out) is out
    assert out.tolist() == [[3, 3], [3, 3]]
    for wrong in [weft.empty((2, 2), "f4"), weft.empty((2, 2)).T[::-1], weft.empty((2,))]:
        with pytest.raises(ValueError, match="not acceptable"):
            weft.dot(a, b, wrong)
    with pytest.raises(ValueError, match="wrong dimensions"):
        weft.dot(a, b, weft.empty((3, 2)))
    with pytest.raises(TypeError, match="'out' must be an array"):
        weft.dot(a, b, [1])


@pytest.mark.parametrize("dtype", ["?", "i4", "f2", "f4", "c16"])
def test_vecdot_matvec_vecmat_trace(dtype):
    a, b = some((5, 4, 3), dtype), some((4, 3), dtype, 1)
    x, y = weft.array(a), weft.array(b)
    assert_close(weft.vecdot(x, y), numpy.vecdot(a, b), 40)
    assert_close(weft.vecdot(x, y, axis=-2), numpy.vecdot(a, b, axis=-2), 40)
    assert_close(weft.vecdot(x, y, keepdims=True), numpy.vecdot(a, b, keepdims=True), 40)
    assert_close(weft.matvec(x, y[0]), numpy.matvec(a, b[0]), 40)
    assert_close(weft.vecmat(y[:, 0], x), numpy.vecmat(b[:, 0], a), 40)
    assert_close(weft.trace(x), numpy.trace(a), 40)
    assert_close(x.trace(1, 1, 2), a.trace(1, 1, 2), 40)
    assert_same_kind(weft.trace(y), numpy.trace(b))
    assert_same_kind(weft.vecdot(y[0], y[1]), numpy.vecdot(b[0], b[1]))


def test_linalg():
    chain = [some(s, "f8", k) for k, s in enumerate([(3, 40), (40, 5), (5, 30), (30, 2)])]
    ours = [weft.array(a) for a in chain]
    assert_close(weft.linalg.multi_dot(ours), numpy.linalg.multi_dot(chain), 1e4)
    assert_close(weft.linalg.multi_dot(ours[:2]), numpy.linalg.multi_dot(chain[:2]), 1e4)
    vectors = [chain[0][0], *chain[1:3], chain[3][:, 0]]
    result = weft.linalg.multi_dot([weft.array(a) for a in vectors])
    assert_same_kind(result, numpy.linalg.multi_dot(vectors))
    assert_close(result, numpy.linalg.multi_dot(vectors), 1e4)
    out = weft.empty((3, 2))
    assert weft.linalg.multi_dot(ours, out=out) is out
    assert_close(out, numpy.linalg.multi_dot(chain), 1e4)
    with pytest.raises(ValueError, match="at least two arrays"):
        weft.linalg.multi_dot(ours[:1])
    with pytest.raises(ValueError, match="not aligned"):
        weft.linalg.multi_dot([ours[0], ours[2], ours[3]])
    with pytest.raises(weft.linalg.LinAlgError, match="must be two-dimensional"):
        weft.linalg.multi_dot([ours[0], weft.ones((40, 5, 5)), ours[3]])
    x = some((2, 3, 3), "f8")
    assert_close(weft.linalg.trace(weft.array(x)), numpy.linalg.trace(x))
    assert_close(weft.linalg.diagonal(weft.array(x)), numpy.linalg.diagonal(x))
    with pytest.raises(ValueError, match="one-dimensional"):
        weft.linalg.outer(weft.ones((2, 2)), weft.ones(2))


# ---- what runs ----


def ran(function):
    weft.clear_kernel_history()
    weft.eval(function())
    return weft.kernel_history()


def large(*shape, dtype="f4"):
    return weft.array(some(shape, dtype))


@pytest.mark.host
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows, steps", [(384, 1), (385, 40), (500, 700), (1030, 33)])
def test_a_matrix_times_its_transpose_has_the_bits_of_any_product(dtype, rows, steps):
    given = numpy.random.default_rng(rows).standard_normal((2, rows, steps)).astype(dtype)
    one, other = weft.array(given), weft.array(given)
    for layout in (lambda x: x, lambda x: x[::-1, ::-1], lambda x: x.copy("F")):
        left, right = layout(one), layout(other)
        weft.eval(left, right)
        half, whole = numpy.asarray(left @ left.mT), numpy.asarray(left @ right.mT)
        assert half.tobytes() == whole.tobytes()
        numpy.testing.assert_array_equal(half, half.swapaxes(1, 2))


@pytest.mark.parametrize(
    "dtype, name", [("f4", "product_float32"), ("f8", "product_float64"), ("c8", "cgemm")]
)
def test_a_product_is_one_kernel(dtype, name):
    a, b = large(200, 300, dtype=dtype), large(300, 250, dtype=dtype)
    (kernel,) = ran(lambda: a @ b)
    if a.device.type == "cpu":  # which of cuBLAS's and weft's programs is quicker depends on the GPU
        assert kernel["name"].startswith(name)
    assert kernel["name"].endswith(" 200x300@300x250")
    assert kernel["bytes_read"] == a.nbytes + b.nbytes
    assert kernel["bytes_written"] == 200 * 250 * a.itemsize
    assert not kernel["compiled"]


@pytest.mark.host
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T,
        lambda a: a[3:, 5:],
        lambda a: a[::2],
        lambda a: a[::3, ::2],
        lambda a: a.T[2:-2],
    ],
    ids=["transposed", "padded", "every other row", "every other element", "part of transposed"],
)
@pytest.mark.parametrize("dtype", ["f4", "c8"])
def test_operands_are_not_copied_whole(view, dtype):
    a = view(large(400, 400, dtype=dtype))
    b = large(a.shape[1], 150, dtype=dtype)
    (kernel,) = ran(lambda: a @ b)
    copied = kernel["bytes_read"] - a.nbytes - b.nbytes
    strided = min(a.strides) != a.itemsize
    assert copied == (a.nbytes if strided and dtype == "c8" else 0)  # which BLAS cannot express
    (kernel,) = ran(lambda: b.T @ a.T)
    assert kernel["bytes_read"] - a.nbytes - b.nbytes == copied


@pytest.mark.host
def test_batches_are_not_copied():
    a, b = large(6, 90, 80), large(80, 70)
    (kernel,) = ran(lambda: a @ b)
    assert kernel["name"] == "product_float32 540x80@80x70"  # one product of all rows
    assert kernel["bytes_read"] == a.nbytes + b.nbytes
    c = large(6, 80, 70)
    (kernel,) = ran(lambda: a @ c)
    assert kernel["name"] == "product_float32 6*90x80@80x70"
    assert kernel["bytes_read"] == a.nbytes + c.nbytes


@pytest.mark.host
def test_out_is_written_without_a_copy():
    a, b, out = large(200, 300), large(300, 250), weft.zeros((200, 250), "f4")
    weft.eval(out)
    (kernel,) = ran(lambda: weft.matmul(a, b, out=out))
    assert kernel["name"].startswith("product_float32")
    assert_close(out, numpy.asarray(a) @ numpy.asarray(b), 100)


@pytest.mark.host
def test_element_wise_work_stays_in_one_kernel_beside_the_product():
    w, v, c = large(200, 300), large(300, 250), large(200, 1)
    kernels = ran(lambda: 1 / (1 + weft.exp(-(w @ v + c))))
    assert len(kernels) == 2
    assert kernels[0]["name"].startswith("product_float32")
    assert "library" in weft.explain(1 + w @ v)


@pytest.mark.host
def test_element_wise_work_runs_on_the_tiles_of_a_product():
    a, b, c = large(900, 40), large(40, 700), large(700)
    (kernel,) = ran(lambda: weft.maximum(a @ b + c, 0) * 2)
    assert kernel["name"].startswith("product_float32 900x40@40x700, add_maximum")
    assert kernel["bytes_written"] == 900 * 700 * 4  # the product itself is never in memory
    assert kernel["bytes_read"] == (900 * 40 + 40 * 700 + 700) * 4
    assert kernel["operations"] == 4
    product = a @ b  # which is held
    assert len(ran(lambda: product + 1)) == 2
    assert len(ran(lambda: (a @ b).sum(axis=0) + (a @ b)[0])) > 1
    assert len(ran(lambda: large(900, 600) @ large(600, 700) + 1)) == 1
    assert len(ran(lambda: large(520, 8000) @ large(8000, 530) + 1)) == 2  # more would be packed than spared
    drawn = ran(lambda: weft.random.default_rng(1).random((900, 700)) < large(900, 600) @ large(600, 700))
    assert "pcg64_word_unit_interval_less" in drawn[1]["name"]  # no array of random numbers
    few, many = (
        weft.asarray(some(shape, "i4")) for shape in ((900, 600), (600, 700))
    )  # the library may cut k of such types
    assert len(ran(lambda: few @ many + 1)) == 2
    with weft.config(without="product_tiles"):
        assert len(ran(lambda: a @ b + c)) == 2


@pytest.mark.host
def test_packed_factors_are_given_back():
    def held_after(function):
        """Bytes of the result, and of what the pool keeps for the next one."""
        weft.empty_pool()
        before = weft.memory_stats()["in_use"]
        result = function()
        weft.eval(result)
        stats = weft.memory_stats()
        assert result.nbytes <= stats["in_use"] - before <= result.nbytes * 9 / 8  # its size class
        return stats["in_use"] - before + stats["pooled"]

    a, b, c = large(1200, 1100), large(1100, 1300), large(1300)
    result, megabyte = 1200 * 1300 * 4 * 9 / 8, 1 << 20
    with weft.config(num_threads=2):
        assert held_after(lambda: a @ b) < result + 3 * megabyte  # all of the right factor: 5.5
        assert (
            held_after(lambda: weft.maximum(a @ b + c, 0))
            < result + 1100 * 1300 * 4 + 3 * megabyte
            < 3 * result
        )
        x = weft.asarray(some((400, 1100), "i4"))
        assert held_after(lambda: x @ x.T) < 400 * 400 * 4 * 9 / 8 + 6 * megabyte


TILED = {
    "expression": lambda x, a, b: weft.maximum(x * 0.5 - 1, x),
    "cast": lambda x, a, b: x.astype("f8") + 1 if x.dtype.kind != "c" else x + 1,
    "broadcast": lambda x, a, b: x + a[:, :1] - b[:1],
    "square": lambda x, a, b: x * x,
    "transposed": lambda x, a, b: x.T + 1,
    "slice": lambda x, a, b: x[1:, ::2] * 2,
    "two results": lambda x, a, b: (lambda y: weft.stack([y, y + x]))(x + 1),
    "sum": lambda x, a, b: (x + 1).sum(axis=1),
    "fortran": lambda x, a, b: weft.asarray((x + 1), order="F"),
    "gate": lambda x, a, b: x * (a[:, :1] * b[:1]),
}


@pytest.mark.parametrize("name", TILED)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "i4"])
def test_work_on_tiles_has_the_bits_of_work_on_the_whole(name, dtype):
    ways = [{"fuse": False}, {"without": "product_tiles"}, {"num_threads": 1}, {"num_threads": 7}]
    for shape, layouts in itertools.product(
        [(700, 33, 1030), (513, 7, 515)], [("C", "C"), ("F", "C"), ("F", "F"), ("reversed", "strided")]
    ):
        m, k, n = shape
        a, b = some((m, k), dtype), some((k, n), dtype, 1)

        def compute(a=a, b=b, layouts=layouts):
            left, right = laid_out(a, layouts[0]), laid_out(b, layouts[1])
            return weft.asarray(TILED[name](left @ right, left, right))

        fused = compute().tobytes()
        for way in ways:
            with weft.config(**way):
                assert compute().tobytes() == fused, (way, layouts)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_work_on_tiles_has_these_bits_for_many_products_too(dtype):
    a, b = weft.asarray(some((530, 1300), dtype)), weft.asarray(some((1300, 520), dtype, 1))
    for left, right in ((a, b), (b.T, a.T), (weft.asarray(a, order="F"), b)):
        fused = (weft.maximum(left @ right, 1) * right[:1, :1]).tobytes()
        for way in ({"fuse": False}, {"without": "product_tiles"}, {"num_threads": 1}, {"num_threads": 7}):
            with weft.config(**way):
                assert (weft.maximum(left @ right, 1) * right[:1, :1]).tobytes() == fused, way


@pytest.mark.host
def test_a_product_of_broadcast_operands_keeps_its_tiles_to_itself():
    a, b = large(900, 40), large(40, 700)
    for left, right in [
        (weft.broadcast_to(a[:1], (900, 40)), b),
        (a, weft.broadcast_to(b[:, :1], (40, 700))),
        (weft.zeros((900, 0), dtype="f4"), weft.zeros((0, 700), dtype="f4")),
    ]:
        expected = numpy.asarray(left) @ numpy.asarray(right) + 1
        assert_close(left @ right + 1, expected, magnitude(numpy.asarray(left), numpy.asarray(right)) + 1)


def test_a_product_reads_the_version_it_was_given():
    a, b = large(100, 100), large(100, 100)
    expected = numpy.asarray(a) @ numpy.asarray(b)
    product = a @ b
    a[...] = 0
    b += 1
    assert_close(product, expected, 100)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "i4"])
def test_bits_do_not_depend_on_threads(dtype):
    shapes = [((700, 300), (300, 600)), ((3, 70000), (70000, 4)), ((200000,), (200000,)), ((900, 900), (900,)),
              ((300, 5, 5), (300, 5, 5))]  # fmt: skip
    for a_shape, b_shape in shapes:
        a, b = large(*a_shape, dtype=dtype), large(*b_shape, dtype=dtype)
        seen = set()
        for threads in (1, 2, 3, 7):
            with weft.config(num_threads=threads):
                for _ in range(2):
                    seen.add(weft.asarray(a @ b).tobytes())
        assert len(seen) == 1
        with weft.config(fuse=False):
            assert weft.asarray(a @ b).tobytes() in seen
        with weft.config(small=0):
            assert weft.asarray(a @ b).tobytes() in seen


def run_python(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_importing_and_small_work_do_not_load_openblas():
    program = (
        "import weft\n"
        "def loaded(): return 'openblas' in open('/proc/self/maps').read()\n"
        "assert not loaded()\n"
        "weft.ones((3, 3)) @ weft.ones((3, 3))\n"
        "assert not loaded()\n"
        "print((weft.ones((50, 50)) @ weft.ones((50, 50)))[0, 0])\n"
        "assert loaded()\n"
    )
    result = run_python(program)
    assert result.stdout == "50.0\n", result.stderr


def test_products_without_openblas():
    program = (
        "import weft\n"
        "for dtype in ('f4', 'f8', 'c8', 'c16', 'f2', 'i4'):\n"
        "    a = weft.arange(3600, dtype='f8').reshape(60, 60).astype(dtype) % 7 if dtype[0] != 'c' else "
        "weft.arange(3600, dtype='f8').reshape(60, 60).astype(dtype)\n"
        "    assert abs((a @ a.T)[3, 4] - (a[3] * a[4]).sum()) < 1, dtype\n"
        "assert 'openblas' not in open('/proc/self/maps').read()\n"
        "print('done')\n"
    )
    result = run_python(program, WEFT_OPENBLAS="")
    assert result.stdout == "done\n", result.stderr


@pytest.mark.host
def test_after_fork():
    program = (
        "import os, weft\n"
        "a = weft.ones((300, 300))\n"
        "weft.eval(a @ a)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    ok = bool(((a @ a) == 300).all())\n"
        "    os._exit(0 if ok else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert ((a @ a) == 300).all()\n"
        "print('done')\n"
    )
    result = run_python(program, WEFT_NUM_THREADS="2")
    assert result.stdout == "done\n", result.stderr


def test_products_in_many_threads():
    from concurrent.futures import ThreadPoolExecutor

    a, b = some((150, 200), "f8"), some((200, 120), "f8", 1)
    expected = weft.asarray(weft.array(a) @ weft.array(b)).tobytes()
    with ThreadPoolExecutor(4) as threads:
        for result in threads.map(lambda _: (weft.array(a) @ weft.array(b)).tobytes(), range(40)):
            assert result == expected


dimension = st.integers(0, 6)


@st.composite
def operands(draw):
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    m, k, n = draw(dimension), draw(dimension), draw(dimension)

    def batched():
        kept = [draw(st.sampled_from([extent, 1])) for extent in batch]
        return kept[draw(st.integers(0, len(kept))) :]

    a = [k] if draw(st.booleans()) and m else [*batched(), m, k]
    b = [k] if draw(st.booleans()) and n else [*batched(), k, n]
    dtype = draw(st.sampled_from("?bHiLefdD"))
    return a, b, dtype, draw(st.sampled_from(LAYOUTS)), draw(st.sampled_from(LAYOUTS))


@settings(max_examples=300, deadline=None)
@given(operands(), st.sampled_from([None, 0]))
def test_matmul_of_anything(operands, small):
    a_shape, b_shape, dtype, first, second = operands
    a, b = some(a_shape, dtype), some(b_shape, dtype, 1)
    with weft.config(**({} if small is None else {"small": small})):
        expected = outcome(numpy.matmul, a, b)
        result = outcome(lambda: laid_out(a, first) @ laid_out(b, second))
        if isinstance(expected, Exception):
            assert exception_kind(result) == exception_kind(expected), (result, expected)
        else:
            assert_same_kind(result, expected)
            assert_close(result, expected, 40)


@pytest.mark.parametrize(
    "shapes", [((2, 2, 6, 4), (4, 0)), ((0, 3), (3, 5)), ((3, 0, 2), (2, 7)), ((0, 4), (4,))]
)
def test_a_product_without_results(device, shapes):
    """Of views that the library would want packed: a copy of nothing has no better strides."""
    first, second = (weft.zeros([n + 3 for n in shape], "c16") for shape in shapes)
    views = [x[tuple(slice(2, 2 + n) for n in shape)] for x, shape in zip((first, second), shapes)]
    with weft.config(small=0):
        result = views[0] @ views[1]
    assert result.shape == numpy.matmul(numpy.zeros(shapes[0]), numpy.zeros(shapes[1])).shape
    assert result.dtype == "c16" and result.device == device


def test_a_product_over_no_elements_is_zeros(device):
    for dtype in ("float64", "float32", "int16"):
        weft.array(numpy.full((2, 3), 7, dtype)).to_device("cpu")  # what is in the pool
        product = weft.array(numpy.ones((2, 0), dtype)) @ weft.array(numpy.ones((0, 3), dtype))
        assert product.device == device
        assert product.to_device("cpu").tolist() == [[0, 0, 0]] * 2
