"""Which elements Generator.choice takes, by NumPy's own methods and so from the same draws."""

import itertools
import math
import operator

from weft import _core
from weft._core import asarray, ndarray

_SEQUENTIAL = 128  # sums of so many are added up one after another (docs/reference/kernel-ir.md)


def population_of(a, axis, size):
    """The array to take from, if it is one, and how many elements there are to choose from."""
    asked = math.prod(extents(size)) != 0
    given = asarray(a)
    if given.ndim == 0:
        try:
            count = operator.index(given.item())
        except TypeError as error:
            raise ValueError(f"a must be a sequence or an integer, not {type(a)}") from error
        if count <= 0 and asked:
            raise ValueError("a must be a positive integer unless no samples are taken")
        return None, count
    count = given.shape[axis]
    if count == 0 and asked:
        raise ValueError("a cannot be empty unless no samples are taken")
    return given, count


def extents(size):
    if size is None:
        return ()
    if isinstance(size, (tuple, list)):
        return tuple(operator.index(each) for each in size)
    return (operator.index(size),)


def _checked_odds(p, count):
    len(p)
    tolerance = math.sqrt(2.0**-52)
    if getattr(getattr(p, "dtype", None), "kind", "") == "f":
        tolerance = max(tolerance, math.sqrt({2: 2.0**-10, 4: 2.0**-23}.get(p.dtype.itemsize, 2.0**-52)))
    p = asarray(p).astype("float64", copy=False)
    if p.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if p.size != count:
        raise ValueError("a and p must have same size")
    values = p.tolist()
    total = math.fsum(values) if all(map(math.isfinite, values)) else sum(values)
    if math.isnan(total):
        raise ValueError("Probabilities contain NaN")
    if any(value < 0 for value in values):
        raise ValueError("Probabilities are not non-negative")
    if abs(total - 1) > tolerance:
        raise ValueError(
            "Probabilities do not sum to 1. See Notes section of docstring for more information."
        )
    return values


def _found(odds, numbers):
    """Where uniform numbers fall among running sums, which are added up one after another as NumPy's."""
    from weft._functions.ordering import searchsorted

    sums = asarray(list(itertools.accumulate(odds)), "float64")
    return asarray(searchsorted(sums / sums[-1], asarray(numbers), "right"))


def positions(rng, count, size, replace, p, shuffle):
    """Positions below `count`, of shape `size`; () where that is None."""
    shape = extents(size)
    odds = None if p is None else _checked_odds(p, count)
    if replace:
        if odds is None:
            return asarray(rng.integers(0, count, shape))
        if math.prod(shape) == 0:
            rng.random(shape)
            return asarray([], "int64").reshape(shape)
        return _found(odds, rng.random(shape)).reshape(shape)
    wanted = math.prod(shape)
    if wanted > count:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    if wanted < 0:
        raise ValueError("negative dimensions are not allowed")
    if odds is None:
        chosen = rng.bit_generator._draw(_core._draw_sample, count, wanted, bool(shuffle))
        return chosen.reshape(shape)
    if sum(value > 0 for value in odds) < wanted:
        raise ValueError("Fewer non-zero entries in p than size")
    chosen = []
    while len(chosen) < wanted:
        numbers = rng.random(wanted - len(chosen))
        for position in chosen:
            odds[position] = 0.0
        chosen += dict.fromkeys(_found(odds, numbers).tolist())
    return asarray(chosen, "int64").reshape(shape)


def taken(given, chosen, axis, is_scalar):
    """The elements at the positions."""
    if given is None:
        return int(chosen.reshape(())[()]) if is_scalar else chosen
    result = _core._take(given, chosen, axis, None, "raise")
    if not isinstance(result, ndarray):
        result = asarray(result)
    return result if result.ndim or not is_scalar else result[()]
