"""Arguments that NumPy's functions do not take in compiled functions: each is told by the name of its parameter."""

import numpy as np
import pytest
import weft
from numpy.polynomial import polynomial


def angle(a):
    return np.angle(a)


def append(a, b):
    return np.append(a, b)


def append_along(a, b, axis):
    return np.append(a, b, axis=axis)


def clip(a, low, high):
    return np.clip(a, low, high)


def cov(a, ddof):
    return np.cov(a, ddof=ddof)


def diagflat(a, k):
    return np.diagflat(a, k)


def geomspace(a, b):
    return np.geomspace(a, b)


def indices(dimensions):
    return np.indices(dimensions)


def intersect1d(a, b, assume_unique):
    return np.intersect1d(a, b, assume_unique)


def logspace(a, b, num):
    return np.logspace(a, b, num=num)


def polyadd(a, b):
    return polynomial.polyadd(a, b)


def polyval(x, c, tensor):
    return polynomial.polyval(x, c, tensor)


def repeat(a, repeats):
    return np.repeat(a, repeats)


def round_into(a, out):
    return np.round(a, 1, out=out)


def tri(n, k):
    return np.tri(n, k=k)


def unwrap(a, period):
    return np.unwrap(a, period=period)


def vsplit(a, parts):
    return np.vsplit(a, parts)


def where(c, x, y):
    return np.where(c, x, y)


ROW = np.arange(3.0)
GRID = np.ones((2, 2))
REFUSED = [
    (angle, ("text",), 'angle(): Argument "z" must be a complex or Array[complex], not str'),
    (append, (None, ROW), 'append(): The first argument "arr" must be array-like, not None'),
    (append, (ROW, "b"), 'append(): The second argument "values" must be array-like, not str'),
    (
        append_along,
        (GRID, GRID, 0.0),
        'append(): The third argument "axis" must be an integer, not float',
    ),
    (clip, (ROW, "a", 1), 'clip(): The argument "a_min" must be a number or an array, not str'),
    (cov, (GRID, 4j), "cov(): ddof must be a real numerical scalar type, not complex"),
    (cov, (GRID, ROW), "cov(): ddof must be a real numerical scalar type, not array(float64, 1d)"),
    (diagflat, (ROW, 1.0), 'diagflat(): The argument "k" must be an integer, not float'),
    (geomspace, ("a", 3), 'geomspace(): The argument "start" must be a number, not str'),
    (
        indices,
        ((2, 3.0),),
        'indices(): The argument "dimensions" must be a tuple of integers, not tuple(int, float)',
    ),
    (
        intersect1d,
        (ROW, ROW, "yes"),
        'intersect1d(): The argument "assume_unique" must be a bool, not str',
    ),
    (logspace, (0, 1, "n"), 'logspace(): The third argument "num" must be an integer, not str'),
    (polyadd, (ROW, "b"), 'polyadd(): The argument "c2" must be array-like, not str'),
    (polyadd, (GRID, ROW), "Coefficient array is not 1-d"),
    (polyval, (ROW, ROW, "a"), 'polyval(): The argument "tensor" must be boolean, not str'),
    (repeat, (ROW, 1.0), "repeat(): repeats must be integers, not float"),
    (round_into, (ROW, 6), 'round(): The argument "out" must be an array if it is provided, not int'),
    (tri, (3, 1.5), "tri(): k must be an integer, not float"),
    (unwrap, (ROW, "p"), 'unwrap(): The argument "period" must be a scalar, not str'),
    (vsplit, (4, 2), 'vsplit(): The argument "ary" must be an array, not int'),
    (where, (ROW, None, 1), 'where(): Argument "x" or "y" cannot be None'),
]


@pytest.mark.parametrize(
    ("function", "arguments", "told"), REFUSED, ids=lambda each: getattr(each, "__name__", "")
)
def test_what_a_function_does_not_take_is_told_by_the_name_of_its_parameter(function, arguments, told):
    with pytest.raises(weft.CompileError) as caught:
        weft.jit(function)(*arguments)
    assert told in str(caught.value).split("\n")[0]


def clip_above(a):
    return np.clip(a, None, 1)


def clip_by_arrays(a):
    return np.clip(a, a - 1, a + 1)


def append_flat(a):
    return np.append(a, [1, 2], axis=None)


def repeat_each(a):
    return np.repeat(a, np.array([1, 0, 2]))


def rot_by_float(a):
    return np.rot90(np.outer(a, a), 1.0)


def splits(a):
    return np.split(a, (1, 2))[1]


def numbers(a):
    return np.append(1, True)


@pytest.mark.parametrize(
    "function", [clip_above, clip_by_arrays, append_flat, repeat_each, rot_by_float, splits, numbers]
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_arguments_that_numpy_takes_are_taken(function, dtype):
    a = np.arange(3).astype(dtype)
    expected, found = function(a), np.asarray(weft.jit(function)(a))
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)
