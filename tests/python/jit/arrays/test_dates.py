"""NumPy's datetime64 and timedelta64 in compiled functions: what NumPy computes, of values and of arrays."""

import itertools
import operator
import subprocess
import sys
import warnings

import numpy as np
import pytest
import weft
from weft import cuda

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"]
COUNTS = [5, -7, "NaT", 0, 3, 400]


def spans(unit="D", counts=COUNTS):
    return np.array(counts, f"m8[{unit}]")


def dates(unit="D", counts=COUNTS):
    return np.array(counts, f"M8[{unit}]")


def function_of(text, parameters="a, b"):
    source = f"def made({parameters}):\n    return {text}\n"
    scope = {"np": np}
    exec(compile(source, "<dates>", "exec"), scope)
    return scope["made"], weft.jit(scope["made"], source=source)


def expect_same(given, wanted):
    given = np.asarray(given)
    assert given.dtype == np.asarray(wanted).dtype
    np.testing.assert_array_equal(given, wanted)


def check(text, *arguments, parameters="a, b"):
    """The same as NumPy, of the arrays and of each pair of their elements."""
    plain, compiled = function_of(text, parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expect_same(compiled(*arguments), plain(*arguments))
        for values in zip(
            *(each.ravel() if isinstance(each, np.ndarray) else [each] * 6 for each in arguments), strict=True
        ):
            given, wanted = compiled(*values), plain(*values)
            if isinstance(wanted, (np.datetime64, np.timedelta64)):
                assert type(given) is type(wanted)
            expect_same(given, wanted)


OPERATORS = ["==", "!=", "<", "<=", ">", ">="]


@pytest.mark.parametrize("sign", [*OPERATORS, "+", "-", "/", "//", "%"])
def test_spans(sign):
    for unit, other in [("D", "D"), ("s", "m"), ("h", "ms"), ("Y", "M"), ("W", "ns"), ("25s", "10s")]:
        check(f"a {sign} b", spans(unit), spans(other, [2, "NaT", 5, -3, 0, 7]))


@pytest.mark.parametrize("sign", [*OPERATORS, "-"])
def test_dates(sign):
    for unit, other in itertools.product(["Y", "M", "W", "D", "s"], repeat=2):
        check(f"a {sign} b", dates(unit), dates(other, [2, "NaT", 5, -3, 0, 7]))


@pytest.mark.parametrize("unit", ["Y", "M", "D", "h", "us"])
def test_dates_and_spans(unit):
    for other in ["D", "s"]:
        check("a + b", dates(unit), spans(other))
        check("a - b", dates(unit), spans(other))
        check("b + a", dates(unit), spans(other))


def test_numbers():
    whole, floats = np.array([2, -3, 4, 0, 7, -2]), np.array([2.5, -0.5, 3, 0.0, np.nan, 1e300])
    for numbers in [
        whole,
        whole.astype("i4"),
        whole.astype("u8"),
        floats,
        np.array([2.5, -1, 3, 0, np.nan, 7], "f4"),
    ]:
        check("a * b", spans(), numbers)
        check("b * a", spans(), numbers)
        check("a / b", spans(), numbers)
        check("a // b", spans(), numbers)
    check("a + b", spans(), whole)
    check("a - b", dates(), whole)
    check("a + True", spans(), parameters="a")
    check("(a + 1, 2 * a, a / 2.0)[2]", spans(), parameters="a")


@pytest.mark.parametrize("function", "negative positive absolute sign isnat isnan isinf isfinite".split())
def test_functions_of_one(function):
    check(f"np.{function}(a)", spans("s"), parameters="a")
    if function.startswith("is"):
        check(f"np.{function}(a)", dates("ms"), parameters="a")


def test_signs():
    check("-a", spans(), parameters="a")
    check("+a", spans(), parameters="a")
    check("abs(a)", spans(), parameters="a")


@pytest.mark.parametrize("function", "maximum minimum fmax fmin add subtract equal less floor_divide".split())
def test_functions_of_two(function):
    check(f"np.{function}(a, b)", spans("s"), spans("m", [2, "NaT", 5, -3, 0, 7]))
    if function not in ("add", "floor_divide"):
        check(f"np.{function}(a, b)", dates("s"), dates("m", [2, "NaT", 5, -3, 0, 7]))


def test_shapes_and_layouts():
    table = np.arange(24).reshape(4, 6).astype("m8[h]")
    row, column = np.arange(6).astype("m8[m]"), np.arange(4).astype("M8[D]")[:, None]
    plain, compiled = function_of("a + b")
    for a, b in [
        (table, row),
        (column, table),
        (table.T[::2], spans("D", [1, 2, 3, 4])),
        (table[::-1, ::2], row[::2]),
    ]:
        expect_same(compiled(a, b), plain(a, b))
    frozen = table.copy()
    frozen.flags.writeable = False
    expect_same(compiled(frozen, row), plain(table, row))
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(4,6\) \(4,\)"):
        compiled(table, row[:4])


def test_results_that_are_stored():
    def stored(a, b, out):
        np.add(a, b, out)
        out += b
        out[1:] -= b[1:]
        out[0] = b[2]
        out[3:] = a[3:]
        return out

    compiled = weft.jit(stored)
    for unit in ["s", "ms"]:
        out, wanted = np.zeros(6, f"m8[{unit}]"), np.zeros(6, f"m8[{unit}]")
        expect_same(compiled(spans("m"), spans("s"), out), stored(spans("m"), spans("s"), wanted))
        expect_same(out, wanted)
    shifted = spans("s")
    wanted = shifted.copy()

    def overlapping(a):
        np.add(a[:-1], a[1:], a[1:])

    weft.jit(overlapping)(shifted)
    overlapping(wanted)
    expect_same(shifted, wanted)


REDUCTIONS = "min max argmin argmax all any sum mean ptp cumsum median sort argsort".split()


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    given = [
        spans(),
        spans("s", [4, 1, 2]),
        spans("ns", [7]),
        np.arange(12).reshape(3, 4).astype("m8[s]"),
        dates(),
    ]
    for a in given:
        if a.dtype.kind == "M" and name in ("sum", "mean", "cumsum", "median"):
            with pytest.raises(weft.CompileError, match="add has no meaning for"):
                function_of(f"np.{name}(a)", "a")[1](a)
            continue
        plain, compiled = function_of(f"np.{name}(a)", "a")
        expect_same(compiled(a), plain(a))
    if name not in ("median", "sort", "argsort", "ptp"):
        plain, compiled = function_of(f"a.{name}()", "a")
        expect_same(compiled(given[0]), plain(given[0]))


@pytest.mark.parametrize("name", "min max sum mean all any argmax".split())
def test_reductions_along_axes(name):
    a = np.arange(12).reshape(3, 4).astype("m8[s]")
    a[1, 2] = "NaT"
    for axis in (0, 1):
        plain, compiled = function_of(f"np.{name}(a, axis={axis})", "a")
        expect_same(compiled(a), plain(a))


def test_reductions_of_nothing():
    empty = spans("s", [])
    assert function_of("np.sum(a)", "a")[1](empty) == np.timedelta64(0, "s")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnat(function_of("np.mean(a)", "a")[1](empty))
    with pytest.raises(ValueError, match="zero-size array"):
        function_of("np.max(a)", "a")[1](empty)


def test_values_that_are_made():
    plain, compiled = function_of("np.timedelta64(n, 'h') + np.datetime64('2020-02-28T12')", "n")
    for n in [0, 13, -100]:
        expect_same(compiled(n), plain(n))
    for text in [
        "np.datetime64('NaT')",
        "np.datetime64('1969-12-31T23:59:59.5')",
        "np.datetime64('2024-02-29', 's')",
        "np.datetime64('0001-01')",
        "np.datetime64('2020-01-01T01:02:03.123456789')",
        "np.datetime64('2021', 'D')",
        "np.timedelta64(5)",
        "np.timedelta64(7, 'D') / np.timedelta64(1, 'h')",
        "np.timedelta64('NaT', 'ms')",
        "np.datetime64(np.datetime64('2020-05-17'), 'M')",
    ]:
        plain, compiled = function_of(f"({text}, n)[0]", "n")
        expect_same(compiled(1), plain(1))


def test_texts_that_are_no_dates():
    for text in ["2020-13", "2021-02-29", "20", "2020-01-01T25", "2020-01-01x"]:
        with pytest.raises(weft.CompileError, match="is no datetime64"):
            function_of(f"(np.datetime64('{text}'), n)[0]", "n")[1](1)


@pytest.mark.parametrize("unit", UNITS)
def test_units_are_converted(unit):
    for other in UNITS:
        a = dates(unit, [0, -1, 13, -800, "NaT", 47])
        plain, compiled = function_of(f"a.astype('M8[{other}]')", "a")
        expect_same(compiled(a), plain(a))
    plain, compiled = function_of("a.astype(np.int64)", "a")
    expect_same(compiled(a), plain(a))
    plain, compiled = function_of(f"a.astype('m8[{unit}]')", "a")
    expect_same(compiled(np.arange(4)), plain(np.arange(4)))


def test_all_days_of_four_centuries():
    days = np.arange(-150_000, 150_000, 7).astype("M8[D]")
    plain, compiled = function_of("a.astype('M8[M]')", "a")
    expect_same(compiled(days), plain(days))
    plain, compiled = function_of("a.astype('M8[D]')", "a")
    months = np.arange(-5000, 5000).astype("M8[M]")
    expect_same(compiled(months), plain(months))


def test_arrays_that_are_made_and_loops():
    def business(start, n):
        days = np.zeros(n, "M8[D]")
        day = start
        at = 0
        for _ in range(2 * n):
            if at < n and (day.astype(np.int64) + 3) % 7 < 5:
                days[at] = day
                at += 1
            day += np.timedelta64(1, "D")
        return days

    start = np.datetime64("2020-02-27")
    expect_same(weft.jit(business)(start, 9), business(start, 9))


def test_parallel_loops():
    @weft.jit
    def ages(born, now, out):
        for i in weft.prange(len(born)):
            out[i] = now - born[i] if not np.isnat(born[i]) else np.timedelta64(0, "D")

    born = np.tile(dates(), 1000)
    out = np.ones(len(born), "m8[D]")
    now = np.datetime64("2020-01-01")
    ages(born, now, out)
    expect_same(out, np.where(np.isnat(born), np.timedelta64(0, "D"), now - born))


def test_indexing_and_moving():
    def moved(a):
        return (
            a[::2].copy().reshape(3, 1).T,
            np.ravel(a[1:]),
            a[a > np.timedelta64(1, "D")],
            np.flip(a),
            np.where(a == a, a, -a),
        )

    for given, wanted in zip(weft.jit(moved)(spans()), moved(spans()), strict=True):
        expect_same(given, wanted)


def test_chosen_elements():
    def chosen(a, at):
        a[a > np.timedelta64(1, "h")] = np.timedelta64(5, "D")
        a[at] = a[at[::-1]] - a[0]
        return a[at], a[np.isnat(a)]

    at = np.array([1, 3, 5])
    given, wanted = spans("s"), spans("s")
    for one, other in zip(weft.jit(chosen)(given, at), chosen(wanted, at), strict=True):
        expect_same(one, other)
    expect_same(given, wanted)


EPOCH = np.datetime64("2000-01-01")
STEPS = (np.timedelta64(1, "D"), 2)


def test_globals():
    def since(a):
        return (a - EPOCH) // STEPS[0] + STEPS[1]

    a = dates("D", [5, -7, 400])
    expect_same(weft.jit(since)(a), since(a))


def test_what_is_printed(capsys):
    @weft.jit
    def show(a):
        print(a, np.timedelta64(100, "ms"))

    show(np.datetime64("2020-01-01"))
    assert capsys.readouterr().out == "2020-01-01 100 milliseconds\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a + a", "add has no meaning for"),
        ("a * 2", "multiply has no meaning for"),
        ("a < b", "less has no meaning for"),
        ("b * b", "multiply has no meaning for"),
        ("b + 1.5", "add has no meaning for"),
        ("b % 2", "remainder has no meaning for"),
        ("b + np.timedelta64(1, 'Y')", "counted in no common unit"),
        ("np.sqrt(b)", "sqrt has no meaning for"),
        ("b ** 2", "power has no meaning for"),
    ],
)
def test_what_has_no_meaning(text, message):
    for a, b in [(dates(), spans()), (dates()[0], spans()[0])]:
        with pytest.raises(weft.CompileError, match=message):
            function_of(text)[1](a, b)


