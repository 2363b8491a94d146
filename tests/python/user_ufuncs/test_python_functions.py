"""Python functions given to vectorize and frompyfunc, which are compiled where nobody can tell: against NumPy."""

import math

import numpy
import pytest
import weft
from comparing import assert_equal, exception_kind, outcome
from weft._ufunc import element_loops

scale, shift = 3.0, 2


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Few elements are tried, too, and weft counts from nothing."""
    monkeypatch.setattr(element_loops, "_FROM", 1)
    weft.clear_fallbacks()
    with weft.config(device="cpu"):
        yield


def reasons():
    return [row["reason"] for row in weft.fallback_report()]


def clipped(x):
    if x > 1:
        return x - 1
    return x + 1 if x < -1 else x


def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def series(x):
    total, sign = 0, 1.0
    for k in range(1, 20, 2):
        if k == 5:
            continue
        total += sign * x / k
        sign = -sign
        if total > 50.0:
            break
    return total / 3


def norm(x):
    return math.sqrt(x * x + scale) * shift


def greatest(a, b):
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


def stepped(x):
    assert x == x
    y = z = x * 0.5
    y += 1.5
    return clipped(y) / 7 if 0 < z <= 3 and not z == 2 else clipped(z) // 3


COMPILED = {
    "clipped": clipped,
    "series": series,
    "norm": norm,
    "stepped": stepped,
    "square": lambda x: x**2 - 1,
    "compare": lambda x: -1 < x <= 2 and x != 1,
    "rounded": lambda x: round(x * 0.5) + math.floor(x) - int(x),
    "least": lambda x: max(min(x * 1.0, 2.5), -1.5),
    "rest": lambda x: (x * 1.5) % 3.5,
    "two": lambda x: (x * 0.5, x > 1),
    "truth": lambda x: not x or bool(x - 1),
    "constant": lambda x: 2.5,
}
OF_INTS = {
    "collatz": collatz,
    "bits": lambda x: (x & 6 | 1) ^ (x << 3) ^ (~x >> 1),
    "powers": lambda x: x**3 - abs(x) ** shift,
    "quotients": lambda x: x // 3 + x % 5 - (-x) // 7,
    "halves": lambda x: x / 2,
}
DTYPES = ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "uint16", "uint32"]
CASES = [(name, dtype) for name in COMPILED for dtype in DTYPES] + [
    (name, dtype) for name in OF_INTS for dtype in DTYPES if "float" not in dtype
]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_compiled_functions(name, dtype):
    function = (COMPILED | OF_INTS)[name]
    x = numpy.array([[1, 2, 0, 4], [3, 7, 2, 1]], dtype)

    def run(np):
        results = np.vectorize(function)(np.asarray(x).T)
        return results if isinstance(results, tuple) else (results,)

    expected, result = outcome(run, numpy), outcome(run, weft)
    if isinstance(expected, Exception):  # as where uint8's 0 - 1 is out of its range
        assert exception_kind(result) == exception_kind(expected)
        return
    for theirs, ours in zip(expected, result, strict=True):
        assert_equal(ours, theirs)
    assert reasons() == []


@pytest.mark.parametrize("name", ["clipped", "collatz", "two"])
def test_the_compiled_loop_does_the_work(name, monkeypatch):
    found = []
    computed = element_loops._computed
    monkeypatch.setattr(element_loops, "_computed", lambda *a: found.append(computed(*a)) or found[-1])
    weft.vectorize((COMPILED | OF_INTS)[name])(weft.arange(5))
    assert len(found) == 1 and isinstance(found[0], tuple)


@pytest.mark.parametrize("given", ["bool", "complex128", "uint64", "U3", "object"])
def test_other_types(given):
    x = numpy.array([1, 0, 3]).astype(given)
    for function in (lambda a: a, lambda a: a == a, lambda a: a * 2):
        expected = numpy.vectorize(function)(x)
        assert_equal(numpy.asarray(weft.vectorize(function)(weft.asarray(x))), expected)


@pytest.mark.parametrize(
    "options", [{"otypes": [t]} for t in ("f", "d", "l", "b", "?", "F", "O")] + [{"cache": True}]
)
def test_dtypes_of_results(options):
    for function in (clipped, lambda x: x > 1, lambda x: x * 1.75, lambda x: int(x) * 3):
        for values in ([1.5, 2.5, -3.0], [3, 2, 1], [1e30, 0.0, 0.5], [200, 300, 400]):

            def run(np, function=function, values=values):
                return np.vectorize(function, **options)(np.array(values))

            expected, result = outcome(run, numpy), outcome(run, weft)
            if isinstance(expected, Exception):
                assert exception_kind(result) == exception_kind(expected)
            else:
                assert_equal(numpy.asarray(result), expected)


# ---- where it could be told ----


def test_effects_happen_as_often_as_in_numpy():
    for cache in (False, True):
        calls = {numpy: [], weft: []}
        for np, seen in calls.items():

            def noting(x, seen=seen):
                seen.append(float(x))
                return x

            np.vectorize(noting, cache=cache)(np.arange(3.0))
            np.vectorize(lambda x: noting(x) * 2.0, cache=cache)(np.arange(3.0))
        assert calls[weft] == calls[numpy]
    assert sum(row["calls"] for row in weft.fallback_report()) == 4


def test_the_function_gets_a_scalar_for_the_dtypes_and_numbers_then():
    seen = []
    weft.vectorize(lambda x: seen.append(type(x)) or x)(weft.arange(2, dtype="int8"))
    assert seen == [weft.int8, int, int]


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (lambda n: n * n, [2, 2**62]),
        (lambda n: n * n // n, [2, 2**62]),
        (lambda n: n + n - n, [2, 2**63 - 1]),
        (lambda n: -n + (n + 1), [2, -(2**63)]),
        (lambda n: abs(n) % 10, [2, -(2**63)]),
        (lambda n: n - 1 + 1, [2, -(2**63)]),
        (lambda n: (n << 40) >> 40, [2, 2**40]),
        (lambda n: n**20 % 7, [2, 1000]),
        (lambda n: n // -1 % 10, [2, -(2**63)]),
        (lambda n: n / 3, [2, 2**62 + 1]),
        (lambda n: n > 9007199254740992.0, [2, 2**53 + 1]),
        (lambda x: int(x) % 10, [2.0, 1e25]),
        (lambda x: round(x) % 10, [2.0, 1e25]),
    ],
)
def test_ints_grow(function, values):
    def run(np):
        return np.vectorize(function)(np.array(values))

    expected, result = outcome(run, numpy), outcome(run, weft)
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected)
    else:
        assert_equal(result, expected)
    assert any("64 bits" in reason for reason in reasons())


def refuse(x):
    if x > 2:
        raise KeyError("too much")
    return x


def unbound(x):
    if x < 2:
        y = x
    return y


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (lambda x: 1 / x, [1.0, 0.0]),
        (lambda n: 7 % n, [1, 0]),
        (lambda x: 7.0 // x, [1.0, 0.0]),
        (lambda x: x**-1.0, [1.0, 0.0]),
        (lambda x: x**0.5, [1.0, -8.0]),
        (lambda x: x**2, [1.0, 1e200]),
        (lambda x: math.sqrt(x), [1.0, -1.0]),
        (lambda x: math.sqrt(x) > 1, [1.0, -1.0]),
        (lambda x: math.exp(x), [1.0, 1000.0]),
        (lambda x: math.sin(x), [1.0, math.inf]),
        (lambda x: math.log(x), [1.0, 0.0]),
        (lambda x: math.fmod(x, 0.0), [math.nan, 1.0]),
        (lambda x: int(x), [1.0, math.nan]),
        (lambda x: math.floor(x), [1.0, math.inf]),
        (refuse, [1, 3]),
        (unbound, [1, 3]),
        (lambda x: {1: 2}[x], [1, 3]),
        (lambda x, y: x, [1, 3]),
    ],
)
def test_errors(function, values):
    expected, result = (
        outcome(lambda np: np.vectorize(function)(np.array(values)), np) for np in (numpy, weft)
    )
    assert isinstance(expected, Exception)
    assert exception_kind(result) == exception_kind(expected)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 1 if x < 2 else 0.5,  # the first result is an int, and the others are cut
        lambda x: 0.5 if x < 2 else 2**53 + 1,
        lambda x: -max(0, x),  # of which 0 is an int, with no sign
        lambda x: -(x if x > 5 else 0),
        lambda x: "few" if x < 2 else "many",
        lambda x: None if x < 2 else 1,
        lambda x: x if x < 2 else True,
        lambda x: (x > 1) + (x > 2),
        lambda x: (x, 1) if x < 9 else x,
        lambda x: x.real,
        lambda x: [x, x][0],
        lambda x: isinstance(x, float),
    ],
)
def test_types_that_hang_on_values(function):
    for values in ([3, 1, 2], [1, 2, 3], [-1.0, 2.0, 3.0], [3.5, -1.0, 0.0]):
        expected, result = (
            outcome(lambda np, x: np.vectorize(function)(x), np, values) for np in (numpy, weft)
        )
        if isinstance(expected, Exception):
            assert exception_kind(result) == exception_kind(expected)
            continue
        for theirs, ours in zip(*(x if isinstance(x, tuple) else (x,) for x in (expected, result))):
            assert_equal(numpy.asarray(ours), theirs)
            if theirs.dtype == "float64":
                assert numpy.signbit(theirs).tolist() == weft.signbit(ours).tolist()


def test_what_a_function_reads_may_change(monkeypatch):
    def run():
        return weft.vectorize(norm)(weft.array([1.0, 2.0])).tolist()

    def expected():
        return numpy.vectorize(norm)(numpy.array([1.0, 2.0])).tolist()

    for value in (3.0, 4.0, 5, True, numpy.float64(2.0), 0.5):
        monkeypatch.setitem(globals(), "scale", value)
        assert run() == expected()
    monkeypatch.setitem(globals(), "clipped", lambda x: x * 100)
    assert weft.vectorize(stepped)([2.0]).tolist() == numpy.vectorize(stepped)([2.0]).tolist()


def test_closures_of_one_code():
    def make(factor):
        return lambda x: x * factor

    for factor in (2.0, 3, True, 0.25, 2**70, 1j):
        expected = numpy.vectorize(make(factor))(numpy.arange(3.0))
        assert_equal(weft.vectorize(make(factor))(weft.arange(3.0)), expected)


def test_functions_whose_code_was_replaced():
    def f(x):
        return x * 2.0

    assert weft.vectorize(f)([1.0]).tolist() == [2.0]
    f.__code__ = (lambda x: x * 5.0).__code__
    assert weft.vectorize(f)([1.0]).tolist() == [5.0]


def test_arguments_by_name_defaults_and_excluded_ones():
    def polynomial(x, a, b=2, *, scale=1):
        return (a * x + b) * scale

    def plain(x, a, b=2):
        return a * x + b

    for function in (polynomial, plain):
        for options, args, kwargs in (
            ({}, ([1, 2], 3), {}),
            ({}, ([1, 2],), {"a": [[3], [4]]}),
            ({}, ([1, 2],), {"b": [5, 6], "a": 0.5}),
            ({"excluded": [1]}, ([1, 2], 0.5), {}),
            ({"excluded": ["b"]}, ([1, 2], 2), {"b": 7}),
            ({"excluded": [1]}, ([1, 2], numpy.array(3)), {}),
        ):
            expected = numpy.vectorize(function, **options)(*args, **kwargs)
            assert_equal(weft.vectorize(function, **options)(*args, **kwargs), expected)


def test_no_elements():
    empty = weft.zeros((0, 3))
    with pytest.raises(ValueError, match="size 0"):
        weft.vectorize(clipped)(empty)
    result = weft.vectorize(clipped, otypes=["f"])(empty)
    assert result.shape == (0, 3) and result.dtype == "float32"
    assert weft.frompyfunc(clipped, 1, 1)(empty).shape == (0, 3)


def test_reported_errors_of_floats_are_reported():
    logarithm = weft.vectorize(lambda x: weft.log(x))
    x = weft.array([1.0, 0.0])
    assert logarithm(x).tolist() == [0.0, -math.inf] and reasons() == []
    with weft.errstate(divide="raise"), pytest.raises(FloatingPointError):
        logarithm(x)


def test_shapes_and_layouts():
    x = numpy.arange(24.0).reshape(2, 3, 4)
    for one, other in ((x.T, 2.0), (x[:, ::-1], x[0]), (x[..., :1], x[:1]), (x[0, 0, 0], x)):
        expected = numpy.vectorize(lambda a, b: a * b - 0.5)(one, other)
        result = weft.vectorize(lambda a, b: a * b - 0.5)(weft.asarray(one), weft.asarray(other))
        assert_equal(result, expected)
    assert reasons() == []


# ---- what is said ----


def test_few_elements_are_not_tried(monkeypatch):
    monkeypatch.setattr(element_loops, "_FROM", 10)

    def f(x):
        return str(x)

    weft.vectorize(f)(weft.arange(4))
    weft.vectorize(f)(weft.arange(4))
    assert reasons() == [] or all("dtype" in reason for reason in reasons())
    weft.vectorize(f)(weft.arange(4))
    assert any("str is left to Python" in reason for reason in reasons())


def test_the_reason_has_the_line_and_the_caller():
    def f(x):
        y = x
        return y.conjugate()

    weft.vectorize(f)(weft.arange(4))
    (row,) = [row for row in weft.fallback_report() if row["function"] == "vectorize(f)"]
    assert row["reason"] == f"line {f.__code__.co_firstlineno + 2}: attributes of values are left to Python"
    assert row["line"].startswith(__file__) and row["calls"] == 1


def test_what_is_no_plain_function_is_said():
    assert weft.vectorize(math.sqrt)([4.0, 9.0]).tolist() == [2.0, 3.0]
    assert reasons() == ["it is no plain function of arguments by their places"]


def test_a_warning_where_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(weft.config, "fallback", "warn")
    with pytest.warns(RuntimeWarning, match="calls Python for each element"):
        weft.vectorize(lambda x: x.real)(weft.arange(4))
    weft.vectorize(lambda x: x + 1.25)(weft.arange(4))
    monkeypatch.setattr(weft.config, "fallback", "error")  # which is of what NumPy does
    assert weft.vectorize(lambda x: x.real)(weft.arange(2)).tolist() == [0, 1]


def test_loops_that_raise_are_given_up():
    def f(x):
        return 1.0 / x if x < 2 else x * x // x

    inverse = weft.vectorize(f)
    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            inverse([1.0, 0.0])
    assert any("raised before" in reason for reason in reasons())


def test_python_calls_where_functions_stay_pythons(monkeypatch):
    monkeypatch.setenv("WEFT_JIT", "0")
    assert weft.vectorize(clipped)([1.0, 2.0]).tolist() == [1.0, 1.0]
    assert reasons() == []


# ---- frompyfunc ----


@pytest.mark.parametrize("name", [*COMPILED, *OF_INTS])
def test_frompyfunc(name):
    function = (COMPILED | OF_INTS)[name]
    outputs = 2 if name == "two" else 1
    for x in (numpy.array([[1, 2, 0], [5, 7, 2]]), numpy.array([1.5, 2.0, 0.25])):
        if name in OF_INTS and x.dtype == "float64":
            continue
        expected = numpy.frompyfunc(function, 1, outputs)(x)
        result = weft.frompyfunc(function, 1, outputs)(weft.asarray(x))
        for theirs, ours in zip(*(r if outputs == 2 else (r,) for r in (expected, result)), strict=True):
            assert ours.dtype == theirs.dtype == object
            assert ours.shape == theirs.shape
            assert [(type(one), one) for one in ours.ravel().tolist()] == [
                (type(one), one) for one in theirs.ravel().tolist()
            ]


def test_frompyfunc_of_many_elements_gives_the_same_objects():
    x = weft.arange(20_000) - 10_000
    for function in (lambda v: v * 2 + 1, lambda v: v / 4, lambda v: v > 3, lambda v: max(0.0, v)):
        ours, theirs = weft.frompyfunc(function, 1, 1)(x), numpy.frompyfunc(function, 1, 1)(numpy.asarray(x))
        assert ours.tolist() == theirs.tolist()
        assert [type(one) for one in ours.tolist()] == [type(one) for one in theirs.tolist()]


def test_frompyfunc_of_mixed_results_and_into_arrays():
    relu = weft.frompyfunc(lambda x: max(0, x), 1, 1)
    assert relu(weft.array([-1.0, -2.0])).tolist() == [0, 0]
    assert [type(one) for one in relu(weft.array([-1.0, 2.0])).tolist()] == [int, float]
    out = weft.zeros(3)
    twice = weft.frompyfunc(lambda x: x * 2, 1, 1)
    with pytest.raises(TypeError, match="same_kind"):
        twice(weft.arange(3), out=out)
    assert twice(weft.arange(3), out=out, casting="unsafe") is out
    assert out.tolist() == [0.0, 2.0, 4.0]


# ---- rows ----


def squares(row):
    total = 0.0
    for value in row:
        total += value * value
    return total


def drops(row, least=0.5):
    count = 0
    for i in range(1, len(row)):
        if row[i] < row[i - 1] - least:
            count += 1
    return count


ROWS = {
    "squares": squares,
    "drops": drops,
    "ratio": lambda row: row[-1] / row[0],
    "size": lambda row: row.size * 0.5,
    "rising": lambda row: row[0] < row[1],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_apply_along_axis(name, axis):
    x = numpy.array([[[1.5, 2.0], [0.5, 4.0]], [[3.0, 0.25], [8.0, 1.0]], [[2.0, 2.0], [1.0, 0.5]]])
    expected = numpy.apply_along_axis(ROWS[name], axis, x)
    assert_equal(weft.apply_along_axis(ROWS[name], axis, weft.asarray(x)), expected)
    assert reasons() == []
    assert_equal(
        weft.apply_along_axis(drops, axis, weft.asarray(x), -1.5),
        numpy.apply_along_axis(drops, axis, x, -1.5),
    )
    assert reasons() == []


def doubled(row):
    row[0] *= 2.0
    return row[0]


@pytest.mark.parametrize(
    "function",
    [
        doubled,  # which writes into the array
        lambda row: row * 2,
        lambda row: row.sum(),
        lambda row: row[:1][0],
        lambda row: 1 if row[0] < 2 else 0.5,
        lambda row: row[2],
        lambda row: (row[0], row[1]),
        lambda row: next(iter(row)),
    ],
)
def test_rows_that_are_left_to_python(function):
    for dtype in ("float64", "float32", "int64", "int8"):
        x = numpy.array([[1, 4], [100, 2], [3, 3]], dtype)
        y = weft.array(x)
        expected, result = (
            outcome(lambda np, a: np.apply_along_axis(function, 1, a), np, a)
            for np, a in ((numpy, x), (weft, y))
        )
        if isinstance(expected, Exception):
            assert exception_kind(result) == exception_kind(expected)
        else:
            assert_equal(result, expected)
        assert y.tolist() == x.tolist()


def test_rows_whose_loop_raises_are_pythons():
    x = numpy.array([[1.0, 2.0], [0.0, 3.0]])
    result = weft.apply_along_axis(lambda row: row[1] / row[0], 1, weft.asarray(x))
    assert result.tolist() == [2.0, math.inf]  # scalars do not raise
    assert any("ZeroDivisionError" in reason for reason in reasons())


# ---- functions of whole arrays, which are called once ----


def test_fromfunction_calls_once():
    shapes = []

    def f(i, j):
        shapes.append((i.shape, str(j.dtype)))
        return i * 0.5 + j

    for dtype in (float, "int32"):
        expected, result = (np.fromfunction(f, (30, 20), dtype=dtype) for np in (numpy, weft))
        assert_equal(result, expected)
    assert shapes[0::2] == shapes[1::2] and len(shapes) == 4


def test_piecewise_calls_functions_as_numpy_does():
    for values in ([-1.5, 0.0, 2.0, 3.5], [-1, 0, 2, 3]):
        calls = {numpy: [], weft: []}
        results = {}
        for np, seen in calls.items():
            x = np.array(values)

            def noting(v, factor=2, seen=seen):
                seen.append(v.tolist())
                return v * factor

            results[np] = np.piecewise(x, [x < 0, x > 2], [noting, lambda v: v / 2, 7])
        assert_equal(results[weft], results[numpy])
        assert calls[weft] == calls[numpy]


def test_functions_of_arrays_are_called_and_counted():
    inner = weft.vectorize(lambda a, b: (a * b).sum(), signature="(n),(n)->()")
    a = weft.arange(6.0).reshape(2, 3)
    assert inner(a, a).tolist() == [5.0, 50.0]
    assert any("weft.guvectorize" in reason for reason in reasons())
