"""weft.guvectorize: functions of rows and matrices, beside NumPy."""

import pickle

import numpy
import pytest
import weft as np


@np.guvectorize(["void(float32[:], int64, float32[:])", "void(float64[:], int64, float64[:])"], "(n),()->(n)")
def moving_mean(a, window, out):
    """The mean of the last elements."""
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        if i >= window:
            total -= a[i - window]
        out[i] = total / min(i + 1, window)


@np.guvectorize(["f8[:,:], f8[:,:], f8[:,:]"], "(m,k),(k,n)->(m,n)")
def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@np.guvectorize("(n)->()")
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s


@np.guvectorize(["int64[:], int64[:], int64[:]"], "(n)->(),()")
def extremes(a, least, largest):
    least[0] = largest[0] = a[0]
    for x in a:
        least[0] = min(least[0], x)
        largest[0] = max(largest[0], x)


def expected_mean(rows, window):
    result = numpy.empty(rows.shape)
    for k in range(rows.shape[-1]):
        result[..., k] = rows[..., max(0, k - window + 1) : k + 1].mean(-1)
    return result


@pytest.mark.parametrize("shape", [(5,), (1,), (3, 7), (2, 3, 4), (0, 4), (2, 1, 3, 5)])
def test_rows(shape):
    rows = numpy.arange(float(numpy.prod(shape))).reshape(shape) ** 1.5
    numpy.testing.assert_allclose(
        numpy.asarray(moving_mean(np.array(rows), 2)), expected_mean(rows, 2), rtol=1e-12
    )


def test_any_layout():
    whole = numpy.random.default_rng(1).random((6, 8))
    for view in (whole.T, whole[::-1, ::2], whole[:, ::-1]):
        numpy.testing.assert_allclose(numpy.asarray(moving_mean(view, 3)), expected_mean(view, 3), rtol=1e-12)


def test_broadcasts():
    rows, windows = numpy.arange(6.0), numpy.array([[1], [2], [3]])
    result = moving_mean(rows, windows[:, 0])
    for k, window in enumerate((1, 2, 3)):
        numpy.testing.assert_allclose(numpy.asarray(result[k]), expected_mean(rows, window))
    a, b = numpy.random.rand(4, 1, 2, 3), numpy.random.rand(5, 3, 2)
    numpy.testing.assert_allclose(numpy.asarray(product(a, b)), a @ b)


def test_dtypes():
    assert moving_mean(np.arange(4, dtype="float32"), 2).dtype == "float32"
    assert moving_mean(np.arange(4), 2).dtype == "float64"
    assert moving_mean(np.arange(4, dtype="int16"), 2).dtype == "float32"
    with pytest.raises(TypeError, match="not supported for the input types"):
        moving_mean(np.array([1j]), 2)


def test_returned_values():
    rows = numpy.random.rand(3, 4, 5)
    numpy.testing.assert_allclose(numpy.asarray(total(rows)), rows.sum(-1))
    assert total(np.arange(4)) == 6.0
    assert isinstance(total(np.arange(4)), np.float64)


def test_several_outputs():
    least, largest = extremes([[3, 1, 2], [5, 9, 7]])
    assert (least.tolist(), largest.tolist()) == ([1, 5], [3, 9])


def test_axis_axes_and_keepdims():
    rows = numpy.random.rand(3, 4, 5)
    for axis in (0, 1, -1):
        numpy.testing.assert_allclose(numpy.asarray(total(rows, axis=axis)), rows.sum(axis))
        kept = total(rows, axis=axis, keepdims=True)
        numpy.testing.assert_allclose(numpy.asarray(kept), rows.sum(axis, keepdims=True))
        numpy.testing.assert_allclose(
            numpy.asarray(moving_mean(rows, 2, axes=[axis, (), axis])),
            numpy.moveaxis(expected_mean(numpy.moveaxis(rows, axis, -1), 2), -1, axis),
            rtol=1e-12,
        )
    a, b = numpy.random.rand(2, 3, 4), numpy.random.rand(4, 3, 2)  # a stack of 4 each, last and first
    numpy.testing.assert_allclose(
        numpy.asarray(product(a, b, axes=[(0, 1), (1, 2), (0, 2)])), numpy.einsum("mkz,zkn->mzn", a, b)
    )


def test_out():
    rows, out = numpy.random.rand(3, 5), np.zeros((3, 5))
    assert moving_mean(rows, 2, out) is out
    numpy.testing.assert_allclose(numpy.asarray(out), expected_mean(rows, 2))
    assert moving_mean(rows, 1, out=out) is out
    numpy.testing.assert_allclose(numpy.asarray(out), rows)
    shared = np.array(rows)
    moving_mean(shared, 2, out=shared)
    numpy.testing.assert_allclose(numpy.asarray(shared), expected_mean(rows, 2))


