"""Loops over elements for Python functions that are given to vectorize and frompyfunc, where nobody can tell.

A function is tried once it was called for some thousand elements. Its translation holds for the types of its arguments
and for what it reads from outside, which is looked at before each loop. Where the loop raises, or where there is none,
Python calls the function for each element, and fallback_report() says why.
"""

import math
import os
import sys
import types
from weakref import WeakKeyDictionary, ref

from weft import _core
from weft._array.dtypes import iinfo
from weft._core import ndarray
from weft._jit import CompileError, _decorator, _source
from weft._ufunc import errstate, python_numbers, translation

_FROM = 4096  # elements that a function was called for before it is tried
_MOST_VERSIONS = 8  # of one function for the same types
_MOST_ERRORS = 3  # of a loop, before Python does its work at once
_NUMBERS = {bool: "b", int: "i", float: "f"}
_READ = {"b": "bool", "i": "int", "f": "float", "F": "float", "r": ""}
_DTYPES = {"b": "bool", "i": "int64", "f": "float64"}
_ERRORS = (ArithmeticError, ValueError, NameError, IndexError)
_known = WeakKeyDictionary()  # by code


class _Function:
    """What is known of the functions of one code."""

    __slots__ = ("elements", "refused", "versions")

    def __init__(self):
        self.elements, self.versions, self.refused = 0, {}, {}


class _Version:
    """A translation, its compiled functions and loops, and how often these raised."""

    def __init__(self, translated):
        self.translated, self._loops = translated, {}
        self.errors, self.refused = 0, None  # how often it raised; why it is not run any more

    def constants(self, function):
        """The numbers that the translation reads from outside; None where anything there is another than it was."""
        functions, numbers = [function], []
        introduced = dict(self.translated.callees)
        for number, (owner, chain, expected, is_constant) in enumerate(self.translated.bindings):
            value = translation.lookup(functions[owner], chain)
            if is_constant:
                if type(value) is not expected or (expected is int and not _fits(value)):
                    return None
                numbers.append((f"c{number}_", value))
            elif value is not (expected() if type(expected) is ref else expected):
                return None
            if number in introduced:
                if value.__code__ is not introduced[number] or value.__defaults__:
                    return None
                functions.append(value)
        return numbers

    def loop(self, operands, kinds, numbers):
        """The compiled loop over operands that are arrays or numbers."""
        arrays = tuple(isinstance(x, ndarray) for x in operands)
        found = self._loops.get(arrays)
        if found is None:
            found = self._loops[arrays] = self._made(arrays, kinds, [name for name, _ in numbers])
        return found

    def _made(self, arrays, kinds, names):
        constants = "".join(f", {name}" for name in names)
        given = [f"x{k}" for k in range(len(kinds))]
        read = [
            f"{_READ[kind]}({name}[i])" if is_array else name
            for name, kind, is_array in zip(given, kinds, arrays)
        ]
        results = [f"y{k}" for k in range(len(self.translated.kinds))]
        text = self.translated.text.replace("{C}", constants) + (
            f"\ndef each_element(count, {', '.join([*given, *names, *results])}):\n"
            f"    for i in weft.prange(count):\n"
            f"        {', '.join(f'{y}[i]' for y in results)} = "
            f"{self.translated.name}({', '.join(read)}{constants})\n"
        )
        text = "\n".join([*python_numbers.definitions_for(text), text])
        weft = sys.modules["weft"]
        space = {"weft": weft, "np": weft, "math": math}
        exec(text, space)
        source = _source.Text("<elements>", text.splitlines(keepends=True), given=True)
        for name, value in list(space.items()):
            if isinstance(value, types.FunctionType):
                space[name] = _decorator.compiled(value, source=source)
        return space["each_element"]


def _fits(number):
    return -(2**63) <= number < 2**63


def _kind(x):
    """The kind of Python's numbers that the elements are; None for none of those that are compiled."""
    if not issubclass(type(x), ndarray):
        return _NUMBERS.get(type(x))
    kind = x.dtype.kind
    if kind == "u":
        return "i" if x.dtype.itemsize < 8 else None
    return kind if kind in "bif" else None


def can_hold(dtype):
    """Whether results can be cast to a dtype as NumPy casts objects, if they are in its range."""
    return dtype.kind in "fciub" and isinstance(dtype, _core.dtype)


def cast(result, dtype):
    """Results of a loop as that dtype; None where one is not in its range."""
    kind, wanted = result.dtype.kind, dtype.kind
    if result.dtype == dtype:
        return result
    if kind != "b" and wanted in "iu":
        limits = iinfo(dtype)
        least, most = result.min().item(), result.max().item()
        if not (least > limits.min - 1 and most < min(limits.max + 1, 2**63)):  # NaN, too
            return None
        return result.astype("int64").astype(dtype)  # of floats, cut
    if kind == "i" and wanted in "fc":
        result = result.astype("float64")
    return result.astype(dtype)


