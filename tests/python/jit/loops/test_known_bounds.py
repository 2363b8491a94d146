"""What conditions, operators and loops tell of indices, at the values where it begins to be wrong.

An array is a part of a longer one, so that an index that is taken to be in bounds reads another's number.
"""

import itertools
import linecache

import numpy
import pytest
import weft

WHOLE = numpy.arange(100, 200)


def part(size):
    return WHOLE[40 : 40 + size]


def function_of(text):
    """The function `f` of a text."""
    name = f"<{text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"weft": weft}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def outcome(function, arguments):
    try:
        return function(*arguments)
    except (IndexError, ZeroDivisionError) as error:
        return type(error)


def compare(text, calls, least=2):
    """Whether the compiled function gives what Python gives, and not the same thing always."""
    function = function_of(text)
    compiled = weft.jit(function)
    results = set()
    for arguments in calls:
        expected = outcome(function, arguments)
        assert outcome(compiled, arguments) == expected, (text, arguments)
        results.add(expected)
    assert len(results) >= least, text


# What is told of `i` from above, and from below.
ABOVE = """
i < n | n > i | not i >= n | not n <= i | i <= n | n >= i | not i > n | not n < i | i == n | n == i | i != n
n != i
i <= n - 1 | i < n - 1 | i < n + 1 | i + 1 < n | i + 1 <= n | i - 1 < n | i - 1 <= n | i + 1 == n | i - 1 == n
i + 2 <= n - 1 | i + 1 < n + 2 | n - 1 > i + 1 | n + 1 >= i - 1 | i == n - 1 | n - 1 == i | n == i + 1
n + 1 == i
i < j and j < n | i < j and j <= n | i <= j and j < n | i <= j and j <= n | i < j <= n + 1 | j < n and i < j
j < n and i <= j | j <= n and i <= j | j == n and i < j | i == j and j < n | i == j and j <= n
i < j and j == n
i < n and i != n - 1 | i <= n and i != n | i < n or i < j | i < n or i == n | not (i >= n or j < 0)
not (i >= n and j < 0) | i < n and j < n | (i < n) == (j < n) | i < n - j | i + j < n | i < min(n, j)
i < max(n, j)
i != 0 | i == 0 | i < n + j % 3 | i < n - 1 - j % 3 | i <= n - j % 2 | i <= 3 and n >= 3 and i != 0
i <= 3 and i != 3 and n >= 2
i != j and i < n and j < n
i < 3 and n > 2 | i < 3 and n >= 3 | i <= 3 and n > 3 | i < 4 and n >= 3 | i <= 3 and n >= 3
i == 3 and n >= 3
i < 3 and not n < 3 | i < 3 and n != 0 | i < 1 and n != 0 | i < 2 and n != 0 | i <= 1 and n > 0 and n != 1
"""
BELOW = """
i >= 0 | 0 <= i | i > -1 | i > -2 | i >= -1 | -1 < i | -2 < i | not i < 0 | not i < -1 | not i <= -1
not 0 > i
i >= 1 | i != 0 | i != -1 | i >= -1 and i != -1 | i >= -2 and i != -1 | i >= -1 and i != 0 | i == 0 | i == -1
i == j
i + 1 > 0 | i + 1 >= 0 | i - 1 >= 0 | i - 1 >= -1 | i - 1 >= -2 | i + 2 > 1 | i + 1 > -1 | 1 <= i + 1
0 <= i + 1
j >= 0 and i > j | j >= 0 and i >= j | j >= -1 and i > j | j >= -1 and i >= j | j > -3 and i > j
j == -1 and i > j
j >= 0 and i == j | j >= -1 and i == j | i >= 0 or j >= 0 | not (i < 0 or j < 0) | not (i < 0 and j < 0)
j != i
i >= 0 and j >= 0 | i >= 0 and j >= 0 and i != j | i > j and j >= 0 | i >= j and j > 0 | j > 0 and i + 1 > j
j >= 0 and i + 1 > j | j < i and j > -3
"""
NUMBERS = range(-4, 9)


def listed(table, separator="|"):
    return [text.strip() for text in table.replace("\n", separator).split(separator) if text.strip()]


