"""np.errstate: what is reported, against NumPy; that nothing is where nobody asked."""

import contextvars
import itertools
import threading
import warnings

import numpy
import pytest
import weft as np
from weft import _core

KINDS = ["divide", "over", "under", "invalid"]
FLOATS = ["float16", "float32", "float64"]


class Log:
    """Collects what is written as (kind, name)."""

    def __init__(self):
        self.seen = []

    def write(self, text):
        kind, name = text.strip().removeprefix("Warning: ").split(" encountered in ")
        self.seen.append((kind, name))


def reports(module, function, *arguments):
    """What `function` reports, and its result."""
    log = Log()
    with module.errstate(all="log", call=log):
        result = function(*arguments)
    return log.seen, result


def specials(dtype):
    info = numpy.finfo(dtype)
    values = [
        0.0,
        -0.0,
        1,
        -1,
        2,
        -3.5,
        0.5,
        info.max,
        -info.max,
        info.tiny,
        numpy.inf,
        -numpy.inf,
        numpy.nan,
    ]
    values += [
        10,
        -10,
        800,
        -800,
        -745,
        1e-3,
        -1074,
        -1073.5,
        3 * info.smallest_subnormal,
        -info.smallest_subnormal,
    ]
    with numpy.errstate(all="ignore"):
        return numpy.array(values, dtype)


# Where NumPy reports what its intermediate results do and the result does not show, or what its mathematical
# library does for tiny arguments that it gives back: of these operations the kinds are not compared.
TINY_ARE_GIVEN_BACK = "sin tan arcsin arctan sinh tanh expm1 log1p arcsinh arctanh cbrt sqrt".split()
INTERMEDIATE = {
    "logaddexp": KINDS,
    "logaddexp2": KINDS,
    "floor_divide": ["over", "under", "invalid"],
    "divmod": ["over", "under", "invalid"],
    "spacing": ["over", "under", "invalid"],
    "heaviside": ["invalid"],
    **{key: ["under"] for key in TINY_ARE_GIVEN_BACK},
}
UFUNCS = sorted(
    name
    for name, ufunc in _core._ufuncs.items()
    if ufunc._is_numpy and hasattr(numpy, name) and isinstance(getattr(numpy, name), numpy.ufunc)
)
TEXTS = dict(zip(["divide by zero", "overflow", "underflow", "invalid value"], KINDS))


def kinds_of(seen, name):
    left_out = INTERMEDIATE.get(getattr(numpy, name).__name__, [])
    return {TEXTS[kind] for kind, _ in seen if TEXTS[kind] not in left_out}


