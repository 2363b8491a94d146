"""Lists in compiled functions, beside CPython's."""

import pathlib
import random

import numpy
import pytest
import weft as np


def outcome(function, *arguments):
    """What a call comes to, with the types of all that is in it."""
    try:
        return described(function(*arguments))
    except Exception as error:
        return type(error).__name__, str(error)


def described(value):
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [described(item) for item in value]
    if isinstance(value, (numpy.ndarray, np.ndarray)):
        return "array", str(value.dtype), numpy.asarray(value).tolist()
    return type(value).__name__, repr(value)


def agree(function, *arguments):
    expected = outcome(function, *arguments)
    assert outcome(np.jit(function), *arguments) == expected
    return expected


def appended(n):
    squares = []
    for i in range(n):
        squares.append(i * i)
    return squares


def two_names(n):
    a = []
    b = a
    b.append(n)
    a += [n + 1, n + 2]
    c = a + b
    c.append(7)
    return a, b, a is b, a is c, a == b, len(c)


def nested(n):
    rows = [[] for _ in range(3)]
    for i in range(n):
        rows[i % 3].append(i * 0.5)
    rows.append([1.5])
    rows[0] = rows[3]
    rows[0].append(2.5)
    first = rows.pop(1)
    return rows, first, rows[0] is rows[2]


def methods(n):
    items = list(range(n))
    items.insert(2, 99)
    items.insert(-1, 98)
    items.insert(-100, 97)
    items.insert(100, 96)
    items.remove(3)
    first, last, middle = items.pop(0), items.pop(), items.pop(-2)
    items.reverse()
    items.extend([7, 8])
    items.extend(range(3))
    items += (5, 6)
    items.extend(items)
    copied = items.copy()
    del items[1]
    del items[-1]
    copied.clear()
    return items, copied, first, last, middle, items.index(7), items.count(8), 99 in items, 1000 not in items


def slices(n):
    items = list(range(n))
    items[1:3] = [10, 20, 30]
    whole = items[:]
    items[::2] = items[::2]
    del items[1:4]
    del items[::3]
    items[2:2] = items
    return (
        items,
        whole,
        items[::-1],
        items[-2:],
        items[1:100:2],
        items * 2,
        2 * items,
        items * -1,
        [0] * n + items,
    )


def comprehensions(n):
    x = 5
    pairs = [(i, j) for i in range(n) for j in range(i) if (i + j) % 2 if i > 1]
    flat = [y for row in [[x * 2 for x in range(k)] for k in range(n)] for y in row]
    last = 0
    seen = [last := last + i for i in range(n)]
    return x, pairs, flat, seen, last, [row[0] for row in [[1.5], [2.5]] if row[0] > 2]


def consumed(n):
    items = list(range(n))
    return (
        sum(x * x for x in items),
        sum([0.5] * n),
        max(items),
        min(-x for x in items),
        any(items),
        all(items),
        any(x > 3 for x in items),
        list(zip(items, reversed(items))),
        list(enumerate(items, 2)),
        list(map(lambda x: x + n, items)),  # noqa: C417
        list(filter(lambda x: x % 2, items)),
        sorted((x * 7) % 5 for x in items),
    )


def ordered(n):
    items = [(i * 7919) % 101 for i in range(n)]
    words = [(x % 7, -x) for x in items]
    by_second = sorted(words, key=lambda word: word[1])
    stable = sorted(words, key=lambda word: word[0], reverse=True)
    words.sort()
    items.sort(reverse=True)
    return items, words, by_second, stable, sorted([2.5, 1.5, -0.0]), sorted((3, 1, 2))


def compared(n):
    a = [1, 2, n]
    return (
        a == [1, 2, 3],
        a != [1, 2],
        a < [1, 2, 4],
        a <= [1, 2, 3],
        a > [1, 2],
        a >= [1, 2, 3, 0],
        [[1], [2]] == [[1], [n]],
        (1, n) in [(1, 2), (1, 3)],
        bool(a),
        not [],
        1 if a else 2,
        [] == a,
        a == (1, 2, 3),
    )