@pytest.mark.parametrize(
    "form", ("where it holds", "where it does not", "with an index beside", "with one ahead")
)
def test_conditions(form):
    sizes = [(part(n), i, j) for n in (0, 1, 2, 3, 4, 6) for i in NUMBERS for j in (-3, -1, 0, 1, 3, 7)]
    for above, below in [(a, "0 <= i") for a in listed(ABOVE)] + [("i < n", b) for b in listed(BELOW)]:
        if form == "where it holds":
            body = f"    if {below} and {above}:\n        return a[i]\n    return -1"
        elif form == "where it does not":
            body = f"    if not ({below}):\n        return -1\n    elif {above}:\n        return a[i]"
            body += "\n    else:\n        return a[i - 1] * 1000 + a[i]"
        else:
            near = "a[i + 2]" if form == "with one ahead" else "a[i + 1] + a[i - 1]"
            body = f"    return {near} if {above} and {below} else a[i] + 1000"
        compare(f"def f(a, i, j):\n    n = len(a)\n{body}\n", sizes)


# What a variable is behind a branch or a loop.
CHOSEN = """
x = 1 if c else 3 | x = 3 if c else 1 | x = i if c else 2 | x = 2 if c else i | x = -1 if c else 1
x = 1 if c else -1
x = min(i, n) if c else 0 | x = min(i, n - 1) if c else 0 | x = 0 if c else min(i, n)
x = max(i, 0) if c else n
x = min(i, n - 1) if c else min(i, n) | x = min(i, n) if c else min(i, n - 1) | x = min(i, n - 1) if c else i
x = min(i, n - 1) if c else min(i, 3) | x = i if c else min(i, n - 1) | x = n if c else n - 1
x = n - 1 if c else n
x = min(max(i, 0), n - 1) | x = min(max(i, 0), n) | x = max(min(i, n - 1), 0) | x = max(min(i, n - 1), -1)
x = max(i, 0)
x = max(min(i, n - 1), min(i, n)) | x = max(min(i, n - 1), min(i, n - 2)) | x = min(i, 2) | x = max(i, -1)
x = min(n, i)
x = max(min(i, n), min(i, n - 1)) | x = min(min(i, n - 1), 2) | x = max(n - 1, i) | x = max(min(i, 2), 1)
x = min(i, 3)
x = i % n | x = i % (n + 1) | x = i % n + 1 | x = i % n - 1 | x = i % 3 | x = i % 4 | x = i % 3 + 1
x = i % -3 | x = i % i
x = abs(i) % n | x = i % n // 2 | x = (i % n + 1) // 2 | x = (i % n + 2) // 2 | x = i % 7 // 2
x = i % 7 // 3 | x = i // 2
x = i % 7 // (i % 2 + 1) | x = (i % 5) * (i % 3) | x = (i % 5) * (i % 3 - 1) | x = (i % 3 - 1) * (i % 2)
x = i % 3 * 2
x = (i % 3 - 2) * (i % 3 - 2) | x = (i % 3 - 2) * (i % 4 - 3) | x = (i % 4 - 1) * -1 | x = i % 3 - i % 2
x = i % 2 - i % 3
x = i % 3 + i % 2 | x = n - 1 - i % n | x = n - i % n | x = n - i % 3 | x = 2 - i % 3 | x = 2 - i % 4
x = i % 3 - 1 | x = n
x = i % n + i % 2 | x = i % 2 + i % n | x = i % n - i % 2 | x = i % 2 - i % n | x = (i % n + i) % n
x = i & 3 | x = i >> 1
x = i | x = 0 | x = -1 | x = n - 1 | x = n - 2 | x = 3 - n | x = (i, 1)[c] | x = (1, i)[c]
x = (0, 3, 5)[i % 3] | x = i - n
"""


def test_variables_behind_branches():
    calls = [(part(n), i, c) for n in (0, 1, 2, 3, 4, 6) for i in NUMBERS for c in (False, True)]
    for text in listed(CHOSEN):
        for use in ("a[x]", "(x >= 0 and a[x], a[x + 1])", "(x < n and a[x], a[x - 1])"):
            body = f"    n = len(a)\n    {text}\n    return {use}\n"
            compare(f"def f(a, i, c):\n{body}", calls, least=1)


