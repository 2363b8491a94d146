"""What is known of numbers, as of sums of counters and lengths and of what has no sign, is right."""

import numpy
import pytest
import weft


def up_to_a_difference(a, b):
    s = 0
    for _ in range(2):
        for i in range(len(b) - len(a)):
            s += a[i]
    return s


def down_from_a_difference(a, b):
    s = 0
    for _ in range(2):
        for i in range(len(b) - len(a), -1, -1):
            s += a[i]
    return s


def range_that_grows_on_both_sides(a, b):
    s = 0
    for i in range(len(a)):
        for k in range(5 - i, 7 + i):
            s += k
    return s


def range_that_goes_down(a, b):
    s = 0
    for i in range(len(b)):
        for k in range(2 - i, 4 - i):
            s += a[k + 1]
    return s


def up_to_a_number_less_the_counter(a, b):
    s = 0
    for i in range(len(b)):
        for j in range(3):
            for k in range(6 - i):
                s += a[k] + b[i] + j
    return s


def less_a_number_less_the_counter(a, b):
    s = 0
    for i in range(len(b)):
        s += a[5 - (3 - i)]
    return s


def twice_less_the_counter(a, b):
    s = 0
    for i in range(len(b)):
        s += a[len(b) - 1 - (len(b) - 2 - (1 - (2 - i)))]
    return s


def from_a_length_to_a_sum(a, b):
    s = 0
    for _ in range(2):
        for i in range(len(a) - len(b), len(a) + 3):
            s += i
    return s


FUNCTIONS = [value for value in list(globals().values()) if getattr(value, "__module__", "") == __name__]


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except IndexError:
        return "IndexError"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_what_python_gives(function):
    whole = numpy.arange(1, 100)  # behind an array's end are others' numbers
    compiled = weft.jit(function)
    sizes = (0, 1, 2, 3, 5, 8, 20)
    results = set()
    for n in sizes:
        for m in sizes:
            expected = outcome(function, whole[:n], whole[:m])
            assert outcome(compiled, whole[:n], whole[:m]) == expected, (n, m)
            results.add(expected)
    assert len(results) > 4


def rests_of_a_negative_number(n):
    s = 0
    n %= 1000
    for _ in range(4):
        s += n // 18
        n = (n // 18) % -65536
    return s, n


def bits_of_a_negative_number(n):
    s = 0
    n %= 1000
    for _ in range(4):
        s += n % 5 - n // 5
        n = (n | -8) if n % 2 else (n ^ -8)
    return s, n


@pytest.mark.parametrize("function", (rests_of_a_negative_number, bits_of_a_negative_number))
def test_negative_literals_are_not_taken_for_positive_ones(function):
    for n in (0, 1, 18, 345, -7):
        assert weft.jit(function)(n) == function(n)