def while_it_is_iterated(n):
    items = [1, 2, 3]
    for x in items:
        if len(items) < n:
            items.append(x * 2)
    total = 0
    for x in items:
        items = [x]
        total += items[0]
    for x in reversed(items):
        total += x
    for a, b in zip([1, 2, 3], items):
        total += a * b
    return items, total


def unpacked(n):
    a, b = [n, n + 1]
    (c, d), e = [[1, 2], [3, 4]]
    f = [*range(n), 5, *[6, 7]]
    return a, b, c, d, e, f


def optional(n):
    found = None
    for row in [[1], [2, 3]]:
        if len(row) == n:
            found = row
    values = [None if i % 2 else i for i in range(n)]
    return found, values


def of_tuples(n):
    points = []
    for i in range(n):
        points.append((i, i * 0.5, i % 2 == 0, 1j * i))
    points[0] = points[-1]
    total = 0.0
    for i, x, even, z in points:
        total += x * i if even else z.imag
    deep = [(i, [i] * i) for i in range(n)]
    deep[0][1].append(5)
    return points, total, deep, deep[-1][1] is deep[-1][1]


def deleted(n):
    items = [n]
    other = items
    del items
    if n > 3:
        del other
    return other


def arrays(n):
    a = np.array([1, 2, n])
    b = np.array([[1.5, 2.0], [n, 4.0]])
    c = np.array([x > 1 for x in range(n)])
    parts = [np.zeros(2), np.ones(n)]
    parts[0][1] = 5.0
    parts.append(parts[0])
    return a, b, c, parts, np.array((1, 2.5)), np.array([(1, 2), (3, n)]), np.array(a)


