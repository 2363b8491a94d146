"""What NumPy did because weft does not have it, as weft.fallback_report() counts it."""

import functools

from weft import _core
from weft._engine import fallback

SCALARS = _core.generic
REASON = "weft does not have it"


class _Move:
    """The arguments of a call for NumPy, and its results for the program."""

    def __init__(self):
        self.bytes = 0
        self.given = {}  # by the id of NumPy's array: weft's, and NumPy's, which keeps the id its own

    def there(self, value):
        if isinstance(value, _core.ndarray):
            import numpy

            theirs = numpy.asarray(value)
            if str(value.device) != "cpu":
                self.bytes += theirs.nbytes
            self.given[id(theirs)] = value, theirs
            return theirs
        kind = type(value)
        if kind is _core.dtype:
            return value.__numpy_dtype__
        if isinstance(value, SCALARS):
            return value.dtype.__numpy_dtype__.type(value.item())
        if kind is tuple or kind is list:
            return kind([self.there(each) for each in value])
        if kind is dict:
            return {key: self.there(each) for key, each in value.items()}
        if isinstance(value, type) and issubclass(value, SCALARS):
            import numpy

            return getattr(numpy, value.__name__, value)
        return value

    def back(self, value):
        import numpy

        kind = type(value)
        if kind is numpy.ndarray:
            known = self.given.get(id(value))
            if known is not None:
                return known[0]
            try:
                # Memory that nobody else sees is better weft's own.
                return _core.asarray(value, copy=value.base is None or None)
            except TypeError:  # of a dtype that weft does not have
                return value
        if kind is tuple or kind is list:
            return kind([self.back(each) for each in value])
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*map(self.back, value))
        return value


def wrap(function, name):
    """A function of NumPy's as the program gets it: counted, with weft's arrays on both sides."""

    @functools.wraps(function)
    def by_numpy(*args, **kwargs):
        with fallback.counting(name, REASON) as count:
            move = _Move()
            args = [move.there(each) for each in args]
            kwargs = {key: move.there(each) for key, each in kwargs.items()}
            result = move.back(function(*args, **kwargs))
            count.bytes += move.bytes
        return result

    return by_numpy


def used(name):
    """Counts a class of NumPy's that the program takes as it is."""
    fallback.counted(name, "a class that weft does not have")


def rows():
    """What was counted, the longest time first, as dictionaries."""
    return fallback.fallback_report()
