"""Errors of NumPy's functions in compiled functions, as NumPy raises them; and views that may not be written."""

import numpy as np
import pytest
import weft
from numpy.lib.stride_tricks import sliding_window_view


def moveaxis(a, source, destination):
    return np.moveaxis(a, source, destination)


def swapaxes(a, first, second):
    return np.swapaxes(a, first, second)


def cov(a, ddof):
    return np.cov(a, ddof=ddof)


def resize(a, shape):
    return np.resize(a, shape)


def broadcast_to(a, shape):
    return np.broadcast_to(a, shape)


GRID = np.arange(9.0).reshape(3, 3) ** 2
RAISING = [
    (moveaxis, (np.arange(4), 1, 0)),
    (moveaxis, (GRID, 0, -3)),
    (moveaxis, (GRID, (0, 1), (1, -3))),
    (moveaxis, (GRID, (0, 2), (1, 0))),
    (swapaxes, (np.arange(4), 1, 0)),
    (swapaxes, (GRID, 0, -3)),
    (cov, (GRID, 1.1)),
    (cov, (GRID, -0.5)),
    (cov, (GRID, np.nan)),
    (resize, (GRID, (-2, 3))),
    (resize, (GRID, -4)),
    (broadcast_to, (GRID, (-1, 3))),
    (broadcast_to, (np.ones(1), -1)),
]


@pytest.mark.parametrize(("function", "arguments"), RAISING, ids=lambda each: getattr(each, "__name__", ""))
def test_errors_are_those_of_numpy(function, arguments):
    with pytest.raises((ValueError, IndexError)) as expected:
        function(*arguments)
    with pytest.raises((ValueError, IndexError)) as found:
        weft.jit(function)(*arguments)
    assert type(found.value).__name__ == type(expected.value).__name__
    if not np.isnan(arguments[-1]).any():  # whose text is CPython's of int()
        assert str(found.value) == str(expected.value)


def percentile(a):
    return np.percentile(a, 30)


def nanquantile(a):
    return np.nanquantile(a, 0.3)


def digitize(a):
    return np.digitize(a, [1.0, 2.0])


@pytest.mark.parametrize("function", [percentile, nanquantile, digitize])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_have_no_order_for_them(function, dtype):
    a = np.ones(3, dtype)
    with pytest.raises(TypeError) as expected:
        function(a)
    with pytest.raises(TypeError) as found:
        weft.jit(function)(a)
    assert str(expected.value) in str(found.value)


@pytest.mark.parametrize(
    ("a", "shape"),
    [
        (np.arange(3), (3,)),
        (np.arange(3), (2, 3)),
        (np.ones((2, 1), "float32"), (2, 1)),
        (np.array(123), ()),
        (np.ones(0), 0),
        (np.asfortranarray(GRID), (3, 3)),
    ],
)
@pytest.mark.parametrize("kind", [np.asarray, weft.asarray])
def test_what_is_broadcast_may_not_be_written(kind, a, shape):
    given = kind(a)
    expected, found = np.broadcast_to(a, shape), weft.jit(broadcast_to)(given, shape)
    assert not found.flags.writeable
    assert given.flags.writeable
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert np.array_equal(np.asarray(found), expected)


def test_an_argument_that_may_not_be_written_is_given_back_itself():
    a = np.arange(3)
    a.flags.writeable = False
    assert weft.jit(broadcast_to)(a, (3,)) is a


def windows(a, shape):
    return sliding_window_view(a, shape)


def windows_of_rows(a, shape):
    return sliding_window_view(a, shape, axis=0)


def windows_of_columns(a, shape):
    return sliding_window_view(a, shape, axis=(-1,))


def windows_turned(a, shape):
    return sliding_window_view(a, shape, axis=(1, 0))


def windows_of_windows(a, shape):
    return sliding_window_view(a, shape, (0, 1, 0))


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (windows, (2, 3)),
        (windows_of_rows, 2),
        (windows_of_columns, (6,)),
        (windows_turned, (4, 2)),
        (windows_of_windows, (2, 3, 3)),
        (windows_of_rows, 9),
        (windows_turned, (-1, 2)),
    ],
)
def test_windows_slide_along_axes(function, shape, order, dtype):
    a = np.asarray(np.arange(30).reshape(5, 6), dtype, order=order)
    try:
        expected = function(a, shape)
    except ValueError as error:
        with pytest.raises(ValueError, match="window") as found:
            weft.jit(function)(a, shape)
        assert str(found.value) == str(error)
        return
    found = weft.jit(function)(a, shape)
    assert not found.flags.writeable
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert np.array_equal(np.asarray(found), expected)


def test_windows_may_be_written_where_that_is_asked_for():
    @weft.jit
    def clear(a):
        sliding_window_view(a, 2, writeable=True)[0, :] = 0
        return a

    assert np.asarray(clear(np.arange(4) + 1)).tolist() == [0, 0, 3, 4]
