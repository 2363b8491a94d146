"""Which elements Generator.choice takes, by NumPy's own methods and so from the same draws."""

import itertools
import math
import operator

from weft import _core
from weft._core import asarray, ndarray
from weft.random._vectors import size_of

_NO_WORDS = {}
# What RandomState says where Generator says something else.
LEGACY = {
    "a must be a positive integer unless no samples are taken": (
        "a must be greater than 0 unless no samples are taken"
    ),
    "a cannot be empty unless no samples are taken": "'a' cannot be empty unless no samples are taken",
    "p must be 1-dimensional": "'p' must be 1-dimensional",
    "a and p must have same size": "'a' and 'p' must have same size",
    "Probabilities contain NaN": "probabilities contain NaN",
    "Probabilities are not non-negative": "probabilities are not non-negative",
    "Probabilities do not sum to 1. See Notes section of docstring for more information.": (
        "probabilities do not sum to 1"
    ),
    "Cannot take a larger sample than population when replace is False": (
        "Cannot take a larger sample than population when 'replace=False'"
    ),
    "negative dimensions are not allowed": "Negative dimensions are not allowed",
}

_SEQUENTIAL = 128  # sums of so many are added up one after another (docs/reference/kernel-ir.md)


def _refuse(text, words):
    raise ValueError(words.get(text, text))


def population_of(a, axis, size, words=_NO_WORDS):
    """The array to take from, if it is one, and how many elements there are to choose from."""
    asked = math.prod(size_of(size)) != 0
    given = asarray(a)
    if given.ndim == 0:
        try:
            count = operator.index(given.item())
        except TypeError as error:
            text = f"a must be a sequence or an integer, not {type(a)}"
            raise ValueError("a must be 1-dimensional or an integer" if words else text) from error
        if count <= 0 and asked:
            _refuse("a must be a positive integer unless no samples are taken", words)
        return None, count
    count = given.shape[axis]
    if count == 0 and asked:
        _refuse("a cannot be empty unless no samples are taken", words)
    return given, count


def _checked_odds(p, count, words):
    len(p)
    tolerance = math.sqrt(2.0**-52)
    if getattr(getattr(p, "dtype", None), "kind", "") == "f":
        tolerance = max(tolerance, math.sqrt({2: 2.0**-10, 4: 2.0**-23}.get(p.dtype.itemsize, 2.0**-52)))
    p = asarray(p).astype("float64", copy=False)
    if p.ndim != 1:
        _refuse("p must be 1-dimensional", words)
    if p.size != count:
        _refuse("a and p must have same size", words)
    values = p.tolist()
    total = math.fsum(values) if all(map(math.isfinite, values)) else sum(values)
    if math.isnan(total):
        _refuse("Probabilities contain NaN", words)
    if any(value < 0 for value in values):
        _refuse("Probabilities are not non-negative", words)
    if abs(total - 1) > tolerance:
        _refuse("Probabilities do not sum to 1. See Notes section of docstring for more information.", words)
    return values


def _found(odds, numbers):
    """Where uniform numbers fall among running sums, which are added up one after another as NumPy's."""
    from weft._functions.ordering import searchsorted

    sums = asarray(list(itertools.accumulate(odds)), "float64")
    return asarray(searchsorted(sums / sums[-1], asarray(numbers), "right"))


def positions(rng, count, size, replace, p, shuffle, words=_NO_WORDS):
    """Positions below `count`, of shape `size`; () where that is None."""
    shape = size_of(size)
    odds = None if p is None else _checked_odds(p, count, words)
    if replace:
        if odds is None:
            return asarray(
                rng.integers(0, count, shape) if shuffle is not None else rng.randint(0, count, shape)
            )
        if math.prod(shape) == 0:
            rng.random(shape)
            return asarray([], "int64").reshape(shape)
        return _found(odds, rng.random(shape)).reshape(shape)
    wanted = math.prod(shape)
    if wanted > count:
        _refuse("Cannot take a larger sample than population when replace is False", words)
    if wanted < 0:
        _refuse("negative dimensions are not allowed", words)
    if odds is None:
        if shuffle is None:  # RandomState's way
            return asarray(rng.permutation(count))[:wanted].reshape(shape)
        return _core._draw_sample(rng._stream, count, wanted, bool(shuffle)).reshape(shape)
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
    result = given.take(chosen, axis)
    if is_scalar:
        return result[()] if isinstance(result, ndarray) and result.ndim == 0 else result
    return result if isinstance(result, ndarray) else asarray(result, given.dtype)