def test_what_it_writes_may_be_read():
    @np.guvectorize(["int64[:], int64[:]"], "(n)->(n)")
    def add_to(a, out):
        for i in range(len(a)):
            out[i] += a[i]

    out = np.array([10, 20])
    add_to([1, 2], out=out)
    assert out.tolist() == [11, 22]


def test_an_error_leaves_outputs_alone():
    @np.guvectorize(["int64[:], int64[:]"], "(n)->(n)")
    def checked(a, out):
        for i in range(len(a)):
            if a[i] < 0:
                raise ValueError("negative")
            out[i] = a[i]

    out = np.full((2, 2), 7)
    with pytest.raises(ValueError, match="negative"):
        checked([[1, 2], [3, -4]], out=out)
    assert (out == 7).all()
    assert checked([1, 2]).tolist() == [1, 2]


@np.guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(x,y),(x,y),(x,y)")
def added(a, b, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] + b[i, j]


def replace(x, y):
    for i in range(len(x)):
        x[i] = y[0]


class TestWithoutResults:
    def test_arguments_are_written(self):
        for make in (np.zeros, numpy.zeros):
            out = make((2, 3, 4))
            a = np.arange(12.0).reshape(3, 4)
            assert added(a + np.zeros((2, 3, 4)), a, out) is None
            numpy.testing.assert_array_equal(
                numpy.asarray(out), numpy.broadcast_to(2 * numpy.asarray(a), (2, 3, 4))
            )
            part = make((3, 8))
            added(a, a, part[:, ::2])
            numpy.testing.assert_array_equal(numpy.asarray(part[:, ::2]), numpy.asarray(2 * a))
            assert float(part[:, 1::2].sum()) == 0

    def test_writable_arguments_of_another_dtype(self):
        written = np.guvectorize(["void(f8[:], f8[:])"], "(t),()", writable_args=("x",))(replace)
        by_place = np.guvectorize(["void(f8[:], f8[:])"], "(t),()", writable_args=(0,))(replace)
        for replaced in (written, by_place):
            for dtype in ("float64", "float32"):
                x = np.zeros((2, 3), dtype)
                replaced(x, [[1.5], [2.5]][0][0])
                assert x.tolist() == [[1.5] * 3] * 2
                assert x.dtype == dtype

    def test_writable_arguments_are_checked(self):
        written = np.guvectorize(["void(f8[:], f8[:])"], "(t),()", writable_args=(0,))(replace)
        with pytest.raises(TypeError, match="writes into input 0, which is no array"):
            written([1.0, 2.0], 3)
        with pytest.raises(ValueError, match=r"writes into input 0, whose shape \(3,\) is not"):
            written(np.zeros(3), np.zeros(2))
        fixed = numpy.zeros(3)
        fixed.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            written(fixed, 1.0)
        for writable in ((2,), (-1,), ("z",), (0, 1, 5)):
            with pytest.raises(ValueError, match="writable_args has"):
                np.guvectorize(["void(f8[:], f8[:])"], "(t),()", writable_args=writable)(replace)

    def test_of_numba(self):
        from weft.numba import guvectorize

        replaced = guvectorize(["void(f8[:], f8[:])"], "(t),()")(replace)
        x = numpy.zeros(3)
        assert replaced(x, 2) is None
        assert x.tolist() == [2, 2, 2]

    def test_in_compiled_functions(self):
        @np.jit
        def inside(a, b, out):
            added(a, b, out)

        a, out = numpy.arange(12.0).reshape(3, 4), numpy.zeros((2, 3, 4))
        inside(a, a + numpy.zeros((2, 1, 1)), out)
        numpy.testing.assert_array_equal(out, numpy.broadcast_to(2 * a, (2, 3, 4)))
        fixed = numpy.zeros((3, 4))
        fixed.flags.writeable = False
        with pytest.raises((np.CompileError, ValueError), match="read-only"):
            inside(a, a, fixed)

    def test_writable_arguments_in_compiled_functions(self):
        written = np.guvectorize(["void(f8[:], f8[:])"], "(t),()", writable_args=(0,))(replace)

        @np.jit
        def inside(x, y):
            written(x, y)

        x = numpy.zeros((2, 3))
        inside(x, numpy.arange(2))
        assert x.tolist() == [[0, 0, 0], [1, 1, 1]]
        with pytest.raises(np.CompileError, match="Input operand 0 is written, and is no array of float64"):
            inside(x.astype("float32"), 1.0)


