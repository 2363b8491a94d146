"""What NumPy did because weft does not have it: functions of NumPy's that are counted, line by line."""

import functools
import sys
import time

from weft import _core
from weft._install import callers

SCALARS = _core.generic
counted = {}


class Count:
    """The calls of one function from one line of the program."""

    __slots__ = ("bytes", "calls", "function", "line", "reason", "seconds")

    def __init__(self, function, reason, line):
        self.function, self.reason, self.line = function, reason, line
        self.calls, self.bytes, self.seconds = 0, 0, 0.0


def line_of_program():
    """File and line of the nearest caller that is not weft's."""
    frame = sys._getframe(1)
    while frame is not None and callers.is_of_weft(frame.f_globals.get("__name__") or ""):
        frame = frame.f_back
    return "?" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def count(function, reason):
    """The entry of a function for the line that is running."""
    line = line_of_program()
    entry = counted.get((function, line))
    if entry is None:
        entry = counted[function, line] = Count(function, reason, line)
    return entry


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


def refuse_or_warn(name, reason):
    """Follows weft.config's say on fallbacks, as far as it has one."""
    from weft._install import mode

    if mode.fallback == "error":
        raise NotImplementedError(f"numpy.{name} is not weft's: {reason} (fallback is 'error')")
    if mode.fallback == "warn":
        import warnings

        warnings.warn(f"numpy.{name} is not weft's: {reason}", RuntimeWarning, stacklevel=3)


def wrap(function, name):
    """A function of NumPy's as the program gets it: counted, with weft's arrays on both sides."""
    reason = "weft does not have it"

    @functools.wraps(function)
    def by_numpy(*args, **kwargs):
        refuse_or_warn(name, reason)
        entry, move = count(name, reason), _Move()
        args = [move.there(each) for each in args]
        kwargs = {key: move.there(each) for key, each in kwargs.items()}
        start = time.perf_counter()
        try:
            result = move.back(function(*args, **kwargs))
        finally:
            entry.seconds += time.perf_counter() - start
            entry.calls += 1
            entry.bytes += move.bytes
        return result

    return by_numpy


def used(name):
    """Counts a class of NumPy's that the program takes as it is."""
    count(name, "a class that weft does not have").calls += 1


def rows():
    """What was counted, the longest time first, as dictionaries."""
    found = sorted(counted.values(), key=lambda entry: (-entry.seconds, entry.function, entry.line))
    return [{name: getattr(entry, name) for name in Count.__slots__} for entry in found]
