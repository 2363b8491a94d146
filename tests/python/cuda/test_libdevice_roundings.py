"""cuda.libdevice: what is rounded down, up, toward zero and to the nearest, beside exact numbers; and whole numbers."""

import fractions
import math

import numpy
import pytest
from libdevice_calls import INFINITY, INT32, INT64, NAN, RANDOM, REALS, SPREAD, TYPES, computed

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

MODES = ("rn", "rd", "ru", "rz")
FLOAT64 = numpy.array([0.0, -0.0, 1.0, -1.0, 1 + 2**-52, 1 - 2**-53, 3.0, 0.1, INFINITY, -INFINITY, NAN])
FLOAT64 = numpy.append(
    FLOAT64,
    [5e-324, -5e-324, 1e-320, 2.0**-1022, -(2.0**-1022), 1e-300, 1.5e-162, 1.7976931348623157e308, -1e308],
)
FLOAT64 = numpy.append(FLOAT64, [2.0**-537, -(2.0**-538), 2.0**511, 3 * 2.0**1021, *SPREAD[:14]])
FLOAT32 = numpy.array(
    [0.0, -0.0, 1.0, -1.0, 1 + 2**-23, 1 - 2**-24, 3.0, 0.1, INFINITY, -INFINITY, NAN], "f4"
)
FLOAT32 = numpy.append(FLOAT32, numpy.array([1e-45, -1e-45, 2.0**-126, 1e-30, 3.4028235e38, -1e38], "f4"))
FLOAT32 = numpy.append(FLOAT32, numpy.array([2.0**-75, -(2.0**-74), 2.0**64, *SPREAD[:14]], "f4"))


def neighbours(x):
    return numpy.nextafter(x, -x.dtype.type(INFINITY)), numpy.nextafter(x, x.dtype.type(INFINITY))


def rounds(found, exact, mode):
    """Whether a float is an exact number, rounded so; `exact` is a fraction, or what tells more than and less than."""
    below, above = neighbours(found)
    mode = {"rz": "rd" if exact > 0 else "ru"}.get(mode, mode)
    if mode == "rd":
        return below_or_at(found, exact) and not below_or_at(above, exact)
    if mode == "ru":
        return not below_than(found, exact) and below_than(below, exact)
    if numpy.isinf(found):
        largest = numpy.finfo(found.dtype).max
        last = largest - numpy.nextafter(largest, found.dtype.type(0))
        half = fractions.Fraction(float(largest)) + fractions.Fraction(float(last)) / 2
        return (exact >= half) if found > 0 else (exact <= -half)
    here = fractions.Fraction(float(found))
    sides = [fractions.Fraction(float(each)) for each in (below, above) if numpy.isfinite(each)]
    return all(abs(exact - here) <= abs(exact - each) for each in sides)


def below_or_at(found, exact):
    return found == -INFINITY or (found != INFINITY and fractions.Fraction(float(found)) <= exact)


def below_than(found, exact):
    return found == -INFINITY or (found != INFINITY and fractions.Fraction(float(found)) < exact)


def check(name, plain, exactly, *given, sign_of_zero=None):
    """All roundings of a function; where an operand or the result is no number, they are those of `plain`."""
    both = computed([f"{name}_{mode}" for mode in MODES], *given)
    expected = plain(*given)
    for mode in MODES:
        found = both[f"{name}_{mode}"]
        assert found.dtype == expected.dtype
        for k, operands in enumerate(zip(*given, strict=True)):
            case = name, mode, operands, found[k]
            exact = exactly(*operands) if all(map(numpy.isfinite, operands)) else None
            if exact is None:
                numpy.testing.assert_array_equal(found[k], expected[k], str(case))
            elif exact == 0:
                assert found[k] == 0, case
                down = sign_of_zero is not None and mode == "rd" and sign_of_zero(*operands)
                assert numpy.signbit(found[k]) == (numpy.signbit(expected[k]) or down), case
            else:
                assert rounds(found[k], exact, mode), case


def two_of(numbers):
    return numpy.repeat(numbers, len(numbers)), numpy.tile(numbers, len(numbers))


