"""Metadata of dtypes: what a program has said of one. Arrays of weft's own dtypes do not keep it."""

import gc

import numpy
import pytest
import weft
from comparing import outcome


@pytest.mark.parametrize(
    "call",
    [
        lambda np: np.dtype("i4", metadata={"a": 1}).metadata,
        lambda np: np.dtype("i4").metadata,
        lambda np: np.dtype("i4", metadata={}).metadata,
        lambda np: np.dtype(np.dtype("i4", metadata={"a": 1})).metadata,
        lambda np: np.dtype(np.int64, False, True, {"a": 1}).metadata,
        lambda np: np.dtype("q", metadata={"a": 1}).char,
        lambda np: np.dtype("i4", metadata={"a": 1}) == np.dtype("i4"),
        lambda np: hash(np.dtype("i4", metadata={"a": 1})) == hash(np.dtype("i4")),
        lambda np: np.dtype("i4", metadata={"a": 1}).itemsize,
        lambda np: str(np.zeros(3, np.dtype("i4", metadata={"a": 1})) + 1),
        lambda np: np.dtype([("a", "i4")], metadata={"b": 2}).metadata,
        lambda np: np.dtype([("a", "i1"), ("b", "i8")], align=True, metadata={"b": 2}).itemsize,
        lambda np: np.dtype("U5", metadata={"b": 2}).metadata,
        lambda np: np.dtype(object, metadata={"b": str}).metadata,
        lambda np: np.dtype(dtype="O", metadata={"b": str}).metadata["b"],
        lambda np: np.zeros(3, np.dtype("O", metadata={"b": str})).dtype.metadata,
        lambda np: np.dtype("i4", metadata=3),
        lambda np: np.dtype("i4", metadata=None),
        lambda np: np.dtype("i4", False, False, {}, 1),
        lambda np: np.dtype("i4", bogus=1),
        lambda np: np.dtype("i4", metadata={"a": 1}).metadata.__setitem__("a", 2),
    ],
)
def test_metadata(call):
    theirs, ours = outcome(call, numpy), outcome(call, weft)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs)
    else:
        assert ours == theirs


def test_it_is_the_dtype_s_own_copy():
    said = {"a": [1]}
    dtype = weft.dtype("f8", metadata=said)
    said["b"] = 2
    assert dict(dtype.metadata) == {"a": [1]} and isinstance(dtype, weft.dtype)
    kept = dtype.metadata
    del dtype
    gc.collect()
    assert kept["a"] == [1]
