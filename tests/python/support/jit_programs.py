"""The loop programs of tests/python/jit/programs, for any compiler of functions.

A program is plain Python. `load(name)` has its functions as they are, `load(name, jit)` has each of them compiled by
`jit`, those that it calls, too.
"""

import importlib.util
import itertools
import pathlib
import sys
import types

import numpy

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "jit/programs"


_counter = itertools.count()


def _module(path):
    """The module of a file, made anew. It has a place in sys.modules: Numba looks there for functions that recurse."""
    name = f"jit_programs_{path.stem}_{next(_counter)}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Program:
    """One program: `run`, `arguments(size)`, `small` and `large` sizes, and how far results may differ."""

    def __init__(self, name, module):
        run, self.arguments, self.small, self.large = module.PROGRAMS[name]
        self.name, self.module = name, module
        self.run = getattr(module, run.__name__)
        self.tolerance = getattr(module, "INEXACT", {}).get(name, 0.0)

    def outcome(self, size, widen=False):
        """The result, and all arrays afterwards; `widen` has CPython see narrow integers as int64, as weft.jit does."""
        arguments = self.arguments(size)
        if widen:
            arguments = [a.astype(numpy.int64) if _is_narrow(a) else a for a in arguments]
        result = self.run(*arguments)
        parts = result if isinstance(result, tuple) else () if result is None else (result,)
        return [*parts, *(a for a in arguments if isinstance(a, numpy.ndarray))]


def names():
    """The names of all programs, each with its file."""
    return {name: path for path in sorted(FOLDER.glob("*.py")) for name in _module(path).PROGRAMS}


def load(name, path, jit=None):
    """The program of a file, with its functions as `jit` makes them."""
    module = _module(path)
    if jit is not None:
        used = _used(module, module.PROGRAMS[name][0].__name__)
        for function in used:
            setattr(module, function, jit(getattr(module, function)))
    return Program(name, module)


def _used(module, function):
    """The functions of the module that a function calls, and itself."""
    found, waiting = [], [function]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.append(name)
        value = getattr(module, name)
        waiting += [
            n for n in value.__code__.co_names if isinstance(getattr(module, n, None), types.FunctionType)
        ]
    return found


def _is_narrow(a):
    return isinstance(a, numpy.ndarray) and a.dtype.kind in "iu" and a.itemsize < 8


def different(expected, found, tolerance):
    """What is different, in words; empty where nothing is."""
    if len(expected) != len(found):
        return f"{len(found)} results, not {len(expected)}"
    for k, (one, other) in enumerate(zip(expected, found, strict=True)):
        one, other = numpy.asarray(one), numpy.asarray(other)
        if one.shape != other.shape or (one.dtype.kind in "iub") != (other.dtype.kind in "iub"):
            return f"result {k} is {other.dtype}{other.shape}, not {one.dtype}{one.shape}"
        if tolerance:
            close = numpy.isclose(other, one, rtol=tolerance, atol=tolerance, equal_nan=True)
        else:
            close = (one == other) | ((one != one) & (other != other))
        if not close.all():
            at = tuple(int(i) for i in numpy.argwhere(~close)[0]) if close.ndim else ()
            return f"result {k} is {other[at]!r} at {at}, not {one[at]!r}"
    return ""
