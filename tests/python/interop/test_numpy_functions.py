"""NumPy's functions called with weft's arrays give weft's arrays (NEP 18), with the values of NumPy's own.

WEFT_CALLS=n makes n calls of each function.
"""

import io
import os
import types
import zlib

import numpy
import pytest
import weft
from every_function import LOOSE, TABLE, TOLERANCE
from random_calls import Array, Difference, Draw, coarsest, compare

CALLS = int(os.environ.get("WEFT_CALLS", "8"))
# NumPy's functions, with arrays of weft's.
MIXED = types.SimpleNamespace(**{**{name: getattr(numpy, name) for name in dir(numpy)}, "array": weft.array})
# NumPy asks the elements of what these are given, not the array: poly's sequence, and lexsort's list of keys.
NOT_ASKED = {"lexsort", "poly"}
DISPATCHED = sorted(
    name for name in TABLE if hasattr(getattr(numpy, name, None), "_implementation") and name not in NOT_ASKED
)
DESCRIPTIONS = {"result_type", "common_type", "min_scalar_type"}


def _arrays(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _arrays(value)
        elif isinstance(value, Array):
            yield value


def test_there_are_functions():
    assert len(DISPATCHED) > 180


@pytest.mark.parametrize("name", DISPATCHED)
def test_random_calls(name):
    for turn in range(CALLS):
        call = TABLE[name](Draw(5, zlib.crc32(name.encode()), turn))
        if "device" in call.options:
            continue
        expected, theirs = call.run(name, numpy)
        result, ours = call.run(name, MIXED)
        if not list(_arrays(call.arguments)) and not isinstance(result, (weft.ndarray, weft.generic)):
            continue  # nothing told NumPy of weft
        try:
            if name.startswith("empty"):  # of no promised values
                assert result.shape == expected.shape and result.dtype.str == expected.dtype.str
                continue
            if name in DESCRIPTIONS:
                assert result == expected or isinstance(expected, Exception)
                continue
            strides = name not in LOOSE and not call.repeats
            compare(result, expected, TOLERANCE[name], strides=strides, coarse=coarsest(call))
            for mine, other in zip(ours, theirs):
                compare(mine, other, TOLERANCE[name], strides=False, coarse=coarsest(call))
        except Difference as difference:
            pytest.fail(f"call {turn} of numpy.{name}{call!r}: {difference}", pytrace=False)


with weft.device("cpu"):
    x = weft.arange(12.0).reshape(3, 4) + weft.eye(3, 4)
    square = weft.arange(9.0).reshape(3, 3) + 4 * weft.eye(3)


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.linalg.norm(x),
        lambda np: np.linalg.svd(square),
        lambda np: np.linalg.solve(square, numpy.ones(3)),
        lambda np: np.linalg.multi_dot([x, x.T, square]),
        lambda np: np.fft.fft(x),
        lambda np: np.fft.irfftn(x),
        lambda np: np.fft.fftshift(x, axes=0),
        lambda np: np.emath.sqrt(x - 5),
        lambda np: np.lib.stride_tricks.sliding_window_view(x, (2, 2)),
        lambda np: np.array([1, 2, 3], like=x),
        lambda np: np.arange(5, like=x),
        lambda np: np.block([[x, x], [numpy.asarray(x), x]]),
        lambda np: np.concatenate([numpy.ones((1, 4)), x]),
        lambda np: np.where(numpy.asarray(x) > 2, x, 0),
        lambda np: np.histogram(x, bins=4),
        lambda np: np.meshgrid(x[0], numpy.arange(3)),
    ],
)
def test_modules_and_mixtures(call):
    def kinds(value):
        return [type(each) for each in value] if isinstance(value, (list, tuple)) else [type(value)]

    with weft.device("cpu"):
        theirs, ours = call(numpy), call(weft)
    assert kinds(theirs) == kinds(ours)
    assert all(kind in (weft.ndarray, weft.float64) for kind in kinds(theirs))
    many = isinstance(theirs, (list, tuple))
    for one, two in zip(theirs, ours) if many else [(theirs, ours)]:
        assert weft.array_equal(one, two)


