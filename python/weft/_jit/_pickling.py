"""Compiled functions in pickles: by their names where those lead to them, else by their code and what it refers to.

Functions of `__main__` go by their code, too, since other processes have another `__main__`. Compiled code does not
travel: what is read is compiled at its first call, or found among the code that is kept on disk.
"""

import ast
import builtins
import importlib
import importlib.util
import marshal
import sys
import types

from weft._jit import _source

_ATTRIBUTES = ("__name__", "__qualname__", "__module__", "__doc__")


def reduce(made):
    """What pickle keeps of a compiled function."""
    function = made.__wrapped__
    if function.__module__ != "__main__" and _named(function.__module__, made.__qualname__) is made:
        return made.__qualname__
    make, options, text = made._origin
    code = function.__code__
    lines = _lines(function, text)
    defaults = function.__defaults__, function.__kwdefaults__
    magic = importlib.util.MAGIC_NUMBER
    skeleton = make, options, magic, marshal.dumps(code), function.__module__, lines, defaults
    state = {
        "attributes": {name: getattr(function, name) for name in _ATTRIBUTES},
        "closure": [_kept_cell(cell) for cell in function.__closure__ or ()],
        "globals": _globals_of(function),
    }
    return _made, skeleton, state, None, None, _fill


class _Module:
    """A module in a pickle."""

    def __init__(self, name):
        self.name = name


class _Nothing:
    """An empty cell in a pickle."""


def _named(module, qualified):
    found = sys.modules.get(module)
    for name in qualified.split("."):
        found = getattr(found, name, None)
    return found


def _kept(value):
    return _Module(value.__name__) if isinstance(value, types.ModuleType) else value


def _kept_cell(cell):
    try:
        return _kept(cell.cell_contents)
    except ValueError:
        return _Nothing()


def _globals_of(function):
    """What the code names of its module."""
    names, codes = set(), [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return {name: _kept(function.__globals__[name]) for name in sorted(names) if name in function.__globals__}


def _lines(function, text):
    """The lines of the definition."""
    node = _source.find(function, text)
    if isinstance(node, ast.Lambda):
        return node.lineno, ["(" + ast.get_source_segment("".join(text.lines), node) + ")\n"]
    return node.lineno, text.lines[node.lineno - 1 : node.end_lineno]


def _made(make, options, magic, code, module, lines, defaults):
    """The compiled function; `_fill` gives it the values that may refer to it."""
    if magic != importlib.util.MAGIC_NUMBER:
        raise ValueError(
            "a compiled function was pickled by another version of Python, whose code this one cannot read"
        )
    code = marshal.loads(code)
    cells = tuple(types.CellType() for _ in code.co_freevars)
    function = types.FunctionType(code, {"__builtins__": builtins, "__name__": module}, closure=cells)
    function.__defaults__, function.__kwdefaults__ = defaults
    first, definition = lines
    text = _source.Text(code.co_filename, ["\n"] * (first - 1) + definition, given=True, checked=True)
    return make(function, source=text, **options)


def _fill(made, state):
    function = getattr(made, "__wrapped__", made)  # made is a Python function where nothing is compiled
    for cell, value in zip(function.__closure__ or (), state["closure"], strict=True):
        if not isinstance(value, _Nothing):
            cell.cell_contents = _given(value)
    function.__globals__.update({name: _given(value) for name, value in state["globals"].items()})
    for each in (function, made):
        for name, value in state["attributes"].items():
            setattr(each, name, value)


def _given(value):
    return importlib.import_module(value.name) if isinstance(value, _Module) else value
