"""Ranges and indices near where integers end."""

import numpy
import pytest
import weft

LEAST, MOST = -(2**63), 2**63 - 1


def test_a_range_with_a_step_proves_what_it_runs_through():
    def from_five(a, n):
        for k in range(5, n, 2):
            if len(a) > 5 and k >= 0:
                a[k] += 1.0
        return 0

    def from_below(a, n):
        total = 0.0
        for k in range(-1, n, 3):
            total += a[k]
        return total

    def guarded(a, n):
        total = 0.0
        for k in range(n, len(a), MOST):
            total += a[k]
        return total

    for f, n in (
        (from_five, 10),
        (from_five, 7),
        (from_below, 9),
        (from_below, 3),
        (guarded, -2),
        (guarded, 4),
    ):
        function, ours, theirs = weft.jit(f), numpy.arange(8.0), numpy.arange(8.0)
        try:
            assert f(theirs, n) == function(ours, n), f
        except IndexError:
            with pytest.raises(IndexError):
                function(ours, n)
        assert ours.tolist() == theirs.tolist(), f


def test_ranges_longer_than_integers_are_not_empty():
    def counted(low, high, step):
        n = 0
        for k in range(low, high, step):
            n += k & 3
            if n > 20:
                break
        return n

    def backward(low, high):
        n = 0
        for k in reversed(range(low, high)):
            n += k & 3
            if n > 20:
                break
        return n

    def beside(low, high):
        n = 0
        for k, x in zip(range(low, high), (1, 2, 3)):
            n += (k & 3) * x
        return n

    ends = (LEAST, LEAST + 1, -2, 0, 1, 3, MOST - 1, MOST)
    for low in ends:
        for high in ends:
            for f in (backward, beside):
                assert weft.jit(f)(low, high) == f(low, high), (f, low, high)
            for step in (1, -1, 2, MOST, LEAST):
                assert weft.jit(counted)(low, high, step) == counted(low, high, step), (low, high, step)


def test_a_range_whose_end_wraps_around_is_empty():
    @weft.jit
    def f(n):
        return sum([1 for _ in range(n, n + 5)]), sum([1 for _, _ in zip(range(n - 9, n + 9), (1, 2, 3))])

    assert f(7) == (5, 3)
    assert f(MOST) == (0, 0)  # n + 5 is a negative number
    assert f(LEAST) == (5, 0)


def test_unsigned_indices_do_not_count_from_the_end():
    @weft.jit
    def f(a, b, k):
        return a[b[k]]

    @weft.jit
    def before(a, b, k):
        return a[b[k] - 1]

    a, b = numpy.arange(5.0), numpy.array([3, 2**63, 2**64 - 1, 0], numpy.uint64)
    assert f(a, b, 0) == 3.0 and f(a, b, 3) == 0.0 and before(a, b, 0) == 2.0
    for k in (1, 2):
        with pytest.raises(IndexError):
            f(a, b, k)
    with pytest.raises(IndexError):
        before(a, b, 3)
    with pytest.raises(IndexError):
        weft.jit(lambda a, b, k: a[b[k] :][0])(a, b, 1)