def test_other_functions_refuse_dates():
    with pytest.raises(weft.CompileError):
        function_of("np.std(a)", "a")[1](spans())


def test_dtypes_of_dates():
    def asked(a):
        return a.dtype.name, a.dtype.kind, a.dtype.itemsize, a.dtype.type(a[1])

    compiled = weft.jit(asked)
    for a in (spans("7s"), dates("M")):
        assert compiled(a)[:3] == (a.dtype.name, a.dtype.kind, 8)
        expect_same(compiled(a)[3], a[1])
    zero = np.array(5, "m8[h]")
    expect_same(weft.jit(lambda x: x.dtype.type(x))(zero), zero[()])


def test_truth():
    compiled = weft.jit(lambda a: 1 if a else 0)
    assert [compiled(np.timedelta64(n, "D")) for n in (0, 1, "NaT")] == [0, 1, 1]


def test_equality_with_others():
    plain, compiled = function_of("a == b")
    expect_same(compiled(dates(), spans()), plain(dates(), spans()))
    assert operator.eq(compiled(dates()[0], spans()[0]), False)


def test_structures_with_dates():
    events = np.zeros(3, [("at", "M8[s]"), ("took", "m8[ms]"), ("n", "i4")])
    events["at"] = dates("s", [5, "NaT", 7])
    events["took"] = spans("ms", [1, 2, 3])

    def ends(events):
        for i in range(len(events)):
            events[i]["took"] = events[i]["took"] * 2
        return events["at"] + events["took"]

    wanted = events.copy()
    expect_same(weft.jit(ends)(events), ends(wanted))
    assert events.tobytes() == wanted.tobytes()


