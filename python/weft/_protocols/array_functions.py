"""NumPy's functions called with weft's arrays (NEP 18): weft's function of the same name, which gives weft's arrays.

numpy.concatenate([x, x]) and numpy.linalg.norm(x) come here by `ndarray.__array_function__`. NumPy's own implementation
runs where results are to be written into NumPy's memory, and for functions that weft does not have; that is counted
(weft.fallback_report()) and its results are weft's arrays, too.
"""

import functools
import sys

from weft import _core
from weft._protocols.writers import first_argument, writes_first

# What NumPy's modules are named in weft, where it is another name.
_MODULES = {"numpy.lib.scimath": "emath"}


@functools.cache
def counterpart(function):
    """weft's function for one of NumPy's, or None where weft has none."""
    module = function.__module__
    parts = [_MODULES.get(module) or module.partition(".")[2], function.__name__]
    found = sys.modules["weft"]
    for part in filter(None, ".".join(parts).split(".")):
        try:
            found = getattr(found, part)
        except AttributeError:
            return None
    return found if callable(found) and not isinstance(found, type) else None


def _is_numpys(function, args, kwargs, numpy):
    """Why NumPy computes what weft has a function for, or None."""
    out = kwargs.get("out")
    if any(isinstance(each, numpy.ndarray) for each in (out if isinstance(out, tuple) else (out,))):
        return "out is NumPy's array"
    if writes_first(function.__name__):
        target = first_argument(args, kwargs)
        if isinstance(target, numpy.ndarray):
            return "the result is NumPy's array"
    operands = [*_operands(args), *_operands(kwargs.values())]
    if any(isinstance(each, numpy.ndarray) and each.ndim for each in operands):
        device = next((each.device for each in operands if isinstance(each, _core.ndarray)), "cpu")
        if device != "cpu":
            return f"arrays on {device} and NumPy's"
    return None


def _operands(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _operands(value)
        else:
            yield value


def _without_sentinel(kwargs, numpy):
    """What callers pass on as NumPy's mark of a missing argument is missing."""
    missing = numpy._NoValue
    return {key: value for key, value in kwargs.items() if value is not missing}


def _described(result):
    """Callers of numpy.result_type and the like get what they know: NumPy's dtypes and scalar types."""
    if isinstance(result, _core.dtype):
        return result.__numpy_dtype__
    if isinstance(result, type) and issubclass(result, _core.generic):
        return _core.dtype(result).__numpy_dtype__.type
    return result


def call(function, args, kwargs, overridden):
    """weft's result of a call of one of NumPy's functions; its counterpart, if that has run, and the result.

    `overridden`: an argument has an override of its own, which has been asked already.
    """
    numpy = sys.modules["numpy"]
    kwargs = _without_sentinel(kwargs, numpy)
    reason = _is_numpys(function, args, kwargs, numpy)
    mine = None if reason else counterpart(function)
    if mine is not None:
        try:
            implementation = getattr(mine, "_implementation", mine) if overridden else mine
            return mine if overridden else None, _described(implementation(*args, **kwargs))
        except NotImplementedError as error:
            reason = str(error)
    from weft._protocols import host_arrays

    name = f"{function.__module__.partition('.')[2]}.{function.__name__}".lstrip(".")
    implementation = getattr(function, "_implementation", function)
    reason = reason or f"weft has no function numpy.{name}"
    return None, host_arrays.run(name, implementation, args, kwargs, reason, writes_first(name))
