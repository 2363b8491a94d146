"""Python's own functions, math, cmath and methods of numbers in compiled functions, beside CPython's."""

import cmath
import math
import random
import struct

import numpy
import pytest
import weft as np


def outcome(function, *arguments):
    """The result with its type, or the exception."""
    try:
        return bits(function(*arguments))
    except ArithmeticError as error:  # whose texts differ between versions of Python
        return type(error)
    except ValueError as error:
        return type(error), str(error)


def bits(value):
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if isinstance(value, float):
        return type(value).__name__, struct.pack("d", value) if value == value else "nan"
    return type(value).__name__, value


def agree(function, *calls):
    """Compiles a function and compares calls with Python's own."""
    compiled = np.jit(function)
    for arguments in calls:
        arguments = arguments if isinstance(arguments, tuple) else (arguments,)
        assert outcome(compiled, *arguments) == outcome(function, *arguments), arguments


def test_round_to_digits_is_python_s_to_the_bit():
    chooser = random.Random(1)
    calls = [
        (2.675, 2),
        (0.15, 1),
        (1e300, 2),
        (math.inf, 1),
        (math.nan, 1),
        (-0.0, 1),
        (-0.001, 1),
        (5e-324, 20),
    ]
    for _ in range(3000):
        x = chooser.choice(
            (
                chooser.uniform(-10, 10),
                chooser.randint(-(10**6), 10**6) / 1000,
                chooser.uniform(-1, 1) * 10 ** chooser.uniform(-5, 25),
                (chooser.randint(-(10**6), 10**6) + 0.5) * 10.0 ** chooser.randint(-5, 5),
            )
        )
        calls.append((x, chooser.randint(-8, 22)))
    agree(lambda x, n: round(x, n), *calls)
    agree(lambda x: (round(x, 2), round(x, None), round(x, -1)), 2.675, 15.0, -25.0, 1e6 + 0.5)


def test_round_of_whole_numbers():
    calls = [
        (n, d)
        for n in (0, 5, 15, 25, -15, -25, 150, 2**62, -(2**62), True)
        for d in (-19, -3, -2, -1, 0, 1, 30)
    ]
    agree(lambda n, d: round(n, d), *calls)
    agree(lambda n: (round(n, 1), round(n, -2)), 151, -250, True)


def test_round_of_numpy_s_scalars_is_numpy_s():
    compiled = np.jit(lambda a, n: round(a[0], n))
    for dtype in ("f8", "f4"):
        for x in (2.675, 0.15, -1.005, 1234.5):
            for digits in (-2, 0, 1, 2):
                a = numpy.array([x], dtype)
                found = compiled(a, digits)
                assert float(found) == float(round(a[0], digits)) and numpy.asarray(found).dtype == dtype


def test_pow():
    agree(lambda a, b: pow(a, b), (2, 10), (4.0, 0.5), (2, 3.0), (0.0, -1.0))
    calls = [
        (a, b, m)
        for a in (0, 1, 3, -7, 10**18)
        for b in (-3, -1, 0, 1, 65537)
        for m in (0, 1, -1, 7, -12, 2**62 + 1)
    ]
    agree(lambda a, b, m: pow(a, b, m), *calls)
    agree(lambda a, b: pow(a, b, None), (3, 4))


def test_functions_of_integers():
    agree(
        lambda n: math.isqrt(n), 0, 1, 3, 4, 99, 2**62, 2**63 - 1, 3037000499**2, 3037000499**2 - 1, -1, True
    )
    agree(lambda n: math.factorial(n), 0, 1, 5, 20, -1)
    agree(
        lambda n, k: math.comb(n, k),
        *[(n, k) for n in (0, 1, 5, 40, 60) for k in (0, 1, 3, 20, 30)],
        (-1, 2),
        (2, -1),
    )
    agree(
        lambda n, k: math.perm(n, k),
        *[(n, k) for n in (0, 1, 5, 12) for k in (0, 1, 3, 20)],
        (-1, 2),
        (2, -1),
    )
    agree(lambda n: (math.perm(n), math.gcd(n, 12, 8), math.gcd(n), math.lcm(n, 4, 6), math.gcd()), 6, 10)
    for function in (lambda n: math.factorial(n), lambda n: math.comb(n, 50), lambda n: math.perm(n)):
        with pytest.raises(OverflowError, match="64 bits"):
            np.jit(function)(100)
    with pytest.raises(np.CompileError, match="takes integers"):
        np.jit(lambda x: math.isqrt(x))(2.0)


