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
        with pytest.raises(ValueError, match="is no layout"):
            np.guvectorize("(n)")(lambda a: 0)
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
