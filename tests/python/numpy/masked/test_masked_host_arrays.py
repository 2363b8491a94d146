"""Masked arrays of dtypes that weft leaves to NumPy: they are numpy.ma's, and weft's where they become numbers."""

import pickle

import numpy
import pytest
import weft

FIELDS = [("x", "i4"), ("y", "f8")]


def words(np):
    return np.ma.array(["a", "b", "c"], mask=[0, 1, 0])


def table(np):
    return np.ma.array([(1, 2.0), (3, 4.0)], mask=[(0, 1), (1, 0)], dtype=FIELDS)


def numbers(np):
    return np.ma.array([1, 2, 3], mask=[0, 1, 0])


def written(np):
    whole = table(np)
    whole["x"][0] = np.ma.masked
    whole["x"][1] = 7
    text = words(np)
    text[0] = np.ma.masked
    return whole, text, text.mask


CALLS = {
    "words": lambda np: (words(np), words(np)[0], words(np)[1], words(np)[1] is np.ma.masked),
    "compare words": lambda np: words(np) == "a",
    "filled": lambda np: (words(np).filled("z"), np.ma.filled(table(np))),
    "table": lambda np: (table(np), table(np)["x"], table(np)["x"].sum(), table(np)[0], table(np).mask),
    "concatenate": lambda np: np.ma.concatenate([words(np), words(np)]),
    "astype": lambda np: (numbers(np).astype("U3"), numbers(np).astype(object), numbers(np).toflex()),
    "count": lambda np: (np.ma.count(words(np)), words(np).count(), len(words(np)), words(np).shape),
    "masked_equal": lambda np: np.ma.masked_equal(["a", "b"], "a"),
    "objects": lambda np: np.ma.array([1, 2], dtype=object),
    "dates": lambda np: np.ma.masked_array(np.array(["2001-01-01", "2002-01-01"], "M8[D]"), mask=[1, 0]),
    "made": lambda np: (np.ma.zeros(2, dtype=[("a", int)]), np.ma.empty_like(table(np)).dtype),
    "sorted": lambda np: (np.ma.sort(words(np)), np.ma.unique(words(np))),
    "asked": lambda np: (np.ma.is_masked(words(np)), np.ma.isMaskedArray(words(np))),
    "fill values": lambda np: (table(np)["x"].fill_value, words(np).fill_value),
    "each": lambda np: list(words(np)),
    "written": written,
    "scalar first": lambda np: numbers(np)[0] == np.ma.array([0.0, 1], mask=[1, 0]),
    "long double": lambda np: np.ma.array([0, 1], dtype="g", mask=[0, 1]) == np.ma.array([0, 1], mask=[1, 0]),
    "ndarray": lambda np: (np.ndarray((2,), "U3").dtype, np.ndarray(shape=(2,), dtype=FIELDS).dtype),
    "sum of all": lambda np: (
        np.sum(numbers(np)),
        np.mean(numbers(np)),
        np.max(numbers(np)),
        np.std(numbers(np)),
    ),
    "median": lambda np: np.ma.median(np.ma.array([[1.0, 2], [3, 4]], mask=[[0, 1], [0, 0]]), axis=0),
    "long double scalar": lambda np: (np.array([1]) < np.longdouble(2), np.array([1]) + np.longdouble(2)),
}


def flat(value):
    return value if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    for ours, theirs in zip(flat(CALLS[name](weft)), flat(CALLS[name](numpy)), strict=True):
        assert repr(ours) == repr(theirs)
        assert isinstance(ours, weft.ma.MaskedArray) == isinstance(theirs, numpy.ma.MaskedArray)
        assert isinstance(ours, weft.ndarray) == isinstance(theirs, numpy.ndarray)


def test_pickles():
    for make in (numbers, words, table):
        assert repr(pickle.loads(pickle.dumps(make(weft)))) == repr(make(numpy))


def test_numbers_are_wefts_own():
    column = table(weft)["x"]
    assert type(column) is weft.ma.MaskedArray and type(column.data) is weft.ndarray


class Reduced(weft.ndarray):
    def sum(self, axis=None, out=None):
        return "its own"


class Table:
    """As a table of pandas: no array, but with methods of the same names."""

    def mean(self, axis, dtype=None, out=None):
        return "a table's"

    def __array__(self, dtype=None, copy=None):
        return numpy.ones(3)


def test_functions_ask_for_the_methods_of_subclasses_and_tables():
    assert weft.sum(weft.ones(3).view(Reduced)) == "its own"
    assert weft.mean(Table()) == "a table's" and weft.sum(Table()) == 3