def differs_as_known(name, dtype, x, got, expected):
    """Where NumPy's vector code reports what is not, or not what is."""
    name = getattr(numpy, name).__name__
    if name in ("power", "float_power"):
        # Tiny powers that are exact, and those by infinity, which are neither poles nor overflow.
        exact = (name == "power" and x[1] == 1) or abs(x[0]) == 2
        return (expected - got <= {"under"} and exact) or (got == set() and numpy.isinf(x[1]))
    if name in ("cos", "exp") and dtype == "float32":
        return abs(x[0]) <= numpy.finfo(dtype).tiny and expected == {"under"}
    if dtype == "float16":  # computed in float32, where they are exact or not tiny
        return name in ("arctan2", "nextafter", "ldexp") and got ^ expected == {"under"}
    return False


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc_reports_what_numpy_reports(name, dtype):
    ufunc, reference = getattr(np, name), getattr(numpy, name)
    values = specials(dtype)
    if reference.nin == 1:
        arguments = [(x,) for x in values]
    elif name == "ldexp":
        arguments = list(itertools.product(values, numpy.array([0, 1, -1, -1080, 2000, -30], "int32")))
    elif reference.nin == 2:
        arguments = list(itertools.product(values, values))
    else:
        arguments = [(x, y, y) for x, y in itertools.product(values, values)]
    try:
        with numpy.errstate(all="ignore"):
            reference(*[numpy.array([x]) for x in arguments[0]])
    except TypeError:
        pytest.skip("no loop for floats")
    # The reports of one call are about all of its elements: pairs are compared one by one where they differ.
    wrong = []
    groups = [arguments] if len(arguments) < 40 else [arguments[k::23] for k in range(23)]
    for group in groups:
        stacked = [numpy.stack(column) for column in zip(*group)]
        expected = kinds_of(reports(numpy, reference, *stacked)[0], name)
        given = [np.asarray(column) for column in stacked]
        got = kinds_of(reports(np, ufunc, *given)[0], name)
        if got == expected:
            continue
        for each in group:
            one = [numpy.array([x]) for x in each]
            expected = kinds_of(reports(numpy, reference, *one)[0], name)
            got = kinds_of(reports(np, ufunc, *map(np.asarray, one))[0], name)
            if got != expected and not differs_as_known(name, dtype, each, got, expected):
                wrong.append((each, sorted(got), sorted(expected)))
    assert not wrong


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_ufuncs_of_integers(name, dtype):
    ufunc, reference = getattr(np, name), getattr(numpy, name)
    info = numpy.iinfo(dtype)
    values = numpy.array([0, 1, info.min, info.max, 7, info.max if info.min == 0 else -1], dtype)
    if name in ("power", "pow", "float_power", "left_shift", "right_shift"):
        values = numpy.abs(values[[0, 1, 4]])
    for each in itertools.product(values, repeat=reference.nin):
        one = [numpy.array([x]) for x in each]
        try:
            expected = kinds_of(reports(numpy, reference, *one)[0], name)
        except TypeError:
            pytest.skip("no loop for integers")
        if name == "reciprocal":
            expected.discard("invalid")  # of the cast that its loop does
        got = kinds_of(reports(np, ufunc, *map(np.asarray, one))[0], name)
        if name == "nextafter":  # in float16, see above
            got, expected = got - {"under"}, expected - {"under"}
        assert got == expected, each


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "divide", "reciprocal", "square", "absolute"]
)
def test_complex_arithmetic(name, dtype):
    ufunc, reference = getattr(np, name), getattr(numpy, name)
    largest = numpy.finfo(dtype).max
    parts = [0.0, 1, -2, largest, numpy.inf, numpy.nan]
    values = numpy.array([complex(x, y) for x in parts for y in parts], dtype)
    finite = values[numpy.isfinite(values)]
    for each in itertools.product(finite, repeat=reference.nin):
        one = [numpy.array([x]) for x in each]
        seen, values = reports(numpy, reference, *one)
        expected = kinds_of(seen, name) - {"under"}
        seen, result = reports(np, ufunc, *map(np.asarray, one))
        if name in ("divide", "reciprocal") and largest in numpy.abs([one[-1].real, one[-1].imag]):
            continue  # intermediate results
        if name == "absolute":  # NumPy's vector code does not tell
            expected = {"over"} if numpy.isinf(values[0]) else set()
        if (numpy.isnan(values) == numpy.isnan(result)).all():  # inf - inf, with fma or without
            assert kinds_of(seen, name) == expected, each


CASTS = [
    "float16",
    "float32",
    "float64",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
]


@pytest.mark.parametrize("to", [*CASTS, "bool", "complex64"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "complex128"])
def test_casts(dtype, to):
    values = [0, 1, -1, 300, -300, 40000, 1e5, 3e9, -3e9, 1e10, 1e18, -1e18]
    if dtype != "int64":
        values += [0.5, -0.7, 1e19, 1e20, 1e300, 1e-300, 1e-40, 1e-7, -numpy.inf, numpy.nan]
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        values = numpy.array(values).astype(dtype)
        warnings.simplefilter("ignore")
        for x in values:
            x = numpy.array([x, x])
            expected, _ = reports(numpy, x.astype, to)
            given = np.asarray(x)
            assert reports(np, given.astype, to)[0] == expected, x[0]
            stored = np.zeros(2, to)
            if dtype != "complex128" or to == "complex64":
                assert reports(np, stored.__setitem__, slice(None), given)[0] == expected, x[0]


