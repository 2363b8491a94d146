"""Lists of large arrays: np.array joins them by kernels, and maximum.reduce of them is element-wise work."""

import numpy
import pytest
import weft as np


def pairs(count, shape=(40, 50), dtype="f8"):
    rng = numpy.random.default_rng(4)
    theirs = [(100 * rng.standard_normal(shape)).astype(dtype) for _ in range(count)]
    return theirs, [np.asarray(each) for each in theirs]


def same(ours, theirs):
    assert isinstance(ours, np.ndarray) and ours.dtype == theirs.dtype and ours.shape == theirs.shape
    numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)


@pytest.mark.parametrize("dtype", [None, "f4", "c16", "i2"])
@pytest.mark.parametrize("given", ["f8", "i4"])
def test_array_of_arrays(given, dtype):
    (a, b, c, d), (w, x, y, z) = pairs(4, dtype=given)
    same(np.array([w, x, y], dtype=dtype), numpy.array([a, b, c], dtype=dtype))
    same(np.array([[w, x], (y, z)], dtype=dtype), numpy.array([[a, b], (c, d)], dtype=dtype))
    same(
        np.asarray([w + 1, x[::-1], y.T.reshape(40, 50)], dtype=dtype),
        numpy.asarray([a + 1, b[::-1], c.T.reshape(40, 50)], dtype=dtype),
    )


def test_dtypes_that_differ_are_promoted():
    (a, b), (x, y) = pairs(2)
    same(np.array([x, y.astype(np.int32)]), numpy.array([a, b.astype(numpy.int32)]))
    same(np.array([x.astype("f4"), y > 0]), numpy.array([a.astype("f4"), b > 0]))


def test_it_is_a_copy():
    (a, b), (x, y) = pairs(2)
    joined = np.array([x, y])
    x[...] = 0
    joined[1] = 5
    same(joined[0], a)
    same(y, b)
    assert joined.flags.writeable and joined.flags.c_contiguous


def test_shapes_that_differ():
    _, (x, y) = pairs(2)
    with pytest.raises(ValueError, match="inhomogeneous shape after 1 dim"):
        np.array([x, y[:30]])


def test_what_is_pending_joins_in_few_kernels():
    _, (x, y) = pairs(2, (300, 400))
    np.clear_kernel_history()
    numpy.asarray(np.array([x + 1, y * 2]))
    assert sum(1 for _ in np.kernel_history()) == 2


@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u8", "?"])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_reduce_of_a_list(name, dtype):
    theirs, ours = pairs(5, dtype=dtype)
    if dtype in ("f8", "f4"):
        for row, each in enumerate(theirs):
            each[row, ::7] = numpy.nan
        ours = [np.asarray(each) for each in theirs]
    reduce, expected = getattr(np, name).reduce, getattr(numpy, name).reduce
    same(reduce(ours), expected(theirs))
    same(reduce(tuple(ours), axis=0), expected(tuple(theirs), axis=0))
    same(reduce(ours, axis=1), expected(theirs, axis=1))
    same(reduce(ours, keepdims=True), expected(theirs, keepdims=True))
    same(reduce([ours[0], theirs[1]]), expected(theirs[:2]))
    if dtype != "?":
        same(reduce(ours, initial=3), expected(theirs, initial=3))
        same(reduce(ours, dtype="f8"), expected(theirs, dtype="f8"))
    with pytest.raises(np.exceptions.AxisError):
        reduce(ours, axis=3)


def test_reduce_of_a_list_is_one_kernel():
    _, ours = pairs(5, (300, 400))
    np.clear_kernel_history()
    numpy.asarray(np.minimum.reduce(ours) * 2)
    assert len(np.kernel_history()) == 1


def test_lists_of_scalars():
    rng = numpy.random.default_rng(3)
    given, index = rng.standard_normal(5), rng.integers(0, 9, 5)
    x, k = np.asarray(given), np.asarray(index)
    same(np.array([x[0], x[1], 2.0]), numpy.array([given[0], given[1], 2.0]))
    same(np.array((1.5, x[1])), numpy.array((1.5, given[1])))
    same(np.array([k[0], 3, k[1]]), numpy.array([index[0], 3, index[1]]))
    same(np.array([k[0], x[1]]), numpy.array([index[0], given[1]]))
    same(np.array([x[0], k[0]]), numpy.array([given[0], index[0]]))
    same(np.array([k[0], True]), numpy.array([index[0], True]))
    same(np.array([x[0], 1j]), numpy.array([given[0], 1j]))
    same(np.array([k[0], 2**63]), numpy.array([index[0], 2**63]))
    same(np.array([[x[0], x[1]], [x[2], x[3]]]), numpy.array([[given[0], given[1]], [given[2], given[3]]]))
    same(np.array([x.sum(), x.max()]), np.asarray([float(x.sum()), float(x.max())]).__array__())
    same(np.array([k[0], k[1]], dtype="i1"), numpy.array([index[0], index[1]], dtype="i1"))
    big = np.asarray(rng.standard_normal(9000))
    same(np.array([big.sum(), 1.0]), numpy.array([float(big.sum()), 1.0]))  # a scalar that is still lazy


def test_known_scalars_as_indices():
    given = numpy.arange(60).reshape(3, 4, 5)
    x, k = np.asarray(given), np.asarray([1, -1, 2])
    for key in (
        (k[0], k[1], k[2]),
        (k[0], 2),
        k[1],
        (k[0], slice(None), k[2]),
        (Ellipsis, k[1]),
        (None, k[0]),
    ):
        there = (
            tuple(int(each) if isinstance(each, np.int64) else each for each in key)
            if isinstance(key, tuple)
            else int(key)
        )
        numpy.testing.assert_array_equal(numpy.asarray(x[key]), given[there])
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 1 with size 4"):
        x[k[0], np.int64(7)]
    x[k[0], k[2], 0] = -5
    x[np.int64(2), :, np.int64(-1)] = 7
    assert int(x[1, 2, 0]) == -5 and (x[2, :, 4] == 7).all()


def test_unravelled_scalars():
    for place in (0, 7, np.int64(59), np.asarray([3, 9]).max()):
        for order in "CF":
            expected = numpy.unravel_index(int(place), (3, 4, 5), order)
            found = np.unravel_index(place, (3, 4, 5), order)
            assert found == expected and all(type(each) is np.int64 for each in found)
    for place in (60, -1):
        with pytest.raises(ValueError, match="is out of bounds for array with size 60"):
            np.unravel_index(place, (3, 4, 5))