# `x` of loops, which begin with numbers that are not negative: divided where it may be known to have no sign.
UPDATES = """
x = x % y ! x = y % x ! x = x // y ! x = y // x ! x = x >> 1 ! x = y >> 1 ! x = x & y ! x = y & x ! x = y & 5
x = x | y ! x = y | x ! x = x ^ y ! x = y ^ x ! x = x + y ! x = x - y ! x = y - x ! x = x * y ! x = -x ! x = y ! x = ~x
x = y if x > 3 else x ! x = x if x > 3 else y ! x = x if x > 3 else x % -5 ! x = x % -5 ! x = x // -5 ! x = x | -5
x = x % 5 ! x = x % z ! x = z % x ! x = z // x ! x = x // z ! x = z | x ! x = z & y ! x = z ^ x ! x = x ^ -5 ! x = x - 1
x, y = y, x ! y, x = x, y ! x, y = x, y % x ! x, z = z, x % z ! z, x = x % z, z ! x, z = z, y ! x, z = y, x
z, x = z, y
x %= y ! x //= y ! x >>= 1 ! x &= y ! x |= y ! x ^= y ! x += y ! x -= y ! x *= y ! x %= z ! x //= z ! x |= z ! x ^= z
x = x % z; z = y ! z = y; x = x % z ! x %= z; z -= 3 ! x = x // 2; x -= 1 ! x = x % 5; x = y ! z = z % 7; x = z - x
z = x; x = y; x = z ! x = z % 3; z = x - 2 ! x = x % 123456789012345678 ! x = -3 if x % 2 else 5 ! x = abs(y) ! x = 1
x -= z ! x -= 1 ! x = x if x > 3 else z ! x = y & -3 ! x = -3 & y ! x &= y; x = -x
"""


def test_variables_without_a_sign():
    calls = [
        (x, y, z) for x in (0, 1, 2, 5, 6, 9, 28) for y in (-7, -2, -1, 0, 1, 3, 8) for z in (0, 1, 2, 6)
    ]
    for text in listed(UPDATES, "!"):
        for start in (
            "x %= 100; z %= 50",
            "x = 6; z %= 50",
            "x %= 100; z = 5",
            "z %= 50",
            "x = x % 100 - 1; z %= 50",
        ):
            lines = [*start.split("; "), "t = 0", "for _ in range(4):"]
            lines += ["    t = (t * 31 + x // 7 + x % 5 + z // 3) & 1073741823"]
            lines += [f"    {line}" for line in text.split("; ")]
            body = "".join(f"    {line}\n" for line in lines)
            compare(f"def f(x, y, z):\n{body}    return t\n", calls, least=1)


# Indices in loops, of counters, lengths, and a number `k` that nothing is known of.
RANGES = """
range(n) | range(m) | range(1, n) | range(n - 1) | range(2, 5) | range(m, n) | range(n - 1, -1, -1)
range(0, n, 2)
range(m - n, n) | range(q, n) | range(n - q) | range(q - 1, q + 2) | range(k, n) | range(m, -1, -2)
"""
INDICES = """
i | i + 1 | i - 1 | n - 1 - i | n - i | m - i | i + m | i - m | m - 1 - i | 3 - i | 5 - (3 - i) | i + q
q - i | i - q
n - 1 - (i + q) | m - (n - i) | i + m - n | n + m - i | m - n - i | i + k | k - i | i - k | i - (k + 1)
k - (i - 1)
i * 2 | i // 2 | -i | -1 - i | (i - 1) + (q + 1) | i % 3 + i | n - m + i | (m - 1) - (i - 1)
(m + i) - (k - 1)
i + q % 2 | i - q % 2 | m - i % 2 | k - (m - i) | m - (k - i) | (i - m) - (k - 2) | i - (m - k)
q % 3 - (i - m)
(3 - i) - m | (3 - i) + m | m - (3 - i) | k | k - 1 | k + m | k - m | m - k | q | q + k | k - q | 2
i - i + k | m - 1
(i + q % 3) - q % 2 | i - (m % 3 - 1) | (i - q % 3) - m | k + q % 3 | k - q % 3 | q % 3 - k | i & 3
i + (k & 1) - 1
"""


@pytest.mark.parametrize("first, around", ((0, "range(2)"), (1, "range(m)"), (2, "range(n)")))
def test_indices_in_loops(first, around):
    sizes = itertools.product((0, 1, 2, 3, 5), (0, 1, 2, 4), (-2, 0, 1, 3))
    calls = [(part(n), part(m), k) for n, m, k in sizes]
    many = itertools.product(listed(INDICES), listed(RANGES))
    for index, over in list(many)[first::9]:
        compare(
            f"def f(a, b, k):\n    n, m, t = len(a), len(b), 0\n    for q in {around}:\n        for i in {over}:\n"
            f"            t = (t * 3 + a[{index}] + b[i]) & 1073741823 if i < m else t + a[{index}]\n    return t\n",
            calls,
            least=1,
        )


CONDITIONS = """
3 - i < n | n - 1 - i >= 0 | m - i < n | i - m < n | 0 <= 3 - i | i + q < n | i - q < n | n > 2 - i
q < n - i | i < n - q
n - i > 0 | n - i > q | i + m < n | i < n - m | q - i < n | i < q - 1 | q < i + 2 | k < n - i | i + k < n
i - k < n and k < 3
"""