PROGRAMS = [
    appended, two_names, nested, methods, slices, comprehensions, consumed, ordered, compared,
    while_it_is_iterated, unpacked, optional, of_tuples, deleted, arrays,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("n", [3, 4, 8, 40])
def test_programs(function, n):
    agree(function, n)


ERRORS = {
    "read": lambda n: [1, 2, 3][n],
    "pop": lambda n: list(range(0)).pop(),
    "pop_at": lambda n: [1, 2].pop(n),
    "remove": lambda n: [1, 2].remove(n),
    "minimum": lambda n: min(list(range(0))),
    "step": lambda n: [1, 2, 3][:: n - 5],
    "resized": lambda n: swap([1, 2, 3, 4], n),
    "too_few": lambda n: unpack([1] * (n - 4)),
    "too_many": lambda n: unpack([1] * n),
}


def swap(items, n):
    items[::2] = [n]
    return items


def unpack(items):
    a, b = items
    return a + b


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_python(name):
    assert agree(ERRORS[name], 5)[0].endswith("Error")


def test_errors_of_targets():
    def store(n):
        items = [1, 2]
        items[n] = 5
        return items

    def delete(n):
        items = [1, 2]
        del items[n]
        return items

    for n in (-3, -2, 1, 2):
        agree(store, n)
        agree(delete, n)


def test_an_error_tells_a_list():
    def f(n):
        raise ValueError([1, n])

    agree(f, 5)


def test_printed(capsys):
    def f(n):
        print([1, n], [[0.5]], [])

    f(2)
    expected = capsys.readouterr().out
    np.jit(f)(2)
    assert capsys.readouterr().out == expected


def test_lists_go_to_functions_and_come_back():
    def fill(items, n):
        for i in range(n):
            items.append(i)
        return items

    def f(n):
        items = []
        same = fill(items, n)
        return items, same is items, len(fill(same, 2))

    agree(f, 3)


def test_elements_are_of_one_type():
    f = np.jit(lambda n: [1, 2.5, n])
    assert described(f(3)) == described([1.0, 2.5, 3.0])

    @np.jit
    def g(n):
        items = [1]
        items.append((1, n))
        return items

    with pytest.raises(np.CompileError, match=r"a list of int is given tuple\(int, int\)"):
        g(1)

    @np.jit
    def h(n):
        items = []
        items.append(items)
        return n

    with pytest.raises(np.CompileError, match="a list cannot hold itself"):
        h(1)


def test_parallel_loops_share_no_lists():
    @np.jit
    def shared(n):
        items = [1]
        for i in np.prange(n):
            items.append(i)
        return items

    with pytest.raises(np.CompileError, match="'items' is or has a list"):
        shared(3)

    @np.jit
    def own(n):
        total = 0
        for i in np.prange(n):
            items = [i]
            items.append(2)
            total += sum(items)
        return total

    assert own(1000) == sum(range(1000)) + 2000


# --- random programs ---

READS = [
    "len(a)",
    "sum(a)",
    "a[0] if a else 0",
    "a.count(2)",
    "int(3 in a)",
    "a[-1] if b else -1",
    "len(a + b)",
]
STEPS = [
    "a.append({k})",
    "b.append(len(a))",
    "a.extend(b[:5])",
    "a += [{k}, {j}]",
    "a.insert({k} - 3, {j})",
    "a, b = b, a",
    "b = a",
    "b = a[:]",
    "b = a[{k} - 4 : {j} : {s}]",
    "a.reverse()",
    "a.sort()",
    "b.sort(reverse=True)",
    "b = sorted(a, key=lambda x: (x * 7) % 5)",
    "a[{k} - 4 : {j}] = b[: {j}]",
    "del a[{k} - 4 : {j} : {s}]",
    "if a: total += a.pop()",
    "if len(b) > {k}: total += b.pop({k})",
    "if {j} in a: a.remove({j})",
    "a = [x + {k} for x in b if x % 2]",
    "for x in a:\n        total += x\n        if total % 3 == 0: break",
    "if a: a[-1] = {j}",
    "if a: a[0] += total % 10",
    "total += sum(x * y for x, y in zip(a, b))",
    "if len(a) > 30: a = a[:3]",
    "if len(b) > 30: b.clear()",
    "rows.append(a)",
    "if rows: b = rows[-1]",
    "if rows: rows.pop(0)",
    "if len(rows) > 1: rows[0] = rows[1][:]",
    "a[{k}] = 1",
    "total += b[{j}]",
]


def random_program(seed):
    draw = random.Random(seed)
    lines = ["def f(n):", "    a, b, rows, total = [1], [2, 3], [[0]], 0"]
    for k in range(draw.randrange(2, 14)):
        step = draw.choice(STEPS).format(
            k=draw.randrange(9), j=draw.randrange(9), s=draw.choice([1, 2, -1, -2])
        )
        if draw.random() < 0.3:
            lines.append(f"    for _{k} in range(n):\n        " + step.replace("\n", "\n    "))
        elif draw.random() < 0.2:
            lines.append(f"    if n % 2 == {k % 2}:\n        " + step.replace("\n", "\n    "))
        else:
            lines.append("    " + step)
    lines.append(f"    return a, b, rows, total, {draw.choice(READS)}, a is b, a == b, a < b")
    return "\n".join(lines)


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part):
    for seed in range(25 * part, 25 * part + 25):
        text = random_program(seed)
        names = {}
        exec(text, names)
        compiled = np.jit(names["f"], source=text)
        for n in (0, 3):
            assert outcome(compiled, n) == outcome(names["f"], n), text


# --- memory ---


def resident():
    pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


@pytest.mark.measures
def test_memory_is_given_back():
    @np.jit
    def f(n):
        total = 0
        for i in range(n):
            rows = [[i] * 50, [i, 2], [k + 1 for k in range(40)]]
            rows[0] = rows[2]
            first = rows.pop(0)
            rows.append(sorted(first))
            rows[0:1] = [[1], [2]]
            pair = (rows, [(i, [i] * 30)])
            for row in rows:
                if len(row) == 2:
                    break
            total += len(first) + len(pair[1][0][1]) + len(row)
        return total

    assert f(7) == f.py_func(7)
    f(1000)
    before = resident()
    f(100_000)
    assert resident() - before < 20 << 20


