"""Functions of the top level on masked arrays: masks go with the elements, as in NumPy.

WEFT_CALLS=n makes n calls of each function.
"""

import os
import warnings
import zlib

import numpy
import numpy.ma
import pytest
import weft
import weft.ma
from every_function import TABLE
from random_calls import Array, Draw
from weft.ma import _host_arrays

CALLS = int(os.environ.get("WEFT_CALLS", "5"))
NAMES = sorted(_host_arrays._COMPOSED & set(TABLE) - {"block", "ravel_multi_index"})


def made(argument, np, masks, masked):
    if isinstance(argument, Array):
        x = argument.make(np)
        mask = np.array(masks.random(x.shape) < 0.3)
        return np.ma.array(x, mask=mask) if masked else x
    if isinstance(argument, (list, tuple)):
        return type(argument)(made(each, np, masks, masked) for each in argument)
    return argument


def plainly(x):
    """What can be compared: of masked arrays the visible elements."""
    if isinstance(x, (tuple, list)):
        return [type(x).__name__, *map(plainly, x)]
    name = type(x).__name__
    if hasattr(x, "_mask"):
        mask = numpy.broadcast_to(
            numpy.asarray(x._mask.__array__() if x._mask is not x.__class__ else False), x.shape
        )
        values = numpy.asarray(x._data)
        return name, x.dtype.str, x.shape, mask.tolist(), rounded(values[~mask])
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        return name, x.dtype.str, x.shape, rounded(numpy.asarray(x).ravel())
    return name, str(x)


def rounded(values):
    values = values.astype(complex)
    return numpy.round(numpy.where(numpy.isfinite(values), values, 0), 5).tolist()


def outcome(call, name, np, turn):
    masks = numpy.random.default_rng(turn)
    arguments = [made(each, np, masks, True) for each in call.arguments]
    options = {key: made(value, np, masks, False) for key, value in call.options.items()}
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return plainly(getattr(np, name)(*arguments, **options))
        except Exception as error:
            return isinstance(error, RecursionError)


@pytest.mark.parametrize("name", NAMES)
def test_random_calls(name):
    for turn in range(CALLS):
        call = TABLE[name](Draw(9, zlib.crc32(name.encode()), turn))
        if {"device", "out", "like", "order"} & set(call.options):
            continue
        expected, result = outcome(call, name, numpy, turn), outcome(call, name, weft, turn)
        assert repr(result).replace("-0.0", "0.0") == repr(expected).replace("-0.0", "0.0"), call


def test_sets_without_masks():
    a, b = weft.ma.array([1, 2, 3, 2, 4]), weft.ma.array([2, 3, 5, 7, 5])
    assert weft.ma.setxor1d(a, b).tolist() == [1, 4, 5, 7]
    assert weft.ma.union1d(a, b).tolist() == [1, 2, 3, 4, 5, 7]
    a.sort()
    assert a.tolist() == [1, 2, 2, 3, 4] and type(a) is weft.ma.MaskedArray


def test_it_is_counted():
    weft.clear_fallbacks()
    weft.diff(weft.ma.array([1, 2, 4], mask=[0, 1, 0]))
    assert [(row["function"], row["reason"]) for row in weft.fallback_report()] == [
        ("diff", "a masked array")
    ]
