"""Which elements Generator.choice takes, by NumPy's own methods and so from the same draws."""

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


def _by_odds(rng, p, count, shape, replace, words):
    len(p)
    tolerance = math.sqrt(2.0**-52)
    if getattr(getattr(p, "dtype", None), "kind", "") == "f":
        tolerance = max(tolerance, math.sqrt({2: 2.0**-10, 4: 2.0**-23}.get(p.dtype.itemsize, 2.0**-52)))
    p = asarray(p)
    if p.ndim == 1 and p.size != count:
        _refuse("a and p must have same size", words)
    try:
        return _core._draw_by_odds(
            rng._stream, p.astype("float64", copy=False), shape, bool(replace), tolerance
        )
    except ValueError as error:
        if str(error) not in words:
            raise
        _refuse(str(error), words)


def positions(rng, count, size, replace, p, shuffle, words=_NO_WORDS):
    """Positions below `count`, of shape `size`; () where that is None."""
    shape = size_of(size)
    wanted = math.prod(shape)
    if p is not None and (wanted >= 0 or replace):
        return _by_odds(rng, p, count, shape, replace, words)
    if replace:
        return asarray(rng.integers(0, count, shape) if shuffle is not None else rng.randint(0, count, shape))
    if wanted > count:
        _refuse("Cannot take a larger sample than population when replace is False", words)
    if wanted < 0:
        _refuse("negative dimensions are not allowed", words)
    if shuffle is None:  # RandomState's way
        return asarray(rng.permutation(count))[:wanted].reshape(shape)
    return _core._draw_sample(rng._stream, count, wanted, bool(shuffle)).reshape(shape)


def taken(given, chosen, axis, is_scalar):
    """The elements at the positions."""
    if given is None:
        return int(chosen.reshape(())[()]) if is_scalar else chosen
    result = given.take(chosen, axis)
    if is_scalar:
        return result[()] if isinstance(result, ndarray) and result.ndim == 0 else result
    return result if isinstance(result, ndarray) else asarray(result, given.dtype)
