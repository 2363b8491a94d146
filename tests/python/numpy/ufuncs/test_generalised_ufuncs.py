"""matmul, matvec, vecdot and vecmat with the options that NumPy's ufuncs with core axes have, beside NumPy's."""
# ruff: noqa: B023

import copy
import inspect
import itertools
import pickle

import numpy
import pytest
import weft
from comparing import assert_equal, outcome

NAMES = ["matmul", "matvec", "vecdot", "vecmat"]
SHAPES = [(2, 3), (4, 2, 3), (3, 4), (3,), (2, 2), ()]
OPTIONS = [
    {"axes": [0, 0]},
    {"axes": [-1, 0, ()]},
    {"axes": [(0,), 0, ()]},
    {"axes": [(0, 1), (1, 0), (1, 0)]},
    {"axes": [(-1, -2), (-1, -2), (0, -1)]},
    {"axes": [(0, 1), 0, 0]},
    {"axes": [(-1, 0), -1, -1]},
    {"axes": [0, (0, 1), 0]},
    {"axes": [-1, (-1, 0), 0]},
    {"axes": [0, 0, 0], "keepdims": True},
    {"axes": [0, 0, None]},
    {"axes": [(0, 0), (0, 1), (0, 1)]},
    {"axes": [(0, 1), (0, 5), (0, 1)]},
    {"axes": ["a", 0]},
    {"axes": [1.0, 0]},
    {"axes": (0, 0)},
    {"axes": [0]},
    {"axes": None},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": 7},
    {"axis": (0,)},
    {"axis": None},
    {"axis": 0, "axes": [0, 0]},
    {"keepdims": True},
    {"keepdims": False},
    {"keepdims": 1},
    {"signature": "dd->d"},
    {"sig": "ff->f"},
    {"signature": (None, None, "f4")},
    {"signature": "ll->l", "casting": "unsafe"},
    {"signature": "ll->l"},
    {"signature": "d"},
    {"signature": "dd"},
    {"signature": "dd->d", "sig": "dd->d"},
    {"signature": "dd->d", "dtype": "d"},
    {"dtype": "f4"},
    {"dtype": "i8"},
    {"dtype": "i8", "casting": "unsafe"},
    {"casting": "no"},
    {"casting": "huh"},
    {"order": "F"},
    {"order": "X"},
    {"subok": False},
    {"subok": 1},
    {"out": ...},
    {"out": (None,)},
    {"out": (1, 2)},
    {"where": True},
    {"bogus": 1},
]


def assert_same(call, where):
    expected, result = outcome(call, numpy), outcome(call, weft)
    if not isinstance(expected, Exception):
        assert not isinstance(result, Exception), (where, result)
        assert_equal(result, expected)
        return
    assert type(result).__name__.removeprefix("_") == type(expected).__name__.removeprefix("_"), (
        where,
        result,
        expected,
    )
    if "positional" not in str(expected) and "unexpected keyword" not in str(expected):
        assert str(result) == str(expected), where


def operand(np, shape, dtype, offset):
    size = int(numpy.prod(shape))
    return np.asarray((numpy.arange(size) + offset).reshape(shape).astype(dtype))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["d", "D", "h"])
def test_options(name, dtype):
    for options, left, right in itertools.product(OPTIONS, SHAPES, SHAPES):
        if dtype != "d" and ((left, right) != ((2, 3), (2, 3)) or "casting" in options):
            continue
        call = lambda np: getattr(np, name)(  # noqa: E731
            operand(np, left, dtype, 1), operand(np, right, dtype, 3) * (1j if dtype == "D" else 1), **options
        )
        assert_same(call, (name, left, right, options))


@pytest.mark.parametrize("name", NAMES)
def test_outputs(name):
    right = {"matmul": (2, 4, 3), "matvec": (2, 4), "vecdot": (2, 3, 4), "vecmat": (2, 3, 4)}[name]
    left = (2, 3) if name == "vecmat" else (2, 3, 4)
    options = [{}, {"axes": [(1, 2), (1, 2), (0, 2)]}, {"axis": 1}, {"axis": 1, "keepdims": True}]
    for out, dtype, given in itertools.product(
        [(3, 2, 3), (2, 3, 3), (2, 3), (2, 4), (5, 2, 3), (5, 2, 4), (2, 1, 4)], ["d", "f", "l"], options
    ):
        if out == (2, 1, 4) and "keepdims" not in given:
            continue  # an axis of one that the result has longer is told in other words

        def call(np):
            target = np.zeros(out, dtype)
            result = getattr(np, name)(operand(np, left, "d", 1), operand(np, right, "d", 2), target, **given)
            assert result is target
            return result

        expected, result = outcome(call, numpy), outcome(call, weft)
        if isinstance(expected, Exception):
            assert type(result).__name__ == type(expected).__name__, (
                name,
                out,
                dtype,
                given,
                result,
                expected,
            )
        else:
            assert not isinstance(result, Exception), (name, out, dtype, given, result)
            assert_equal(result, expected)


@pytest.mark.parametrize("name", NAMES)
def test_objects_and_long_doubles(name):
    for dtype in ("O", "g"):
        options = {
            "vecdot": {"axis": 0},
            "matvec": {"axes": [(1, 0), 0, 0]},
            "vecmat": {"axes": [0, (1, 0), 0]},
        }
        call = lambda np: getattr(np, name)(  # noqa: E731
            operand(np, (3,) if name == "vecmat" else (3, 3), dtype, 1),
            operand(np, (3,) if name == "matvec" else (3, 3), dtype, 2),
            **options.get(name, {"axes": [(0, 1), (1, 0), (1, 0)]}),
        )
        assert str(outcome(call, weft)) == str(outcome(call, numpy))


@pytest.mark.parametrize("name", NAMES)
def test_attributes(name):
    theirs, ours = getattr(numpy, name), getattr(weft, name)
    assert isinstance(ours, weft.ufunc)
    for attribute in ("signature", "nin", "nout", "nargs", "identity", "__name__"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert repr(ours) == repr(theirs)
    assert [loop for loop in ours.types if "E" not in loop] == [
        loop for loop in theirs.types if not set("gGO") & set(loop)
    ]
    assert ours.ntypes == len(ours.types)
    assert inspect.signature(ours).parameters.keys() == inspect.signature(theirs).parameters.keys()
    assert pickle.loads(pickle.dumps(ours)) is ours and copy.deepcopy(ours) is ours
    for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
        assert_same(lambda np: getattr(getattr(np, name), method)(np.ones((2, 2))), method)
    dtypes = lambda np: (np.dtype("f4"), np.dtype("i8"), None)  # noqa: E731
    assert list(map(str, ours.resolve_dtypes(dtypes(weft)))) == list(
        map(str, theirs.resolve_dtypes(dtypes(numpy)))
    )
    with pytest.raises(AttributeError):
        ours.nothing  # noqa: B018