def exact_sum(x, y):
    return fractions.Fraction(float(x)) + fractions.Fraction(float(y))


def exact_product(x, y):
    return fractions.Fraction(float(x)) * fractions.Fraction(float(y))


def exact_quotient(x, y):
    return fractions.Fraction(float(x)) / fractions.Fraction(float(y)) if y != 0 else None


def is_negative(*operands):
    return any(map(numpy.signbit, operands))


KINDS = pytest.mark.parametrize("letter, numbers", [("d", FLOAT64), ("f", FLOAT32)])


@KINDS
def test_sums(letter, numbers):
    x, y = two_of(numbers)
    check(f"{letter}add", numpy.add, exact_sum, x, y, sign_of_zero=is_negative)
    if letter == "f":
        check(
            "fsub",
            numpy.subtract,
            lambda a, b: exact_sum(a, -b),
            x,
            y,
            sign_of_zero=lambda a, b: is_negative(a, -b),
        )


@KINDS
def test_products_and_quotients(letter, numbers):
    x, y = two_of(numbers)
    check(f"{letter}mul", numpy.multiply, exact_product, x, y)
    check(f"{letter}div", numpy.divide, exact_quotient, x, y)
    one = numbers.dtype.type(1)
    check(f"{letter}rcp", lambda x: one / x, lambda x: exact_quotient(one, x), numbers)


class Root:
    """The square root of a fraction, as what compares with others."""

    def __init__(self, square):
        self.square = square

    def __gt__(self, other):
        return other < 0 or self.square > fractions.Fraction(other) ** 2

    def __lt__(self, other):
        return other > 0 and self.square < fractions.Fraction(other) ** 2

    def __ge__(self, other):
        return not self < other

    def __le__(self, other):
        return not self > other

    def __eq__(self, other):
        return other >= 0 and self.square == fractions.Fraction(other) ** 2

    __hash__ = None


@KINDS
def test_roots(letter, numbers):
    given = abs(numpy.append(numbers, RANDOM.uniform(0, 4, 40).astype(numbers.dtype)))
    both = computed([f"{letter}sqrt_{mode}" for mode in MODES], numpy.append(given, -given[2]))
    numpy.testing.assert_array_equal(both[f"{letter}sqrt_rn"], numpy.sqrt(numpy.append(given, -given[2])))
    for mode in MODES[1:]:
        for found, x in zip(both[f"{letter}sqrt_{mode}"], given, strict=False):
            if not 0 < x < INFINITY:
                numpy.testing.assert_array_equal(found, x)
            else:
                assert rounds(found, Root(fractions.Fraction(float(x))), mode), (mode, x, found)
    assert all(numpy.isnan(found[-1]) for found in both.values())
    if letter == "f":
        found = computed(["frsqrt_rn"], given)["frsqrt_rn"]
        numpy.testing.assert_array_equal(found, (1 / numpy.sqrt(given.astype(numpy.longdouble))).astype("f4"))


def triples(numbers, kind):
    some = numbers[[0, 1, 2, 3, 4, 5, 8, 10, 11, 12, 13, 15, 16, 17, 19]]
    x, y, z = (each.ravel() for each in numpy.meshgrid(some, some, some))
    size = 400
    a, b = (RANDOM.uniform(1, 2, size) * 2.0 ** RANDOM.integers(-20, 20, size) for _ in range(2))
    a, b = a.astype(kind), b.astype(kind)
    # What is left where the product is nearly cancelled, or beside something much larger or smaller.
    c = numpy.where(
        RANDOM.integers(0, 2, size) == 1, -a * b, (a * b * 2.0 ** RANDOM.integers(-140, 60, size))
    ).astype(kind)
    return numpy.append(x, a), numpy.append(y, b), numpy.append(z, c)


