"""All that the compiler is told of a function, in one object."""

import weakref
from collections import namedtuple

from weft._jit import _source
from weft._jit._errors import CompileError
from weft._jit._names import Names
from weft._jit._syntax import Writer

_HAS_REST = 4  # the flag of a code object with *args


_FIELDS = (
    "name qualified_name module file first_line source tree positions symbols guards parameters defaults"
)


class Described(namedtuple("Described", _FIELDS)):
    """A function as the compiler takes it; the package's docstring says what the fields are."""

    __slots__ = ()


# What a code object and which parameters have defaults settle: all but its free names. `chains` are those, each with
# the parts that its symbol has.
_Known = namedtuple("_Known", "code defaults file first_line source tree positions chains parameters")

_known = {}  # by the id of the code object, for as long as that lives


def capture(function, source=None):
    """The text that `function` stands in, read now; `describe` takes it as `source` later, when the file may differ."""
    return _source.capture(function, source)


def describe(function, source=None):
    """What the compiler has to know of `function`, a Python function or lambda.

    `source` is its text, where it has none that can be found, or what `capture` answered. Raises SourceError where
    there is no text, and CompileError for what can never be compiled.
    """
    function = _source.function_of(function)
    refusal = getattr(function, "_weft_refusal", None)
    if refusal is not None:
        raise CompileError(refusal)
    code = function.__code__
    names = Names(function)
    known = None if isinstance(source, str) else _known.get(id(code))
    if (
        known is None
        or known.code() is not code
        or known.defaults != _have_defaults(function)
        or not all(names.resolve(chain)[1] == used for chain, used in known.chains)
    ):
        names = Names(function)
        known = _read(function, source, names)
    by_keyword = function.__kwdefaults__ or {}
    by_place = function.__defaults__ or ()
    return Described(
        function.__name__,
        function.__qualname__,
        function.__module__ or "",
        known.file,
        known.first_line,
        known.source,
        known.tree,
        known.positions,
        names.symbols,
        names.guards,
        known.parameters,
        (
            *by_place[max(len(by_place) - code.co_argcount, 0) :],
            *(
                by_keyword[name]
                for name, kind in known.parameters
                if kind == "keyword" and name in by_keyword
            ),
        ),
    )


def _read(function, source, names):
    code = function.__code__
    text = _source.capture(function, source)
    node = _source.find(function, text)
    if any("nonlocal" in line for line in text.lines[node.lineno - 1 : node.end_lineno]):
        from weft._jit._nonlocals import without_nonlocals

        node = without_nonlocals(node)
    writer = Writer(text, function.__name__, names)
    defaults = _have_defaults(function)
    writer.function(node, defaults)
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    key = id(code)
    known = _Known(
        weakref.ref(code, lambda _: _known.pop(key, None)),
        defaults,
        text.file,
        first,
        [line.rstrip("\r\n") for line in text.lines[first - 1 : node.end_lineno]],
        writer.tree,
        writer.positions,
        names.chains,
        _parameters(code),
    )
    if not isinstance(source, str) and not names.has_own_symbols:  # of this function's names
        _known[key] = known
    return known


def _have_defaults(function):
    """Which parameters have a default now, by place and by keyword only: the text's may have been replaced."""
    code = function.__code__
    plain, count = code.co_argcount, len(function.__defaults__ or ())
    only = code.co_varnames[plain : plain + code.co_kwonlyargcount]
    by_keyword = function.__kwdefaults__ or {}
    return [i + count >= plain for i in range(plain)], [name in by_keyword for name in only]


def _parameters(code):
    """The parameters as (name, kind)."""
    names, plain = code.co_varnames, code.co_argcount
    kinds = ["positional_only"] * code.co_posonlyargcount
    kinds += ["positional"] * (plain - code.co_posonlyargcount)
    parameters = list(zip(names[:plain], kinds, strict=True))
    if code.co_flags & _HAS_REST:
        parameters.append((names[plain + code.co_kwonlyargcount], "rest"))
    parameters += [(name, "keyword") for name in names[plain : plain + code.co_kwonlyargcount]]
    return parameters
