"""Defaults that a call leaves out are constants of the code."""

import enum

import numpy
import pytest
import weft as np


class Mode(enum.Enum):
    ADD = "add"
    LESS = "less"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


def scaled(x, by=3, *, more=0.5, twice=False, name="plain", start=None, mode=Mode.ADD, pair=(2, 1.5)):
    total = x * by + more if mode is Mode.ADD else x * by - more
    if twice:
        total *= 2
    if name == "plain":
        total += pair[0]
    if start is None:
        total += pair[1]
    return total


def literals_of(f):
    return [text.split(") -> ")[0] for text in f.signatures]


def test_values_that_are_left_out_are_told_by_the_signature():
    f = np.jit(scaled)
    assert f(2) == scaled(2)
    left = "by=3, more=0.5, twice=False, str, None, mode=<Mode.ADD: 'add'>, pair=(2, 1.5)"
    assert literals_of(f) == ["(int, " + left]
    assert f(2, 3) == scaled(2, 3) and f(2, 4) == scaled(2, 4)
    assert literals_of(f) == ["(int, " + left.replace("by=3", "int"), "(int, " + left]
    every = {"more": 1.5, "twice": True, "name": "other", "start": 3, "mode": Mode.LESS, "pair": (7, 8.5)}
    for name, value in every.items():
        for given in ({name: value}, {name: scaled.__kwdefaults__[name]}):
            assert f(5, **given) == scaled(5, **given), given
    assert f(5, 2, **every) == scaled(5, 2, **every)
    assert set(f.stats) == set(f.signatures) == set(f.inspect_ir()) and len(f.signatures) >= 7
    assert all(f"scaled{text}\n" in f.explain() for text in f.signatures)


def test_the_code_has_the_value():
    f = np.jit(scaled)
    f(2.5)
    assert "%by" not in next(iter(f.inspect_ir().values()))
    f(2.5, 3)
    assert "%by" in f.inspect_ir()[f.signatures[0]]


def test_changed_defaults_are_other_constants():
    def f(x, by=3, *, more=0.5):
        return x * by + more

    compiled = np.jit(f)
    assert compiled(2) == 6.5
    for by in (4, 4.5, True, Level.HIGH, -7):
        f.__defaults__ = (by,)
        assert compiled(2) == f(2) and type(compiled(2)) is type(f(2))
        assert compiled(2, 3) == 6.5
    f.__kwdefaults__["more"] = 8
    assert compiled(2) == f(2) == -6
    f.__kwdefaults__ = {"more": 9}
    assert compiled(2) == f(2) == -5
    f.__defaults__ = None
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'by'"):
        compiled(2)
    f.__defaults__ = (10, 20)
    assert compiled() == f() == 209
    f.__kwdefaults__ = None
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'more'"):
        compiled(2)


def test_a_callee_whose_defaults_went_away():
    def g(x, by=3, *, more=1):
        return x * by + more

    f = np.jit(lambda x: g(x))
    assert f(2) == 7
    g.__defaults__ = (5, 3)
    assert f(2) == 7
    g.__defaults__ = ()
    with pytest.raises(np.CompileError, match="missing 1 required positional argument: 'by'"):
        f(2)
    g.__defaults__ = (4,)
    assert f(2) == 9
    g.__kwdefaults__ = None
    with pytest.raises(np.CompileError, match="missing 1 required keyword-only argument: 'more'"):
        f(2)


@pytest.mark.parametrize(
    "value", [0.0, -0.0, float("nan"), float("-inf"), 1e-320, -(2**63), 2**63 - 1, 1j, 0, False]
)
def test_ends_of_numbers(value):
    def f(x, given=value):
        return given, x

    result = np.jit(f)(1)[0]
    assert type(result) is type(value) and repr(result) == repr(value)


def test_values_of_other_kinds_are_arguments_as_before():
    array = numpy.arange(4.0)

    def f(x, scalar=numpy.float32(0.1), table=array, level=Level.LOW, large=10):  # noqa: B008
        return x * scalar, table[1], level, large

    compiled = np.jit(f)
    for x in (2, 2.5, numpy.float32(3)):
        result, expected = compiled(x), f(x)
        assert [type(each) for each in result[2:]] == [type(each) for each in expected[2:]]
        assert result == expected
        assert numpy.asarray(result[0]).dtype == numpy.asarray(expected[0]).dtype
    array[1] = 77
    assert compiled(2)[1] == 77
    f.__defaults__ = (*f.__defaults__[:3], 2**70)
    with pytest.raises(OverflowError, match="'large' of f"):
        compiled(2)


def test_types_are_those_of_a_constant():
    def f(a, total=0.0, count=0):
        for x in a:
            total += x
            count += 1
        return total, count

    a = numpy.array([1.5, 2.5], numpy.float32)
    total, count = np.jit(f)(a)
    assert numpy.asarray(total).dtype == numpy.float32 and (total, count) == (4, 2)


def test_a_generator_keeps_them():
    def f(a, by=2, *, start=0.5):
        for x in a:
            start += x * by
            yield start

    a = numpy.arange(5.0)
    compiled = np.jit(f)
    assert list(compiled(a)) == list(f(a))
    assert list(compiled(a, 3)) == list(f(a, 3))
    assert list(compiled(a, start=1.5)) == list(f(a, start=1.5))


def test_arrays_that_overlap_have_a_variant_with_them():
    def f(a, b, step=1):
        for i in range(0, len(a), step):
            a[i] = b[i] + 1

    a = numpy.zeros(9)
    expected = a.copy()
    np.jit(f)(a[1:], a[:-1])
    f(expected[1:], expected[:-1])
    assert a.tolist() == expected.tolist()


def test_a_function_that_calls_itself_without_them():
    def power(x, n=5, base=1):
        return base if n == 0 else power(x, n - 1, base * x)

    assert np.jit(power)(3) == 243 == power(3)
