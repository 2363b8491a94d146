"""Sets of numbers in compiled functions, beside CPython's."""

import math

import numpy
import pytest
import weft as np


def agree(function, *arguments):
    expected = function(*arguments)
    assert np.jit(function)(*arguments) == expected
    return expected


def grown(n):
    squares = set()
    for k in range(n):
        squares.add(k * k % 1000)
    for k in range(0, n, 3):
        squares.discard(k)
    more = squares.copy()
    more.update([1, 2, 3], (5, 1001))
    return len(squares), sorted(squares), sorted(more), sum(squares), max(more), bool(squares)


@pytest.mark.parametrize("n", [1, 2, 17, 500])
def test_elements_are_added_and_discarded(n):
    agree(grown, n)


def operated(n):
    a = set(range(0, n, 2))
    b = set(range(0, n, 3))
    first = sorted(a | b), sorted(a & b), sorted(a - b), sorted(a ^ b)
    kept = a.copy()
    kept.intersection_update(b)
    gone = a.copy()
    gone.difference_update(b)
    either = a.copy()
    either.symmetric_difference_update(b)
    second = sorted(kept), sorted(gone), sorted(either), sorted(a.union(b, [1000]))
    tests = kept <= a, kept < a, a >= kept, a > kept, a == b, a != b, a == a.copy(), kept.issubset(b)
    return first, second, tests, gone.isdisjoint(b), a.issuperset([0, 2])


def test_operators_and_methods():
    agree(operated, 40)
    agree(operated, 1)


def shared(a, b):
    both = set(a).intersection(set(b))
    count = 0
    for x in b:
        if x not in both:
            count += 1
    return count, len(both), set(a) == set(b)


def test_of_arrays_and_floats():
    agree(shared, numpy.arange(9), numpy.arange(5, 20))
    agree(shared, numpy.arange(9) / 4, numpy.arange(20))  # 1.0 is 1
    agree(shared, [0.5, 1.5], [1.5, 2.5])


def test_a_result_is_a_set_of_python():
    def made(a):
        return set(a), len(a)

    assert np.jit(made)(numpy.array([3, 1, 3])) == ({1, 3}, 3)


def test_what_is_missing_is_no_element():
    def removed(values, x):
        some = set(values)
        some.remove(x)
        return len(some)

    assert np.jit(removed)([1.5, 2.5], 1.5) == 1
    with pytest.raises(KeyError, match=r"7\.0"):
        np.jit(removed)([1.5, 2.5], 7.0)

    def popped(n):
        some = set(range(n))
        while True:
            some.pop()

    with pytest.raises(KeyError, match="pop from an empty set"):
        np.jit(popped)(3)


def test_conditions_ask_whether_there_are_elements():
    def emptied(n):
        left = set(range(n))
        steps = 0
        while left:
            left.pop()
            steps += 1
        return steps, not left, 1 if left else 2, bool(left), not set(range(n))

    agree(emptied, 4)
    agree(emptied, 0)


def test_tuples_of_numbers_are_elements():
    def of_tuples(n):
        seen = {(k % 3, k % 2) for k in range(n)}
        seen |= {(7, 7), (n, n)}
        return len(seen), (1, 1) in seen, (n, 8) not in seen, n in {3, 5}

    agree(of_tuples, 9)
    agree(of_tuples, 5)


def test_other_elements_are_refused():
    def of_complex(n):
        return len({n * 1j})

    with pytest.raises(np.CompileError, match="a set holds numbers, texts and tuples of such"):
        np.jit(of_complex)(1)


def test_hashes_of_tuples_are_those_of_python():
    f = np.jit(lambda x: hash(x))
    for x in ((), (1,), (1, 2), (-1, 0.5, True), (2**61, -3), (math.pi, (1, 2.0)), (0, 0, 0, 0)):
        assert f(x) == hash(x), x


def test_hashes_are_those_of_python():
    f = np.jit(lambda x: hash(x))
    for x in (0.0, 1.0, -1.0, 0.5, 1e300, -1e-300, math.pi, math.inf, -math.inf, 2.0**61, 5e-324, True, -1):
        assert f(x) == hash(x), x
