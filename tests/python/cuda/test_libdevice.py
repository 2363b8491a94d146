"""cuda.libdevice: each function over special values, beside NumPy, math and SciPy; roundings beside exact numbers."""

import functools
import math
import pathlib
import re

import mpmath
import numpy
import pytest
import scipy.special
import weft
from libdevice_calls import (
    INFINITY,
    INT32,
    INT64,
    NAN,
    RANDOM,
    REALS,
    SPECIAL,
    SPREAD,
    UNSIGNED32,
    UNSIGNED64,
    computed,
)
from weft import cuda
from weft.cuda.libdevice._table import TABLE
from weft.numba import cuda as numbas

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def off_by(found, expected):
    """How many numbers lie between two floats at most; the same infinities, NaN and signs of zero are asked for."""
    assert found.dtype == expected.dtype
    numpy.testing.assert_array_equal(numpy.isnan(found), numpy.isnan(expected))
    kind = "i4" if found.dtype == "f4" else "i8"

    def place(x):
        bits = x.view(kind).astype("O")
        return numpy.where(x.view(kind) < 0, -(bits & (2 ** (8 * x.itemsize - 1) - 1)), bits)

    zeros = (found == 0) & (expected == 0)
    numpy.testing.assert_array_equal(numpy.signbit(found[zeros]), numpy.signbit(expected[zeros]))
    distance = numpy.where(numpy.isnan(found), 0, abs(place(found) - place(expected)))
    return distance.max()


def half_away(x):
    whole = numpy.trunc(x)
    return numpy.copysign(whole + numpy.where(abs(x - whole) >= 0.5, numpy.copysign(1, x), 0), x)


def gamma(x):
    return numpy.where((x < 0) & ((x == numpy.floor(x)) | numpy.isinf(x)), NAN, scipy.special.gamma(x))


def logb(x):
    return numpy.where(
        numpy.isfinite(x), numpy.where(x == 0, -INFINITY, numpy.frexp(x)[1] - 1.0), numpy.square(x)
    )


# The reference, and how far in the last place: of float64, and of float32.
OF_ONE = {
    "acos": (numpy.arccos, 2),
    "acosh": (numpy.arccosh, 2),
    "asin": (numpy.arcsin, 2),
    "asinh": (numpy.arcsinh, 2),
    "atan": (numpy.arctan, 2),
    "atanh": (numpy.arctanh, 2),
    "cbrt": (numpy.cbrt, 2),
    "ceil": (numpy.ceil, 0),
    "cos": (numpy.cos, 2),
    "cosh": (numpy.cosh, 3),
    "erf": (scipy.special.erf, 2),
    "exp": (numpy.exp, 2),
    "exp10": (lambda x: numpy.power(10.0, x), 2),
    "exp2": (numpy.exp2, 2),
    "expm1": (numpy.expm1, 2),
    "fabs": (numpy.fabs, 0),
    "floor": (numpy.floor, 0),
    "log": (numpy.log, 2),
    "log10": (numpy.log10, 2),
    "log1p": (numpy.log1p, 2),
    "log2": (numpy.log2, 2),
    "logb": (logb, 0),
    "nearbyint": (numpy.rint, 0),
    "rcbrt": (lambda x: 1 / numpy.cbrt(x), 4),
    "rint": (numpy.rint, 0),
    "round": (half_away, 0),
    "rsqrt": (lambda x: 1 / numpy.sqrt(x), 1),
    "sin": (numpy.sin, 2),
    "sinh": (numpy.sinh, 3),
    "sqrt": (numpy.sqrt, 0),
    "tan": (numpy.tan, 2),
    "tanh": (numpy.tanh, 2),
    "tgamma": (gamma, 40),
    "trunc": (numpy.trunc, 0),
}


@pytest.mark.parametrize("part", range(3))
def test_functions_of_float64(part):
    names = sorted(OF_ONE)[part::3]
    for name, found in computed(names, REALS).items():
        function, most = OF_ONE[name]
        assert off_by(found, numpy.asarray(function(REALS))) <= most, name


@pytest.mark.parametrize("part", range(3))
def test_functions_of_float32(part):
    names = sorted(f"{name}f" for name in OF_ONE)[part::3]
    given = REALS.astype("f4")
    for name, found in computed(names, given).items():
        function, most = OF_ONE[name[:-1]]
        assert off_by(found, numpy.asarray(function(given.astype("f8"))).astype("f4")) <= min(most, 2), name


