"""Sets, dictionaries and bytes as arguments of compiled functions, and bytes as literals."""

import numpy
import pytest
import weft as np
from weft.numba import types
from weft.numba.typed import Dict


def agree(function, *arguments):
    """Calls both with copies, and compares what comes back and what they have made of the copies."""

    def copies():
        return [each.copy() if isinstance(each, (set, dict)) else each for each in arguments]

    ours, theirs = copies(), copies()
    found, expected = np.jit(function)(*ours), function(*theirs)
    assert found == expected and type(found) is type(expected)
    assert ours == theirs
    return found


SETS = [
    set(),
    {1, 2, 3},
    {-1, 0, 2**60, -(2**60)},
    {0.5, 1.0, -3.25},
    {(1, 2), (-1, 5)},
    {"a", "größe", ""},
    {True},
]


@pytest.mark.parametrize("items", SETS)
def test_sets_are_read(items):
    def f(items):
        total = 0
        for _ in items:
            total += 1
        return len(items), total, items == items, bool(items)

    agree(f, items)
    for some in list(items)[:3]:
        assert agree(lambda items, x: x in items, items, some)
    agree(lambda items, x: x in items, items, (7, 7) if (1, 2) in items else "no" if "a" in items else 77)


def test_sets_are_written():
    def f(items, n):
        for i in range(n):
            items.add(i * i)
        items.discard(4)
        return len(items)

    for n in (0, 1, 5, 100):
        agree(f, {1, 2, 3}, n)
    words = {"a", "b"}
    np.jit(lambda words, x: words.add(x + "c"))(words, "a")
    assert words == {"a", "b", "ac"}


def test_a_set_that_only_is_read_stays_as_it_is():
    class Watched(set):
        def clear(self):
            raise AssertionError

    items = {1, 2}
    assert np.jit(lambda items: 2 in items)(items)
    assert np.jit(lambda items: items)(items) is items


DICTS = [
    {},
    {1: 2, 3: 4},
    {0.5: 1, 2.5: 3},
    {"a": 1.5, "b": 2.5},
    {(1, 2): "x", (3, 4): "y"},
    {1: "one", -1: "minus"},
]


@pytest.mark.parametrize("table", DICTS)
def test_dictionaries_are_read(table):
    def f(table):
        count = 0
        for _ in table:
            count += 1
        return count, len(table), list(table.keys()), list(table.values())

    agree(f, table)
    for key in table:
        agree(lambda table, key: (table[key], key in table), table, key)


def test_dictionaries_are_written():
    def counts(table, words):
        for word in words.split():
            table[word] = table.get(word, 0) + 1
        return len(table)

    agree(counts, {"a": 1}, "a b a c")

    def f(table, n):
        for i in range(n):
            table[i] = i * 0.5
        del table[1]
        return table[0]

    for n in (2, 3, 50):
        agree(f, {7: 1.5}, n)
    with pytest.raises(KeyError):
        np.jit(lambda table: table[5])({1: 2})


def test_what_a_function_changes_before_it_raises_comes_back():
    def f(items, table):
        items.add(9)
        table[9] = 1
        raise ValueError

    items, table = {1}, {1: 2}
    with pytest.raises(ValueError):
        np.jit(f)(items, table)
    assert (items, table) == ({1, 9}, {1: 2, 9: 1})


def test_typed_dictionaries():
    made = Dict.empty(types.int64, types.float64)
    made[3] = 1.5
    assert np.jit(lambda d: (d[3], len(d), isinstance(d, dict)))(made) == (1.5, 1, True)


def test_the_same_set_twice_is_refused():
    items = {1}
    with pytest.raises(TypeError, match="given twice"):
        np.jit(lambda a, b: len(a) + len(b))(items, items)


def test_sets_in_tuples():
    agree(lambda t: (len(t[0]), 2 in t[0], t[1]), ({1, 2}, 5))


def test_bytes():
    def f(data):
        total = 0
        for x in data:
            total += x
        return total, len(data), data[1], data[-1], data == b"abc", data != b"", isinstance(data, bytes)

    for data in (b"abc", b"xy\xff"):
        assert np.jit(f)(data) == f(data)
    assert np.jit(lambda: len(b"abcd"))() == 4
    assert np.jit(lambda: b"abcd")() == b"abcd"
    assert np.jit(lambda data: data[1:3])(b"abcd") == b"bc"
    assert np.jit(lambda data: data[::-2])(b"abcd") == b"db"
    assert np.jit(lambda: np.frombuffer(b"ab", np.uint8) + 1)().tolist() == [98, 99]
    assert not np.jit(lambda a: isinstance(a, (bytes, str)))(numpy.zeros(2, "u1"))
    assert not np.jit(lambda data: isinstance(data, np.ndarray))(b"a")
    with pytest.raises(np.CompileError, match="bytes"):
        np.jit(lambda data: data + b"x")(b"a")


def test_two_functions_with_bytes_literals():
    made = [np.jit(lambda x, k=k: (b"first", b"second")[k][x]) for k in (0, 1)]
    assert [f(0) for f in made] == [ord("f"), ord("s")]


def test_attributes_that_all_values_have():
    def f(x):
        return hasattr(x, "__hash__"), hasattr(x, "__not_there__")

    for x in (1, 2.5, (1, 2), {1: 2}, [1], numpy.ones(2), "abc"):
        assert np.jit(f)(x) == (True, False)
