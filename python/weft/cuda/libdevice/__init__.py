"""CUDA's libdevice for kernels, by numba.cuda's names: `libdevice.fast_sinf(x)`, `libdevice.fadd_rd(x, y)` and so on.

Each is a function that kernels call, on the CPU and on GPUs. Arguments become the types of its signature, which is its
docstring. Those of `fast_` are a GPU's own approximations there. The others are not touched by `fastmath` of a kernel.
"""

import numpy as _numpy

from weft.cuda._kernel import jit as _jit
from weft.cuda.libdevice import _functions
from weft.cuda.libdevice._table import TABLE as _TABLE

_TYPES = {"d": "float64", "f": "float32", "i": "int32", "l": "int64", "h": "int16"}


def _told(types):
    return ", ".join(_TYPES[each] for each in types)


def _made(name):
    """The function of a name, compiled where kernels call it."""
    results, arguments, expression = _TABLE[name]
    names = "xyz"[: len(arguments)]
    lines = [f"def {name}({', '.join(names)}):"]
    lines += [
        f"    {each} = numpy.{_TYPES[kind]}({each})" for each, kind in zip(names, arguments, strict=True)
    ]
    if len(results) == 1:
        lines.append(f"    return numpy.{_TYPES[results]}({expression})")
    else:
        lines.append(f"    first, second = {expression}")
        first, second = results
        lines.append(f"    return numpy.{_TYPES[first]}(first), numpy.{_TYPES[second]}(second)")
    text = "\n".join(lines) + "\n"
    scope = {**_functions.NAMES, "numpy": _numpy, "__name__": __name__}
    exec(text, scope)
    function = scope.pop(name)  # that of max is no name in max
    function.__doc__ = f"({_told(arguments)}) -> {_told(results)}"
    return _jit(function, device=True, source=text, fastmath=name.startswith("fast_"))


def __getattr__(name):
    """A function at its first use."""
    if name not in _TABLE:
        raise AttributeError(f"libdevice has no {name!r}")
    made = globals()[name] = _made(name)
    return made


def __dir__():
    return sorted(_TABLE)


__all__ = sorted(_TABLE)