def test_writes_go_into_numpys_memory_and_are_counted():
    weft.clear_fallbacks()
    target, y = numpy.zeros(3), weft.arange(3.0, device="cpu")
    numpy.copyto(target, y)
    assert target.tolist() == [0, 1, 2]
    numpy.put(target, weft.asarray([0], device="cpu"), y[2])
    assert target.tolist() == [2, 1, 2]
    assert numpy.cumsum(y, out=target) is target and target.tolist() == [0, 1, 3]
    found = {row["function"]: row["reason"] for row in weft.fallback_report()}
    assert found == {
        "copyto": "the result is NumPy's array",
        "put": "the result is NumPy's array",
        "cumsum": "out is NumPy's array",
    }
    mine = weft.zeros(3, device="cpu")
    numpy.copyto(mine, target)
    assert mine.tolist() == [0, 1, 3] and numpy.add(mine, 1, out=mine) is mine


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_classes_of_numpys_decide_themselves():
    masked = numpy.ma.array([1.0, 2.0], mask=[False, True])
    assert type(numpy.ma.concatenate([masked, masked])) is numpy.ma.MaskedArray
    assert type(numpy.concatenate([numpy.matrix([[1.0, 2.0]]), weft.ones((1, 2))])) is numpy.matrix


def test_numpys_mark_of_a_missing_argument():
    assert numpy.sum(x, initial=numpy._NoValue) == weft.sum(x)


def test_subclasses_keep_their_type():
    class Mine(weft.ndarray):
        def __array_function__(self, function, types, args, kwargs):
            seen.append(function)
            return super().__array_function__(function, types, args, kwargs)

    seen = []
    mine = weft.arange(3.0).view(Mine)
    result = numpy.sort(mine)
    assert type(result) is Mine and seen == [numpy.sort]
    assert type(numpy.concatenate([mine, mine])) is type(weft.concatenate([mine, mine]))


def test_copies_to_the_host_are_counted_and_can_be_refused(device):
    y = weft.arange(1000.0) + 1
    weft.clear_fallbacks()
    assert numpy.asarray(y).sum() == 500500
    numpy.testing.assert_array_equal(y, y)
    repr(y), y.tolist(), weft.save(io.BytesIO(), y)
    rows = [row for row in weft.fallback_report() if row["function"] == "numpy.asarray"]
    if device == "cpu":
        assert not rows
        return
    assert {row["line"].rpartition(":")[0] for row in rows} == {__file__}
    assert rows and {row["bytes"] // row["calls"] for row in rows} == {8000}
    weft.config.fallback = "error"
    try:
        with pytest.raises(NotImplementedError, match="to_device"):
            numpy.asarray(y)
        assert y.to_device("cpu").__array__()[3] == 4 and repr(y)[:5] == "array"
    finally:
        weft.config.fallback = "silent"


def test_writes_of_numpys_into_arrays_on_a_device_are_not_lost(device):
    with weft.device("cpu"):
        theirs = numpy.array([5.0, 6.0])
    target = weft.zeros(3)
    numpy.copyto(target, numpy.ones(3))
    assert target.tolist() == [1, 1, 1]
    numpy.put(target, numpy.array([0, 2]), theirs)
    assert target.tolist() == [5, 1, 6]
    numpy.concatenate([target[:1], theirs], out=target)
    assert target.tolist() == [5, 5, 6]
    square = weft.zeros((2, 2))
    numpy.fill_diagonal(square, theirs)
    assert square.tolist() == [[5, 0], [0, 6]]
    masked = weft.ma.array(weft.asarray([1.0, 2.0, 3.0]), mask=[0, 1, 0])
    out = weft.ma.array(weft.zeros(3), mask=False)
    weft.cumsum(masked, out=out)
    assert out.tolist() == [1, None, 4] and str(out.device) == device
