"""Python's lists as arguments of compiled functions."""

import copy
import subprocess
import sys

import numpy
import pytest
import weft as np


def outcome(function, *arguments):
    """What a call comes to, and what it leaves of its arguments."""
    given = copy.deepcopy(arguments)
    try:
        return "gives", repr(function(*given)), repr(given)
    except Exception as error:
        return type(error).__name__, str(error), repr(given)


def agree(function, *arguments):
    expected = outcome(function, *arguments)
    assert outcome(np.jit(function), *arguments) == expected
    return expected


def read(items):
    total = 0
    for x in items:
        total += x
    return total, len(items), items[-1], items[1:]


@pytest.mark.parametrize("items", [[1, 2, 3], [1.5, 2.0], [True, False], [1j, 2j], [2**62]])
def test_elements_are_numbers(items):
    agree(read, items)


def test_elements_of_numpys_types_keep_them():
    f = np.jit(lambda items: items[0])
    assert type(f([numpy.float32(2)])).__name__ == "float32"
    assert f([numpy.int64(2)]) == 2


def append(items, x):
    items.append(x)
    return items


@pytest.mark.parametrize(
    ("items", "x"),
    [([1, 2], 3), ([1, 2], 0.5), ([], 1), ([[1]], [2, 3]), ([(1, 2.5)], (3, 4.5)), ([(1, [2])], (3, [4, 5]))],
)
def test_what_is_added_comes_back(items, x):
    agree(append, items, x)


def test_it_comes_back_where_the_function_raises():
    def f(items):
        items.pop(0)
        raise ValueError(items)

    assert agree(f, [1, 2, 3])[2] == "([2, 3],)"


def test_a_list_stays_the_object_that_it_is():
    items = [1, 2]
    assert np.jit(lambda given: given)(items) is items
    rows = [items, [3]]

    @np.jit
    def f(rows, items):
        rows[0].append(5)
        items.append(7)
        rows.append([1])
        rows[1][0] = 9
        return rows[0] is items

    assert f(rows, items) and rows == [[1, 2, 5, 7], [9], [1]] and rows[0] is items


def test_one_list_for_two_parameters():
    def f(a, b):
        a.append(0.5)
        return b, a is b

    items = [1]
    assert np.jit(f)(items, items) == ([1, 0.5], True)
    agree(f, [1], [1])


def test_lists_in_tuples():
    def f(pair):
        pair[0].append(pair[1])
        return pair

    agree(f, ([1], 2))


def test_what_is_only_read_is_not_copied_back():
    class Watched(list):
        pass

    items = [1, 2]

    @np.jit
    def f(items):
        return items[0]

    assert f(items) == 1 and f(items) == 1 and items == [1, 2]
    with pytest.raises(TypeError, match="which compiled functions do not take"):
        f(Watched())


@pytest.mark.parametrize(
    ("items", "error", "text"),
    [
        ([1, "a"], TypeError, "is a list of int and str"),
        ([b"a"], TypeError, "is a list with a bytes in it"),
        ([(1, 2), 3], TypeError, r"is a list of tuple\(int, int\) and int"),
        ([2**70], OverflowError, "a list has an integer beyond 64 bits in it"),
    ],
)
def test_errors(items, error, text):
    f = np.jit(lambda items: len(items))
    with pytest.raises(error, match=text):
        f(items)
    assert f([1]) == 1


def test_a_list_in_itself():
    items = [1]
    items.append(items)
    with pytest.raises(TypeError):
        np.jit(lambda items: 1)(items)


def total_of(arrays):
    total = 0.0
    for a in arrays:
        for x in a:
            total = total * 2 + x
    return total


def test_lists_of_arrays():
    arrays = [numpy.arange(3.0), numpy.arange(6.0)[::2], numpy.empty(0)]
    assert np.jit(total_of)(arrays) == total_of(arrays)
    ours = [np.asarray(a) for a in arrays]
    assert np.jit(total_of)(ours) == total_of(arrays)
    assert np.jit(lambda rows: rows[1][0, 1] + rows[0][1, 1])([numpy.eye(2), numpy.ones((2, 3)).T]) == 2.0


def changed(arrays, one):
    arrays.append(one)
    arrays.append(arrays[0] + 1)
    first = arrays.pop(0)
    first[0] = 7.0
    return first, len(arrays)


def test_lists_of_arrays_are_changed():
    a, b, c = numpy.arange(3.0), numpy.arange(2.0), numpy.zeros(4)
    arrays = [a, b]
    first, length = np.jit(changed)(arrays, c)
    assert first is a
    assert length == 3
    assert a.tolist() == [7.0, 1.0, 2.0]
    assert arrays[0] is b
    assert arrays[1] is c
    assert arrays[2].tolist() == [1.0, 2.0, 3.0]


def replaced(arrays):
    arrays[1] = numpy.arange(4)
    arrays.insert(0, numpy.arange(2))


def test_arrays_of_a_list_are_replaced_by_others():
    ours, theirs = ([numpy.arange(3), numpy.arange(5), numpy.arange(4)] for _ in range(2))
    np.jit(replaced)(ours)
    replaced(theirs)
    assert [each.tolist() for each in ours] == [each.tolist() for each in theirs]


def shifted(arrays, out):
    for a in arrays:
        for i in range(len(a)):
            out[i + 1] = a[i] + 1


def test_arrays_of_a_list_overlap_with_others():
    memory = numpy.arange(8.0)
    expected = memory.copy()
    shifted([expected[:5], expected[2:6]], expected)
    np.jit(shifted)([memory[:5], memory[2:6]], memory)
    assert memory.tolist() == expected.tolist()


def test_arrays_of_a_list_have_one_type():
    with pytest.raises(TypeError, match="the elements of a list are of one type"):
        np.jit(total_of)([numpy.arange(3.0), numpy.arange(3)])


@pytest.mark.parametrize("array", ["numpy.array([])", "numpy.array(['2020-01-01'], 'M8[D]')"])
def test_lists_of_arrays_after_a_first_array_that_tells_little(array):
    """A process's first array without elements tells nothing of strides, and one of dates lends no buffer."""
    code = f"""
import numpy, weft
first = weft.jit(lambda x: x[0], source="f = lambda x: x[0]")
length = weft.jit(lambda x: len(x), source="f = lambda x: len(x)")
try:
    length({array})
except TypeError:
    pass
print(first([numpy.ones(2)]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[1. 1.]\n", done.stderr