EXPRESSIONS = [
    # operators on scalars have names of their own, and integers of theirs overflow
    "np.float64(1) / 0",
    "np.float64(0) / np.float64(0)",
    "np.float64(1) // 0",
    "np.float64(1) % 0",
    "divmod(np.float64(1), 0)",
    "np.float64(0) ** -1",
    "np.float64(-4.0) ** 0.5",
    "1e300 * np.float64(1e300)",
    "np.float64(1e-300) * 1e-300",
    "np.float32(1e38) * 10",
    "np.float16(60000) * 2",
    "np.int64(5) / 0",
    "np.int8(127) + np.int8(1)",
    "np.int64(2**63 - 1) + 1",
    "-np.int8(-128)",
    "-np.uint8(1)",
    "abs(np.int8(-128))",
    "np.int8(100) * np.int8(2)",
    "np.uint8(1) - np.uint8(2)",
    "np.int8(-128) // np.int8(-1)",
    "np.int8(1) // np.int8(0)",
    "np.int8(1) % np.int8(0)",
    "divmod(np.int8(-128), np.int8(-1))",
    "np.int8(100) ** np.int8(2)",
    "np.int8(1) + np.int8(1)",
    "np.complex128(1) / 0",
    # arrays
    "np.array(1.0) / 0",
    "np.array([1.0, 2.0]) / 0",
    "np.array([1, 2]) // 0",
    "np.array([1, 2]) % 0",
    "np.array([0.0]) ** -1",
    "np.array([-4.0]) ** 0.5",
    "np.array([1e200]) ** 2",
    "np.array([1], 'f') * 1e300",
    "np.array([1.0, np.nan]) < 1",
    "np.maximum.reduce(np.array([np.nan, 1]))",
    "np.sort(np.array([np.nan, 1]))",
    "np.nan_to_num(np.array([np.nan, np.inf]))",
    "np.sign(np.array([np.nan]))",
    "np.square(np.float64(1e200))",
    # in place, out=, where=, dtype=
    "np.array([1.0]).__itruediv__(0)",
    "np.array([1]).__ifloordiv__(0)",
    "np.multiply(np.array([1e30]), np.array([1e30]), out=np.empty(1, 'f'))",
    "np.add(np.array([np.nan]), 1, out=np.empty(1, 'i8'), casting='unsafe')",
    "np.add(np.array([1e300]), np.array([1e300]), dtype='f')",
    "np.divide(np.array([1.0, 2]), np.array([0.0, 1]), where=np.array([False, True]), out=np.zeros(2))",
    "np.divide(np.array([1.0, 2]), np.array([0.0, 1]), where=np.array([True, False]), out=np.zeros(2))",
    # reductions, running results
    "np.array([1e308, 1e308]).sum()",
    "np.add.reduce(np.array([1e308, 1e308]))",
    "np.array([[1e308, 1e308], [1, np.inf]]).sum(axis=1)",
    "np.array([np.inf, 1.0]).sum()",
    "np.array([np.inf, -np.inf]).sum()",
    "np.array([np.nan, 1.0]).sum()",
    "np.array([1e308, 1e308]).sum(where=np.array([True, False]))",
    "np.array([1e308]).sum(initial=1e308)",
    "np.prod(np.array([1e200, 1e200]))",
    "np.prod(np.array([1e-200, 1e-200]))",
    "np.prod(np.array([0.0, 1e-200]))",
    "np.array([60000, 60000], 'e').sum()",
    "np.add.accumulate(np.array([1e308, 1e308]))",
    "np.cumsum(np.array([np.inf, -np.inf]))",
    "np.cumsum(np.array([np.nan, 1.0]))",
    "np.cumprod(np.array([1e200, 1e200]))",
    "np.add.reduceat(np.array([1e308, 1e308]), [0])",
    "np.var(np.array([np.inf, 1]))",
    "np.std(np.array([1e200, -1e200]))",
    "np.mean(np.array([1e308, 1e308]))",
    "np.divide.at(np.array([1.0]), [0], 0)",
    # products
    "np.matmul(np.array([1e300]), np.array([1e300]))",
    "np.array([[1e300]]) @ np.array([[1e300, 1]])",
    "np.matmul(np.array([np.inf, 1]), np.array([0.0, 1]))",
    "np.array([[np.nan, 1], [1e300, 1]]) @ np.array([1e300, 1])",
    "np.array([[np.nan, 1], [1, 1]]) @ np.array([1.0, 1])",
    "np.dot(np.array([1e300]), np.array([1e300]))",
    "np.dot(np.array([[1e300]]), np.array([[1e300]]))",
    "np.inner(np.array([1e300]), np.array([1e300]))",
    "np.vecdot(np.array([1e300]), np.array([1e300]))",
    "np.matvec(np.array([[1e300]]), np.array([1e300]))",
    "np.tensordot(np.array([1e300]), np.array([1e300]), 1)",
    "np.einsum('i,i', np.array([1e300]), np.array([1e300]))",
    "np.outer(np.array([1e300]), np.array([1e300]))",
    # functions that are put together
    "np.diff(np.array([1e308, -1e308]))",
    "np.nanmean(np.array([np.nan, 1]))",
    "np.nansum(np.array([np.nan, 1]))",
    "np.isclose(np.array([np.inf]), np.array([np.inf]))",
    "np.median(np.array([np.nan, 1]))",
    "np.angle(np.array([0j]))",
    "np.hypot(np.array([1e308]), np.array([1e308]))",
    "np.sinc(np.array([0.0]))",
    "np.clip(np.array([np.nan]), 0, 1)",
    "np.float32(1e300)",
    "np.full(3, 1e300, 'f')",
    "np.array([1e300], 'f')",
    "np.zeros(1, 'f').fill(1e300)",
    "np.zeros(1, 'f').__setitem__(0, 1e300)",
    "np.concatenate([np.array([1e300])], dtype='f', casting='unsafe')",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_reports_and_their_names(expression):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, _ = reports(numpy, lambda: eval(expression, {"np": numpy}))
        got, _ = reports(np, lambda: eval(expression, {"np": np}))
    if "dtype='f')" in expression:  # NumPy says it of each operand
        got, expected = set(got), set(expected)
    assert got == expected


def test_errstate_raise():
    x = np.arange(4.0)
    with np.errstate(divide="raise"):
        with pytest.raises(FloatingPointError, match=r"^divide by zero encountered in divide$"):
            1 / x
        assert np.isnan((0 * np.array([np.inf]))[0])  # what is invalid is not asked for
    with (
        np.errstate(invalid="raise"),
        pytest.raises(FloatingPointError, match=r"^invalid value encountered in log$"),
    ):
        np.log(x - 1)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match=r"^overflow encountered in exp$"):
        np.exp(x * 1000)
    assert np.isinf(1 / x)[0]


