"""poly1d and roots, against NumPy; the functions of coefficients are in every_function.py."""

import numpy
import pytest
import weft
from comparing import assert_equal, exception_kind, outcome

PROGRAMS = """
p(2); p([1, 2]); p(q); p + q; p - q; p * q; p * 2; 2 * p; 1 + p; 1 - p; p ** 3; p ** 0; p ** -1; p / 2; p / q; -p; +p
p.deriv(); p.deriv(2); p.integ(); p.integ(2, [1, 2]); p[0]; p[1]; p[9]; p.order; p.o; len(p); list(p); p.coeffs; p.c
p == q; p == np.poly1d([1, 2, 3]); p != q; p.variable; np.poly1d([0, 0]); np.poly1d([[1]]); np.poly1d([2, 3], True)
np.poly1d(p); np.polyval(p, 3); np.polyadd(p, [1]); np.polyder(p); np.polyint(p); np.polymul(p, p); np.polydiv(p, q)
np.poly1d([1.5, 2]); np.poly1d([]); setitem(p, 1, 7); setitem(p, 5, 7); setitem(p, -1, 7); np.asarray(p)
""".replace("\n", ";").split(";")


def coefficients(x):
    if isinstance(x, tuple):
        return tuple(map(coefficients, x))
    return x.coeffs if type(x).__name__ == "poly1d" else x


@pytest.mark.parametrize("program", [p.strip() for p in PROGRAMS if p.strip()])
def test_poly1d(program):
    def run(np):
        def setitem(p, power, value):
            p[power] = value
            return p

        names = {"np": np, "p": np.poly1d([1, 2, 3]), "q": np.poly1d([2.0, 1.0]), "setitem": setitem}
        return coefficients(eval(program, names))

    expected, result = outcome(run, numpy), outcome(run, weft)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), result
    elif isinstance(expected, list):
        assert result == expected
    else:
        assert_equal(result, expected, ulp=2)


@pytest.mark.parametrize(
    "p",
    [[1, -6, 11, -6], [1, 0, 1], [2.5], [], [0, 0], [0, 1, -1, 0, 0], [1, 2, 1], [3, 1j, 2],
     list(range(1, 21)), [1, 0, 0, 0, -1], [1, -1e8, 1], [1e10, -1, 1e-10], [1, 5], [0, 4, 0]],
)  # fmt: skip
def test_roots(p):
    result = numpy.asarray(weft.roots(p))
    expected = numpy.roots(p)
    assert result.shape == expected.shape
    assert (
        result.dtype == expected.dtype or len(p) < 2 or p == [1, 2, 1]
    )  # a double zero may be a pair of near ones
    left = list(result)
    for z in expected:
        nearest = min(left, key=lambda other: abs(other - z))
        left.remove(nearest)
        assert abs(nearest - z) <= 1e-7 * max(abs(z), 1e-300), (result, expected)


def test_roots_of_many_random_polynomials():
    rng = numpy.random.default_rng(3)
    for degree in (2, 3, 5, 12, 30):
        for _ in range(5):
            p = rng.normal(size=degree + 1)
            zeros = numpy.asarray(weft.roots(p))
            back = numpy.poly(zeros) * p[0]
            numpy.testing.assert_allclose(back, p, rtol=1e-6, atol=1e-7 * abs(p).max())
            assert sorted(zeros.imag) == pytest.approx(sorted(-zeros.imag))


@pytest.mark.parametrize("p", [[[1, 2]], [1, float("nan")]])
def test_no_roots(p):
    expected, result = outcome(numpy.roots, p), outcome(weft.roots, p)
    assert isinstance(expected, Exception)
    assert exception_kind(result) == exception_kind(expected)


def rounded(value):
    return (
        [rounded(each) for each in value]
        if isinstance(value, tuple)
        else numpy.round(numpy.asarray(value), 6).tolist()
    )


FITS = {
    "plain": lambda np, x, y: np.polyfit(x, y, 2),
    "covariances": lambda np, x, y: np.polyfit(x, y, 2, cov=True),
    "unscaled": lambda np, x, y: np.polyfit(x, y, 2, cov="unscaled", w=x + 1),
    "full": lambda np, x, y: np.polyfit(x, y, 2, full=True),
    "two columns": lambda np, x, y: np.polyfit(x, np.stack([y, y + 1], 1), 2, cov=True),
    "of a matrix": lambda np, x, y: np.poly(np.array([[2.0, 0], [0, 3]])),
}


@pytest.mark.parametrize("name", FITS)
def test_fits(name):
    x = numpy.linspace(0, 1, 20)
    y = 3 * x**2 - x + numpy.sin(50 * x) * 0.01
    expected = FITS[name](numpy, x, y)
    assert rounded(FITS[name](weft, weft.asarray(x), weft.asarray(y))) == rounded(expected)


def test_a_fit_that_is_not_determined():
    with pytest.warns(weft.exceptions.RankWarning, match="poorly conditioned"):
        found = weft.polyfit([1.0, 1.0], [1.0, 2.0], 2)
    with pytest.warns(numpy.exceptions.RankWarning):
        assert rounded(found) == rounded(numpy.polyfit([1.0, 1.0], [1.0, 2.0], 2))