def near(found, expected, relative, absolute=0.0):
    numpy.testing.assert_allclose(found, expected.astype(found.dtype), relative, absolute)


def precisely(function, *given):
    """A function of mpmath's, over arrays of finite numbers."""
    with mpmath.workdps(60):
        return numpy.array([float(function(*map(mpmath.mpf, each))) for each in zip(*given, strict=True)])


def finite(*numbers):
    return numpy.array([*SPECIAL[:10], *numbers])


def at(kind, function, *numbers):
    """What a function gives for numbers."""
    return computed([function], numpy.array(numbers, kind))[function].tolist()


KINDS = pytest.mark.parametrize("suffix, kind", [("", "f8"), ("f", "f4")])
SMALL = [1e-300, 1e-20, 1e-9, 0.3, 0.75, 1e-4]
BETWEEN = finite(-26.5, 26.0, 27.5, 1e5, 8, -8, -20, 1e-200, *RANDOM.uniform(-12, 12, 60))


@KINDS
def test_errors_and_probabilities(suffix, kind):
    most = 1e-15 if not suffix else 1.2e-7
    given = BETWEEN.astype(kind)
    given = given[given > -9] if suffix else given
    wide = given.astype("f8")
    found = computed([name + suffix for name in ("erfcx", "normcdf", "erfc")], given)
    scaled = precisely(lambda x: mpmath.exp(x * x) * mpmath.erfc(x), wide)
    near(found["erfcx" + suffix], scaled, 4 * most)
    kept = wide > -37 if not suffix else wide > -13
    near(found["normcdf" + suffix][kept], precisely(mpmath.ncdf, wide[kept]), 8 * most)
    kept = wide < 26 if not suffix else wide < 9
    near(found["erfc" + suffix][kept], precisely(mpmath.erfc, wide[kept]), 30 * most)
    assert str(at(kind, "erfcx" + suffix, INFINITY, -INFINITY, NAN, -30)) == "[0.0, inf, nan, inf]"
    assert str(at(kind, "normcdf" + suffix, INFINITY, -INFINITY, NAN, -60, 60)) == "[1.0, 0.0, nan, 0.0, 1.0]"


@KINDS
def test_inverses_of_errors(suffix, kind):
    most = 1e-15 if not suffix else 1.2e-7
    given = numpy.array([*SMALL, 1 - 2**-24, *RANDOM.uniform(0, 1, 40)], kind)
    found = computed([name + suffix for name in ("erfinv", "erfcinv", "normcdfinv")], given)
    wide = given.astype("f8")
    near(found["erfinv" + suffix], precisely(mpmath.erfinv, wide), 4 * most)
    # The inverse of what is small is known by going back.
    tail = found["erfcinv" + suffix].astype("f8")
    steep = 1 + 2 * tail**2
    kept = wide > 0
    near(
        precisely(mpmath.erfc, tail[kept]) / wide[kept],
        numpy.ones(kept.sum()),
        (4 * most * steep[kept]).max(),
    )
    twice = computed(["erfcinv" + suffix], 2 * given)["erfcinv" + suffix]
    near(found["normcdfinv" + suffix], -numpy.sqrt(2.0) * twice.astype("f8"), 4 * most)
    assert str(at(kind, "erfinv" + suffix, 0, -0.0, 1, -1, 1.1, NAN, -0.5)).startswith(
        "[0.0, -0.0, inf, -inf, nan, nan, -0.4769"
    )
    assert str(at(kind, "erfcinv" + suffix, 0, 2, 1, -0.1, 2.1, NAN)) == "[inf, -inf, 0.0, nan, nan, nan]"
    assert str(at(kind, "normcdfinv" + suffix, 0, 1, 1.5, NAN)) == "[-inf, inf, nan, nan]"


def test_inverses_of_the_smallest_numbers():
    small = numpy.array([5e-324, 1e-320, 1e-310, 1e-308, 1e-200])
    found = computed(["erfcinv"], small)["erfcinv"]
    near(precisely(lambda x: mpmath.log(mpmath.erfc(x)), found), precisely(mpmath.log, small), 1e-15)


