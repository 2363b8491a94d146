"""What a function that cannot be compiled raises, and how its messages look."""

import ast
import sys

from weft import exceptions
from weft.exceptions import CompileError

MOST_LINES = 8  # of a message


class SourceError(CompileError):
    """The text of a function is not to be found."""

    __module__ = "weft"


def render(file, line, name, what, text="", column=0, end_column=None, advice=""):
    """A message with the line of the program and a caret below its bytes from `column` to `end_column`."""
    parts = [f"{file}, line {line}, in {name}: {what}"]
    code = text.strip()
    if code:
        raw = text.encode()
        if end_column is None or end_column <= column:
            end_column = len(raw.rstrip())
        indent = len(text) - len(text.lstrip())
        begin = max(len(raw[:column].decode(errors="replace")) - indent, 0)
        width = max(len(raw[column:end_column].decode(errors="replace")), 1)
        parts += [f"    {code}", "    " + " " * begin + "^" * width]
    if advice:
        parts.append(f"{advice[0].upper()}{advice[1:]}.")
    return "\n".join("\n".join(parts).split("\n")[:MOST_LINES])


def raise_at(error, file, line, name):
    """Raises `error` with a line of the program as the innermost entry of its traceback."""
    code = _places.get((file, line, name))
    if code is None:
        if len(_places) > 4096:
            _places.clear()
        tree = ast.parse("raise error")
        for node in (
            tree.body[0],
            tree.body[0].exc,
        ):  # no columns: a traceback then marks no part of the line
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = -1
        code = compile(tree, file, "exec").replace(co_name=name, co_qualname=name)
        _places[file, line, name] = code
    exec(code, {"error": error})


def error_class(name):
    """weft's class of an error; where the program has loaded NumPy, one that is NumPy's class, too."""
    ours = getattr(exceptions, name)
    numpy = sys.modules.get("numpy")
    theirs = getattr(getattr(numpy, "linalg" if name == "LinAlgError" else "exceptions", None), name, None)
    if not isinstance(theirs, type) or issubclass(theirs, ours):
        return ours
    if name not in _classes or not issubclass(_classes[name], theirs):

        def __reduce__(self):
            return ours, self.args

        members = {"__module__": ours.__module__, "__str__": ValueError.__str__, "__reduce__": __reduce__}
        _classes[name] = type(name, (ours, theirs), members)
    return _classes[name]


_classes = {}  # by their names: weft's and NumPy's in one
_places = {}  # of errors: the code that raises there