def test_functions_of_floats():
    agree(
        lambda x, y: math.remainder(x, y),
        *[(x, y) for x in (0.5, -7.0, 9.5, 10, 1e300) for y in (0.5, 3, -2.5, math.inf)],
    )
    values = (0.0, -0.0, 1.0, 1 + 1e-10, -2.5, math.inf, -math.inf, math.nan, 1e308, 5)
    agree(lambda x, y: math.isclose(x, y), *[(x, y) for x in values for y in values])
    agree(
        lambda x, y: math.isclose(x, y, rel_tol=0.1, abs_tol=1e-3), *[(x, y) for x in values for y in values]
    )
    agree(lambda x, t: math.isclose(x, 1.0, rel_tol=t), (1.0, -1.0), (1.2, 0.5))
    agree(lambda x: (math.modf(x), math.frexp(x), math.ulp(x)), *values)
    agree(lambda x: (math.floor(x), math.ceil(x), math.trunc(x), math.log(x, 2.0)), 1.5, 2.0, 1e3)
    agree(
        lambda x, y: math.dist((x, 1, 2.0), (3.0, y, 2)),
        (3.0, 1.0),
        (0.0, 5.0),
        (math.inf, 1.0),
        (math.nan, 0.0),
    )
    for a, b in (((1.0, 2.0), (3.0, 5.5)), ((1, 2, 3), (4.0, 5, 6))):
        assert np.jit(lambda p, q: math.dist(p, q))(a, b) == pytest.approx(math.dist(a, b), rel=1e-15)
    assert np.jit(lambda p: math.hypot(*p))((1, 2, 3.0, 4)) == pytest.approx(math.sqrt(30), rel=1e-15)
    with pytest.raises(ValueError, match="same number of dimensions"):
        np.jit(lambda p, q: math.dist(p, q))((1.0, 2.0), (1.0,))


@pytest.mark.parametrize("name", ["gamma", "lgamma"])
def test_gamma(name):
    plain = getattr(math, name)
    compiled = np.jit(lambda x: math.gamma(x)) if name == "gamma" else np.jit(lambda x: math.lgamma(x))
    chooser = random.Random(2)
    for _ in range(3000):
        x = chooser.choice(
            (
                chooser.uniform(-9, 9),
                chooser.uniform(0, 171),
                1 + chooser.uniform(-1, 1) * 10.0 ** -chooser.randint(0, 12),
            )
        )
        if x != int(x):
            assert compiled(x) == pytest.approx(plain(x), rel=2e-15, abs=4e-15)
    for x in (*range(1, 30), 171.5, 0.5, 1e-300, math.inf):
        assert compiled(x) == pytest.approx(plain(x), rel=1e-15)
    assert math.isnan(compiled(math.nan))
    if name == "gamma":
        assert [compiled(float(n)) for n in range(1, 24)] == [
            float(math.factorial(n - 1)) for n in range(1, 24)
        ]
        assert math.isnan(compiled(-1.0)) and compiled(200.0) == math.inf


def test_tuples_are_compared_in_order():
    tuples = [(1, 2), (1, 3), (0, 9), (1, 2, 0), (1,), (), (1, 2.5), (2, -1.0), (True, 2)]
    calls = [(a, b) for a in tuples for b in tuples]
    agree(lambda a, b: (a < b, a <= b, a > b, a >= b, a == b, a != b), *calls)
    agree(
        lambda a, b: (min(a, b), max(a, b)),
        *[((i, j), (k, 1)) for i in (0, 1, 2) for j in (0, 2) for k in (0, 1)],
    )
    agree(lambda a: max(((1, a), (a, 1), (2, 2))), 0, 1, 2, 3)


def test_sums_and_tests_of_many():
    agree(
        lambda a, b: (sum((a, b, 2)), sum((a, b), 1.5), sum((a, b), start=3), any((a, b)), all((a, b))),
        (1, 2),
        (0, 0),
        (0.5, 0),
    )
    agree(
        lambda n: (sum(range(n)), 3 in range(n), n in range(0, 20, 3), n not in range(20, 0, -7)),
        *range(-2, 25),
    )
    agree(lambda x: (x in range(5), x in (1, 2.5, 7)), 2.0, 2.5, 7.0, math.nan, 4, -1)
    agree(
        lambda a, b, c: (a < b < c, a == b <= c != a, 0 < a < 2.5 < b), (1, 2, 3.0), (1.5, True, 2), (2, 3, 1)
    )
    assert np.jit(lambda a: (sum(a), min(a), max(a), any(a), all(a), 3 in a, 8 in a))(
        numpy.array([1, 3, 2])
    ) == (6, 1, 3, True, True, True, False)
    assert np.jit(lambda a: (sum(a, 0.5), any(a), all(a)))(numpy.zeros(3)) == (0.5, False, False)
    with pytest.raises(ValueError, match="empty sequence"):
        np.jit(lambda a: min(a))(numpy.zeros(0))