@KINDS
def test_gamma_and_pi(suffix, kind):
    given = REALS.astype(kind)
    given = given[numpy.isfinite(given) & (abs(given) < 1e6)]
    wide = given.astype("f8")
    found = computed([name + suffix for name in ("lgamma", "sinpi", "cospi")], given)
    pole = (wide <= 0) & (wide == numpy.floor(wide))
    assert numpy.isinf(found["lgamma" + suffix][pole]).all()
    log = precisely(lambda x: mpmath.log(abs(mpmath.gamma(x))), wide[~pole])
    near(found["lgamma" + suffix][~pole], log, 3e-14 if not suffix else 3e-7, 1e-14)
    most = 1e-15 if not suffix else 1.2e-7
    near(found["sinpi" + suffix], precisely(mpmath.sinpi, wide), most, 5e-324)
    near(found["cospi" + suffix], precisely(mpmath.cospi, wide), most)
    both = computed(["sincospi" + suffix], given)["sincospi" + suffix]
    numpy.testing.assert_array_equal(both[0], found["sinpi" + suffix])
    numpy.testing.assert_array_equal(both[1], found["cospi" + suffix])
    assert str(at(kind, "sinpi" + suffix, -0.0, 1, -1, 1e30, INFINITY)) == "[-0.0, 0.0, -0.0, 0.0, nan]"
    assert str(at(kind, "cospi" + suffix, -0.0, 0.5, 1, 1e30, INFINITY)) == "[1.0, 0.0, -1.0, 1.0, nan]"
    assert str(at(kind, "lgamma" + suffix, -INFINITY, INFINITY, NAN)) == "[inf, inf, nan]"


ARGUMENTS = numpy.array(
    [1e-300, 1e-9, 0.009, 0.011, 0.5, 0.99, 1.01, 24.9, 25.1, 50, 1e3, 1e5, *RANDOM.uniform(0, 60, 40)]
)


@KINDS
def test_bessels_functions(suffix, kind):
    given = ARGUMENTS[bool(suffix) :].astype(kind)
    wide = given.astype("f8")
    most = 1e-15 if not suffix else 1.2e-7
    names = ("j0", "j1", "y0", "y1")
    for name, found in computed([each + suffix for each in names], given).items():
        function = mpmath.besselj if name[0] == "j" else mpmath.bessely
        expected = precisely(lambda x, order=int(name[1]), function=function: function(order, x), wide)
        near(found, expected, 4 * most, 4 * most)
    for order in (0, 1, 2, 3, 7, 30):
        both = computed(["jn" + suffix, "yn" + suffix], numpy.full(len(given), order), given)
        expected = precisely(lambda x, order=order: mpmath.besselj(order, x), wide)
        near(both["jn" + suffix], expected, 40 * most, 8 * most)
        expected = precisely(lambda x, order=order: mpmath.bessely(order, x), wide)
        near(both["yn" + suffix], expected, 40 * most, 8 * most)


@KINDS
def test_bessels_functions_of_special_numbers(suffix, kind):
    given = numpy.array([0.0, -0.0, -2.0, INFINITY, -INFINITY, NAN], kind)
    found = computed([each + suffix for each in ("j0", "j1", "y0", "y1")], given)
    assert str(found["j0" + suffix].round(3).tolist()[:2]) == "[1.0, 1.0]"
    numpy.testing.assert_array_equal(found["j1" + suffix][[0, 1, 3, 4]], 0)
    assert found["j1" + suffix][2] < 0 and numpy.isnan(found["j1" + suffix][5])
    for name in ("y0", "y1"):
        assert str(found[name + suffix].tolist()) == "[-inf, -inf, nan, 0.0, nan, nan]"
    both = computed(["jn" + suffix, "yn" + suffix], numpy.full(6, -1), numpy.full(6, 2.0))
    assert all(numpy.isnan(each).all() for each in both.values())


def pairs(kind):
    first = numpy.repeat(REALS[:40].astype(kind), 40)
    return numpy.append(first, SPREAD.astype(kind)), numpy.append(
        numpy.tile(REALS[:40].astype(kind), 40), SPREAD[::-1].astype(kind)
    )


def fdim(x, y):
    return numpy.where(numpy.isnan(x) | numpy.isnan(y), NAN, numpy.where(x > y, x - y, 0.0))


def remainder(x, y):
    def one(a, b):
        return NAN if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0 else math.remainder(a, b)

    return numpy.array([one(*each) for each in zip(x.tolist(), y.tolist(), strict=True)])


OF_TWO = {
    "atan2": (numpy.arctan2, 2),
    "copysign": (numpy.copysign, 0),
    "fdim": (fdim, 0),
    "fmod": (numpy.fmod, 0),
    "hypot": (numpy.hypot, 2),
    "nextafter": (numpy.nextafter, 0),
    "pow": (numpy.power, 2),
    "remainder": (remainder, 0),
}


