"""Dictionaries in compiled functions, beside CPython's: results, their order, and errors."""

import numpy
import pytest
import weft as np
from weft import numba


def agree(function, *arguments):
    expected = function(*arguments)
    found = np.jit(function)(*arguments)
    assert found == expected and type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found.items()) == list(expected.items())
    return expected


def counted(values):
    counts = {}
    for x in values:
        if x in counts:
            counts[x] += 1
        else:
            counts[x] = 1
    return counts


@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_counts_keep_the_order_of_their_keys(n):
    values = [int(x) for x in numpy.random.default_rng(n).integers(-50, 50, n)]
    if n:
        agree(counted, values)
        agree(counted, [x / 4 for x in values])
    assert np.jit(lambda: counted([]), source="f = lambda: counted([])")() == {}


def changed(n):
    d = {k: k * k for k in range(n)}
    for k in range(0, n, 3):
        del d[k]
    d[1] = -1
    d[n + 7] = 3
    taken = d.pop(n + 7), d.pop(99999, 5), d.get(2, -2), d.get(0, -2), d.setdefault(4, 9), d.setdefault(0, 8)
    last = d.popitem()
    return d, taken, last, len(d), 2 in d, 3 not in d, bool(d)


@pytest.mark.parametrize("n", [3, 8, 9, 50])
def test_items_are_changed_and_taken_out(n):
    agree(changed, n)


def gone_through(n):
    d = {}
    for k in range(n):
        d[n - k] = k + 0.5
    keys = list(d)
    first = sum(d), max(d), min(d.values()), sorted(d.keys()), list(d.values())
    total = 0.0
    for k, v in d.items():
        total += k * v
    both = dict(zip(keys, [2 * k for k in keys]))
    both.update({1: 5, -1: 6})
    other = both.copy()
    other[2] = 77
    return first, total, both, d == d.copy(), both == other, both != other, other[2], isinstance(d, dict)


def test_iteration_copies_and_comparisons():
    agree(gone_through, 6)
    agree(gone_through, 40)


def test_conditions_ask_whether_there_are_keys():
    def emptied(n):
        d = {k: k for k in range(n)}
        steps = 0
        while d:
            d.popitem()
            steps += 1
        return steps, not d, 1 if d else 2, not {}

    agree(emptied, 4)


def test_items_are_listed_sorted_and_numbered():
    def listed(n):
        d = {n - k: k * 1.5 for k in range(n)}
        total = 0.0
        for i, (k, v) in enumerate(d.items()):
            total += i * k * v
        return (
            list(d.items()),
            sorted(d.items()),
            total,
            {v: k for k, v in d.items()},
            [k + v for k, v in d.items()],
        )

    agree(listed, 5)
    agree(listed, 0)


def test_values_are_sets_tuples_and_dictionaries():
    def nested(n):
        sets = {n: {1}}
        sets[n].add(4)
        inner = {n: {1: 2}}
        inner[n][3] = 4
        pairs = {1: (2, 3.0), 2: (4, 5)}
        many = [{1: k} for k in range(n)]
        arrays = {k: np.ones(k) for k in range(n)}
        return len(sets[n]), inner[n][3], len(inner[n]), pairs[1][0], pairs, many[1][1], arrays[2].sum()

    agree(nested, 3)


def test_missing_keys_are_caught():
    def asked(n):
        d = {1: 2}
        try:
            return d[n]
        except KeyError:
            return -1

    agree(asked, 1)
    agree(asked, 5)


def grouped(a):
    rows = {}
    for k in range(len(a)):
        group = a[k] % 3
        if group not in rows:
            rows[group] = [k]
        else:
            rows[group].append(k)
    sizes = {}
    for group in rows:
        sizes[group] = len(rows[group])
    return rows, sizes


def test_values_are_lists():
    expected = grouped(numpy.arange(10) * 7)
    assert np.jit(grouped)(numpy.arange(10) * 7) == expected


def by_pairs(n):
    steps = {}
    for i in range(n):
        for j in range(n):
            steps[i, j % 3] = i * 10 + j
    return steps[1, 2], steps[(0, 0)], (5, 5) in steps, len(steps), steps


def test_keys_are_tuples():
    agree(by_pairs, 4)


def memoised(n):
    known = {0: 0, 1: 1}

    def fibonacci(k, known):
        if k in known:
            return known[k]
        value = fibonacci(k - 1, known) + fibonacci(k - 2, known)
        known[k] = value
        return value

    return fibonacci(n, known), len(known)


def test_dictionaries_are_passed_to_functions():
    agree(memoised, 60)


def test_errors_are_those_of_python():
    def of(n):
        return {1: 2}[n]

    def deleted(n):
        d = {1: 2}
        del d[n]

    def taken(n):
        return {1: 2}.pop(n)

    def emptied(n):
        d = {n: 1}
        d.clear()
        d.popitem()

    for function in (of, deleted, taken):
        with pytest.raises(KeyError) as caught:
            np.jit(function)(3)
        assert caught.value.args == (3,)
    with pytest.raises(KeyError, match="dictionary is empty"):
        np.jit(emptied)(3)
    assert np.jit(of)(1) == 2


def test_what_is_refused():
    def by_complex(n):
        return {1j: n}

    def ordered(n):
        return {1: n} < {2: n}

    def unknown(n):
        return {1: n}.fromkeys([1])

    for function, text in (
        (by_complex, "numbers, texts and tuples of such as its keys"),
        (ordered, "not in an order"),
        (unknown, "has no attribute 'fromkeys'"),
    ):
        with pytest.raises(np.CompileError, match=text):
            np.jit(function)(1)


def test_typed_dictionaries_have_the_types_that_are_given():
    @numba.njit
    def made(n):
        d = numba.typed.Dict.empty(key_type=numba.types.int64, value_type=numba.types.float64)
        for k in range(n):
            d[k] = k
        return d

    @numba.njit
    def empty():
        d = numba.typed.Dict.empty(numba.types.int64, numba.types.float64)
        return len(d), 1 in d, d.get(3, 0.5)

    assert made(3) == {0: 0.0, 1: 1.0, 2: 2.0} and type(made(3)[1]) is float
    assert empty() == (0, False, 0.5)


def test_a_hundred_thousand_keys():
    def squares(n):
        d = {}
        for k in range(n):
            d[k * k] = k
        total = 0
        for k in range(n):
            total += d[k * k]
        return total

    agree(squares, 100_000)


def test_what_changes_its_size_while_it_is_gone_through():
    def deleted(n):
        d = {k: k for k in range(n)}
        for k in d:
            del d[k]
        return len(d)

    def items(n):
        d = {k: [k] for k in range(n)}
        total = 0
        for _, v in d.items():
            total += len(v)
            d.popitem()
        return total

    def of_set(n):
        s = set(range(n))
        for k in s:
            s.discard(k)
        return len(s)

    for function in (deleted, items, of_set):
        assert np.jit(function)(0) == 0
        with pytest.raises(RuntimeError, match="changed size during iteration"):
            np.jit(function)(9)


def last_of(rows):
    x = rows[len(rows) - 1]
    for _ in range(1):
        pass
    del rows[len(rows) - 1]
    return x, 1


def test_lists_beside_others_in_a_loop_that_takes_them_out():
    def taken(n):
        rows = [[k] for k in range(n)]
        total = 0
        for i, (_, row) in enumerate(zip(range(n), rows)):
            total += i * len(row)
            if len(rows) > 2:
                last_of(rows)
        return total

    agree(taken, 9)
