"""Types of numbers that are given to compiled functions."""

import numpy as np
import pytest
import weft


@weft.jit
def made(count, dtype):
    return np.ones(count, dtype), np.arange(count).astype(dtype), dtype(1)


GIVEN = [
    np.float32, np.dtype("int16"), np.bool_, np.complex64, weft.float64, weft.dtype("uint8"), bool, int, float, complex,
]  # fmt: skip


@pytest.mark.parametrize("given", GIVEN)
def test_arrays_and_numbers_of_a_given_dtype(given):
    wanted = np.dtype(
        given.name if isinstance(given, weft.dtype) else given.__name__ if given is weft.float64 else given
    )
    ones, counted, one = made(3, given)
    assert np.asarray(ones).dtype == wanted
    np.testing.assert_array_equal(np.asarray(counted), np.arange(3).astype(wanted))
    assert one == 1
    assert isinstance(one, given) if given in (bool, int, float, complex) else np.asarray(one).dtype == wanted


@weft.jit
def total(a, dtype=None):
    return np.add.reduce(a, dtype=dtype)


def test_a_dtype_may_be_left_out():
    a = np.arange(5, dtype="int8")
    for dtype in (None, np.float32, np.int8):
        got = total(a) if dtype is None else total(a, dtype)
        assert np.asarray(got).dtype == np.add.reduce(a, dtype=dtype).dtype


@weft.jit
def by_default(count, dtype=np.float32):
    return np.zeros(count, dtype)


def test_defaults():
    assert by_default(2).dtype == np.float32
    assert by_default(2, np.int64).dtype == np.int64


class Own:
    pass


@pytest.mark.parametrize(
    "given", [Own, str, np.dtype([("x", "f8")]), np.dtype("datetime64[D]"), np.ndarray, np.generic]
)
def test_other_types_are_refused(given):
    with pytest.raises(TypeError, match="which compiled functions do not take"):
        made(3, given)


PLACE = np.dtype([("x", "f8"), ("y", "i2")])


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint32", "float64", "complex64", PLACE, "M8[s]", "m8[7D]"]
)
def test_dtypes_are_results(dtype):
    a = np.zeros(3, dtype)
    of_array = weft.jit(lambda a: (a.dtype, 1))(a)[0]
    assert isinstance(of_array, (np.dtype, weft.dtype))
    assert of_array == a.dtype
    if a.dtype.kind in "biufc":
        assert type(of_array) is weft.dtype
        from weft import numba

        assert numba.njit(lambda a: a.dtype)(a) is a.dtype


def test_classes_are_no_results():
    with pytest.raises(weft.CompileError, match="returns a function to Python"):
        weft.jit(lambda x: (np.float32, x))(1)
