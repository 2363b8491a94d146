"""Integers between bounds, for Generator.integers and RandomState.randint."""

import math

from weft import _core
from weft._array.axes import broadcast_shapes, extents
from weft._core import asarray

_WORD = (1 << 64) - 1
_HALF = 1 << 63


def shape_of(size):
    """The shape of draws of that size."""
    if size is None:
        return ()
    size = extents(size)
    if any(extent < 0 for extent in size):
        raise ValueError("negative dimensions are not allowed")
    return size


def sized(size, *parameters):
    """The shape of draws: `size`, or what the parameters' shapes give together."""
    shape = broadcast_shapes(*(each.shape for each in parameters))
    if size is None:
        return shape
    wanted = _core.broadcast_to(asarray(0), size).shape
    if broadcast_shapes(wanted, shape) != wanted:
        raise ValueError(
            f"Output size {wanted} is not compatible with broadcast dimensions of inputs {shape}."
        )
    return wanted


def _limits(target):
    if target.kind == "b":
        return 0, 1
    bits = 8 * target.itemsize
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if target.kind == "i" else (0, (1 << bits) - 1)


def _fault(endpoint, low):
    if not _any(low):
        return "high < 0" if endpoint else "high <= 0"
    return "low > high" if endpoint else "low >= high"


def _any(value):
    return any(value) if isinstance(value, list) else bool(value)


def draw(stream, low, high, size, dtype, endpoint, masked, method):
    """Integers from `low` on and below `high`, or with `endpoint` up to it."""
    if high is None:
        low, high = 0, low
    if size is None and (dtype is int or dtype == "int64") and type(low) is int and type(high) is int:
        last = high if endpoint else high - 1
        if -_HALF <= low <= last < _HALF:
            drawn = _core._draw_integer(stream, low, last - low, masked)
            return drawn if dtype is int else _core.int64(drawn)
    target = _core.dtype(dtype)
    if target.kind not in "iub":
        raise TypeError(f"Unsupported dtype {target!r} for {method}")
    if size is not None and math.prod(extents(size)) == 0:
        return asarray([], target).reshape(size)
    if not (type(low) is int and type(high) is int):
        low, high = _Bounds(low), _Bounds(high)
        if low.shape or high.shape:
            return _between(stream, low, high, size, target, endpoint, masked)
        low, high = low.numbers[0], high.numbers[0]
    least, most = _limits(target)
    high -= not endpoint
    if low < least:
        raise ValueError(f"low is out of bounds for {target.name}")
    if high > most:
        raise ValueError(f"high is out of bounds for {target.name}")
    if low > high:
        raise ValueError(_fault(endpoint, low))
    result = _core._draw_integers(stream, shape_of(size), target.name, low & _WORD, high - low, masked)
    if size is not None:
        return result
    scalar = result[()]
    return dtype(scalar) if dtype is int or dtype is bool else type(scalar)(scalar)


class _Bounds:
    """Bounds as Python's integers, which int64 and uint64 may not hold."""

    def __init__(self, given):
        if isinstance(given, (int, float)):
            self.shape, self.numbers = (), [int(given)]
            return
        if not isinstance(given, (list, tuple)):
            given = given if hasattr(given, "tolist") else asarray(given)
            self.shape = tuple(given.shape)
            self.numbers = [int(each) for each in given.reshape(-1).tolist()]
            return
        try:
            self.shape = asarray(given).shape
        except OverflowError:
            self.shape = _shape_of_lists(given)
        self.numbers = [int(each) for each in _flat(given)]

    def over(self, shape):
        """One for each element of a shape."""
        places = _core.broadcast_to(asarray(range(len(self.numbers)), "int64").reshape(self.shape), shape)
        return [self.numbers[place] for place in places.ravel().tolist()]


def _shape_of_lists(given):
    return (len(given), *_shape_of_lists(given[0])) if isinstance(given, (list, tuple)) else ()


def _flat(given):
    if isinstance(given, (list, tuple)):
        return [each for part in given for each in _flat(part)]
    return given.reshape(-1).tolist() if getattr(given, "shape", ()) else [given]


def _between(stream, low, high, size, target, endpoint, masked):
    """Bounds that differ: one number after another."""
    shape = sized(size, low, high)
    lows, highs = low.over(shape), high.over(shape)
    least, most = _limits(target)
    if any(each < least for each in lows):
        raise ValueError(f"low is out of bounds for {target.name}")
    if any(each - (not endpoint) > most for each in highs):
        raise ValueError(f"high is out of bounds for {target.name}")
    ranges = [b - a - (not endpoint) for a, b in zip(lows, highs)]
    if any(each < 0 for each in ranges):
        raise ValueError(_fault(endpoint, lows))
    lows = [each & _WORD for each in lows]
    return _core._draw_integers_between(stream, shape, target.name, lows, ranges, masked)