def test_other_orders_of_bytes_are_refused():
    with pytest.raises(
        TypeError, match=r"is an array of >M8\[s\], which compiled functions take in the machine's order"
    ):
        function_of("a + 1", "a")[1](dates("s").astype(">M8[s]"))


FIRST = """
import numpy as np, weft

def total(arrays):
    return arrays[0][1] + arrays[1][0]

compiled = weft.jit(total, source="def total(arrays):\\n    return arrays[0][1] + arrays[1][0]\\n")
try:
    compiled(np.arange(3).astype(">M8[D]"))
except TypeError:
    print(compiled([np.arange(3.0), np.ones(2)]))
"""


def test_arrays_are_known_after_dates_were_refused():
    run = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "2.0"


@cuda.jit
def compare_in_kernel(start, end, spans, same, target):
    for i in range(cuda.grid(1), spans.size, cuda.gridsize(1)):
        spans[i] = end[i] - start[i]
        same[i] = start[i] == target


def arguments(unit):
    start = np.arange("2005-02", "2006-02", dtype="M8[D]")
    start[7] = "NaT"
    end = start + np.arange(start.size) ** 2
    return start, end, np.zeros(start.size, f"m8[{unit}]"), np.zeros(start.size, bool)


@pytest.mark.parametrize("unit", ["D", "h", "W"])
def test_dates_in_kernels(unit):
    start, end, spans, same = arguments(unit)
    compare_in_kernel[4, 32](start, end, spans, same, start[5])
    np.testing.assert_array_equal(spans, (end - start).astype(spans.dtype))
    assert same.nonzero()[0].tolist() == [5]


def test_dates_that_are_on_the_device():
    start, end, spans, same = arguments("s")
    held = [cuda.to_device(each) for each in (start, end, spans, same)]
    compare_in_kernel[2, 64](*held, start[5])
    np.testing.assert_array_equal(held[2].copy_to_host(), (end - start).astype("m8[s]"))
    assert held[3].copy_to_host().nonzero()[0].tolist() == [5]