def test_methods_and_attributes_of_numbers():
    agree(
        lambda n: (n.bit_length(), n.bit_count(), n.conjugate(), n.real, n.imag, n.numerator, n.denominator),
        0,
        1,
        -1,
        255,
        -256,
        2**62,
        -(2**63),
        2**63 - 1,
        True,
    )
    agree(lambda x: (x.is_integer(), x.conjugate(), x.real, x.imag), 1.0, 1.5, math.inf, math.nan)
    agree(lambda z: (z.real, z.imag, z.conjugate(), abs(z)), 3 + 4j, -1j)
    agree(lambda a: (abs(a), -a, +a), True, False, -3, -2.5)
    agree(
        lambda x, y: (divmod(x, y), x // y, x % y),
        (7.5, 2),
        (-7.5, 2.0),
        (7, -2),
        (5.0, math.inf),
        (1.0, 0.0),
    )


def test_numbers_of_texts():
    agree(
        lambda x: (
            float("inf") - x,
            float("-Infinity"),
            float(" 1.5e3 "),
            int("12") + int(" -7 "),
            float("nan"),
        ),
        1.0,
    )
    for text in ("one", "0x10", "", "1 2"):
        with pytest.raises(ValueError, match="could not convert string to float"):
            space = {}
            exec(f"def f():\n    return float({text!r})\n", space)
            np.jit(space["f"], source=f"def f():\n    return float({text!r})\n")()


def test_complex_functions():
    agree(
        lambda z: (cmath.isfinite(z), cmath.isinf(z), cmath.isnan(z)),
        1j,
        complex(math.inf, 1),
        complex(0, math.nan),
    )
    phase = np.jit(lambda z: (cmath.phase(z), cmath.polar(z), cmath.rect(2.0, z.imag)))
    for z in (1 + 2j, -1j, -3 + 0.5j):
        found, expected = phase(z), phase.py_func(z)
        assert found[0] == pytest.approx(expected[0]) and found[1] == pytest.approx(expected[1])
        assert found[2] == pytest.approx(expected[2])
    agree(lambda a, b: cmath.isclose(a, b), (1 + 1e-12j, 1), (1j, 2j), (complex(math.inf, 0), 1))


def test_errors_of_the_prelude_are_where_it_is_called():
    compiled = np.jit(lambda n: math.isqrt(n))
    with pytest.raises(ValueError, match="isqrt") as error:
        compiled(-1)
    assert error.traceback[-1].path == error.traceback[0].path
    with pytest.raises(np.CompileError, match="test_builtins"):
        np.jit(lambda a: max(a, 1))(numpy.zeros(3))


def test_tuples_are_sliced_put_together_and_searched():
    agree(lambda t: (t[1:], t[:-1], t[::-1], t[5:], t[-2:9:2], t[2:0:-1]), ((1, 2.5, 3, True),), ((),))
    agree(lambda a, b: (*a, 1, *b, *a), ((1, 2.5), (3,)), ((), (1,)))
    agree(lambda t, i: t[i], *(((4, 5, 6), i) for i in (0, -1, 2, -3)))
    agree(lambda t, x: (t.index(x), t.count(x)), ((1, 2, 1), 1), ((1, 2.0, 1), 2), ((1, 2), 3))
    for i in (3, -4):
        with pytest.raises(IndexError, match="tuple index out of range"):
            np.jit(lambda t, i: t[i])((4, 5, 6), i)


@pytest.mark.parametrize(
    "value", (-1.5, 2.0**62, -(2.0**63), 2.0**63, -(2.0**63) - 2048, 1e300, math.nan, math.inf, -math.inf)
)
def test_integers_of_floats_in_loops_that_are_no_vectors(value):
    def f(values, found):
        last = 0
        for i in range(len(values)):
            last = int(values[i]) ^ (last >> 1)
            found[i] = last
        return last

    values = numpy.array([3.7, -2.5, 1e18, value, 7.0])
    found, expected = numpy.zeros(5, int), numpy.zeros(5, int)
    if -(2.0**63) <= value < 2.0**63:
        assert np.jit(f)(values, found) == f(values, expected)
    else:
        with pytest.raises((OverflowError, ValueError)):
            f(values, expected)
        with pytest.raises((OverflowError, ValueError), match="integer"):
            np.jit(f)(values, found)
    assert numpy.array_equal(found, expected)


def of_none(n):
    found = n if n > 2 else None
    other = n if n > 3 else None
    return found == 3, found != 3, found == None, found == other, 3 == found, found != other  # noqa: E711


def test_what_may_be_none_is_equal_or_not():
    for n in (1, 3, 4):
        assert np.jit(of_none)(n) == of_none(n)


def texts(n):
    return n == "a", "a" != n, str(object=n)


def complex_in_range(z):
    return z in range(3), z not in range(3)


def made_by_type(x, y):
    return type(x)(y), type(x) == int, type(y) == float  # noqa: E721


def test_equality_of_texts_ranges_and_types():
    assert np.jit(texts)(3) == texts(3)
    for z in (1 + 0j, 1 + 1j, 5 + 0j, 0.5 + 0j):
        assert np.jit(complex_in_range)(z) == complex_in_range(z)
    for x, y in ((1, 2.5), (1.5, 2), (True, 0.5), (2j, 1.5)):
        assert np.jit(made_by_type)(x, y) == made_by_type(x, y)


def test_complex_has_its_parts_as_they_are():
    made, turned = np.jit(lambda a, b: complex(a, b)), np.jit(lambda r, phi: cmath.rect(r, phi))
    numbers = (0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan)
    for a in numbers:
        for b in numbers:
            assert repr(made(a, b)) == repr(complex(a, b))
    assert made(2, True) == 2 + 1j
    assert made(2j, 3.0) == 5j
    for r in (-0.0, 1.5, -2.0):
        for phi in (1.5, -1.5, 3.0):
            ours, theirs = turned(r, phi), cmath.rect(r, phi)
            assert math.copysign(1, ours.real) == math.copysign(1, theirs.real)
            assert math.copysign(1, ours.imag) == math.copysign(1, theirs.imag)
    for r in (*numbers, 5e-324):
        for phi in (*numbers, 5e-324):
            try:
                expected = repr(cmath.rect(r, phi))
            except ValueError:
                with pytest.raises(ValueError, match="math domain error"):
                    turned(r, phi)
            else:
                assert repr(turned(r, phi)) == expected, (r, phi)


def accumulated(n):
    total = 0j
    for k in range(n):
        total += complex(k, -k) * complex(0.5, k)
    return total


def test_complex_numbers_are_made_in_loops():
    assert np.jit(accumulated)(1000) == accumulated(1000)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (numpy.float32, "float32"),
        (numpy.dtype("u2"), "uint16"),
        (np.int8, "int8"),
        (np.dtype("complex64"), "complex64"),
        (float, "float64"),
        (int, "int64"),
        (bool, "bool"),
        (complex, "complex128"),
    ],
)
def test_types_are_arguments(given, expected):
    zeros = np.jit(lambda n, kind: np.zeros(n, kind))
    assert zeros(2, given).dtype == expected
    assert zeros(2, numpy.uint8).dtype == "uint8"


def test_types_are_called_where_they_are_arguments():
    convert = np.jit(lambda x, kind: kind(x))
    results = [convert(2.5, int), convert(3, float), convert(300, numpy.uint8)]
    assert results[:2] == [2, 3.0]
    assert [type(each) for each in results] == [int, float, np.uint8]


@pytest.mark.parametrize("given", [str, list, object, numpy.dtype("S3"), numpy.number])
def test_other_types_are_no_arguments(given):
    with pytest.raises(TypeError, match="which compiled functions do not take"):
        np.jit(lambda kind: np.zeros(2, kind))(given)


def test_extremes_of_nothing():
    @np.jit
    def f(x, limit):
        small = [k for k in x if k < limit]
        return max(small, default=-1), min(small, default=0.5), max((k * 2 for k in small), default=7)

    x = numpy.arange(3, 9)
    assert f(x, 6) == (5, 3, 10) and f(x, 0) == (-1, 0.5, 7)
    assert np.jit(lambda x: (max(x, default=2), max((), default=3), min((4, 1), default=3)))(x[:0]) == (
        2,
        3,
        1,
    )
    with pytest.raises(ValueError, match="empty"):
        np.jit(lambda x: max([k for k in x if k < 0]))(x)
