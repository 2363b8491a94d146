"""Arguments of NumPy's functions that are no arrays: one row that is written out, None, shapes and texts."""

import numpy
import pytest
import weft as np


def same(function, *arguments):
    found, expected = np.jit(function)(*arguments), function(*arguments)
    assert numpy.asarray(found).shape == numpy.asarray(expected).shape
    numpy.testing.assert_allclose(found, expected)


def test_one_row_is_one_variable():
    for rows in (((1.1, 2.2, 1.5),), ((1, 2, 4),), ((1.0, 2.0), (3.0, 5.0))):
        same(lambda m: numpy.cov(m), rows)
        same(lambda x: numpy.corrcoef(x=x), rows)


def test_objects_that_are_true_or_not():
    for value in (None, "", "text"):
        same(lambda a: numpy.argwhere(a), value)
        same(lambda a: numpy.flatnonzero(a), value)


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4), (0, 2)])
@pytest.mark.parametrize("dtype", ["f8", "i2", "?", "c8"])
def test_tobytes(shape, dtype):
    a = (numpy.arange(numpy.prod(shape, dtype=int)) * 3 + 1).astype(dtype).reshape(shape)
    for array in (a, a.T, a[..., ::2] if a.ndim else a):
        for function in (lambda x: x.tobytes(), lambda x: x.tobytes("F")):
            assert np.jit(function)(array) == function(array)


def test_what_is_refused_by_its_name():
    for function, argument, text in (
        (lambda a: numpy.broadcast_shapes(a), 3.4, "must be either an int or tuple"),
        (lambda a: numpy.broadcast_shapes((1, 2), a), ("a",), "must be either an int or tuple"),
        (lambda a: numpy.trim_zeros(a), 3, "The first argument must be an array"),
        (lambda a: numpy.trim_zeros(a), numpy.zeros((2, 2)), "array must be 1D"),
        (lambda a: numpy.trim_zeros(a, 1), numpy.zeros(2), "The second argument must be a string"),
        (lambda a: numpy.broadcast_arrays(numpy.zeros(3), a), "abc", 'Argument "1" must be array-like'),
    ):
        with pytest.raises(np.CompileError, match=text):
            np.jit(function)(argument)


def test_vander_with_a_truth_value_reads_no_memory_of_others():
    for _ in range(5):
        numpy.full(5, numpy.nan)  # which the next array may lie in
        assert (
            np.jit(lambda x: numpy.vander(x, 2))(numpy.arange(5.0)).tolist()
            == numpy.vander(range(5), 2).tolist()
        )
