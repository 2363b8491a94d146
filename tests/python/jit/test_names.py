"""What the free names of a function stand for."""

import cmath
import dataclasses
import enum
import functools
import math
import operator
import sys
import types
from math import pi, sqrt
from typing import NamedTuple

import numpy
import pytest
import weft
import weft as np
from numpy import arctan2 as numpys_arctan2
from numpy.linalg import norm
from weft import absolute, float32, linspace
from weft._jit import describe

WHOLE, REAL, TEXT, NOTHING, YES = 3, 2.5, "text", None, True
COMPLEX = 1 + 2j
NESTED = (1, (2.5, "a", None), ())
HUGE = 10**30
NUMPYS_SCALAR = numpy.float32(1.5)
WEFTS_SCALAR = np.int8(3)
NUMPYS_ARRAY = numpy.arange(3)
WEFTS_ARRAY = np.arange(3)
LIST = [1, 2]
IMPORTED = (
    cmath,
    operator,
    pi,
    sqrt,
    numpys_arctan2,
    norm,
    absolute,
    float32,
    linspace,
)  # only texts have them
MIXED = (1, LIST)
PARTIAL = functools.partial(max, 1)


class Colour(enum.Enum):
    RED = 1
    PAIR = (1, 2)


class Size(enum.IntEnum):
    LARGE = 7


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Ball:
    mass: float


class Plain:
    pass


class OwnError(ValueError):
    pass


def helper(x):
    return x


class Compiled:
    """As weft's and Numba's dispatchers say what they are."""

    py_func = staticmethod(helper)


COMPILED = Compiled()

program = types.ModuleType("program")
program.scale = 4
program.helper = helper
program.inner = program
program.np = np


def symbols_of(expression, **names):
    """The symbols of a function that returns the expression, whose globals are this module's and `names`."""
    text = f"def f():\n    return {expression}\n"
    known = {**globals(), **names}
    exec(text, known)
    return describe(known["f"], source=text).symbols


EXPECTED = {
    "WHOLE": ("constant", 3),
    "REAL": ("constant", 2.5),
    "TEXT": ("constant", "text"),
    "NOTHING": ("constant", None),
    "YES": ("constant", True),
    "COMPLEX": ("constant", 1 + 2j),
    "NESTED": ("constant", NESTED),
    "HUGE": ("constant", HUGE),
    "pi": ("constant", math.pi),
    "math.inf": ("constant", math.inf),
    "np.pi": ("constant", math.pi),
    "np.newaxis": ("constant", None),
    "numpy.euler_gamma": ("constant", numpy.euler_gamma),
    "__debug__": ("constant", True),
    "NUMPYS_SCALAR": ("scalar", "float32", 1.5),
    "WEFTS_SCALAR": ("scalar", "int8", 3),
    "np.True_": ("scalar", "bool", True),
    "NUMPYS_ARRAY": ("array", NUMPYS_ARRAY),
    "WEFTS_ARRAY": ("array", WEFTS_ARRAY),
    "Colour.RED": ("constant", Colour.RED),
    "Colour.RED.value": ("constant", 1),
    "Colour.RED.name": ("constant", "RED"),
    "Colour.PAIR": ("constant", Colour.PAIR),
    "Size.LARGE": ("constant", Size.LARGE),
    "Colour": ("record", Colour),
    "Point": ("record", Point),
    "Ball": ("record", Ball),
    "Plain": ("unknown", Plain),
    "LIST": ("unknown", LIST),
    "MIXED": ("unknown", MIXED),
    "PARTIAL": ("unknown", PARTIAL),
    "ValueError": ("exception", ValueError),
    "OwnError": ("exception", OwnError),
    "np.linalg.LinAlgError": ("exception", np.linalg.LinAlgError),
    "helper": ("function", helper),
    "COMPILED": ("function", helper),
    "program.helper": ("function", helper),
    "program.inner.inner.scale": ("constant", 4),
    "program.np.sqrt": ("known", "numpy.sqrt"),
    "range": ("known", "builtins.range"),
    "abs": ("known", "builtins.abs"),
    "int": ("known", "builtins.int"),
    "sqrt": ("known", "math.sqrt"),
    "math.hypot": ("known", "math.hypot"),
    "cmath.exp": ("known", "cmath.exp"),
    "operator.add": ("known", "_operator.add"),
    "np.sqrt": ("known", "numpy.sqrt"),
    "numpy.sqrt": ("known", "numpy.sqrt"),
    "np.abs": ("known", "numpy.absolute"),
    "numpy.abs": ("known", "numpy.absolute"),
    "absolute": ("known", "numpy.absolute"),
    "numpys_arctan2": ("known", "numpy.arctan2"),
    "linspace": ("known", "numpy.linspace"),
    "numpy.linspace": ("known", "numpy.linspace"),
    "np.zeros": ("known", "numpy.zeros"),
    "np.linalg.norm": ("known", "numpy.linalg.norm"),
    "norm": ("known", "numpy.linalg.norm"),
    "np.fft.fft": ("known", "numpy.fft.fft"),
    "np.random.rand": ("known", "numpy.random.rand"),
    "numpy.random.rand": ("known", "numpy.random.rand"),
    "np.float64": ("known", "numpy.float64"),
    "numpy.double": ("known", "numpy.float64"),
    "float32": ("known", "numpy.float32"),
    "np.bool_": ("known", "numpy.bool"),
    "numpy.bool_": ("known", "numpy.bool"),
    "np.ndarray": ("known", "numpy.ndarray"),
    "np": ("module", "numpy"),
    "numpy": ("module", "numpy"),
    "np.random": ("module", "numpy.random"),
    "math": ("module", "math"),
    "program": ("module", "program"),
    "nowhere": ("missing", ""),
    "hepler": ("missing", "helper"),
    "np.sqroot": ("missing", "np.sqrt"),
    "np.linalg.nrom": ("missing", "np.linalg.norm"),
}


