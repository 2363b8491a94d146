"""Loops that run ahead as lanes of vectors: values, errors and their order as CPython's."""

import textwrap

import numpy
import pytest
import weft


def compiled(text, **options):
    names = {"np": weft, "range": range}
    text = textwrap.dedent(text)
    exec(text, names)
    return weft.jit(names["f"], source=text, **options)


def outcome(function, *arguments):
    """What it returns or raises, and what it leaves in its arguments."""
    try:
        told = function(*arguments)
    except Exception as error:
        told = type(error).__name__
    return told, [each if isinstance(each, list) else each.tolist() for each in arguments]


def expect_same(function, *arguments):
    """With lists CPython computes in Python's numbers."""
    lists = outcome(function.py_func, *(each.tolist() for each in arguments))
    assert outcome(function, *(each.copy() for each in arguments)) == lists


SIZES = (0, 1, 15, 16, 17, 31, 32, 33, 100)

PROGRAMS = {
    "while": """\
        def f(a, out):
            total = 0.0
            for i in range(len(a)):
                x = a[i]
                steps = 0
                while x > 1.0:
                    x = x * 0.5 if steps % 2 == 0 else x - 1.0
                    steps += 1
                out[i] = steps
                total += x
            return total""",
    "break": """\
        def f(a, out):
            best = -1
            for i in range(len(a)):
                at = -1
                for k in range(40):
                    if k * k > a[i]:
                        at = k
                        break
                out[i] = at
                if at > best:
                    best = at
            return best""",
    "continue": """\
        def f(a, out):
            for i in range(len(a)):
                x = a[i]
                odd = 0
                while x > 0.0:
                    x -= 1.0
                    if int(x) % 2 == 0:
                        continue
                    odd += 1
                out[i] = odd
            return 0""",
    "return": """\
        def first(x):
            for k in range(50):
                if k * 1.5 > x:
                    return k
            return -1

        def f(a, out):
            for i in range(len(a)):
                out[i] = first(a[i])
            return len(a)""",
    "sum of neighbours": """\
        def f(a, out):
            for i in range(3, len(a) - 4):
                s = 0.0
                for k in range(-3, 20):
                    if k < 4:
                        s += a[i + k] * k
                out[i] = s
            return 1""",
    "window": """\
        def f(a, out):
            n = min(8, len(a))
            for i in range(len(a) - n + 1):
                s = 0.0
                for k in range(n):
                    s += a[i + k] / (k + 1)
                out[i] = s
            return n""",
    "out of bounds": """\
        def f(a, out):
            for i in range(len(a)):
                s = 0.0
                for k in range(5):
                    s += a[i + k]
                out[i] = s
            return 1""",
    "from the end": """\
        def f(a, out):
            for i in range(len(a)):
                s = 0.0
                for k in range(4, 40):
                    s += a[i - k] if i >= k else 0.0
                out[i] = s
            return 1""",
    "division by zero": """\
        def f(a, out):
            for i in range(len(a)):
                s = 0.0
                for k in range(30):
                    s += 1.0 / (a[i] - 3.0 * k)
                out[i] = s
            return 1""",
    "division by zero in a while": """\
        def f(a, out):
            for i in range(len(a)):
                x = a[i]
                k = 0
                while k < 10:
                    x = 100.0 / (x - 7.0)
                    k += 1
                out[i] = x
            return 1""",
    "raise behind": """\
        def f(a, out):
            for i in range(len(a)):
                x = a[i]
                while x > 2.0:
                    x = x / 3.0
                if x > 1.9:
                    raise ValueError("large")
                out[i] = x
            return 1""",
    "halved": """\
        def f(a, out):
            for i in range(len(a)):
                out[i // 2] += a[i]
                out[(i + 3) >> 2] -= 1.0
            return 1""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_python(name):
    text = textwrap.dedent(PROGRAMS[name])
    import linecache

    file = f"<ahead {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"range": range}
    exec(compile(text, file, "exec"), names)
    function = weft.jit(names["f"])
    for size in SIZES:
        random = numpy.random.default_rng(size)
        for a in (
            random.random(size) * 40 + 0.1,
            numpy.floor(random.random(size) * 60),
            numpy.full(size, 2.5),
        ):
            expect_same(function, a, numpy.full(size, -7.0))


def test_a_loop_without_an_end_is_not_run_before_what_raises():
    function = compiled("""\
        def f(a, out):
            for i in range(len(a)):
                if a[i] < 0:
                    raise ValueError("negative")
                x = a[i]
                while x != 1:
                    x = x // 2 if x % 2 == 0 else 3 * x + 1
                out[i] = x
            return 0
        """)
    a = numpy.arange(1, 41)
    a[20] = -1
    a[25] = 0  # for which the loop has no end
    expect_same(function, a, numpy.zeros(40, numpy.int64))


def test_searches_with_memory_are_left_as_they_are():
    function = compiled("""\
        def f(a, keys, out):
            for i in range(len(keys)):
                low, high = 0, len(a)
                while low < high:
                    middle = (low + high) // 2
                    if a[middle] < keys[i]:
                        low = middle + 1
                    else:
                        high = middle
                out[i] = low
            return 0
        """)
    a = numpy.sort(numpy.random.default_rng(1).random(1000))
    keys = numpy.random.default_rng(2).random(500)
    expect_same(function, a, keys, numpy.zeros(500, numpy.int64))


def test_what_a_loop_writes_it_reads_again():
    function = compiled("""\
        def f(a):
            for i in range(1, len(a)):
                s = 0.0
                for k in range(i):
                    s += a[k] * 0.5
                a[i] = s
            return a[len(a) - 1]
        """)
    expect_same(function, numpy.ones(50))


def test_large_integers_are_divided():
    function = compiled("""\
        def f(a, b, out):
            for i in range(len(a)):
                out[i, 0] = a[i] % b[i]
                out[i, 1] = a[i] // b[i]
            return 0
        """)
    least = -(2**63)
    values = numpy.array([0, 1, -1, 7, -7, least, least + 1, 2**63 - 1])
    a, b = (each.ravel() for each in numpy.meshgrid(values, values[values != 0]))
    out = numpy.zeros((len(a), 2), numpy.int64)
    function(a, b, out)
    for x, y, (rest, quotient) in zip(a.tolist(), b.tolist(), out.tolist(), strict=True):
        assert rest == x % y
        assert quotient == (x // y + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("value", (2.0**63, -(2.0**63), -(2.0**63) - 2048, 1e300, float("nan"), float("inf")))
def test_integers_of_large_floats(value):
    function = compiled("def f(x):\n    return int(x)\n")
    if -(2.0**63) <= value < 2.0**63:
        assert function(value) == int(value)
    else:
        with pytest.raises((OverflowError, ValueError)):
            function(value)


RISING = {
    "filled": """\
        def f(counts, out):
            at = 0
            for value in range(len(counts)):
                for _ in range(counts[value]):
                    out[at] = value
                    at += 1
            return at""",
    "from another": """\
        def f(counts, out):
            at, back = 3, -2
            for i in range(len(counts)):
                out[at] = counts[i]
                at += 1
                out[at - 2] += back
                back += 1
            return at, back""",
    "left": """\
        def f(counts, out):
            at = 0
            for i in range(2, len(counts)):
                at += 1
                if counts[i] == 3:
                    break
                out[at] = i
            return at""",
    "more than once": """\
        def f(counts, out):
            at = 0
            for i in range(len(counts)):
                at += 1
                if counts[i] > 2:
                    at += 1
                out[at] = i
            return at""",
    "in steps": """\
        def f(counts, out):
            at = 0
            for i in range(0, len(counts), 3):
                out[at] = i
                at += 1
            return at""",
    "skipped": """\
        def f(counts, out):
            at = 0
            for i in range(len(counts)):
                if counts[i] == 1:
                    continue
                out[at] = i
                at += 1
            return at""",
    "downwards": """\
        def f(counts, out):
            at = -5
            for i in range(len(counts) - 1, -1, -1):
                out[at] = i
                at += 1
            return at""",
}


@pytest.mark.parametrize("name", RISING)
def test_variables_that_go_up_with_the_counter(name):
    function = compiled(RISING[name])
    for size in (0, 1, 5, 12, 20):
        for room in (0, 1, 7, 40, 80):
            expect_same(function, numpy.arange(size) % 5, numpy.zeros(room, numpy.int64))
    assert "tested before the loop" in str(function.explain()) or name in (
        "more than once",
        "skipped",
        "in steps",
    )
