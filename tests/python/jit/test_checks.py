"""Checks of compiled functions: those that loops look at ahead of a block, and those that conditions prove."""

import math
import textwrap

import numpy
import pytest
import weft

SIZES = (1, 31, 32, 33, 256, 257, 600)


def compiled_from(source):
    source = textwrap.dedent(source)
    space = {}
    exec(source, space)
    return weft.jit(space["f"], source=source)


@weft.jit
def divided(a, b, out):
    for i in range(len(a)):
        out[i] = math.exp(a[i]) / b[i] + math.log(a[i])
    return 0


@weft.jit
def gathered(a, b, out):
    s = 0.0
    for i in range(len(a)):
        out[i] = math.exp(a[int(b[i])]) * math.sin(a[i])
        s += out[i]
    return s


@pytest.mark.parametrize("function", (divided, gathered), ids=lambda each: each.__name__)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bad", (0.0, 1e6, -1e6, math.nan, math.inf))
def test_errors_come_where_they_did(function, size, bad):
    for at in {0, size // 2, size - 1}:
        a = numpy.random.default_rng(size).random(size) + 0.5
        b = numpy.arange(size, dtype=float)[::-1] + (function is divided)
        if function is gathered:
            b %= size
        b[at] = bad
        expected, found = numpy.zeros(size), numpy.zeros(size)
        outcomes = []
        for call, out in ((function.py_func, expected), (function, found)):
            plain = a.tolist() if call is not function else a
            try:
                with numpy.errstate(all="ignore"):
                    outcomes.append(call(plain, b.tolist() if call is not function else b, out))
            except (ArithmeticError, IndexError, ValueError) as error:
                outcomes.append(type(error))
        if isinstance(outcomes[0], type):
            assert outcomes[0] is outcomes[1]
        else:
            assert outcomes[0] == pytest.approx(outcomes[1], rel=1e-12, nan_ok=True)
        numpy.testing.assert_allclose(found, expected, rtol=1e-13)


# What conditions, and variables that go one way, prove: no index is left to check.
PROVEN = {
    "insertion": """\
        def f(a, n):
            for i in range(1, len(a)):
                x = a[i]
                j = i - 1
                while j >= 0 and a[j] > x:
                    a[j + 1] = a[j]
                    j -= 1
                a[j + 1] = x
            return 0""",
    "two ends": """\
        def f(a, n):
            low, high = 0, len(a) - 1
            while low < high:
                a[low], a[high] = a[high], a[low]
                low += 1
                high -= 1
            return low""",
    "clamped": """\
        def f(a, n):
            total = 0.0
            for k in range(-3, n):
                i = k
                if i < 0:
                    i = 0
                if not i < len(a):
                    continue
                total += a[i]
            return total""",
    "chained": """\
        def f(a, n):
            total = 0.0
            for k in range(-3, n):
                if 0 <= k < len(a):
                    total += a[k]
                total += a[k] if k >= 0 and k <= len(a) - 1 else 0.5
            return total""",
    "left": """\
        def f(a, n):
            i = 0
            while True:
                if i == n or i >= len(a):
                    return i
                a[i] += 1
                i = i + 2""",
    "asserted": """\
        def f(a, n):
            assert n >= 0 and n < len(a)
            return a[n]""",
}

# What comes near to that and proves nothing: an index is out of bounds, or counts from the end.
UNPROVEN = {
    "one more": """\
        def f(a, n):
            i = 0
            while i <= len(a):
                a[i] += 1
                i += 1
            return i""",
    "from the end": """\
        def f(a, n):
            j = n - 1
            while j >= -2:
                a[j] += j
                j -= 1
            return j""",
    "both ways": """\
        def f(a, n):
            i = 0
            for k in range(n):
                a[i] += k
                if k % 3:
                    i += 1
                else:
                    i -= 1
            return i""",
    "other array": """\
        def f(a, n):
            i = 0
            while i < len(a):
                if i == 2:
                    a = a[:2]
                a[i] += 1
                i += 1
            return i""",
    "after": """\
        def f(a, n):
            i = 0
            while i < len(a):
                i += 1
            return a[i]""",
    "either": """\
        def f(a, n):
            if n >= 0 or n < len(a):
                return a[n]
            return -1.0""",
    "overflow": """\
        def f(a, n):
            m = n + 9223372036854775800
            if m + 10 < len(a) and m >= 0:
                return a[m]
            return -1.0""",
    "one side": """\
        def f(a, n):
            i = n
            if i >= len(a):
                i = len(a)
            return a[i]""",
    "forgotten": """\
        def f(a, n):
            if n < len(a):
                a[n] += 1
            n += 1
            return a[n]""",
}


def outcome(function, n):
    a = numpy.arange(7.0)[::-1].copy()
    try:
        return function(a, n), a.tolist()
    except (IndexError, AssertionError) as error:
        return type(error), a.tolist()


@pytest.mark.parametrize("name", (*PROVEN, *UNPROVEN))
def test_conditions_tell_which_indices_are_in_bounds(name):
    function = compiled_from((PROVEN | UNPROVEN)[name])
    for n in (0, 1, 5, 6, 7, 8, 12, -1, -7, -8):
        # Integers end at 64 bits here.
        wraps = name == "overflow" and -3 < n < 8
        expected = (IndexError, [*range(6, -1, -1)]) if wraps else outcome(function.py_func, n)
        assert outcome(function, n) == expected, n
    if name in PROVEN:
        assert "proven" in function.explain() and "tested" not in function.explain()
        assert "checked in place" not in function.explain()


def test_divisions_of_what_is_known_not_to_be_negative():
    def f(x, y):
        if x >= 0 and y > 0:
            return x // y, x % y, x // 7, x % 7, x // -7, x % -7
        if y >= 0:
            return x // y, x % y, 0, 0, 0, 0
        return x // y, x % y, x // 3, x % 3, 1, 1

    function = weft.jit(f)
    numbers = (0, 1, 2, 6, 7, 8, -1, -2, -7, 2**62, 2**63 - 1, -(2**63))
    for x in numbers:
        for y in numbers:
            if (x, y) == (-(2**63), -1):
                continue  # it is 2**63, which is no integer here
            if y == 0:
                with pytest.raises(ZeroDivisionError, match=r"integer (division or )?modulo by zero"):
                    function(x, y)
            else:
                assert function(x, y) == f(x, y), (x, y)


def test_a_division_that_may_not_have_run_proves_nothing():
    def chained(a, x):
        n = len(a)
        found = 0 < x < 7 % n
        return found, 5 // n

    def listed(a, x):
        n = len(a)
        rests = [k % n for k in range(x)]
        return len(rests), 5 // n

    def chosen(a, x):
        n = len(a)
        y = 7 % n if x > 0 else 1
        return y, 5 % n

    for f in (chained, listed, chosen):
        function = weft.jit(f)
        assert function(numpy.ones(4), 2) == f(numpy.ones(4), 2)
        with pytest.raises(ZeroDivisionError):
            function(numpy.ones(0), 0)


@pytest.mark.parametrize("step", (1, -1))
def test_what_overflows_while_it_is_counted_is_not_proven(step):
    def up(a, n):
        if n < 0:
            return -1.0
        i = n
        for _ in range(4):
            if i < len(a):
                return a[i]
            i += 1
        return 0.0

    def down(a, n):
        if n > 3:
            return -1.0
        i = n
        for _ in range(4):
            if i >= 0:
                return a[i]
            i -= 1
        return 0.0

    f = weft.jit(up if step > 0 else down)
    a = numpy.arange(7.0)
    assert f(a, 3) == 3.0
    with pytest.raises(IndexError):  # integers end at 64 bits here
        f(a, 2**63 - 1 if step > 0 else -(2**63))


# Loops with loops: one test before the outer one stands for the checks of both.
NESTS = {
    "lags": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                for j in range(n):
                    s += m[i - k, j - k] * a[k - i]
                a[i - k] = s
            return s
        """,
    "differences": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                for j in range(2, n):
                    d = i - k
                    s += m[d - 1, 1 - k - j] - a[k - i - 1] * a[n - k - 1]
                a[-i - k] = s
            return s
        """,
    "products": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                s += a[k * i]
            return s
        """,
    "multiples": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                s += a[6 + k * i] * a[k * i]
            for i in range(n):
                s -= a[i * (k + 1) + 5]
            return s
        """,
    "interleaved": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                s += a[2 * i] * a[2 * i + 1 - k]
                a[k * i - 1] = s
            return s
        """,
    "flattened": """\
        def f(a, m, n, k):
            s = 0.0
            for y in range(n):
                for x in range(k):
                    s += a[y * k + x]
                    a[(y - 1) * 2 - x] = s
            return s
        """,
    "volume": """\
        def f(a, m, n, k):
            s = 0.0
            for z in range(2):
                for y in range(n - 1):
                    for x in range(y, k):
                        s += a[(z * (n - 1) + y) * k + x] * m[z * y, x * y - z]
            return s
        """,
    "halves": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(k, n):
                for j in range(3):
                    s += a[i // 2] * a[(i - 3 * j) // 4 + k]
                a[(i + k) // 3] = s
            return s
        """,
    "counter_and_value": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                x = i + k
                for d in range(3):
                    s += a[x] * d
            return s
        """,
    "triangle": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                for j in range(i + k, n):
                    s += m[i, j] * a[j - i]
                a[i] = s
            return s
        """,
    "lower_triangle": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                for j in range(i):
                    s += m[i, j + k]
                a[i - 1] = s
            return s
        """,
    "convolution": """\
        def f(a, m, n, k):
            for i in range(n):
                s = 0.0
                for j in range(k):
                    s += a[i + j]
                m[0, i] = s
            return 0.0
        """,
    "backwards": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                for j in range(k):
                    s = s * 0.5 + a[i - j] + a[n - 1 - i] + m[k - 1 - j, 0]
            return s
        """,
    "guarded": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                a[i] += 1.0
                if i >= 1 and i < n - 1:
                    for d in range(-1, 2):
                        s += a[i + d] * k
            return s
        """,
    "from_the_end": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                a[-1] += i
                for j in range(k):
                    s += a[j] * m[-2, i]
                    a[-2] = s
            return s
        """,
    "constants": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                a[i % 4] += 1.0
                m[2, i] = a[3]
                for j in range(k):
                    s += a[(i + j) % 5]
            return s
        """,
    "down": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n - 1, -1, -1):
                for j in range(k - 1, i, -1):
                    s = s * 0.5 + m[i, j]
                a[i] = s
            return s
        """,
    "steps": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(0, n, 2):
                for j in range(i, k, 3):
                    s += a[j] + m[0, i + 1]
                    m[1, i] = s
            return s
        """,
    "left_early": """\
        def f(a, m, n, k):
            s = 0.0
            for i in range(n):
                for j in range(k):
                    if j > i:
                        break
                    s += a[j] + m[i, j]
                else:
                    continue
                a[i] = s
            return s
        """,
    "rising": """\
        def f(a, m, n, k):
            at = k
            s = 0.0
            for i in range(n):
                for j in range(3):
                    s += a[at + j]
                at += 1
            return s
        """,
    "three": """\
        def f(a, m, n, k):
            for i in range(n):
                for j in range(k):
                    s = 0.0
                    for l in range(n):
                        s += m[i, l] * m[l, j]
                    m[i, j] = s * 0.125 + a[i + j]
            return 0.0
        """,
}


def outcome_of_nest(call, a, m, n, k):
    a, m = a.copy(), m.copy()
    try:
        result = call(a, m, n, k)
    except IndexError as error:
        result = type(error)
    return result, a.tolist(), m.tolist()


@pytest.mark.parametrize("name", NESTS)
def test_checks_of_nests_come_where_they_did(name):
    compiled = compiled_from(NESTS[name])
    plain = compiled.py_func
    random = numpy.random.default_rng(len(name))
    failed = fine = 0
    for size in (0, 1, 3, 5, 7):
        for rows in (1, 3, 6):
            a, m = random.random(size), random.random((rows, 5))
            for n in (-2, 0, 1, 2, 3, 5, 7, 8):
                for k in (-9, -1, 0, 1, 2, 4, 6):
                    expected = outcome_of_nest(plain, a, m, n, k)
                    assert outcome_of_nest(compiled, a, m, n, k) == expected, (size, rows, n, k)
                    failed += expected[0] is IndexError
                    fine += expected[0] is not IndexError
    assert failed > 20
    assert fine > 20


@pytest.mark.parametrize(
    "name",
    ("triangle", "convolution", "counter_and_value", "three", "lags", "flattened", "halves", "products"),
)
@pytest.mark.parametrize("far", (2**63 - 1, 2**62, 2**61, -(2**61), -(2**63)))
def test_nests_of_far_away_bounds_are_out_of_bounds(name, far):
    compiled = compiled_from(NESTS[name])
    a, m = numpy.ones(5), numpy.ones((6, 5))
    for n, k in ((3, far), (5, far), (far, 3), (far, far)):
        if (name == "three" and n < 0) or (name == "triangle" and k > 5):
            continue
        result, *_ = outcome_of_nest(compiled, a, m, n, k)
        # No iteration: nothing is out of bounds.
        is_empty = n <= 0 or (k <= 0 and name in ("convolution", "three", "flattened"))
        is_empty |= name == "halves" and k >= n
        assert result == 0.0 if is_empty else result is IndexError


@pytest.mark.parametrize(
    ("name", "loops"), [("three", 3), ("lags", 2), ("flattened", 2), ("volume", 3), ("halves", 2)]
)
def test_loops_with_loops_run_without_checks(name, loops):
    compiled = compiled_from(NESTS[name])
    compiled(numpy.ones(99), numpy.ones((9, 9)), 3, 3)
    (text,) = compiled.inspect_ir().values()
    # The third copy of the innermost loop is that of a nest in which some index is out of bounds.
    fast = text[: text.index("} else {")]
    assert fast.count("for ") == loops
    assert "check" not in fast


# Whether no variable is ever negative, and so nothing is divided with signs.
SIGNS = {
    "gcd": (
        True,
        """\
        def f(a, b):
            a = max(a, 0)
            b = max(b, 0)
            while b:
                a, b = b, a % b
            return a""",
    ),
    "digits": (
        True,
        """\
        def f(a, b):
            n = max(a, 1)
            s = 0
            while n > 0:
                s = (s ^ n % 10) & 255
                n //= 10
            return s""",
    ),
    "power": (
        True,
        """\
        def f(a, b):
            result, base, left = 1, a % 97, max(b, 0)
            while left:
                if left & 1:
                    result = result * base % 97
                base = base * base % 97
                left >>= 1
            return result""",
    ),
    "differences": (
        False,
        """\
        def f(a, b):
            a = max(a, 0)
            b = max(b, 1)
            for _ in range(4):
                a, b = b, a % b - 3
                if b == 0:
                    break
            return a * 1000 + b""",
    ),
    "inner loop": (
        False,
        """\
        def f(a, b):
            a = max(a, 0)
            s = 0
            for _ in range(3):
                s = s * 10 + a % 7
                a = a // 2
                for k in range(2):
                    a -= 5 * k
            return s""",
    ),
    "sums": (
        False,
        """\
        def f(a, b):
            a = max(a, 0)
            s = 0
            for _ in range(4):
                a = a + 9223372036854775807
                s = s * 5 + a % 7
            return s""",
    ),
    "other variable": (
        False,
        """\
        def f(a, b):
            n = max(a, 1)
            d = 7
            s = 0
            while n > 0:
                s = s * 3 + n % d
                d = b
                if d == 0:
                    break
                n = n // 3 if n < 1000 else 0
            return s""",
    ),
}


def as_int64(value):
    return (value + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("name", SIGNS)
def test_variables_that_are_never_negative(name):
    is_known, source = SIGNS[name]
    function = compiled_from(source)
    numbers = (0, 1, 2, 3, 7, 12, 18, 97, 1000, 2**40 + 1, 2**62 + 3, 2**63 - 1, -1, -5, -12, -(2**63))
    for a in numbers:
        for b in numbers:
            if name == "sums":
                expected, total = 0, max(a, 0)
                for _ in range(4):
                    total = as_int64(total + 2**63 - 1)
                    expected = as_int64(expected * 5 + total % 7)
            else:
                expected = as_int64(function.py_func(a, b))
            assert function(a, b) == expected, (a, b)
    (text,) = function.inspect_ir().values()
    divisions = [line for line in text.splitlines() if "remainder" in line or "floor_divide" in line]
    assert divisions
    if is_known:
        assert "raise" not in text


@pytest.mark.parametrize("divisor", (1, 2, 97, 2**31 - 1, 2**62 + 1, 2**63 - 1))
def test_products_that_overflow_are_divided_as_what_they_have_become(divisor):
    def f(n, m):
        x = 1
        rests = quotients = 0
        if m < 1:
            return rests, quotients
        for k in range(n):
            rests = rests ^ (x * 6364136223846793005 + 12345) % m
            quotients = quotients ^ (x * 6364136223846793005 + 12345) // m
            x = (x * 6364136223846793005 + k) % m
        return rests, quotients

    x = 1
    rests = quotients = 0
    for k in range(200):
        number = as_int64(x * 6364136223846793005 + 12345)
        rests, quotients = rests ^ number % divisor, quotients ^ number // divisor
        x = as_int64(x * 6364136223846793005 + k) % divisor
    assert weft.jit(f)(200, divisor) == (rests, quotients)


@pytest.mark.parametrize("stop", (-5, -4, 0, 1, 5, 6))
def test_ranges_that_go_up_by_more_than_one_go_beyond_their_start(stop):
    # Their elements were taken for at most the start where the end was not known.
    def indices(a, n):
        s = 0.0
        for i in range(-4, n, 2):
            s = s * 2 + a[i]
        return s

    def divisions(n):
        s = 0
        for i in range(-4, n, 2):
            s = s * 2 + 7 // i
        return s

    a = numpy.arange(1.0, 7.0)
    assert weft.jit(indices)(a, stop) == indices(a, stop)
    if stop > 0:
        with pytest.raises(ZeroDivisionError):
            weft.jit(divisions)(stop)
    else:
        assert weft.jit(divisions)(stop) == divisions(stop)


@pytest.mark.parametrize("at", (-9, -6, -3, 0, 3, 15, 18))
def test_variables_that_go_up_while_a_loop_goes_down(at):
    # They were tested as if they began with the loop's elements.
    def f(out, at):
        for i in range(10, 5, -1):
            out[at] = i
            at += 1
        return at

    expected, found = numpy.zeros(20, numpy.int64), numpy.zeros(20, numpy.int64)
    outcomes = []
    for call, out in ((f, expected), (weft.jit(f), found)):
        try:
            outcomes.append(call(out, at))
        except IndexError:
            outcomes.append(IndexError)
    assert outcomes[0] == outcomes[1]
    assert (expected == found).all()


@pytest.mark.parametrize("start", (2**63 - 1, 2**63 - 2, 2**62, 4, 5))
def test_ranges_that_go_down_from_the_largest_integer_are_out_of_bounds(start):
    # One more than the start had overflowed in the test before the loop.
    def by_one(a, n, m):
        s = 0.0
        for k in range(n, m, -1):
            s += a[k]
        return s

    def by_two(a, n, m):
        s = 0.0
        for k in range(n, m, -2):
            s += a[k]
        return s

    def by_some(a, n, m, step):
        s = 0.0
        for k in range(n, m, step):
            s += a[k]
        return s

    a = numpy.arange(5.0)
    for function, arguments in (
        (by_one, (-1,)),
        (by_two, (-1,)),
        (by_some, (-1, -3)),
        (by_some, (start - 2, -1)),
    ):
        if start < 5:
            assert weft.jit(function)(a, start, *arguments) == function(a, start, *arguments)
        else:
            with pytest.raises(IndexError):
                weft.jit(function)(a, start, *arguments)


@pytest.mark.parametrize("step", (-(2**63 - 1), -(2**62), -(2**40)))
def test_parallel_ranges_that_go_down_from_the_largest_integer_are_out_of_bounds(step):
    text = f"""\
def f(a, n, m, step):
    s = 0.0
    for k in np.prange(n, m, step):
        s += a[k]
    return s

def known(a, n, m, step):
    s = 0.0
    for k in np.prange(n, m, {step}):
        s += a[k]
    return s
"""
    names = {"np": weft}
    exec(text, names)
    for name in ("f", "known"):
        function = weft.jit(names[name], source=text)
        assert function(numpy.arange(5.0), 4, 3, step) == 4.0
        with pytest.raises(IndexError):
            function(numpy.arange(5.0), 2**63 - 1, 2**63 - 2**41, step)
