"""weft.numba's vectorize and guvectorize: Numba's keywords, and NumPy's arrays as results."""

import numpy
import pytest
import weft
import weft.numba as numba
from weft.numba import float64, guvectorize, njit, stencil, vectorize


@vectorize([float64(float64, float64)], nopython=True, cache=True)
def clipped(x, most):
    return most if x > most else x


@guvectorize(["void(f8[:], i8, f8[:])"], "(n),()->(n)", nopython=True)
def moving_sum(a, window, out):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        if i >= window:
            total -= a[i - window]
        out[i] = total


def test_results_are_numpys():
    got = clipped(numpy.arange(4.0), 1.5)
    assert (type(got), got.tolist()) == (numpy.ndarray, [0.0, 1.0, 1.5, 1.5])
    rows = moving_sum(numpy.ones((2, 3)), 2)
    assert (type(rows), rows.tolist()) == (numpy.ndarray, [[1.0, 2.0, 2.0]] * 2)


def test_results_are_wefts_where_an_argument_is():
    assert type(clipped(weft.arange(4.0), 1.5)) is weft.ndarray
    assert type(moving_sum(weft.ones((2, 3)), 2)) is weft.ndarray


def test_numbers_and_outputs():
    assert float(clipped(2.0, 1.5)) == 1.5
    out = numpy.zeros(3)
    moving_sum(numpy.ones(3), 2, out)
    assert out.tolist() == [1.0, 2.0, 2.0]


def test_all_ways_to_decorate():
    def add(x, y):
        return x + y

    a = numpy.arange(3)
    for made in (
        vectorize(add),
        vectorize(nopython=True)(add),
        vectorize("f8(f8, f8)")(add),
        vectorize(["f8(f8, f8)"], target="parallel")(add),
        vectorize(njit(add)),
    ):
        assert made(a, a).tolist() == [0, 2, 4]
    assert vectorize(["i8(i8, i8)"], identity=0)(add).reduce(a) == 3


def test_compiled_functions_call_them():
    @njit
    def f(x):
        return clipped(x, 1.0)

    assert f(3.0) == 1.0


@stencil
def slope(a):
    return a[1] - a[-1]


def test_stencils():
    got = slope(numpy.array([1.0, 2.0, 4.0, 8.0]))
    assert (type(got), got.tolist()) == (numpy.ndarray, [0.0, 3.0, 6.0, 0.0])
    assert type(slope(weft.arange(4.0))) is weft.ndarray
    summed = stencil(neighborhood=((-1, 1),), cval=9.0)(lambda a: a[-1] + a[0] + a[1])
    assert summed(numpy.arange(4.0)).tolist() == [9.0, 3.0, 6.0, 9.0]
    out = numpy.zeros(4)
    slope(numpy.array([1.0, 2.0, 4.0, 8.0]), out=out)
    assert out.tolist() == [0.0, 3.0, 6.0, 0.0]


def test_stencils_in_compiled_functions():
    doubled = njit(lambda a: 2 * slope(a))
    assert doubled(numpy.array([1.0, 2.0, 4.0, 8.0])).tolist() == [0.0, 6.0, 12.0, 0.0]


def test_functions_of_arrays_in_compiled_ones():
    a = numpy.arange(8.0).reshape(2, 4)
    got = njit(lambda a: moving_sum(a, 2))(a)
    assert (type(got), got.tolist()) == (numpy.ndarray, numpy.asarray(moving_sum(a, 2)).tolist())


def test_layouts_without_results():
    @guvectorize(["void(f8[:], f8[:])"], "(n), (n)")
    def doubled(a, b):
        for i in range(len(a)):
            b[i] = 2 * a[i]

    b = numpy.zeros((2, 3))
    assert doubled(numpy.arange(3.0), b) is None
    assert b.tolist() == [[0.0, 2.0, 4.0]] * 2


def test_unknown_keywords_are_named():
    with pytest.raises(TypeError, match="no keyword 'nojit'"):
        vectorize(nojit=True)
    with pytest.raises(NotImplementedError, match="object mode"):
        vectorize(forceobj=True)


def test_the_class_has_numbas_place():
    from weft.numba.np.ufunc.gufunc import GUFunc

    assert isinstance(moving_sum, GUFunc)
    assert numba.vectorize is vectorize