def arguments(function, args, kwargs):
    """A function's arguments by the places of its parameters; None where it is none that can be tried."""
    if type(function) is not types.FunctionType:
        return None
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    found = dict(zip(names, args))
    if len(args) > len(names) or any(name in found or name not in names for name in kwargs):
        return None
    found.update(kwargs)
    defaults = function.__defaults__ or ()
    for name, value in zip(names[len(names) - len(defaults) :], defaults):
        found.setdefault(name, value)
    return [found[name] for name in names] if len(found) == len(names) else None


def computed(function, operands, shape, wanted=None):
    """The function of each element: (results, whether there is one), or why there are none, or None if not tried.

    Operands are arrays, which are broadcast to the shape, and Python's numbers, by the places of its parameters.
    Results are arrays of bool, int64 or float64. `wanted` are the dtypes that they are going to be cast to; without
    them each result has to be of one type of Python's: it becomes an object.
    """
    return _tried(
        function,
        operands,
        math.prod(shape),
        lambda known: _computed(function, known, operands, shape, wanted),
    )


def computed_rows(function, operands, count, elements, wanted):
    """The same of a function of rows and of scalars, which gives numbers of dtypes `wanted`.

    Operands are arrays of float64 of shape (count, n) or (count,), and Python's numbers.
    """
    return _tried(
        function, operands, elements, lambda known: _computed_rows(function, known, operands, count, wanted)
    )


def _tried(function, operands, elements, compute):
    if os.environ.get("WEFT_JIT", "1") == "0":
        return None
    if operands is None:
        return "it is no plain function of arguments by their places" if elements >= _FROM else None
    known = _known.get(function.__code__)
    if known is None:
        known = _known[function.__code__] = _Function()
    known.elements += elements
    if known.elements < _FROM:
        return None
    try:
        return compute(known)
    except translation.Refused as reason:
        return str(reason)


def _computed_rows(function, known, operands, count, wanted):
    kinds = []
    for x in operands:
        if not issubclass(type(x), ndarray):
            kinds.append(_NUMBERS.get(type(x)))
        else:
            kinds.append(("F", "r")[x.ndim - 1] if x.dtype == "float64" and x.ndim <= 2 else None)
    results, single = _run(function, known, tuple(kinds), operands, count, None)
    if [result.dtype for result in results] != wanted:
        raise translation.Refused(f"results of {', '.join(map(str, wanted))}")
    return results, single


def _computed(function, known, operands, shape, wanted):
    kinds = tuple(map(_kind, operands))
    rows = [_row(x, kind, shape) for x, kind in zip(operands, kinds)] if None not in kinds else operands
    results, single = _run(function, known, kinds, rows, math.prod(shape), wanted)
    return [result.reshape(shape) for result in results], single


def _run(function, known, kinds, rows, count, wanted):
    if None in kinds:
        raise translation.Refused("an argument has elements or a type that is left to Python")
    if any(type(x) is int and not _fits(x) for x in rows):
        raise translation.Refused("an argument has more than 64 bits")
    version, numbers = _version(function, known, kinds)
    made = version.translated
    if made.uses_numpy and any(mode != "ignore" for mode in errstate.geterr().values()):
        raise translation.Refused("errors of floats are reported")
    if wanted is None:
        if not made.pure:
            raise translation.Refused("results are ints on one way and floats on another")
        if made.uses_numpy:
            raise translation.Refused("results may be scalars of NumPy's")
    elif len(wanted) != len(made.kinds) or not all(map(can_hold, wanted)):
        raise translation.Refused(f"results of {', '.join(map(str, wanted))}")
    if version.refused is not None:
        raise translation.Refused(version.refused)
    loop = version.loop(rows, kinds, numbers)
    results = [_core.empty((count,), _DTYPES[kind]) for kind in made.kinds]
    try:
        loop(count, *rows, *(value for _, value in numbers), *results)
    except _ERRORS as error:
        version.errors += 1
        reason = f"the compiled loop raised {type(error).__name__}: an error, or an int of more than 64 bits"
        if version.errors == _MOST_ERRORS:
            version.refused = "the compiled loop raised before: an error, or an int of more than 64 bits"
        raise translation.Refused(reason) from None
    except CompileError as error:
        version.refused = str(error).splitlines()[0]
        raise translation.Refused(version.refused) from None
    return results, made.single


def _row(x, kind, shape):
    if not isinstance(x, ndarray):
        return x
    if x.ndim == 0:
        return x.item()
    return _core.broadcast_to(x, shape).ravel().astype(_DTYPES[kind], copy=False)


def _version(function, known, kinds):
    """The version of a function for these kinds, and the numbers that it reads; made where there is none."""
    versions = known.versions.setdefault(kinds, [])
    for version in versions:
        numbers = version.constants(function)
        if numbers is not None:
            return version, numbers
    refused = known.refused.setdefault(kinds, [])
    for one, reason in refused:
        if one() is function or len(refused) >= _MOST_VERSIONS:
            raise translation.Refused(reason)
    if len(versions) >= _MOST_VERSIONS:
        raise translation.Refused("what it reads from outside was another too often")
    try:
        version = _Version(translation.translate(function, kinds))
        versions.append(version)
        return version, version.constants(function)
    except translation.Refused as reason:
        refused.append((ref(function), str(reason)))
        raise
