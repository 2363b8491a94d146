# ruff: noqa: B018
"""NumPy's scalars: hierarchy, conversions, arithmetic, text, hashing, registration with `numbers`."""

import copy
import fractions
import itertools
import json
import math
import numbers
import operator
import pickle
import statistics

import numpy
import pytest
import weft
from comparing import DTYPES, assert_equal, exception_kind, outcome

TYPES = [dtype.type.__name__ for dtype in DTYPES]
NUMBERS = [
    0,
    1,
    -1,
    2.5,
    1e300,
    300,
    1 + 2j,
    True,
    "3",
    "2.5",
    float("nan"),
    float("inf"),
    None,
    [1, 2],
    2**64,
]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("value", NUMBERS, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_making(name, value):
    expected = outcome(getattr(numpy, name), value)
    result = outcome(getattr(weft, name), value)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
        return
    if isinstance(expected, numpy.ndarray) or not isinstance(value, str) or name != "bool":
        assert_equal(result, expected)


def test_hierarchy():
    names = [
        "generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating",
        "complexfloating", *TYPES,
    ]  # fmt: skip
    for a in names:
        for b in names:
            assert issubclass(getattr(weft, a), getattr(weft, b)) == issubclass(
                getattr(numpy, a), getattr(numpy, b)
            )
    for abstract in names[:8]:
        with pytest.raises(TypeError):
            getattr(weft, abstract)(1)
    for alias in (
        "half",
        "single",
        "double",
        "intc",
        "longlong",
        "int_",
        "bool_",
        "csingle",
        "uintp",
        "byte",
    ):
        assert getattr(weft, alias).__name__ == numpy.dtype(getattr(numpy, alias)).name


def test_registered_with_numbers():
    assert isinstance(weft.int8(1), numbers.Integral)
    assert isinstance(weft.float32(1), numbers.Real)
    assert not isinstance(weft.float32(1), numbers.Integral)
    assert isinstance(weft.complex64(1), numbers.Complex)
    assert not isinstance(weft.complex64(1), numbers.Real)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_conversions_and_hash(name):
    for value in (0, 1, 100):
        if name == "bool" and value > 1:
            continue
        ours, theirs = getattr(weft, name)(value), getattr(numpy, name)(value)
        assert hash(ours) == hash(theirs)
        assert ours == value and not ours != value
        assert bool(ours) == bool(value)
        assert ours.item() == theirs.item() and type(ours.item()) is type(theirs.item())
        assert {ours: 1}[value] == 1
        assert_equal(ours.dtype.type(value), theirs)
        for function in (
            int,
            float,
            complex,
            round,
            math.floor,
            abs,
            repr,
            str,
            "{:}".format,
            "{:10}".format,
        ):
            expected, result = outcome(function, theirs), outcome(function, ours)
            if isinstance(expected, Exception):
                assert exception_kind(result) == exception_kind(expected)
            elif isinstance(expected, numpy.generic):
                assert_equal(result, expected)
            else:
                assert result == expected and type(result) is type(expected), function
        assert pickle.loads(pickle.dumps(ours)) == ours
        assert copy.copy(ours) == ours and copy.deepcopy(ours) == ours


@pytest.mark.parametrize("left", TYPES)
@pytest.mark.parametrize("right", [*TYPES, 2, 2.5, 1j, True])
def test_arithmetic(left, right):
    operators = (
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a // b,
        lambda a, b: a < b,
        lambda a, b: a == b,
        lambda a, b: b - a,
        lambda a, b: divmod(a, b),
    )
    for apply in operators:
        theirs = (getattr(numpy, left)(1), getattr(numpy, right)(1) if isinstance(right, str) else right)
        ours = (getattr(weft, left)(1), getattr(weft, right)(1) if isinstance(right, str) else right)
        expected, result = outcome(apply, *theirs), outcome(apply, *ours)
        if isinstance(expected, Exception):
            assert exception_kind(result) == exception_kind(expected)
        elif isinstance(
            expected, (numpy.generic, tuple)
        ):  # 1j - float64(1) is Python's: NumPy's is a float too
            assert_equal(result, expected, ulp=2)


def test_overflow_of_python_integers():
    for call in (
        lambda np: np.uint8(1) + 300,
        lambda np: np.uint8(300),
        lambda np: np.int8(-129),
        lambda np: np.uint8(1) - (-1),
    ):
        expected, result = outcome(call, numpy), outcome(call, weft)
        assert exception_kind(result) == exception_kind(expected)
        assert str(result) == str(expected)


def test_no_operators_in_place():
    s = weft.float64(1)
    before = s
    s += 1
    assert s == 2 and before == 1
    x = weft.arange(3.0)
    total = x.sum()
    total += 1
    assert float(total) == 4.0 and x.tolist() == [0, 1, 2]


def test_a_scalar_is_a_value():
    x = weft.arange(3.0)
    first = x[0]
    x[0] = 9
    assert first == 0
    lazy = (x * 2).sum()
    x[:] = 0
    assert lazy == 24
    array = weft.asarray(lazy)
    array[...] = 1
    assert lazy == 24
    shaped = lazy.reshape(1)
    shaped[0] = 5
    assert lazy == 24


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_text_of_floats(name):
    theirs, ours = getattr(numpy, name), getattr(weft, name)
    numbers_ = [0.1, 1e-5, 1e-4, 123456.789, 1e16, 1e15, 12345678, 3.0, -0.0, 1 / 3, 1e-300, 1e300, 65504, 2.5e-7,
                float("nan"), -float("inf"), 5e-324, 1e22, 9007199254740993, 16777217.0]  # fmt: skip
    numbers_ += numpy.random.default_rng(0).normal(size=200).tolist()
    numbers_ += (10.0 ** numpy.random.default_rng(1).uniform(-20, 20, 200)).tolist()
    with numpy.errstate(all="ignore"):
        for value in numbers_:
            assert repr(ours(value)) == repr(theirs(value))
            assert str(ours(value)) == str(theirs(value))
            assert f"{ours(value):.3g}" == f"{theirs(value):.3g}"


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_text_of_complex(name):
    theirs, ours = getattr(numpy, name), getattr(weft, name)
    for value in (
        1 + 2j,
        1j,
        -1j,
        0j,
        -0.0 + 1j,
        complex(1, -0.0),
        0.1 + 1e-9j,
        complex(math.nan, 1),
        complex(1, math.inf),
        complex(-math.inf, math.nan),
        1e20 - 3j,
    ):
        assert repr(ours(value)) == repr(theirs(value))
        assert str(ours(value)) == str(theirs(value))


def test_index_and_python_types():
    assert [10, 20, 30][weft.int8(1)] == 20
    assert list(range(weft.uint16(3))) == [0, 1, 2]
    with pytest.raises(TypeError):
        [1, 2][weft.float64(1)]
    assert weft.float64(2.5).is_integer() is False
    assert weft.float64(0.5).as_integer_ratio() == (1, 2)
    assert weft.int8(3)[()] == 3
    with pytest.raises(IndexError, match="invalid index to scalar variable"):
        weft.int8(3)[0]
    assert weft.float32(1)[...].shape == ()
    assert weft.complex64(1 + 2j).real == 1 and weft.complex64(1 + 2j).imag.dtype == weft.float32


def test_numpy_sees_scalars():
    assert numpy.asarray(weft.float32(1.5)).dtype == numpy.float32
    assert numpy.add(weft.float32(1.5), numpy.float32(1)) == 2.5
    assert numpy.sin(weft.float64(0.0)) == 0


def test_methods_of_arrays():
    s = weft.float64(2.25)
    assert s.sum() == 2.25 and s.mean() == 2.25 and s.shape == () and s.ndim == 0 and s.size == 1
    assert s.astype("i4") == 2
    assert s.reshape(1, 1).shape == (1, 1)
    assert s.round(1) == 2.2
    assert s.tolist() == 2.25
    assert s.conj() == s and s.T is s
    with pytest.raises(AttributeError):
        s.nonsense


CONVERTED = [
    0,
    -7,
    2**53 + 1,
    -(2**63),
    2**63 - 1,
    0.0,
    -0.5,
    1e300,
    float("inf"),
    float("-inf"),
    float("nan"),
]


@pytest.mark.parametrize("convert", [int, float, bool, complex, round])
@pytest.mark.parametrize("value", CONVERTED)
@pytest.mark.parametrize("pending", [False, True])
def test_conversions_by_python(convert, value, pending):
    def converted(number):
        try:
            result = convert(number)
        except (ValueError, OverflowError) as error:
            return type(error), str(error)
        return type(result).__name__, repr(result)

    scalar = weft.sum(weft.array([value])) if pending else weft.asarray(value)[()]
    assert converted(scalar) == converted(numpy.asarray(value)[()])


@pytest.mark.parametrize("left", CONVERTED)
@pytest.mark.parametrize("right", CONVERTED)
def test_comparisons(left, right):
    for compare in (
        operator.lt,
        operator.le,
        operator.eq,
        operator.ne,
        operator.gt,
        operator.ge,
    ):
        ours, theirs = (weft.asarray(left)[()], right), (numpy.asarray(left)[()], right)
        assert compare(*ours) == compare(*theirs) and compare(*ours[::-1]) == compare(*theirs[::-1])
        assert type(compare(*ours)) is weft.bool_
        both = compare(ours[0], weft.asarray(right)[()])
        assert both == compare(theirs[0], numpy.asarray(right)[()]) and (True if both else False) == bool(
            both
        )


def test_order_of_complex_scalars_with_nan():
    """NumPy's scalars look at imaginary parts only where the real ones are equal, its arrays' loops always."""
    nan = float("nan")
    values = (0, 1, 2, nan, complex(1, nan), complex(nan, 1), complex(2, nan), complex(1, 2))
    kinds = ("complex64", "complex128", "float16", "float64", "int8", "int64", "bool", None)

    def made(np, kind, value):
        if kind is None:
            return value
        if (isinstance(value, complex) and kind[0] != "c") or (value != value and kind[0] in "ib"):
            return None
        return getattr(np, kind)(value)

    for left, right in itertools.product(kinds, kinds):
        if left is None and right is None:
            continue
        for x, y in itertools.product(values, values):
            for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
                pairs = [(made(np, left, x), made(np, right, y)) for np in (numpy, weft)]
                if any(number is None for number in pairs[0]):
                    continue
                with numpy.errstate(all="ignore"):
                    expected, result = (compare(*pair) for pair in pairs)
                assert bool(result) == bool(expected), (left, x, right, y, compare)


def test_to_order_complex_scalars_raises_nothing():
    """What is infinite, or nearly, is compared and not computed with."""
    with weft.errstate(all="raise"):
        assert not weft.complex64(math.inf) < weft.complex64(-math.inf)
        assert weft.complex128(1.7e308) <= weft.complex128(1.7e308)
        assert weft.complex64(1) < 2**70


@pytest.mark.parametrize("spec", [5, b"", None, 1e19, [[True]], slice(1)], ids=repr)
@pytest.mark.parametrize("name", ["int8", "float64", "complex64", "bool_"])
def test_formats_must_be_text(name, spec):
    for module in (numpy, weft):
        with pytest.raises(TypeError, match=r"__format__\(\) argument 1 must be str, not "):
            getattr(module, name)(1).__format__(spec)


EXTENTS = {
    "random": lambda np, n: np.random.default_rng(1).random(n),
    "integers": lambda np, n: np.random.default_rng(1).integers(5, size=n),
    "sample": lambda np, n: np.random.RandomState(1).random_sample(n),
    "randint": lambda np, n: np.random.RandomState(1).randint(0, 5, n),
    "choice": lambda np, n: np.random.RandomState(1).choice(n, n),
    "bytes": lambda np, n: np.random.RandomState(1).bytes(n),
    "resize": lambda np, n: np.resize([1, 2], n),
    "unravel_index": lambda np, n: np.unravel_index(n - 1, n),
    "sliding": lambda np, n: np.lib.stride_tricks.sliding_window_view(np.arange(6), n),
    "flat": lambda np, n: (lambda a: (a.flat.__setitem__(n, 9), a)[1])(np.arange(6)),
    "rand": lambda np, n: np.random.RandomState(1).rand(n, n),
}


@pytest.mark.parametrize("name", EXTENTS)
def test_extents_that_are_scalars(name):
    ours, theirs = (EXTENTS[name](np, np.int64(4)) for np in (weft, numpy))
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("index", ["True", "False", "np.True_", "np.array(False)", "()", "..., None"])
def test_scalars_take_truths_as_indices(index):
    ours, theirs = (eval(f"np.float64(3)[{index}]", {"np": np}) for np in (weft, numpy))
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize(
    "make", [lambda: weft.ones(3).mean(), lambda: weft.float64(1), lambda: weft.ones(3)[0]]
)
def test_float64_is_a_float_to_isinstance_and_json(make):
    x = make()
    assert isinstance(x, float) and isinstance(x, (int, float)) and not isinstance(x, (int, complex))
    assert isinstance(x, weft.float64) and isinstance(x, numbers.Real) and type(x) is weft.float64
    assert x.__class__ == weft.float64 == x.__class__ and {weft.float64: 1}[x.__class__] == 1
    assert type(x.__class__(3)) is weft.float64 and x.__class__.__name__ == "float64"
    match x:
        case float(value):
            assert value is x
    assert json.dumps({"a": [x]}) == '{"a": [1.0]}'
    assert json.dumps([x, 0.1], indent=0) == json.dumps([1.0, 0.1], indent=0)
    assert type(pickle.loads(pickle.dumps(x))) is type(copy.deepcopy(x)) is weft.float64
    assert fractions.Fraction(x) == 1 and statistics.mean([x, x]) == 1


@pytest.mark.parametrize("name", ["float64", "complex128", "float32", "int8", "bool_"])
def test_dir_has_the_names_of_numpys_scalars(name):
    names, theirs = set(dir(getattr(weft, name)(1))), set(dir(getattr(numpy, name)(1)))
    assert {each for each in theirs if not each.startswith("_")} <= names
    assert all(hasattr(getattr(weft, name)(1), each) for each in names if not each.startswith("_"))


def test_other_scalars_are_no_floats():
    assert isinstance(weft.complex128(1j), complex)
    for other in (weft.float32(1), weft.int64(1), weft.bool_(True), weft.complex64(1)):
        assert not isinstance(other, (float, int, complex))
        # Once NumPy is loaded, the class is one that stands for the type and for NumPy's.
        assert other.__class__ in (type(other), numpy.bool_)
        with pytest.raises(TypeError, match="not JSON serializable"):
            json.dumps(other)
