"""The text of a function: its lines as they are when it is decorated, and its node in the tree that `ast` makes.

The file is read once, at decoration: what is compiled is what was imported, even where the file is edited afterwards.
A `def` is found by its first line. A lambda is found by its first line and by the columns of its instructions, since
several may stand on one line. What is found has to compile to the function's own code (`_same_code.py`), so that a
text that was edited in between is refused.
"""

import ast
import linecache
import sys
import types
import warnings

from weft._jit import _trees
from weft._jit._errors import CompileError, SourceError
from weft._jit._same_code import agrees, compiled_in, compiles_to

_BRACKETS = ")]}"
_FRAMES = 32  # that are searched for the text that exec() was given
_LONGEST = 1 << 20  # characters of such a text
_TRIES = 4  # to find the end of a definition, before the whole file is parsed
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Text:
    """The lines of a file, or of a text that was given, with the tree that was made of them.

    A text that is `checked` is the function's, as far as it has one definition of that name.
    """

    __slots__ = ("_tree", "checked", "file", "given", "lines")

    def __init__(self, file, lines, given=False, checked=False):
        self.file, self.lines, self.given, self.checked = file, lines, given, checked
        self._tree = None

    def tree(self):
        """The tree of all of it; a text that was given may be indented, as a method's is."""
        if self._tree is None:
            first = next((line for line in self.lines if line.strip()), "")
            if self.given and first[:1] in " \t":
                self._tree = ast.increment_lineno(_trees.parse("if 1:\n" + "".join(self.lines)), -1)
            else:
                self._tree = _trees.parse("".join(self.lines))
        return self._tree


_texts = {}  # by file: the list of lines that linecache keeps, and the Text of it


def function_of(function):
    """The Python function behind a function or method; a CompileError for everything else."""
    inner = getattr(function, "__func__", function)  # methods, staticmethod, classmethod
    if not isinstance(inner, types.FunctionType):
        what = f"the class {inner.__name__}" if isinstance(inner, type) else f"a {type(inner).__name__}"
        raise CompileError(f"weft.jit compiles Python functions, and was given {what}")
    return inner


def capture(function, source=None):
    """The Text that holds `function`: of its file as it is now, or of `source`. A SourceError where there is none."""
    if isinstance(source, Text):
        return source
    function = function_of(function)
    code = function.__code__
    file = code.co_filename
    if source is not None:
        if not isinstance(source, str):
            raise TypeError(f"source must be a str, not {type(source).__name__}")
        return Text(file, source.splitlines(keepends=True), given=True)
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines and hasattr(
        linecache, "_getlines_from_code"
    ):  # the prompt of Python 3.13 keeps its lines there
        lines = linecache._getlines_from_code(code)
    if not lines:
        text = _executed_text(function)
        if text is None:
            raise SourceError(_no_text(function.__name__, file))
        return text
    known = _texts.get(file)
    if known is None or known[0] is not lines:
        known = _texts[file] = (lines, Text(file, lines))
    return known[1]


def _executed_text(function):
    """The Text that exec() has made `function` of, where a function that runs has it as a variable or constant."""
    code = function.__code__
    word = "lambda" if code.co_name == "<lambda>" else code.co_name
    tried = set()
    frame = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame is None:
            return None
        for value in (*frame.f_locals.values(), *frame.f_code.co_consts):
            if type(value) is not str or word not in value or value in tried or len(value) > _LONGEST:
                continue
            tried.add(value)
            text = Text(code.co_filename, value.splitlines(keepends=True), given=True)
            try:
                with warnings.catch_warnings(action="ignore"):  # of texts of another kind
                    node = _chosen(function, text, list(_candidates(code, text)))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            if node is not None and code.co_firstlineno == _first_line(node):
                return text
        frame = frame.f_back
    return None


def _first_line(node):
    return min(part.lineno for part in (node, *getattr(node, "decorator_list", ())))


def _no_text(name, file):
    if file == "<stdin>" and hasattr(sys, "ps1"):
        return (
            f"{name} was typed at a prompt that keeps no source; write it into a file, use IPython or "
            f"Python 3.13, or give weft.jit(f, source=...)"
        )
    if file.startswith("<"):
        return f"{name} was made by exec() and has no source; give weft.jit(f, source=...)"
    return f"{name} has no source, since {file} cannot be read; give weft.jit(f, source=...)"