@pytest.mark.parametrize("expression", EXPECTED)
def test_one_name(expression):
    kind, *rest = EXPECTED[expression]
    (found,) = symbols_of(expression)
    assert found == (kind, expression, *rest)
    assert list(map(type, found)) == list(map(type, (kind, expression, *rest)))


def test_dtypes_are_their_classes():
    assert symbols_of("F4", F4=np.dtype("float32")) == [("known", "F4", "numpy.float32")]
    assert symbols_of("F4", F4=numpy.dtype("float32")) == [("known", "F4", "numpy.float32")]


def test_names_are_numbered_by_first_use():
    found = symbols_of("np.sqrt(WHOLE) + np.sqrt(REAL) + math.pi + WHOLE")
    assert [symbol[1] for symbol in found] == ["np.sqrt", "WHOLE", "REAL", "math.pi"]


def test_a_missing_name_may_be_meant_for_a_variable():
    def f(distance):
        return distnace  # noqa: F821

    assert describe(f).symbols == [("missing", "distnace", "distance")]


def test_names_of_wefts_own(monkeypatch):
    class Prange:
        __name__, __module__ = "prange", "weft"

    monkeypatch.setitem(vars(weft), "prange", Prange())
    assert symbols_of("np.prange")[0][2] == "weft.prange"
    assert symbols_of("p", p=weft.prange) == [("known", "p", "weft.prange")]
    numba = types.ModuleType("numba")
    numba.prange = type("prange", (), {"__module__": "numba.misc.special"})
    numba.prange.__name__ = "prange"
    monkeypatch.setitem(sys.modules, "numba", numba)
    assert symbols_of("numba.prange", numba=numba)[0][2] == "weft.prange"
    assert symbols_of("p", p=numba.prange) == [("known", "p", "weft.prange")]


def test_a_dispatcher_stands_for_itself():
    class Dispatcher:
        _is_weft_jit = True

    dispatcher = Dispatcher()
    assert symbols_of("d", d=dispatcher) == [("function", "d", dispatcher)]


def test_a_name_of_the_program_hides_a_builtin():
    assert symbols_of("range", range=3) == [("constant", "range", 3)]


def outer():
    scale, later, unused = 3, 4, 5

    def f(x):
        def inner(y):
            return y + scale + x

        return inner(x) + later

    return f, unused


def test_closures_are_what_their_cells_hold():
    found = describe(outer()[0])
    assert found.symbols == [("constant", "scale", 3), ("constant", "later", 4)]
    assert "(name x)" in found.tree
    cells = dict(zip(outer()[0].__code__.co_freevars, outer()[0].__closure__, strict=True))
    assert [guard[1:] for guard in found.guards] == [(None, 3), (None, 4)]
    assert {type(guard[0]) for guard in found.guards} == {types.CellType}
    assert set(cells) == {"scale", "later"}


def test_an_empty_cell_is_a_missing_name():
    def make():
        def f():
            return later

        found = describe(f).symbols
        later = 1
        return found, later

    assert make()[0][0][:2] == ("missing", "later")


def test_guards_are_what_was_read_of_the_program():
    text = "def f():\n    return WHOLE + helper(np.sqrt(program.scale)) + math.pi + len(TEXT) + WHOLE\n"
    known = dict(globals())
    exec(text, known)
    guards = describe(known["f"], source=text).guards
    assert [(id(holder), name) for holder, name, _ in guards] == [
        (id(known), "WHOLE"),
        (id(known), "helper"),
        (id(known), "np"),
        (id(known), "program"),
        (id(vars(program)), "scale"),
        (id(known), "math"),
        (id(known), "TEXT"),
    ]
    assert all(holder[name] is value for holder, name, value in guards)


def test_number_types_of_numba_are_numpys():
    kind = type("Integer", (), {"__module__": "numba.core.types.scalars"})
    int16, boolean, pointer = kind(), kind(), kind()
    int16.name, boolean.name, pointer.name = "int16", "bool", "voidptr"
    result = weft.jit(lambda x: int16(x))(70000)
    assert result == 4464
    assert result.dtype == "int16"
    assert weft.jit(lambda x: boolean(x))(3)
    with pytest.raises(weft.CompileError, match="'pointer' is a Integer"):
        weft.jit(lambda x: pointer(x))(3)