def test_conditions_in_loops():
    sizes = itertools.product((0, 1, 2, 3, 5), (0, 1, 2, 4), (-2, 0, 1, 3))
    calls = [(part(n), m, k) for n, m, k in sizes]
    for condition, index in itertools.product(
        listed(CONDITIONS), ("i", "q", "i + q", "i - 1", "n - 1 - i", "k")
    ):
        compare(
            f"def f(a, m, k):\n    n, t = len(a), 0\n    for q in range(2):\n        for i in range(m + 1):\n"
            f"            t = (t * 3 + (a[{index}] if {condition} else i)) & 1073741823\n    return t\n",
            calls,
            least=1,
        )


# Variables that loops count, each with what it is before.
COUNTED = """
x = 0; x += 1 | x = 0; x -= 1 | x = n - 1; x -= 1 | x = n; x -= 1 | x = -1; x += 1 | x = i; x += 1
x = i; x -= 1
x = 0; x = x + 1 | x = n - 1; x = x - 1 | x = n; x = x - 2 | x = 0; x = i + 1 | x = n - 1; x = i - 1
x = 1; x = 1 - x
x = 0; x += i | x = n - 1; x -= i | x = 0; x += -1 | x = n - 1; x -= -1 | x = 0; x += 1; x -= 2
x = n - 1; x -= 1; x += 2
x = 0; x += 1; x = i | x = n - 1; x -= 1; x = i | x = min(i, n - 1); x -= 1 | x = min(i, n); x -= 1
x = max(i, 0); x += 1
x = max(i, -1); x += 1 | x = max(i, 1); x += 1; x -= 1 | x = min(i, n - 1); x += 1 | x = max(i, 0); x -= 1
x = 0; x += 10
x = n - 2; x = x + i | x = 0; x = x - i | x = 1; x = x + x | x = n - 1; x = i - x | x = i % 3; x += 1
x = i % n; x -= 1
x = min(i, n - 1); x = n - 1; x -= 1 | x = 3; x -= 1 | x = 2; x += 1 | x = min(i, 3); x -= 1 | x = i; x = x
x = 2; x = i
"""


def test_variables_that_are_counted():
    calls = [(part(n), i) for n in (0, 1, 2, 3, 4, 6) for i in NUMBERS]
    for text in listed(COUNTED):
        start, *steps = text.split("; ")
        for use in ("a[x]", "x >= 0 and a[x]", "x < n and a[x]"):
            lines = ["n, t = len(a), 0", start, "for _ in range(3):", f"    t += {use}"]
            lines += [*(f"    {step}" for step in steps), f"    t = t * 5 + ({use})", f"t += 7 * ({use})"]
            compare(
                "def f(a, i):\n" + "".join(f"    {line}\n" for line in lines) + "    return t\n",
                calls,
                least=1,
            )


def test_sums_that_wrap_around_have_a_sign():
    @weft.jit
    def doubled(x):
        t = 0
        x %= 2**62
        for _ in range(4):
            t = t * 3 + x // 7 % 1000 + x % 5
            x = x + x
        return t

    def wrapped(value):
        return (value + 2**63) % 2**64 - 2**63

    for x in (5, 2**60 + 1, 2**61 + 12345):
        t, doubling = 0, x
        for _ in range(4):
            t = t * 3 + doubling // 7 % 1000 + doubling % 5
            doubling = wrapped(2 * doubling)
        assert doubled(x) == t


def test_guards_that_wrap_around():
    """What they let through is no index of the array."""

    @weft.jit
    def above(a, i):
        return a[i] if i >= 0 and i + 1 < len(a) else -1

    @weft.jit
    def below(a, i):
        k = i - 1
        return a[k] if i <= len(a) and k >= 0 else -1

    for n in (1, 3):
        assert above(part(n), n - 1) == -1
        assert below(part(n), n) == 140 + n - 1
        with pytest.raises(IndexError):
            above(part(n), 2**63 - 1)
        with pytest.raises(IndexError):
            below(part(n), -(2**63))


def test_variables_that_are_counted_beyond_the_last_integer():
    """They wrap around, which no index of an array in memory does."""

    @weft.jit
    def down(a, i):
        x, t = min(i, len(a) - 1), 0
        for _ in range(3):
            if x >= 0:
                t += a[x]
            x -= 1
        return t

    @weft.jit
    def up(a, i):
        x, t = max(i, 0), 0
        for _ in range(3):
            if x < len(a):
                t += a[x]
            x += 1
        return t

    for n in (0, 1, 5):
        with pytest.raises(IndexError):
            down(part(n), -(2**63))
        with pytest.raises(IndexError):
            up(part(n), 2**63 - 2)