@pytest.mark.parametrize("suffix", ["", "f"])
def test_functions_of_two(suffix):
    x, y = pairs("f4" if suffix else "f8")
    for name, found in computed([each + suffix for each in OF_TWO], x, y).items():
        function, most = OF_TWO[name.removesuffix("f") if suffix else name]
        if suffix and not name.startswith("nextafter"):
            expected = function(x.astype("f8"), y.astype("f8")).astype("f4")
        else:
            expected = function(x, y)
        assert off_by(found, expected) <= most, name
    for name, function in (("fmax", numpy.fmax), ("fmin", numpy.fmin)):
        numpy.testing.assert_array_equal(computed([name + suffix], x, y)[name + suffix], function(x, y))


@pytest.mark.parametrize("suffix", ["", "f"])
def test_quotients_of_remainders(suffix):
    x, y = pairs("f4" if suffix else "f8")
    rest, quotient = computed(["remquo" + suffix], x, y)["remquo" + suffix]
    assert off_by(rest, remainder(x, y).astype(rest.dtype)) == 0
    fits = numpy.isfinite(rest) & numpy.isfinite(y) & (abs(x.astype("f8") / y) < 1e15)
    whole = numpy.rint((x[fits].astype("f8") - rest[fits]) / y[fits]).astype("i8")
    numpy.testing.assert_array_equal(quotient[fits], numpy.sign(whole) * (abs(whole) & 7))


@pytest.mark.parametrize("suffix", ["", "f"])
def test_parts_of_numbers(suffix):
    given = REALS.astype("f4" if suffix else "f8")
    part, power = computed(["frexp" + suffix], given)["frexp" + suffix]
    expected = numpy.frexp(given)
    assert off_by(part, expected[0]) == 0
    numpy.testing.assert_array_equal(power, numpy.where(numpy.isfinite(given), expected[1], 0))
    part, whole = computed(["modf" + suffix], given)["modf" + suffix]
    assert off_by(part, numpy.modf(given)[0]) == 0 == off_by(whole, numpy.modf(given)[1])
    sine, cosine = computed(["sincos" + suffix], given)["sincos" + suffix]
    wide = given.astype("f8")
    assert off_by(sine, numpy.sin(wide).astype(given.dtype)) <= 2
    assert off_by(cosine, numpy.cos(wide).astype(given.dtype)) <= 2
    found = computed(["ilogb" + suffix], given)["ilogb" + suffix]
    expected = numpy.where(numpy.isinf(given), 2147483647, numpy.frexp(given)[1] - 1)
    numpy.testing.assert_array_equal(
        found, numpy.where(numpy.isnan(given) | (given == 0), -2147483648, expected)
    )
    powers = RANDOM.integers(-200, 200, len(given)).astype("i4")
    both = computed([name + suffix for name in ("ldexp", "scalbn")], given, powers)
    for found in both.values():
        assert off_by(found, numpy.ldexp(given, powers)) == 0
    small = RANDOM.integers(-6, 7, len(given)).astype("i4")
    found = computed(["powi" + suffix], given, small)["powi" + suffix]
    assert off_by(found, numpy.power(wide, small.astype("f8")).astype(given.dtype)) <= 2


def test_questions():
    for name, function in (
        ("isfinited", numpy.isfinite),
        ("isinfd", numpy.isinf),
        ("isnand", numpy.isnan),
        ("signbitd", numpy.signbit),
        ("finitef", numpy.isfinite),
        ("isinff", numpy.isinf),
        ("isnanf", numpy.isnan),
        ("signbitf", numpy.signbit),
    ):
        given = REALS.astype("f4" if name.endswith("f") else "f8")
        numpy.testing.assert_array_equal(computed([name], given)[name], function(given), name)


def test_fast_functions():
    given = numpy.array([0.0, 0.5, 1.0, -1.0, 2.0, 10.0, -3.0, 0.001], "f4")
    wide = given.astype("f8")
    expected = {
        "fast_cosf": numpy.cos,
        "fast_sinf": numpy.sin,
        "fast_tanf": numpy.tan,
        "fast_expf": numpy.exp,
        "fast_exp10f": lambda x: 10.0**x,
    }
    for name, found in computed(list(expected), given).items():
        near(found, expected[name](wide), 2e-5, 2e-6)
    for name, found in computed(["fast_logf", "fast_log2f", "fast_log10f"], abs(given[1:])).items():
        near(found, getattr(numpy, name[5:-1])(abs(wide[1:])), 2e-5, 2e-6)
    sine, cosine = computed(["fast_sincosf"], given)["fast_sincosf"]
    near(sine, numpy.sin(wide), 2e-5, 2e-6)
    near(cosine, numpy.cos(wide), 2e-5, 2e-6)
    both = computed(["fast_powf", "fast_fdividef"], abs(given[1:]), given[:-1] + 1)
    near(both["fast_powf"], abs(wide[1:]) ** (wide[:-1] + 1), 2e-5)
    near(both["fast_fdividef"], abs(wide[1:]) / (wide[:-1] + 1), 2e-5)


