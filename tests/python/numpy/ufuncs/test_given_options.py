"""Options of ufuncs and of functions on them, given or left out, beside NumPy's: results or errors."""

import numpy
import pytest
import weft
from comparing import assert_equal, outcome

CALLS = [
    lambda np: np.clip([1, 5, 9], 2),
    lambda np: np.clip(np.array([1, 5, 9]), 2),
    lambda np: np.clip(np.array([1, 5, 9]), 2, None),
    lambda np: np.clip(np.array([1, 5, 9]), None, 6),
    lambda np: np.clip(np.array([1, 5, 9])),
    lambda np: np.clip(np.array([1, 5, 9]), min=2),
    lambda np: np.clip(np.array([1, 5, 9]), a_min=2),
    lambda np: np.clip(np.array([1, 5, 9]), a_max=2),
    lambda np: np.clip(np.array([1, 5, 9]), 2, 5, min=3),
    lambda np: np.clip(np.array([1, 5, 9]), None, None),
    lambda np: np.array([1, 5, 9]).clip(2),
    lambda np: np.array([1, 5, 9]).clip(max=6),
    lambda np: np.array([1, 5, 9]).clip(),
    lambda np: np.can_cast("i4", None),
    lambda np: np.can_cast(None, "i4"),
    lambda np: np.isclose(
        np.array(float(1 - np.finfo("f8").eps), "f4"), np.float32(0), atol=float(1 - np.finfo("f8").eps)
    ),
    lambda np: np.isclose(np.array(1, "f4"), float(1 - np.finfo("f8").eps), atol=0, rtol=0),
    lambda np: np.isclose(1.0, 1.0 + 1e-9),
    lambda np: np.isclose(1, 2),
    lambda np: np.isclose([1, 2], 2),
    lambda np: np.isclose(np.int8(-128), np.int8(-128)),
    lambda np: np.isclose(1j, 1j),
    lambda np: np.isclose(np.nan, np.nan, equal_nan=True),
    lambda np: np.isclose(np.array([np.nan, 1]), np.nan, equal_nan=True),
    lambda np: type(np.isclose(1.0, 1)).__name__,
    lambda np: np.allclose(1, 1.0),
    lambda np: np.isclose(10**400, 1),
    lambda np: np.isclose(np.inf, np.inf),
    lambda np: np.isclose(np.inf, 1),
    lambda np: np.isclose(1.0, np.array([1, np.inf])),
    lambda np: np.add.reduce([], initial=None),
    lambda np: np.add.reduce([1], initial=None),
    lambda np: np.add.reduce(np.zeros((0, 3)), initial=None),
    lambda np: np.add.reduce(np.zeros((0, 3)), axis=1, initial=None),
    lambda np: np.add.reduce(np.zeros((3, 0)), axis=1, initial=None),
    lambda np: np.add.reduce(np.zeros((0, 0)), axis=1, initial=None),
    lambda np: np.bitwise_xor.reduce(np.zeros(0, int), initial=None),
    lambda np: np.bitwise_xor.reduce(np.zeros(2, int), initial=None, where=[True, False]),
    lambda np: np.add.reduce(np.zeros(2, int), initial=None, where=[True, False]),
    lambda np: np.add.reduce(np.zeros(2, int), initial=5),
    lambda np: np.sum([], initial=None),
    lambda np: np.sum([1, 2], initial=None),
    lambda np: np.sum([1, 2], initial=None, where=[True, False]),
    lambda np: np.sum(np.zeros((0, 3)), axis=1, initial=None),
    lambda np: np.array([]).prod(initial=None),
    lambda np: np.array([]).prod(initial=np._NoValue),
    lambda np: np.nansum([], initial=None),
    lambda np: np.max([], initial=None),
    lambda np: np.max([3, 1], initial=None),
    lambda np: np.max([3, 1], initial=None, where=[True, False]),
    lambda np: np.nanmax([3.0, np.nan], initial=None),
    lambda np: np.max([3, 1], initial=5),
    lambda np: np.minimunp.reduce([], initial=None),
    lambda np: np.add(1, 2, ...),
    lambda np: np.add.reduce(1, (), None, ...),
    lambda np: np.add.reduceat([1], [0], 0, None, ...),
    lambda np: np.add(1, 2, sig="ii->i", signature="ii->i"),
    lambda np: np.add(3, 4, signature=(None,)),
    lambda np: np.add.resolve_dtypes((None, np.dtype("i2"), None), reduction=True),
    lambda np: np.add.resolve_dtypes((np.dtype("i4"),) * 3, reduction=True),
    lambda np: np.add.resolve_dtypes(("i4", "i4", None)),
    lambda np: np.add.resolve_dtypes((int, np.dtype("i4"), None)),
    lambda np: np.promote_types(np.dtype("i4", metadata={1: 1}), np.dtype("i4", metadata={1: 1})).metadata,
    lambda np: np.dtype("i4", metadata={1: 1}),
]


@pytest.mark.parametrize("call", CALLS)
def test_call(call):
    with numpy.errstate(all="ignore"):
        theirs, ours = outcome(call, numpy), outcome(call, weft)
    if isinstance(theirs, Exception):
        assert type(ours).__name__ == type(theirs).__name__, ours
    elif isinstance(theirs, (numpy.ndarray, numpy.generic)):
        assert not isinstance(ours, Exception), ours
        assert_equal(ours, theirs)
    else:
        assert ours == theirs