class TestPythonsNumbers:
    def test_are_weak(self):
        @np.guvectorize(["int32[:], int32[:], int32[:]"], "(n),()->(n)")
        def times(a, n, out):
            for i in range(len(a)):
                out[i] = a[i] * n[0]

        a = np.arange(4, dtype="int32")
        assert times(a, 3).tolist() == [0, 3, 6, 9]
        assert times(a, 3).dtype == "int32"
        with pytest.raises(TypeError, match="not supported for the input types"):
            times(a, 1.5)
        with pytest.raises(TypeError, match="not supported for the input types"):
            times(a, np.int64(3))


class TestFacts:
    def test_kinds(self):
        assert np.guvectorize("(n)->(n)")(lambda a, out: None).is_dynamic
        assert not product.is_dynamic or product.ntypes == 0
        for method in (product.reduce, product.accumulate, product.reduceat):
            with pytest.raises(RuntimeError, match="Reduction not defined on ufunc with signature"):
                method(np.zeros(3))
        for method in (product.outer, product.at):
            with pytest.raises(TypeError, match="with non-trivial signature"):
                method(np.zeros(3), [0])

    def test_identity(self):
        for identity in (0, 1, -1, None):
            assert np.guvectorize("(n)->()", identity=identity)(lambda a, out: None).identity is identity
        assert np.guvectorize("(n)->()", identity="reorderable")(lambda a, out: None).identity is None
        for identity in ("none", 2, 0.5):
            with pytest.raises(ValueError, match="identity is 0, 1, -1, None or 'reorderable'"):
                np.guvectorize("(n)->()", identity=identity)(lambda a, out: None)


class TestErrors:
    def test_sizes_that_differ(self):
        with pytest.raises(ValueError, match=r"core dimension 0 \(k\).*size 4 is different from 3"):
            product(np.zeros((2, 3)), np.zeros((4, 2)))

    def test_too_few_dimensions(self):
        with pytest.raises(ValueError, match=r"Input operand 0 does not have enough dimensions \(has 0"):
            moving_mean(1.0, 2)

    def test_shapes_that_do_not_broadcast(self):
        with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(2, 3, 4\)"):
            product(np.zeros((2, 3, 4)), np.zeros((3, 4, 3)))

    def test_numbers_of_operands(self):
        with pytest.raises(TypeError, match="takes from 2 to 3 positional arguments but 1"):
            product(np.zeros((2, 2)))
        with pytest.raises(TypeError, match="has 3 parameters, and its layout"):
            np.guvectorize("(n)->()")(lambda a, b, c: 0)
        with pytest.raises(TypeError, match="has 1 operands"):
            np.guvectorize(["f8[:]"], "(n)->()")(lambda a, b: 0)
        with pytest.raises(TypeError, match="an operand of 1 dimensions, where the layout"):
            np.guvectorize(["f8[:], f8[:]"], "(m,n)->()")(lambda a, b: 0)

    def test_layouts(self):
        for layout in ("(n", ")-:", "(n)->", "->(n)", "(n)(m)->()", "n->n", ""):
            with pytest.raises(ValueError, match="is no layout"):
                np.guvectorize(layout)(lambda a: 0)
        with pytest.raises(ValueError, match="no input has an axis m"):
            np.guvectorize(["f8[:], f8[:]"], "(n)->(m)")(lambda a, b: None)(np.zeros(3))

    def test_output_of_a_wrong_shape(self):
        with pytest.raises(ValueError, match="doesn't match the broadcast shape"):
            moving_mean(np.zeros((2, 3)), 1, out=np.zeros((3, 3)))
        with pytest.raises(
            ValueError, match=r"Output operand 0 has a mismatch in its core dimension 0 \(n\)"
        ):
            moving_mean(np.zeros((2, 3)), 1, out=np.zeros((2, 4)))

    def test_unknown_types(self):
        with pytest.raises(TypeError, match="give out="):
            np.guvectorize("(n)->(n)")(lambda a, b: None)(np.zeros(3))


def test_attributes():
    assert moving_mean.__name__ == "moving_mean"
    assert moving_mean.__doc__ == "The mean of the last elements."
    assert (moving_mean.nin, moving_mean.nout, moving_mean.nargs) == (2, 1, 3)
    assert moving_mean.signature == "(n),()->(n)"
    assert moving_mean.types == ["fl->f", "dl->d"]
    assert pickle.loads(pickle.dumps(moving_mean)) is moving_mean
