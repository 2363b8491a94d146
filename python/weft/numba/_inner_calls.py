"""Calls of functions with signatures by other compiled functions: its types hold there, too."""

import sys

from weft._jit import _decorator
from weft.numba._types import Boolean, Complex, Float, Integer

_NUMBERS = (Boolean, Integer, Float, Complex)


def called_by_others(function, signatures, fastmath):
    """What other compiled functions call; None where nothing is converted, or signatures differ in their numbers."""
    kinds = {tuple(_conversion(kind) for kind in (*arguments, result)) for arguments, result in signatures}
    code = function.__code__
    if len(kinds) != 1 or code.co_flags & 12 or code.co_kwonlyargcount:  # *args and **kwargs
        return None
    *of_arguments, of_result = kinds.pop()
    names = code.co_varnames[: code.co_argcount]
    if (of_result is None and not any(of_arguments)) or len(names) != len(of_arguments):
        return None
    given = ", ".join(
        name if text is None else text.format(name) for name, text in zip(names, of_arguments, strict=True)
    )
    name = function.__name__ if function.__name__.isidentifier() else "called"
    result = f"function__({given})"
    text = (
        f"def {name}({', '.join(names)}):\n"
        f"    return {result if of_result is None else of_result.format(result)}\n"
    )
    scope = {"function__": function, "weft__": sys.modules["weft"]}
    exec(compile(text, f"<signature of {name}>", "exec"), scope)
    made = scope[name]
    made.__defaults__ = function.__defaults__
    return _decorator.compiled(made, source=text, fastmath=fastmath)


def chosen_by_types(function, overload):
    """What other compiled functions call in the place of a function that is empty but for an overload."""
    code = function.__code__
    names = ", ".join(code.co_varnames[: code.co_argcount])
    name = function.__name__ if function.__name__.isidentifier() else "called"
    text = f"def {name}({names}):\n    return overload__({names})({names})\n"
    scope = {"overload__": overload}
    exec(compile(text, f"<overload of {name}>", "exec"), scope)
    made = scope[name]
    made.__defaults__ = function.__defaults__
    return _decorator.compiled(made, source=text)


def _conversion(kind):
    """What converts to a type of numbers, with the value in the place of {}; None for others, which stay."""
    if not isinstance(kind, _NUMBERS):
        return None
    if isinstance(kind, Boolean):
        return "bool({})"
    if kind.name in ("int64", "float64", "complex128"):
        return {"int64": "int", "float64": "float", "complex128": "complex"}[kind.name] + "({})"
    if isinstance(kind, Integer) and kind.name != "uint64":
        return "int(weft__." + kind.name + "({}))"  # a number of Python's, as for calls from outside
    return "weft__." + kind.name + "({})"
