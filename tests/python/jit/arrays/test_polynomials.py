"""numpy.polynomial.polynomial in compiled functions: polynomials of several dimensions, and their parameters."""

import numpy as np
import pytest
import weft
from numpy.polynomial import polynomial

ROW = np.array([1.0, 2.0, -3.0])
GRID = np.arange(6.0).reshape(3, 2)
CUBE = np.arange(8).reshape(2, 2, 2)
COEFFICIENTS = [
    ROW,
    GRID,
    CUBE,
    GRID.T,
    ROW.astype("float32"),
    ROW * 1j,
    np.array([0]),
    np.arange(4, dtype="int8"),
]


def polyval(x, c):
    return polynomial.polyval(x, c)


def polyval_each(x, c):
    return polynomial.polyval(x, c, tensor=False)


def polyval_by_flag(x, c, tensor):
    return polynomial.polyval(x, c, tensor)


def polyint(c, m):
    return polynomial.polyint(c, m)


def polyint_with(c, m, k, lbnd, scl):
    return polynomial.polyint(c, m, k, lbnd, scl)


def polyder(c, m):
    return polynomial.polyder(c, m)


def polyder_scaled(c, m):
    return polynomial.polyder(c, m, 2.5)


def polymul(a, b):
    return polynomial.polymul(a, b)


def agree(function, *arguments):
    expected, found = function(*arguments), np.asarray(weft.jit(function)(*arguments))
    assert found.shape == np.shape(expected)
    assert found.dtype == np.asarray(expected).dtype
    assert np.allclose(found, expected, rtol=1e-6, equal_nan=True)


@pytest.mark.parametrize("c", [*COEFFICIENTS, [1, 2, 3]], ids=str)
@pytest.mark.parametrize("x", [2.5, np.arange(3.0), np.arange(4).reshape(2, 2), [1, 2]], ids=str)
def test_values_have_the_axes_of_coefficients_and_points(x, c):
    agree(polyval, x, c)


@pytest.mark.parametrize("x", [2.0, np.array([1, 2]), [1, 2]], ids=str)
def test_each_column_has_a_point_of_its_own_without_tensor(x):
    agree(polyval_each, x, GRID)


@pytest.mark.parametrize("tensor", [True, False])
def test_the_flag_may_be_known_only_when_the_code_runs(tensor):
    agree(polyval_by_flag, np.arange(3.0), ROW, tensor)


@pytest.mark.parametrize("c", COEFFICIENTS, ids=str)
@pytest.mark.parametrize("m", [0, 1, 2, 4])
@pytest.mark.parametrize("function", [polyint, polyder, polyder_scaled])
def test_integrals_and_derivatives_are_along_the_first_axis(function, m, c):
    agree(function, c, m)


@pytest.mark.parametrize("k", [3, [1, 2], np.array([0.5])], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64"])
def test_integrals_take_constants_a_lower_bound_and_a_scale(dtype, k):
    agree(polyint_with, ROW.astype(dtype), 2, k, 0.5, 2.0)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (polyint, (ROW, -1)),
        (polyder, (ROW, -1)),
        (polyint_with, (ROW, 1, [1, 2], 0, 1)),
        (polymul, (ROW, np.zeros(0))),
    ],
)
def test_errors_are_those_of_numpy(function, arguments):
    with pytest.raises(ValueError) as expected:
        function(*arguments)
    with pytest.raises(ValueError) as found:
        weft.jit(function)(*arguments)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("row", [[1, 0, 0], [0, 0], [1.0, 2.0], [], [0.0, 1j, 0.0]])
def test_zeros_of_high_degree_are_trimmed(row):
    from numpy.polynomial import polyutils

    a = np.array(row)
    assert np.asarray(weft.jit(lambda a: polyutils.trimseq(a))(a)).tolist() == polyutils.trimseq(a).tolist()
