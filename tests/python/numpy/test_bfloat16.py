"""bfloat16, which NumPy has from the package ml_dtypes: that package and weft's own float32 say what is right."""

import copy
import pickle
import subprocess
import sys
import warnings

import ml_dtypes
import numpy
import pytest
import weft
from ufunc_values import generator, values

THEIRS = ml_dtypes.bfloat16
EVERY_PATTERN = numpy.arange(1 << 16, dtype=numpy.uint16)
OTHERS = list(map(numpy.dtype, "?bBhHiIlLefdFD"))
UFUNCS = weft._core._ufuncs
# Operations that look at the bits, not at the number in float32.
OF_BITS = ("negative", "positive", "absolute", "fabs", "conjugate", "copysign", "nextafter", "spacing")  # fmt: skip
# Those of ml_dtypes whose last place is not to be relied on: it computes with the C library or in double.
EXACT = ("add", "subtract", "multiply", "divide", "sqrt", "square", "reciprocal", "negative", "absolute", "fabs",
         "floor", "ceil", "trunc", "rint", "sign", "fmod", "copysign", "nextafter", "spacing", "maximum", "minimum",
         "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "isnan", "isinf", "isfinite",
         "signbit", "logical_and", "logical_or", "logical_not", "logical_xor")  # fmt: skip


def bits(x):
    """The bits of a bfloat16 array of weft's or NumPy's, with one pattern for every nan."""
    x = numpy.asarray(x)
    assert x.dtype == THEIRS
    return numpy.where(numpy.isnan(x.astype("f4")), 0x7FC0, x.view(numpy.uint16))


def numbers(count, *key):
    """Small numbers, special ones, and any pattern."""
    rng = generator("bfloat16", count, *key)
    small = (rng.standard_normal(count) * 10).astype(THEIRS)
    whole = rng.integers(-30, 30, count).astype(THEIRS)
    special = numpy.array([0, 0x8000, 1, 0x8001, 0x7F80, 0xFF80, 0x7FC0, 0x7F7F, 0x80, 0x3F80, 0x3F81], "u2")
    wide = rng.integers(0, 1 << 16, count, dtype=numpy.uint16)
    wide = numpy.where(rng.random(count) < 0.3, special[rng.integers(0, len(special), count)], wide).view(
        THEIRS
    )
    choice = rng.random(count)
    return numpy.where(choice < 0.4, small, numpy.where(choice < 0.6, whole, wide))


def loops():
    for name, ufunc in UFUNCS.items():
        for types in ufunc.types:
            if "E" in types.split("->")[0]:
                yield pytest.param(name, types, id=f"{name}-{types}")


def call(name, inputs):
    with numpy.errstate(all="ignore"):
        result = UFUNCS[name](*inputs)
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("small", [None, 0], ids=["eager", "compiled"])
@pytest.mark.parametrize(("name", "types"), list(loops()))
def test_is_float32_rounded_once(name, types, small):
    """Every loop of the op table: what float32's loop gives, rounded."""
    inputs, outputs = types.split("->")
    given = [
        numbers(900, name, i) if c == "E" else values(c, 900, name, i) for i, c in enumerate(inputs)
    ]  # fmt: skip
    with weft.config() if small is None else weft.config(small=small):
        found = call(name, [weft.asarray(x) for x in given])
        found = [numpy.asarray(x) for x in found]
        if name in OF_BITS:
            with numpy.errstate(all="ignore"):
                expected = (getattr(numpy, name)(*given),)
        else:
            expected = call(name, [weft.asarray(x.astype("f4") if x.dtype == THEIRS else x) for x in given])
    for ours, theirs, character in zip(found, expected, outputs):
        theirs = numpy.asarray(theirs)
        if character == "E":
            with numpy.errstate(all="ignore"):
                numpy.testing.assert_array_equal(bits(ours), bits(theirs.astype(THEIRS)))
        else:
            numpy.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", EXACT)
