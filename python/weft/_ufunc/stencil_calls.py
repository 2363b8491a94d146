"""A stencil as compiled functions call it: a function of loops over the array's elements, made of its text.

What a call outside finds out of the arrays, the number of axes, is here read off the relative indices.
"""

import ast
import copy
import sys

from weft._jit import _decorator, _source
from weft._ufunc.stencil_source import Reads, constants_of, element_function, window_of


def function_of(stencil):
    """A compiled function of a stencil's parameters and `out`. Raises CompileError where there is none."""
    node = _source.find(stencil.py_func, stencil.text)
    body = node.body if isinstance(node.body, list) else [ast.Return(node.body)]
    ranks = _ranks(stencil, body)
    if stencil.parameters[0] not in ranks:
        raise stencil.error("the first parameter of a stencil is an array that is read at relative indices")
    axes = ranks[stencil.parameters[0]]
    constants = constants_of(stencil.py_func, node)
    around = stencil.neighborhood_of(axes)
    places = [f"i{d}__" for d in range(axes)]
    reads = Reads(stencil.py_func, ranks, constants, around, places)
    moved = [reads.visit(copy.deepcopy(each)) for each in body]
    stencil.check_reads(reads)
    window = window_of(reads, axes, around)
    element, text = element_function(stencil, moved, places)
    scope = {
        "weft__": sys.modules["weft"],
        "element__": _decorator.compiled(element, source=text),
        "border__": stencil.options.get("cval", False),  # which every type holds
        "border_dtype__": border_dtype,
        "may_overlap__": may_overlap,
    }
    lines = _lines(stencil, [name for name in ranks if name != stencil.parameters[0]], window, places)
    text = "\n".join(lines) + "\n"
    exec(compile(text, f"<stencil {stencil.__name__}>", "exec"), scope)
    return _decorator.compiled(scope["stencil"], source=text)


def _ranks(stencil, body):
    """The number of axes of each array that is read at relative indices, by its first read."""
    ranks = {}
    for inner in (inner for each in body for inner in ast.walk(each)):
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
            name = inner.value.id
            if name in stencil.parameters and name not in stencil.standard:
                ranks.setdefault(name, len(inner.slice.elts) if isinstance(inner.slice, ast.Tuple) else 1)
    return ranks


def _lines(stencil, others, window, places):
    first, *_ = stencil.parameters
    axes = len(window)
    operands = ", ".join(stencil.parameters)
    yield f"def stencil({operands}, *, out=None):"
    for name in sorted(stencil.standard):  # iterations at the same time share arrays, and no lists
        yield f"    if isinstance({name}, list):"
        yield f"        {name} = weft__.asarray({name})"
    zeros = ", ".join("0" for _ in places)
    yield f"    dtype__ = border_dtype__(border__, element__, {operands}, {zeros})"
    for name in others:
        smaller = " or ".join(f"{name}.shape[{d}] < {first}.shape[{d}]" for d in range(axes))
        yield f"    if {name}.ndim == {first}.ndim and ({smaller}):"
        yield (
            f"        raise ValueError('Secondary stencil array has some dimension smaller the same dimension "
            f"in the first stencil input: {name} beside {first}')"
        )
    for d, (low, high) in enumerate(window):
        yield f"    lower{d}__ = {-low}"
        yield f"    upper{d}__ = max({first}.shape[{d}] - {high}, lower{d}__)"
    yield "    if out is None:"
    yield f"        result__ = weft__.empty({first}.shape, dtype__)"
    yield "    else:"
    yield f"        if out.shape != {first}.shape:"
    yield "            raise ValueError('the output has another shape than the stencil gives')"
    yield f"        if may_overlap__(out, {operands}):"
    yield "            result__ = weft__.empty(out.shape, out.dtype)"
    yield "        else:"
    yield "            result__ = out"
    indent = "    "
    for d, place in enumerate(places):
        yield f"{indent}for {place} in {'weft__.prange' if d == 0 else 'range'}(lower{d}__, upper{d}__):"
        indent += "    "
    yield f"{indent}result__[{', '.join(places)}] = element__({operands}, {', '.join(places)})"
    inside = ", ".join(f"lower{d}__:upper{d}__" for d in range(axes))
    yield "    if out is None:"
    yield from _border(axes, "result__")
    yield "        return result__"
    yield f"    if may_overlap__(out, {operands}):"
    yield f"        out[{inside}] = result__[{inside}]"
    if "cval" in stencil.options:
        yield from _border(axes, "out")
    yield "    return out"


def _border(axes, array):
    """Lines that fill what the loops leave out."""
    indent = "        " if array == "result__" else "    "
    for d in range(axes):
        before = ":, " * d
        yield f"{indent}{array}[{before}:lower{d}__] = border__"
        yield f"{indent}{array}[{before}upper{d}__:] = border__"


def border_dtype(border, element, *arguments):
    """The dtype of what `element` gives for these arguments, where `border` fits in it. In compiled functions only."""
    raise NotImplementedError("border_dtype() is asked in compiled functions")


def may_overlap(out, *arguments):
    """Whether memory of `out` may be that of another argument. In compiled functions only."""
    raise NotImplementedError("may_overlap() is asked in compiled functions")