def find(function, text):
    """The node of `function` in `text`: a FunctionDef, AsyncFunctionDef or Lambda with the places of the file."""
    code, name = function.__code__, function.__name__
    try:
        found = list(_candidates(code, text))
    except SyntaxError as error:
        raise SourceError(
            f"{name}: line {error.lineno} of its source is not Python ({error.msg})"
            if text.given
            else f"{name}: {text.file} was edited since it was imported, and is not Python now (line {error.lineno}: "
            f"{error.msg}); import it again, or give weft.jit(f, source=...)"
        ) from None
    node = found[0] if text.checked and len(found) == 1 else _chosen(function, text, found)
    if node is not None:
        return node
    if text.given:
        raise SourceError(f"{name} was not compiled from the source that was given")
    raise SourceError(
        f"{name} was not compiled from what stands in {text.file}, line {code.co_firstlineno}: was the file edited "
        f"since it was imported? Import it again, or give weft.jit(f, source=...)"
    )


def _candidates(code, text):
    """The nodes that may be the one of `code` by where they stand and what they are called."""
    is_lambda = code.co_name == "<lambda>"
    if text.given or is_lambda:
        for node in ast.walk(text.tree()):
            if is_lambda and isinstance(node, ast.Lambda):
                if text.given or node.lineno == code.co_firstlineno:
                    yield node
            elif not is_lambda and isinstance(node, _DEFINITIONS) and node.name == code.co_name:
                yield node
    else:
        node = _definition_at(text, code.co_firstlineno)
        if node is not None and node.name == code.co_name:
            yield node


def _chosen(function, text, found):
    """The one of the candidates that has the function's code; where several have, the one with its columns."""
    code = function.__code__
    same = [node for node in found if compiles_to(function, node)]
    if not same:
        # Hooks of the import system may change code, as pytest does to assertions. Names stay.
        unlike = [node for node in found if agrees(code, node)]
        if unlike and (all(map(_has_assertion, unlike)) or compiled_in(function, text.tree())):
            same = unlike
    if len(same) > 1:
        places = [place for place in code.co_positions() if place[0] is not None and place[3]]
        same = [node for node in same if all(_contains(node, place) for place in places)] or same
        same.sort(key=lambda node: (node.end_lineno - node.lineno, node.end_col_offset - node.col_offset))
    return same[0] if same else None


def _has_assertion(node):
    return any(isinstance(inner, ast.Assert) for inner in ast.walk(node))


def _contains(node, place):
    line, end_line, column, end_column = place
    body = node.body if isinstance(node, ast.Lambda) else node
    return (body.lineno, body.col_offset) <= (line, column) and (end_line, end_column) <= (
        body.end_lineno,
        body.end_col_offset,
    )


def _definition_at(text, first):
    """The definition whose first line, or that of its first decorator, is line `first`; its lines alone are parsed."""
    lines = text.lines
    if not 0 < first <= len(lines):
        return None
    start = lines[first - 1]
    indent = len(start) - len(start.lstrip())
    end = first
    for _ in range(_TRIES):
        end = _end_of_block(lines, first, end, indent)
        # Empty lines before it give it its place in the file.
        head = "\n" * (first - 2) + "if 1:\n" if indent else "\n" * (first - 1)
        try:
            tree = _trees.parse(head + "".join(lines[first - 1 : end]))
        except SyntaxError:  # a line of a long text or list that begins further left
            end += 1
            continue
        body = tree.body[0].body if indent else tree.body
        return body[0] if body and isinstance(body[0], _DEFINITIONS) else None
    return next(
        (
            node
            for node in ast.walk(text.tree())
            if isinstance(node, _DEFINITIONS)
            and first == min([node.lineno, *(d.lineno for d in node.decorator_list)])
        ),
        None,
    )


def _end_of_block(lines, first, after, indent):
    """The number of the last line before the next, after line `after`, that is not further right than `indent`."""
    in_head = after == first and lines[first - 1].lstrip()[:1] == "@"
    for k in range(after, len(lines)):
        text = lines[k].lstrip()
        if not text or text[0] == "#" or text[0] in _BRACKETS:
            continue
        if len(lines[k]) - len(text) <= indent:
            if in_head:  # decorators, and the def itself
                in_head = text[0] == "@"
                continue
            return k
    return len(lines)
