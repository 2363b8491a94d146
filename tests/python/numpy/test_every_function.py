"""Every public function, called with random arguments beside NumPy's (every_function.py draws them).

WEFT_CALLS=n makes n calls of each function; WEFT_SEED=s begins elsewhere.
"""

import os
import zlib

import numpy
import pytest
import weft
from comparing import outcome
from every_function import LOOSE, NOT_DRAWN, TABLE, TOLERANCE, UFUNCS
from random_calls import Array, Difference, Draw, coarsest, compare

CALLS = int(os.environ.get("WEFT_CALLS", "24"))
SEED = int(os.environ.get("WEFT_SEED", "1"))


@pytest.mark.parametrize("name", sorted(TABLE))
def test_random_calls(name):
    for turn in range(CALLS):
        call = TABLE[name](Draw(SEED, zlib.crc32(name.encode()), turn))
        expected, theirs = call.run(name, numpy)
        result, ours = call.run(name, weft)
        try:
            options = {
                "strides": name not in LOOSE and (name in UFUNCS or not call.repeats),
                "coarse": coarsest(call),
            }
            if name.startswith("empty"):  # of no promised values
                assert result.shape == expected.shape and result.dtype.str == expected.dtype.str
                continue
            compare(result, expected, TOLERANCE[name], **options)
            for mine, other in zip(ours, theirs):
                compare(mine, other, TOLERANCE[name], strides=False, coarse=options["coarse"])
        except Difference as difference:
            pytest.fail(f"call {turn} of {name}{call!r}: {difference}", pytrace=False)


METHODS = sorted(
    name
    for name in set(dir(numpy.ndarray)) & set(dir(weft.ndarray)) & set(TABLE)
    # Others' parameters are in another order, or another function has the name.
    if name
    not in (
        "choose",
        "compress",
        "conj",
        "conjugate",
        "shape",
        "size",
        "ndim",
        "real",
        "imag",
        "sort",
        "partition",
        "put",
        "resize",
    )
    and not name.startswith("_")
)


@pytest.mark.parametrize("name", METHODS)
def test_random_calls_of_methods(name):
    """The same calls as methods of their first arguments."""
    for turn in range(CALLS):
        call = TABLE[name](Draw(SEED, zlib.crc32(name.encode()), turn))
        if not call.arguments or not isinstance(call.arguments[0], Array) or "device" in call.options:
            continue
        expected, theirs = call.run_method(name, numpy)
        result, ours = call.run_method(name, weft)
        try:
            compare(result, expected, TOLERANCE[name], strides=name not in LOOSE and not call.repeats)
            for mine, other in zip(ours, theirs):
                compare(mine, other, TOLERANCE[name], strides=False)
        except Difference as difference:
            pytest.fail(f"call {turn} of ndarray.{name}{call!r}: {difference}", pytrace=False)


def test_no_function_is_forgotten():
    public = {
        name
        for name in dir(weft)
        if not name.startswith("_")
        and callable(getattr(weft, name))
        and not isinstance(getattr(weft, name), type)
    }
    assert public - set(TABLE) - set(NOT_DRAWN) == set()
    assert not set(TABLE) & set(NOT_DRAWN)


@pytest.mark.parametrize("dtypes", [("f", "d"), ("e",), ("l",), ("F", "l"), ("F", "f"), ("?",), ()])
def test_common_type(dtypes):
    def call(np):
        return np.dtype(np.common_type(*(np.ones(1, dtype) for dtype in dtypes))).str

    expected, result = outcome(call, numpy), outcome(call, weft)
    assert result == expected or (isinstance(expected, TypeError) and isinstance(result, TypeError))


def test_what_is_drawn_differs():
    """The comparison sees values, types, shapes, orders in memory and errors."""
    x = numpy.arange(6.0).reshape(2, 3)
    for wrong in (
        weft.array(x + 1),
        weft.array(x, "f"),
        weft.array(x.T),
        weft.array(x, order="F"),
        ValueError(),
        1.0,
    ):
        with pytest.raises(Difference):
            compare(wrong, x)
    compare(weft.array(x), x)
