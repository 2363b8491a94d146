"""All that the compiler is told of a function, in one object."""

import inspect
from typing import NamedTuple

from weft._jit import _source
from weft._jit._names import Names
from weft._jit._syntax import Writer


class Described(NamedTuple):
    """A function as the compiler takes it. Line k of the file is `source[k - first_line]`."""

    name: str
    qualified_name: str
    module: str
    file: str
    first_line: int
    source: list
    tree: str
    positions: object
    symbols: list
    guards: list
    parameters: list
    defaults: tuple


def capture(function, source=None):
    """The text that `function` stands in, read now; `describe` takes it as `source` later, when the file may differ."""
    return _source.capture(function, source)


def describe(function, source=None):
    """What the compiler has to know of `function`, a Python function or lambda.

    `source` is its text, where it has none that can be found, or what `capture` answered. Raises SourceError where
    there is no text, and CompileError for what can never be compiled.
    """
    text = _source.capture(function, source)
    node = _source.find(function, text)
    names = Names(function)
    writer = Writer(text, function.__name__, names)
    writer.function(node)
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return Described(
        function.__name__,
        function.__qualname__,
        function.__module__ or "",
        text.file,
        first,
        [line.rstrip("\r\n") for line in text.lines[first - 1 : node.end_lineno]],
        writer.tree,
        writer.positions,
        names.symbols,
        names.guards,
        *_parameters(function),
    )


def _parameters(function):
    """The parameters as (name, kind), and the values of those that have a default, in their order."""
    code = function.__code__
    names, plain = code.co_varnames, code.co_argcount
    kinds = ["positional_only"] * code.co_posonlyargcount
    kinds += ["positional"] * (plain - code.co_posonlyargcount)
    parameters = list(zip(names[:plain], kinds, strict=True))
    keywords = names[plain : plain + code.co_kwonlyargcount]
    if code.co_flags & inspect.CO_VARARGS:
        parameters.append((names[plain + code.co_kwonlyargcount], "rest"))
    parameters += [(name, "keyword") for name in keywords]
    values = function.__kwdefaults__ or {}
    return parameters, (*(function.__defaults__ or ()), *(values[k] for k in keywords if k in values))
