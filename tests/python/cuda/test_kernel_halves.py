"""cuda.fp16: each function over all numbers of float16, beside NumPy's float16."""

import numpy
import pytest
import weft
from weft import cuda
from weft.numba import cuda as numbas

# What CUDA rounds once is exact here; what NumPy computes by float32 may be one off in the last place.
OF_ONE = {
    "hneg": (numpy.negative, 0),
    "habs": (numpy.absolute, 0),
    "hsqrt": (numpy.sqrt, 0),
    "hrcp": (numpy.reciprocal, 0),
    "hfloor": (numpy.floor, 0),
    "hceil": (numpy.ceil, 0),
    "htrunc": (numpy.trunc, 0),
    "hrint": (numpy.rint, 0),
    "hrsqrt": (lambda x: (1 / numpy.sqrt(x.astype("f8"))).astype("f2"), 0),
    "hexp10": (lambda x: (10.0 ** x.astype("f8")).astype("f2"), 1),
    "hsin": (numpy.sin, 1),
    "hcos": (numpy.cos, 1),
    "hexp": (numpy.exp, 1),
    "hexp2": (numpy.exp2, 1),
    "hlog": (numpy.log, 1),
    "hlog2": (numpy.log2, 1),
    "hlog10": (numpy.log10, 1),
}
OF_TWO = {
    "hadd": numpy.add,
    "hsub": numpy.subtract,
    "hmul": numpy.multiply,
    "hdiv": numpy.divide,
    "hmax": numpy.fmax,
    "hmin": numpy.fmin,
    "heq": numpy.equal,
    "hne": numpy.not_equal,
    "hgt": numpy.greater,
    "hge": numpy.greater_equal,
    "hlt": numpy.less,
    "hle": numpy.less_equal,
}
EVERY = numpy.arange(65536, dtype="u2").view("f2")
OTHERS = numpy.random.default_rng(7).permutation(EVERY)
# Neighbours, equals and signs of zero come together as well.
PAIRS = [OTHERS, EVERY, -EVERY, numpy.nextafter(EVERY, numpy.float16(0))]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def kernel_of(name, count):
    arguments = ", ".join(["a[i]", "b[i]", "c[i]"][:count])
    text = (
        "def kernel(a, b, c, out):\n"
        "    i = cuda.grid(1)\n"
        "    if i < a.size:\n"
        f"        out[i] = cuda.fp16.{name}({arguments})\n"
    )
    scope = {"cuda": cuda}
    exec(text, scope)
    return cuda.jit(scope["kernel"], source=text)


def computed(name, *operands):
    kernel = kernel_of(name, len(operands))
    out = numpy.zeros(65536, "f2")
    kernel[256, 256](*operands, *(EVERY,) * (3 - len(operands)), out)
    found = out.copy()
    assert kernel._refusal is None  # no GPU left it to the CPU
    return found


def off_by(found, expected):
    """How many numbers of float16 lie between two at most; NaN is NaN."""
    assert (numpy.isnan(found) == numpy.isnan(expected)).all()

    def place(x):
        bits = x.view("i2").astype("i4")
        return numpy.where(bits < 0, -(bits & 0x7FFF) - 1, bits)

    return numpy.where(numpy.isnan(found), 0, abs(place(found) - place(expected))).max()


def test_all_functions_are_tested():
    names = [name for name in dir(cuda.fp16) if name.startswith("h")]
    assert {*names} == {*OF_ONE, *OF_TWO, "hfma"}


@pytest.mark.parametrize("name", OF_ONE)
def test_functions_of_one(name):
    function, most = OF_ONE[name]
    expected = function(EVERY)
    assert expected.dtype == "f2" and off_by(computed(name, EVERY), expected) <= most


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two(name):
    for others in PAIRS:
        expected = OF_TWO[name](EVERY, others).astype("f2")
        assert off_by(computed(name, EVERY, others), expected) == 0


def test_products_and_sums_are_rounded_once():
    wide = [each.astype("f8") for each in (EVERY, OTHERS, OTHERS[::-1])]
    expected = (wide[0] * wide[1] + wide[2]).astype("f2")
    assert off_by(computed("hfma", EVERY, OTHERS, OTHERS[::-1].copy()), expected) == 0
    a = numpy.full(65536, 1 + 2**-10, "f2")
    assert (computed("hfma", a, a, numpy.full(65536, -1, "f2")) == numpy.float16(2**-9 + 2**-20)).all()


def test_results_are_float16_and_bool():
    @numbas.jit
    def kernel(a, out):
        out[0] = numbas.fp16.hadd(a[0], a[1]) * 3
        if numbas.fp16.hgt(a[0], a[1]):
            out[1] = 5

    out = numpy.zeros(2)
    kernel[1, 1](numpy.array([60000, 60000], "f2"), out)
    assert out.tolist() == [numpy.inf, 0]


def test_refusals():
    with pytest.raises(weft.CompileError, match=r"fp16\.hadd"):
        computed("hadd", EVERY)
    with pytest.raises(weft.CompileError, match="takes real numbers"):
        computed("hneg", EVERY.astype("c8"))
    with pytest.raises(AttributeError, match=r"fp16 has no 'hcbrt'"):
        _ = cuda.fp16.hcbrt
    with pytest.raises(TypeError, match="known in kernels only"):
        cuda.fp16.hadd(1.0, 2.0)