def test_memory_of_returns_from_loops():
    @np.jit
    def inner(k):
        for row in [[1] * 100, [2] * 100]:
            for x in row:
                if x == k:
                    return row
        return [0] * 100

    @np.jit
    def f(n):
        total = 0
        for i in range(n):
            total += len(inner(i % 3))
        return total

    f(1000)
    before = resident()
    f(200_000)
    assert resident() - before < 20 << 20


def test_memory_of_calls_that_raise():
    @np.jit
    def f(n):
        rows = [[n] * 1000 for _ in range(10)]
        if n:
            raise ValueError(n)
        return len(rows)

    def call():
        with pytest.raises(ValueError, match="3"):
            f(3)

    for _ in range(100):
        call()
    before = resident()
    for _ in range(2000):
        call()
    assert resident() - before < 20 << 20


def test_arrays_and_ranges_are_unpacked():
    def f(a):
        x, y = a
        p, q, r = range(1, 7, 2)
        return x, y, p, q, r

    assert np.jit(f)(numpy.array([1.5, 2.5])) == (1.5, 2.5, 1, 3, 5)
    with pytest.raises(ValueError, match=r"not enough values to unpack \(expected 2, got 1\)"):
        np.jit(f)(numpy.array([1.5]))


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64", "float32", "bool", "complex128"])
@pytest.mark.parametrize("size", [0, 1, 2, 17, 100, 1000])
def test_arrays_are_sorted(dtype, size):
    draw = numpy.random.default_rng(size)
    values = draw.integers(0, 50, size) * (1 if dtype != "bool" else 0.02)
    values = values.astype(dtype)
    if dtype in ("float64", "complex128"):
        values[draw.random(size) < 0.1] = numpy.nan
    if dtype == "complex128":
        values = values + 1j * draw.integers(0, 3, size)

    @np.jit
    def f(a):
        before = np.sort(a)
        order = np.argsort(a, kind="stable")
        a.sort()
        return before, order, a.copy()

    given = values.copy()
    before, order, after = map(numpy.asarray, f(given))
    expected = numpy.sort(values, kind="stable")
    assert before.tobytes() == after.tobytes() == given.tobytes()
    assert numpy.array_equal(before, expected, equal_nan=True)
    assert numpy.array_equal(order, numpy.argsort(values, kind="stable"))


def test_rows_are_sorted():
    values = numpy.random.default_rng(3).random((4, 3, 30))
    sort = np.jit(lambda a: np.sort(a))
    assert numpy.array_equal(numpy.asarray(sort(values)), numpy.sort(values))
    assert numpy.array_equal(numpy.asarray(sort(values[:, :, ::-2])), numpy.sort(values[:, :, ::-2]))


def new_list():
    return []


def two_kinds(n):
    numbers, pairs = new_list(), new_list()
    for k in range(n):
        numbers.append(k / 2)
        pairs.append((k, k))
    return numbers, pairs


def test_lists_that_a_small_function_makes_are_of_its_calls():
    agree(two_kinds, 3)


def stored_in_parts(a, x):
    a[0] = [x, x + 1]
    a[1] = (x, a[0, 0])
    a[:, 1] = [a[1, 0], a[0, 0]]
    return a


def test_lists_and_tuples_are_stored_in_parts_of_arrays():
    for dtype in (numpy.int32, numpy.float64):
        assert (
            np.jit(stored_in_parts)(numpy.zeros((2, 2), dtype), 5).tolist()
            == stored_in_parts(numpy.zeros((2, 2), dtype), 5).tolist()
        )
    with pytest.raises(ValueError):
        np.jit(lambda a: stored_in_parts(a, 1))(numpy.zeros((2, 3)))