def test_errstate_raise_writes_in_place_first_as_numpy_does():
    for module in numpy, np:
        x = module.array([1.0, 2.0])
        with module.errstate(all="raise"), pytest.raises(FloatingPointError):
            x /= 0
        assert x.tolist() == [numpy.inf, numpy.inf]


@pytest.mark.parametrize("size", [3, 5000, 200_000])
def test_one_element_of_many_is_found(size):
    x = np.ones(size)
    with np.errstate(all="raise"):
        np.log(x)
        x[size // 2] = -1
        with pytest.raises(FloatingPointError, match="invalid value encountered in log"):
            np.log(x)


def test_nothing_is_reported_by_default_and_after():
    assert np.geterr() == dict.fromkeys(KINDS, "ignore")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.divide(np.zeros(3), 0)
        with np.errstate(all="ignore"):
            np.divide(np.zeros(3), 0)
        with np.errstate(all="raise"):
            pass
        np.float64(1) / 0


def test_work_is_done_at_the_call_only_under_a_mode_that_reports():
    x = np.arange(100_000.0)
    assert not _core._evaluated(x + 1)
    with np.errstate(all="ignore"):
        assert not _core._evaluated(x + 1)
    with np.errstate(over="raise"):
        assert _core._evaluated(x + 1)
    assert not _core._evaluated(x + 1)


def test_warnings_point_at_the_line_that_called():
    x = np.array([1.0, 0.0])
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
        warnings.simplefilter("always")
        1 / x
        np.mean(np.array([1e308, 1e308]))
        x /= 0
    assert [str(each.message) for each in caught] == [
        "divide by zero encountered in divide",
        "overflow encountered in reduce",
        "divide by zero encountered in divide",
        "invalid value encountered in divide",
    ]
    assert {each.filename for each in caught} == {__file__}
    assert {each.category for each in caught} == {RuntimeWarning}
    first = caught[0].lineno
    assert [each.lineno - first for each in caught] == [0, 1, 2, 2]


def test_modes(capsys):
    calls = []
    with np.errstate(all="call", call=lambda kind, flag: calls.append((kind, flag))):
        np.divmod(np.array([1.0]), 0)
    assert calls == [("divide by zero", 9), ("invalid value", 9)]
    with np.errstate(all="print"):
        np.divmod(np.array([1.0]), 0)
    assert capsys.readouterr().err == (
        "Warning: divide by zero encountered in divmod\nWarning: invalid value encountered in divmod\n"
    )
    for mode, message in [
        ("call", "python callback specified for divide by zero (in  divide) but no function found."),
        ("log", "log specified for divide by zero (in divide) but no object with write method found."),
    ]:
        for module in numpy, np:
            with module.errstate(all=mode), pytest.raises(NameError) as error:
                module.divide(module.array([1.0]), 0)
            assert str(error.value) == message


def test_seterr_and_seterrcall():
    def both(module):
        def run():
            results = [module.seterr(divide="warn", all="raise")["over"] != "raise", module.geterr()]
            results += [module.seterr(under="ignore"), module.geterr(), module.geterrcall()]
            log = Log()
            results += [module.seterrcall(log), module.geterrcall() is log, module.seterrcall(None) is log]
            return results

        return contextvars.Context().run(run)

    assert both(np)[:2] == both(numpy)[:2]
    assert both(np)[2:] == both(numpy)[2:]
    assert np.geterr()["over"] == "ignore"


@pytest.mark.parametrize(
    "code",
    [
        "m.seterr(all='foo')",
        "m.seterr(over=1)",
        "m.errstate(all='x').__enter__()",
        "m.errstate(foo=1)",
        "m.seterrcall(5)",
        "m.errstate(call=5).__enter__()",
    ],
)
def test_refusals(code):
    errors = []
    for module in numpy, np:
        with pytest.raises((TypeError, ValueError)) as error:
            eval(code, {"m": module})
        errors.append((error.type, str(error.value)))
    assert errors[0] == errors[1]


def test_errstate_is_entered_once_and_decorates():
    state = np.errstate(all="raise")
    with state, pytest.raises(TypeError, match="twice"), state:
        pass

    @np.errstate(divide="raise")
    def divide(x):
        """Divides."""
        if x > 0:
            divide(x - 1)
        return np.array([1.0]) / x

    assert (divide.__name__, divide.__doc__) == ("divide", "Divides.")
    for _ in range(2):
        with pytest.raises(FloatingPointError):
            divide(2)
    assert np.geterr()["divide"] == "ignore"


def test_each_thread_and_context_has_its_own():
    seen = []
    with np.errstate(all="raise"):
        thread = threading.Thread(
            target=lambda: seen.append((np.geterr()["over"], (np.ones(3) / 0).tolist()))
        )
        thread.start()
        thread.join()
        copied = contextvars.copy_context()
    assert seen == [("ignore", [numpy.inf] * 3)]
    assert copied.run(np.geterr)["over"] == "raise"
    with pytest.raises(FloatingPointError):
        copied.run(lambda: np.ones(3) / 0)
    np.ones(3) / 0


def test_the_engine_stops_watching_when_the_last_context_is_gone():
    before = _core._watch_float_errors(0)
    context = contextvars.Context()
    context.run(np.seterr, all="warn")
    assert _core._watch_float_errors(0) == before + 1
    with pytest.warns(RuntimeWarning):
        context.run(lambda: np.float64(1) / 0)
    del context
    assert _core._watch_float_errors(0) == before
    with np.errstate(all="warn"):
        assert _core._watch_float_errors(0) == before + 1
    assert _core._watch_float_errors(0) == before