def test_bits_of_floats():
    given = REALS.astype("f4")
    numpy.testing.assert_array_equal(computed(["float_as_int"], given)["float_as_int"], given.view("i4"))
    numpy.testing.assert_array_equal(
        computed(["double_as_longlong"], REALS)["double_as_longlong"], REALS.view("i8")
    )
    high, low = (REALS.view("i8") >> 32).astype("i4"), REALS.view("i8").astype("i4")
    both = computed(["double2hiint", "double2loint"], REALS)
    numpy.testing.assert_array_equal(both["double2hiint"], high)
    numpy.testing.assert_array_equal(both["double2loint"], low)
    numpy.testing.assert_array_equal(computed(["hiloint2double"], high, low)["hiloint2double"], REALS)
    numpy.testing.assert_array_equal(computed(["int_as_float"], INT32)["int_as_float"], INT32.view("f4"))
    found = computed(["longlong_as_double"], INT64)["longlong_as_double"]
    numpy.testing.assert_array_equal(found, INT64.view("f8"))
    halves = numpy.arange(65536).astype("i2")
    numpy.testing.assert_array_equal(computed(["half2float"], halves)["half2float"], halves.view("f2"))
    numbers = given[~numpy.isnan(given)]
    found = computed(["float2half_rn"], numbers)["float2half_rn"]
    numpy.testing.assert_array_equal(found, numbers.astype("f2").view("i2"))
    near(computed(["saturatef"], given)["saturatef"], numpy.clip(numpy.nan_to_num(given), 0, 1), 0)


def of_words(function):
    """A function of Python's integers, over arrays, as int32."""
    return lambda *given: numpy.array(
        [
            (function(*each) + (1 << 31)) % (1 << 32) - (1 << 31)
            for each in zip(*(array.tolist() for array in given), strict=True)
        ],
        "i4",
    )


def low_24(x):
    return ((x & 0xFFFFFF) ^ 0x800000) - 0x800000


def chosen(x, y, which):
    both = (x & 0xFFFFFFFF) | (y & 0xFFFFFFFF) << 32
    result = 0
    for k in range(4):
        choice = which >> 4 * k & 15
        byte = both >> (choice & 7) * 8 & 0xFF
        result |= (byte if choice < 8 else 0xFF * (byte >> 7)) << 8 * k
    return result


def test_functions_of_integers():
    others, third = RANDOM.permutation(INT32), RANDOM.permutation(INT32)
    u, v = UNSIGNED32.tolist(), others.view("u4").tolist()
    bits = [f"{each:032b}" for each in u]
    of_one = {
        "abs": numpy.absolute(INT32),
        "brev": numpy.array([int(each[::-1], 2) for each in bits], "u4").view("i4"),
        "clz": [len(each) - len(each.lstrip("0")) for each in bits],
        "ffs": [len(each) - len(each.rstrip("0")) + 1 if "1" in each else 0 for each in bits],
        "popc": [each.count("1") for each in bits],
    }
    for name, found in computed(list(of_one), INT32).items():
        numpy.testing.assert_array_equal(found, of_one[name], name)
    of_two = {
        "hadd": lambda x, y: x + y >> 1,
        "max": max,
        "min": min,
        "mul24": lambda x, y: low_24(x) * low_24(y),
        "mulhi": lambda x, y: x * y >> 32,
        "rhadd": lambda x, y: x + y + 1 >> 1,
    }
    without_signs = {
        "uhadd": lambda x, y: x + y >> 1,
        "umax": max,
        "umin": min,
        "umul24": lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF),
        "umulhi": lambda x, y: x * y >> 32,
        "urhadd": lambda x, y: x + y + 1 >> 1,
    }
    for name, found in computed([*of_two, *without_signs], INT32, others).items():
        if name in of_two:
            expected = of_words(of_two[name])(INT32, others)
        else:
            expected = of_words(without_signs[name])(numpy.array(u), numpy.array(v))
        numpy.testing.assert_array_equal(found, expected, name)
    found = computed(["sad", "usad", "byte_perm"], INT32, others, third)
    sad = of_words(lambda x, y, z: abs(x - y) + z)
    numpy.testing.assert_array_equal(found["sad"], sad(INT32, others, third))
    numpy.testing.assert_array_equal(found["usad"], sad(numpy.array(u), numpy.array(v), third))
    numpy.testing.assert_array_equal(found["byte_perm"], of_words(chosen)(INT32, others, third))