def test_as_ml_dtypes(name):
    given = [numbers(2000, name, i) for i in range(UFUNCS[name].nin)]
    with numpy.errstate(all="ignore"):
        theirs = getattr(numpy, name)(*given)
    ours = numpy.asarray(UFUNCS[name](*map(weft.asarray, given)))
    assert ours.dtype == theirs.dtype
    if theirs.dtype != THEIRS:
        numpy.testing.assert_array_equal(ours, theirs)
        return
    different = bits(ours) != bits(theirs)
    if name in ("maximum", "minimum", "sign"):  # which of two zeros is left open
        different &= ours.astype("f4") != theirs.astype("f4")
    assert not different.any(), [x[different][:5] for x in (*given, ours, theirs)]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_casts_from_every_number(other):
    x = EVERY_PATTERN.view(THEIRS)
    with numpy.errstate(all="ignore"):
        wide = x.astype("f4")
        if other.kind in "iu":  # of others any result is legal
            limits = numpy.iinfo(other)
            x = x[(wide > float(limits.min) - 1) & (wide < float(limits.max))]
        theirs = x.astype(other)
    for ours in (weft.asarray(x).astype(other), *compiled(lambda: weft.asarray(x).astype(other))):
        assert ours.dtype == other
        numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)


def compiled(make):
    with weft.config(small=0):
        yield weft.eval(make()) or make()


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_casts_to_it_round_to_even(other):
    x = values(other.char, 60000, "to bfloat16")
    if other == numpy.float32:  # each place where rounding turns
        high = numpy.repeat(numpy.arange(0, 1 << 16, 3, dtype=numpy.uint32) << 16, 5)
        x = (high + numpy.tile(numpy.array([0, 0x7FFF, 0x8000, 0x8001, 0xFFFF], "u4"), high.size // 5)).view(
            "f4"
        )
    with numpy.errstate(all="ignore"):
        theirs = (x.real if other.kind == "c" else x).astype(THEIRS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of imaginary parts
        many, few = weft.asarray(x).astype("bfloat16"), weft.asarray(x[:50]).astype(weft.bfloat16)
    numpy.testing.assert_array_equal(bits(many), bits(theirs))
    numpy.testing.assert_array_equal(bits(few), bits(theirs[:50]))


def test_subnormal_numbers_are_kept():
    x = numpy.arange(1, 200, dtype=numpy.uint16).view(THEIRS)  # the smallest of all, and normal ones
    numpy.testing.assert_array_equal(bits(weft.asarray(x) * 1), bits(x))
    numpy.testing.assert_array_equal(bits(weft.asarray(x.astype("f4")).astype("bfloat16")), bits(x))


def test_promotion():
    """As ml_dtypes' operations; where NumPy knows no common type, the smallest that holds both."""
    expected = (
        dict.fromkeys("?bB", "bfloat16")
        | dict.fromkeys("hHef", "float32")
        | dict.fromkeys("iIlLd", "float64")
    )
    expected |= {"F": "complex64", "D": "complex128"}
    for other in OTHERS:
        with numpy.errstate(all="ignore"):
            theirs = (numpy.ones(2, THEIRS) + numpy.ones(2, other)).dtype
        ours = (weft.ones(2, "bfloat16") + weft.ones(2, other)).dtype
        assert ours == theirs == weft.dtype(expected[other.char])
        assert weft.promote_types("bfloat16", other) == weft.result_type(other, "bfloat16") == ours
        assert weft.can_cast(other, "bfloat16") == numpy.can_cast(other, THEIRS)
        assert weft.can_cast("bfloat16", other) == numpy.can_cast(THEIRS, other)
    assert weft.promote_types("bfloat16", "bfloat16") == weft.bfloat16
    assert weft.can_cast("float64", "bfloat16", "same_kind") and not weft.can_cast("float32", "bfloat16")


def test_python_numbers_take_its_type():
    """As they take float16's (NEP 50); ml_dtypes, which NumPy does not ask, gives float32."""
    x = weft.ones(3, "bfloat16")
    assert (x + 1).dtype == (2.5 * x).dtype == (x + True).dtype == weft.bfloat16
    assert (x * 1j).dtype == weft.complex64
    x += weft.float32(1)
    assert x.dtype == weft.bfloat16 and x.tolist() == [2, 2, 2]


def test_dtype():
    ours, theirs = weft.dtype("bfloat16"), numpy.dtype(THEIRS)
    assert ours == theirs and theirs == ours and ours == THEIRS and not ours != theirs
    assert hash(ours) == hash(theirs) and {theirs: 1}[ours] == 1
    for attribute in ("name", "str", "char", "num", "itemsize", "alignment", "isnative", "ndim", "shape", "descr",
                      "isbuiltin", "byteorder"):  # fmt: skip
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    assert ours.kind == "f"  # V in NumPy, which cannot say more
    assert repr(ours) == "dtype('bfloat16')" and str(ours) == "bfloat16"
    assert ours.type is weft.bfloat16 and weft.dtype(weft.bfloat16) is ours
    assert weft.dtype(THEIRS) is ours and weft.dtype(theirs) is ours and numpy.dtype(ours) == theirs
    assert pickle.loads(pickle.dumps(ours)) is ours and copy.deepcopy(ours) is ours
    assert ours != weft.dtype("float16") and weft.dtype("f2") == weft.float16
    assert weft.dtype("V2") == numpy.dtype("V2") != ours
    assert weft.issubdtype(weft.bfloat16, weft.floating) and weft.isdtype(ours, "real floating")


def test_finfo():
    ours, theirs = weft.finfo("bfloat16"), ml_dtypes.finfo(THEIRS)
    for name in ("bits", "eps", "epsneg", "max", "min", "tiny", "smallest_normal", "smallest_subnormal", "nmant",
                 "nexp", "minexp", "maxexp", "machep", "negep", "iexp", "precision"):  # fmt: skip
        assert float(getattr(ours, name)) == float(getattr(theirs, name)), name
    assert ours.eps.dtype == weft.bfloat16 and ours.dtype == weft.bfloat16


def test_text():
    """The fewest digits that read back, as all floats; ml_dtypes prints six."""
    x = weft.array([1 / 3, 1.0, -2.5, 100], "bfloat16")
    assert repr(x) == "array([  0.334,   1.   ,  -2.5  , 100.   ], dtype=bfloat16)"
    assert repr(weft.array([1e30, 1], "bfloat16")) == "array([1.e+30, 1.e+00], dtype=bfloat16)"
    assert repr(x[0]) == "np.bfloat16(0.334)" and str(x[0]) == "0.334" and f"{x[0]:.2f}" == "0.33"
    assert repr(weft.bfloat16("nan")) == "np.bfloat16(nan)" and str(weft.bfloat16(-0.0)) == "-0.0"
    for value in weft.asarray(EVERY_PATTERN[::7].view(THEIRS)):
        if value == value:
            assert weft.bfloat16(str(value)) == value


def test_scalars():
    x = weft.bfloat16(1.005)
    assert x == 1.0078125 and float(x) == 1.0078125 and x.item() == 1.0078125 and isinstance(x, weft.floating)
    assert (x + x).dtype == (x * 2).dtype == weft.bfloat16 and (x + weft.float32(1)).dtype == weft.float32
    assert hash(x) == hash(1.0078125) and pickle.loads(pickle.dumps(x)) == x and weft.bfloat16(True) == 1
    assert weft.asarray(THEIRS(2.5)).dtype == weft.bfloat16 and weft.bfloat16(THEIRS(2.5)) == 2.5
    assert weft.asarray([THEIRS(2.5), THEIRS(3)]).tolist() == [2.5, 3]
    assert numpy.asarray(x) == THEIRS(1.0078125) and numpy.asarray(x).dtype == THEIRS


@pytest.mark.host
def test_to_numpy_and_back():
    x = numbers(3000, "numpy").reshape(3, 1000)[:, ::2]
    ours = weft.asarray(x)
    assert ours.dtype == weft.bfloat16 and ours.shape == x.shape
    numpy.testing.assert_array_equal(bits(ours), bits(x))
    shared = weft.zeros(5, "bfloat16")
    theirs = numpy.asarray(shared)
    theirs[1] = 3
    assert shared.tolist() == [0, 3, 0, 0, 0]
    assert numpy.asarray(ours, "f4").dtype == numpy.float32
    assert (
        ours.view("uint16").dtype == numpy.uint16
        and weft.asarray(EVERY_PATTERN).view("bfloat16").itemsize == 2
    )


@pytest.mark.host
def test_without_ml_dtypes():
    program = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "import weft, numpy\n"
        "x = weft.arange(3).astype('bfloat16')\n"
        "print((x * 2).tolist(), numpy.asarray(x.view('uint16'))[1])\n"
        "try: x.__array__()\n"
        "except TypeError as error: print(error)\n"
        "try: memoryview(x)\n"
        "except BufferError as error: print(error)\n"
    )
    text = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    first, second, third = text.splitlines()
    assert first == "[0.0, 2.0, 4.0] 16256"
    assert "pip install ml_dtypes" in second and ".view(weft.uint16)" in second
    assert "uint16" in third


@pytest.mark.parametrize("count", [1, 100, 5000, 300000])
def test_sums_are_float32s_rounded_once(count):
    x = numpy.random.default_rng(count).random(count).astype(THEIRS)
    wide = weft.asarray(x.astype("f4"))
    ours = weft.asarray(x)
    for name in ("sum", "mean", "max", "min", "std", "var"):
        found = getattr(ours, name)()
        assert found.dtype == weft.bfloat16
        exact = float(getattr(x.astype("f8"), name)())
        assert (
            abs(float(found) - exact)
            <= 0.51 * float(numpy.spacing(THEIRS(exact)).astype("f4")) + 1e-7 * exact
        )
    assert ours.sum() == wide.sum().astype("bfloat16")
    assert ours.argmax() == wide.argmax()
    numpy.testing.assert_array_equal(
        bits(weft.cumsum(ours)), bits(numpy.asarray(weft.cumsum(wide)).astype(THEIRS))
    )
    assert weft.sum(ours, dtype="float32").dtype == weft.float32


PROGRAMS = {
    "arithmetic": lambda np, x, y: x * y + np.sqrt(np.absolute(x)) - y / 2,
    "elementary": lambda np, x, y: np.exp(-np.absolute(x)) * np.sin(y) + np.tanh(x),
    "comparison": lambda np, x, y: np.where(x > y, x, 0.5) * (y < 3),
    "casts": lambda np, x, y: (x.astype("f4") * 3).astype("bfloat16") + y.astype("f2").astype("bfloat16"),
    "rows": lambda np, x, y: (x * y).reshape(-1, 50).sum(axis=1) + y[:: 50],
    "columns": lambda np, x, y: (x * y).reshape(-1, 50).max(axis=0) - x[:50],
    "softmax": lambda np, x, y: (lambda e: e / e.sum(axis=1, keepdims=True))(np.exp(x.reshape(-1, 50))),
    "running": lambda np, x, y: np.cumsum(x) + y,
    "positions": lambda np, x, y: np.arange(x.size, dtype="bfloat16") + x[::-1],
    "gather": lambda np, x, y: x[np.arange(x.size)[::-3]] * 2,
    "update": lambda np, x, y: update(x + 0, y),
}  # fmt: skip


def update(x, y):
    x[1:-1] = (y[2:] + y[:-2]) * 0.5
    x[::7] += 1
    return x


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_bits_every_way(name):
    generator = numpy.random.default_rng(5)
    x, y = (generator.standard_normal(20000).astype(THEIRS) for _ in range(2))
    found = []
    ways = {"tier": "jit"}, {"fuse": False}, {"tier": "block"}, {"cpu": "x86-64-v2"}, {"small": 10**6}
    for settings in ways:
        weft._core._forget_kernels()
        with weft.config(**({"tier": "jit", "small": 0, "cache": False} | settings)):
            found.append(numpy.asarray(PROGRAMS[name](weft, weft.asarray(x), weft.asarray(y))).tobytes())
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4, 5)), ((100, 300), (300, 70)), ((7, 40, 30), (30, 20)), ((500,), (500,))]
)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_products_add_up_in_float32(dtype, shapes):
    generator = numpy.random.default_rng(6)
    a, b = (
        generator.standard_normal(shape).astype(THEIRS if dtype == "bfloat16" else dtype) for shape in shapes
    )
    exact = a.astype("f8") @ b.astype("f8")
    bound = numpy.abs(a.astype("f8")) @ numpy.abs(b.astype("f8"))
    x, y = weft.asarray(a), weft.asarray(b)
    terms = "...k,k...->..." if exact.ndim == 0 else "...ik,kj->...ij"
    for ours in (x @ y, weft.tensordot(x, y, 1), weft.einsum(terms, x, y)):
        assert ours.dtype == dtype and ours.shape == exact.shape
        unit = 2.0**-8 if dtype == "bfloat16" else 2.0**-11
        off = numpy.abs(numpy.asarray(ours).astype("f8") - exact)
        assert (off <= unit * numpy.abs(exact) + 1e-5 * bound).all()


def test_dlpack_knows_it():
    x = weft.arange(5).astype("bfloat16")
    shared = weft.from_dlpack(x)
    assert shared.dtype == weft.bfloat16 and shared.tolist() == [0, 1, 2, 3, 4]
    torch = pytest.importorskip("torch")
    assert torch.from_dlpack(x).dtype == torch.bfloat16
    assert weft.from_dlpack(torch.ones(3, dtype=torch.bfloat16)).dtype == weft.bfloat16
    assert weft.from_dlpack(torch.ones(3, dtype=torch.float16)).dtype == weft.float16
