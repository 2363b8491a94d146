"""Random calls of functions that no one has written a row for: drawn from the signature in python/functions.toml.

The first parameter is an array, further ones that are required broadcast with it; what is known by its name is drawn as
that (NAMED). Other parameters keep their defaults. A required parameter that this cannot draw needs a row of its own in
calls_of_*.py, or the column `drawn` of the table.
"""

import pathlib
import sys
import tomllib

from call_table import maybe
from random_calls import Call

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tools"))
from generate_functions import parameters  # noqa: E402

with (ROOT / "python/functions.toml").open("rb") as _file:
    _table = tomllib.load(_file)
FUNCTIONS = {name: row for topic, rows in _table.items() if topic != "methods" for name, row in rows.items()}

ARRAYS = set("a arr ary element filt m p v val x x1 y z condition".split())
PARTNERS = set("a2 b v2 x2 y2 values".split())
NAMED = {
    "axis": lambda g, x: g.axis(x),
    "axis1": lambda g, x: g.axis(x),
    "axis2": lambda g, x: g.axis(x),
    "k": lambda g, x: g.number(-3, 3),
    "offset": lambda g, x: g.number(-3, 3),
    "keepdims": lambda g, x: g.chance(0.5),
    "deg": lambda g, x: g.chance(0.5),
    "N": lambda g, x: g.number(0, 5),
    "n": lambda g, x: g.number(0, 5),
}


def default_call(name):
    """What draws calls of a function by its signature. Raises LookupError for a parameter that it cannot draw."""
    row = FUNCTIONS[name]
    given = parameters(FUNCTIONS[row["alias"]]["signature"] if "alias" in row else row["signature"])
    required = [each for each in given if each.default is each.empty and each.kind < each.VAR_POSITIONAL]
    optional = [each.name for each in given if each not in required and each.name in NAMED]
    for number, each in enumerate(required):
        if each.name not in (NAMED if number else ARRAYS | set(NAMED)) and each.name not in PARTNERS | ARRAYS:
            raise LookupError(
                f"{name}: write a row of random calls, whose parameter {each.name} is not known"
            )

    def draw_call(g):
        first, arguments = None, []
        for each in required:
            if each.name in NAMED:
                arguments.append(NAMED[each.name](g, first))
            elif first is None:
                first = g.array()
                arguments.append(first)
            else:
                arguments.append(g.partner(first))
        keywords = {
            key: maybe(g, 0.4, NAMED[key](g, first)) for key in optional if first or key in ("k", "N", "n")
        }
        return Call(*arguments, **keywords)

    return draw_call
