"""Lists whose elements are of several types: they are read in compiled functions, and not changed."""

import pickle

import numpy
import pytest
import weft as np


def unified(x):
    if x > 3:
        chosen = ["a", 1]
    else:
        chosen = ["b", 2]
    return chosen[0], chosen[-1], chosen


def unpacked(x):
    name, number = ["x", x]
    return name, number


def converted(values):
    return tuple(values), list(values)


READ = [
    lambda x: ["a", x, 2.5],
    lambda x: len(["a", x, (1, x)]),
    lambda x: (x in ["a", 5], "a" in ["a", 1], "b" in ["a", 1], x not in ["a", 7]),
    lambda x: ["a", x, "a"].count("a"),
    lambda x: ["a", x, "b"].index("b"),
    lambda x: ["a", x].copy(),
    lambda x: (["a", x] == ["a", 5], ["a", x] == ("a", 5), ["a", x] != ["a", 5], ["a", 1] < ["a", x]),
    lambda x: (isinstance(["a", x], list), isinstance(["a", x], tuple)),
    lambda x: converted(["a", x]),
    lambda x: [["a", x], ["b", 2]],
    lambda x: ["a", [1, 2, x], None],
    lambda x: f"{['a', x]}",
    lambda x: (["a", x][0], ["a", x][-1]),
    lambda x: not ["a", x],
    unified,
    unpacked,
]


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("x", [1, 5])
def test_they_are_read_as_in_python(read, x):
    got, expected = np.jit(read)(x), read(x)
    assert got == expected
    assert type(got) is type(expected)


def test_one_of_arrays_is_returned():
    name, array = np.jit(lambda n: ["a", numpy.ones(n)])(3)
    assert name == "a"
    assert array.tolist() == [1.0, 1.0, 1.0]


def appended(x):
    values = ["a", x]
    values.append(2)


def assigned(x):
    values = ["a", x]
    values[0] = x


def deleted(x):
    values = ["a", x]
    del values[0]


@pytest.mark.parametrize("change", [appended, assigned, deleted, lambda x: ["a", x].sort()])
def test_they_are_not_changed(change):
    with pytest.raises(np.CompileError, match="Cannot mutate a literal list"):
        np.jit(change)(1)


def test_an_index_is_known():
    for indexed in (lambda x: ["a", x][x], lambda x: ["a", x][:1]):
        with pytest.raises(np.CompileError, match="Cannot __getitem__ on a literal list"):
            np.jit(indexed)(1)
    with pytest.raises(np.CompileError, match="list index out of range"):
        np.jit(lambda x: ["a", x][2])(1)


def test_other_operators_are_refused():
    with pytest.raises(np.CompileError, match="operator \\+ is not compiled"):
        np.jit(lambda x: ["a", x] + ["b"])(1)
    with pytest.raises(np.CompileError, match="unhashable"):
        np.jit(lambda x: hash(["a", x]))(1)


def test_a_loop_goes_over_the_characters_of_a_known_text():
    def counted():
        found = []
        for c in "a\u00e9\U0001f600a":
            found.append(c)
        return found

    assert np.jit(counted)() == counted()
    assert np.jit(lambda: [["a", 1, "a", "b"].count(c) for c in "abc"])() == [2, 1, 0]


def test_an_empty_tuple_has_no_item():
    with pytest.raises(IndexError, match="tuple index out of range"):
        np.jit(lambda t, i: t[i])((), 0)


@pytest.mark.parametrize(
    ("function", "arguments", "theirs", "ours"),
    [
        (numpy.linalg.inv, (numpy.zeros((2, 2)),), numpy.linalg.LinAlgError, np.exceptions.LinAlgError),
        (
            lambda a, axes: a.sum(axis=axes),
            (numpy.ones((2, 2)), (3,)),
            numpy.exceptions.AxisError,
            np.exceptions.AxisError,
        ),
    ],
)
def test_errors_of_compiled_functions_are_numpys_classes_too(function, arguments, theirs, ours):
    run = np.jit(lambda a: numpy.linalg.inv(a)) if function is numpy.linalg.inv else np.jit(function)
    with pytest.raises(theirs) as caught:
        run(*arguments)
    assert isinstance(caught.value, ours)
    with pytest.raises(theirs) as expected:
        function(*arguments)
    assert str(caught.value) == str(expected.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is ours
    assert str(again) == str(caught.value)