@pytest.mark.parametrize("name, numbers", [("fma", FLOAT64), ("fmaf", FLOAT32)])
def test_multiply_adds(name, numbers):
    x, y, z = triples(numbers, numbers.dtype)
    wide = numpy.longdouble

    def plain(a, b, c):  # only where there is no number, and of signs of zero
        return (a.astype(wide) * b.astype(wide) + c.astype(wide)).astype(numbers.dtype)

    def exactly(a, b, c):
        return exact_product(a, b) + fractions.Fraction(float(c))

    def sign(a, b, c):
        return numpy.signbit(a) != numpy.signbit(b) or numpy.signbit(c)

    check(name, plain, exactly, x, y, z, sign_of_zero=sign)


def test_float32_of_float64():
    given = numpy.append(
        REALS, [*(FLOAT32.astype("f8") * (1 + 2**-40)), 2.0**-150, 2.0**-149 * 1.5, 3.4028235677973366e38]
    )

    def same(x):
        return fractions.Fraction(float(x))

    check("double2float", lambda x: x.astype("f4"), same, given)


def test_floats_of_integers():
    def same(x):
        return fractions.Fraction(int(x))

    def unsigned(x):
        return fractions.Fraction(int(x) % (1 << 8 * x.itemsize))

    check("int2float", lambda x: x.astype("f4"), same, INT32)
    check("uint2float", lambda x: x.view("u4").astype("f4"), unsigned, INT32)
    edges = numpy.append(
        INT64, [2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 513, -(2**63) + 1, 2**24 + 1, -(2**24) - 1]
    )
    for kind, letter in (("f8", "double"), ("f4", "float")):
        check(f"ll2{letter}", lambda x, kind=kind: x.astype(kind), same, edges)
        check(f"ull2{letter}", lambda x, kind=kind: x.view("u8").astype(kind), unsigned, edges)
    numpy.testing.assert_array_equal(computed(["int2double_rn"], INT32)["int2double_rn"], INT32)
    numpy.testing.assert_array_equal(computed(["uint2double_rn"], INT32)["uint2double_rn"], INT32.view("u4"))


WHOLE = {"rn": round, "rd": math.floor, "ru": math.ceil, "rz": math.trunc}
# By name: the least, the most, and what NaN becomes.
INTEGERS = {
    "int": (-(2**31), 2**31 - 1, "i4"),
    "uint": (0, 2**32 - 1, "u4"),
    "ll": (-(2**63), 2**63 - 1, "i8"),
    "ull": (0, 2**64 - 1, "u8"),
}


@pytest.mark.parametrize("source, kind", [("float", "f4"), ("double", "f8")])
@pytest.mark.parametrize("target", INTEGERS)
def test_integers_of_floats(source, kind, target):
    least, most, unsigned = INTEGERS[target]
    of_nan = 0 if source == "float" and target in ("int", "uint") else 1 << (31 if "i" in target else 63)
    given = REALS.astype(kind)
    both = computed([f"{source}2{target}_{mode}" for mode in MODES], given)
    for mode in MODES:
        expected = []
        for x in given.tolist():
            if math.isnan(x):
                expected.append(of_nan if target.startswith("u") or of_nan == 0 else -of_nan)
            else:
                expected.append(least if x == -INFINITY else most if x == INFINITY else WHOLE[mode](x))
        expected = numpy.array([min(max(each, least), most) for each in expected], unsigned)
        found = both[f"{source}2{target}_{mode}"]
        numpy.testing.assert_array_equal(found.view(unsigned), expected, mode)
        assert found.dtype == TYPES["i" if "i" in target else "l"]


@pytest.mark.parametrize("suffix", ["", "f"])
def test_whole_numbers(suffix):
    given = REALS.astype("f4" if suffix else "f8")
    both = computed([f"llrint{suffix}", f"llround{suffix}"], given)

    def clamped(whole):
        numbers = [whole(x) if math.isfinite(x) else x for x in given.tolist()]
        least, most = INTEGERS["ll"][:2]
        return [least if x != x else int(min(max(x, least), most)) for x in numbers]

    away = clamped(
        lambda x: int(math.copysign(math.floor(abs(fractions.Fraction(x)) + fractions.Fraction(1, 2)), x))
    )
    assert both[f"llrint{suffix}"].tolist() == clamped(round)
    assert both[f"llround{suffix}"].tolist() == away