def test_functions_of_long_integers():
    others = RANDOM.permutation(INT64)
    u, v = UNSIGNED64.tolist(), others.view("u8").tolist()
    bits = [f"{each:064b}" for each in u]
    found = computed(["brevll", "llabs"], INT64)
    numpy.testing.assert_array_equal(
        found["brevll"].view("u8"), numpy.array([int(b[::-1], 2) for b in bits], "u8")
    )
    numpy.testing.assert_array_equal(found["llabs"], numpy.absolute(INT64))
    found = computed(["clzll", "ffsll", "popcll"], INT64)
    numpy.testing.assert_array_equal(found["clzll"], [len(b) - len(b.lstrip("0")) for b in bits])
    places = [len(b) - len(b.rstrip("0")) + 1 if "1" in b else 0 for b in bits]
    numpy.testing.assert_array_equal(found["ffsll"], places)
    numpy.testing.assert_array_equal(found["popcll"], [b.count("1") for b in bits])
    names = ["llmax", "llmin", "mul64hi", "ullmax", "ullmin", "umul64hi"]
    found = computed(names, INT64, others)
    numpy.testing.assert_array_equal(found["llmax"], numpy.maximum(INT64, others))
    numpy.testing.assert_array_equal(found["llmin"], numpy.minimum(INT64, others))
    signed = [x * y >> 64 for x, y in zip(INT64.tolist(), others.tolist(), strict=True)]
    numpy.testing.assert_array_equal(found["mul64hi"], signed)
    plain = list(zip(u, v, strict=True))
    for name, function in (("ullmax", max), ("ullmin", min), ("umul64hi", lambda x, y: x * y >> 64)):
        expected = numpy.array([function(*each) for each in plain], "u8")
        numpy.testing.assert_array_equal(found[name].view("u8"), expected, name)


@functools.cache
def kernel_of_numba():
    @numbas.jit(fastmath=True)
    def kernel(x, out):
        i = numbas.grid(1)
        if i < x.size:
            out[i] = numbas.libdevice.dadd_ru(x[i], 2**-70) - numbas.libdevice.fmaf(x[i], 3, 1)

    return kernel


def test_names_of_numba():
    """Arguments are cast, and the kernel's fastmath changes nothing."""
    out = numpy.zeros(1)
    kernel_of_numba()[1, 32](numpy.ones(1), out)
    assert out.tolist() == [1 + 2.0**-52 - 4]
    assert numbas.libdevice.sinf is cuda.libdevice.sinf and dir(numbas.libdevice) == sorted(TABLE)
    assert cuda.libdevice.remquof.__doc__ == "(float32, float32) -> float32, int32"
    with pytest.raises(AttributeError, match="libdevice has no 'sind'"):
        _ = cuda.libdevice.sind


def test_refusals():
    @cuda.jit
    def unknown(out):
        out[0] = cuda.libdevice.sind(1.0)

    @cuda.jit
    def many(out):
        out[0] = cuda.libdevice.sin(1.0, 2.0)

    for kernel, said in ((unknown, "libdevice.sind"), (many, "sin")):
        with pytest.raises((weft.CompileError, TypeError), match=said):
            kernel[1, 1](numpy.zeros(1))


def test_the_page_has_all_names():
    page = pathlib.Path(__file__).parents[3] / "docs" / "guide" / "cuda-libdevice.md"
    found = set()
    for row in re.findall(r"^\| (.*`.*`) \|.*\|$", page.read_text(), re.MULTILINE):
        names = row.split("`")[-2].split()
        if row.startswith("with an f"):
            found |= {*names, *(f"{name}f" for name in names)}
        elif row.startswith("with"):
            found |= {f"{name}_{mode}" for name in names for mode in ("rn", "rd", "ru", "rz")}
        else:
            found |= {*names}
    assert found == {*TABLE}
