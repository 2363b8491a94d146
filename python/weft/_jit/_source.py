"""The text of a function: its lines as they are when it is decorated, and its node in the tree that `ast` makes.

The file is read once, at decoration: what is compiled is what was imported, even where the file is edited afterwards.
A `def` is found by its first line. A lambda is found by the columns of its instructions, since several may stand on
one line. Names of the code object are compared with those of the node, so that a wrong text is refused, not compiled.
"""

import ast
import linecache
import sys
import types

from weft._jit._errors import SourceError

_BRACKETS = ")]}"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Text:
    """The lines of a file, or of a text that was given, with the trees that were made of them."""

    __slots__ = ("_tree", "file", "given", "lines")

    def __init__(self, file, lines, given=False):
        self.file, self.lines, self.given = file, lines, given
        self._tree = None

    def tree(self):
        """The tree of all of it."""
        if self._tree is None:
            self._tree = ast.parse("".join(self.lines))
        return self._tree


_texts = {}  # by file: the list of lines that linecache keeps, and the Text of it


def capture(function, source=None):
    """The Text that holds `function`: of its file as it is now, or of `source`. A SourceError where there is none."""
    code = code_of(function)
    if isinstance(source, Text):
        return source
    if source is not None:
        if not isinstance(source, str):
            raise TypeError(f"source must be a str, not {type(source).__name__}")
        return Text(code.co_filename, source.splitlines(keepends=True), given=True)
    file = code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines and hasattr(
        linecache, "_getlines_from_code"
    ):  # the prompt of Python 3.13 keeps its lines there
        lines = linecache._getlines_from_code(code)
    if not lines:
        raise SourceError(_no_text(function, code))
    known = _texts.get(file)
    if known is None or known[0] is not lines:
        known = _texts[file] = (lines, Text(file, lines))
    return known[1]


def code_of(function):
    """The code object of a Python function; a TypeError for everything else."""
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"a Python function is compiled, not {_described(function)}")
    return function.__code__


def _described(thing):
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    return f"an object of type {type(thing).__name__}"


def _no_text(function, code):
    name, file = function.__name__, code.co_filename
    if file == "<stdin>" and hasattr(sys, "ps1"):
        return (
            f"{name} was typed at a prompt that keeps no text; put it into a file, use IPython or "
            f"Python 3.13, or give weft.jit(f, source=...)"
        )
    if file.startswith("<"):
        return f"{name} was made by exec() and has no source; give weft.jit(f, source=...)"
    return f"{name} has no source, since {file} cannot be read; give weft.jit(f, source=...)"


def find(function, text):
    """The node of `function` in `text`: a FunctionDef, AsyncFunctionDef or Lambda with the places of the file."""
    code = code_of(function)
    try:
        found = _find_lambda(code, text) if code.co_name == "<lambda>" else _find_definition(code, text)
    except SyntaxError as error:
        raise SourceError(
            f"{function.__name__}: the text of {text.file} is not Python (line {error.lineno}: {error.msg}); "
            f"was it edited since it was imported? Import it again, or give weft.jit(f, source=...)"
        ) from None
    if found is None:
        raise SourceError(
            f"{function.__name__} is not in the text of {text.file} at line {code.co_firstlineno}; "
            f"was the file edited since it was imported? Import it again, or give weft.jit(f, source=...)"
        )
    return found


def _find_definition(code, text):
    if text.given:
        return next(
            (
                node
                for node in ast.walk(_given_tree(text))
                if isinstance(node, _DEFINITIONS) and node.name == code.co_name and agrees(code, node)
            ),
            None,
        )
    node = _definition_at(text, code.co_firstlineno)
    if node is None or node.name != code.co_name or not agrees(code, node):
        return None
    return node


def _given_tree(text):
    """The tree of a text that may be indented, as a method's is."""
    first = next((line for line in text.lines if line.strip()), "")
    if first[:1] in " \t":
        tree = ast.parse("if 1:\n" + "".join(text.lines))
        return ast.increment_lineno(tree, -1)
    return text.tree()


def _definition_at(text, first):
    """The definition whose first line, or that of its first decorator, is line `first`."""
    lines = text.lines
    if not 0 < first <= len(lines):
        return None
    start = lines[first - 1]
    indent = len(start) - len(start.lstrip())
    end, error = first, None
    while end <= len(lines):
        end = _end_of_block(lines, end, indent)
        block = "".join(lines[first - 1 : end])
        try:
            tree = ast.parse("if 1:\n" + block if indent else block)
        except SyntaxError as reason:  # a line of a long text or list that begins further left
            error = error or reason
            end += 1
            continue
        node = (tree.body[0].body if indent else tree.body)[0]
        ast.increment_lineno(node, first - 2 if indent else first - 1)
        return node if isinstance(node, _DEFINITIONS) else None
    raise error


def _end_of_block(lines, line, indent):
    """How many lines there are up to the next, after line `line`, that is not further right than `indent`."""
    in_head = lines[line - 1].lstrip()[:1] == "@"
    for k in range(line, len(lines)):
        text = lines[k].lstrip()
        if not text or text[0] == "#" or text[0] in _BRACKETS:
            continue
        if len(lines[k]) - len(text) <= indent:
            if in_head:  # decorators, and the def itself
                in_head = text[0] == "@"
                continue
            return k
    return len(lines)


def _find_lambda(code, text):
    tree = _given_tree(text) if text.given else text.tree()
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and (text.given or node.lineno == code.co_firstlineno)
        and agrees(code, node)
    ]
    if len(found) < 2 or text.given:
        return found[0] if found else None
    places = [place for place in code.co_positions() if place[0] is not None and place[3]]
    inside = [node for node in found if all(_contains(node.body, place) for place in places)]
    inside.sort(key=lambda node: (node.end_lineno - node.lineno, node.end_col_offset - node.col_offset))
    if not places or not inside:
        raise SourceError(
            f"line {code.co_firstlineno} of {text.file} has several lambdas that cannot be told apart; "
            f"write each on a line of its own"
        )
    return inside[0]


def _contains(node, place):
    line, end_line, column, end_column = place
    return (node.lineno, node.col_offset) <= (line, column) and (end_line, end_column) <= (
        node.end_lineno,
        node.end_col_offset,
    )


def agrees(code, node):
    """Whether a node may be what the code object was compiled from: their parameters and names are the same."""
    arguments = node.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    names += [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)  # *args, **kwargs
    if len(names) != count or any(map(_differ, names, code.co_varnames)):
        return False
    body = node.body if isinstance(node.body, list) else [node.body]
    written = {n.id for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name)}
    used = {*code.co_freevars, *code.co_varnames[count:], *code.co_cellvars} - set(names)
    inner = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.ExceptHandler, *_DEFINITIONS, ast.MatchAs)
    if any(isinstance(n, inner) for statement in body for n in ast.walk(statement)):
        return True
    return all(name in written or name[:1] in "._@" for name in used)


def _differ(written, compiled):
    return written != compiled and not (written.startswith("__") and compiled.endswith(written))
