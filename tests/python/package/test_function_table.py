"""The table of public functions (python/functions.toml) says what the package has, and NumPy's signatures."""

import inspect
import pathlib
import subprocess
import sys

import numpy
import pytest
import weft

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tools"))
import generate_functions  # noqa: E402

ROWS = generate_functions.read_table()
FUNCTIONS = {row["name"]: row for row in generate_functions.functions_of(ROWS)}
METHODS = {row["name"]: row for row in generate_functions.methods_of(ROWS)}
SIGNED = sorted(name for name, row in FUNCTIONS.items() if "signature" in row)
CONSTANTS = {
    "pi",
    "e",
    "euler_gamma",
    "inf",
    "nan",
    "newaxis",
    "little_endian",
    "True_",
    "False_",
    "exceptions",
}
# Where weft's parameters are not NumPy's by name or kind.
OTHER_PARAMETERS = {
    "argsort": "descending, as the array API has it",
    "sort": "descending, as the array API has it",
    "arange": "start may be given by name",
    "einsum": "NumPy's kwargs, by their names",
    "matmul": "sig, another name of signature",
    "matvec": "sig, another name of signature",
    "vecdot": "sig, another name of signature",
    "vecmat": "sig, another name of signature",
}


def shape_of(parameters):
    return [(each.name, each.kind, each.default is each.empty) for each in parameters]


def test_the_table_has_each_public_name_once():
    types = {name for name in dir(weft) if isinstance(getattr(weft, name), type)}
    ufuncs = {name for name in dir(weft) if type(getattr(weft, name)) is weft.ufunc}
    modules = {name for name in dir(weft) if inspect.ismodule(getattr(weft, name))}
    others = {name for name in dir(weft) if not name.startswith("_")} - ufuncs - modules - CONSTANTS
    of_core = {
        name
        for name in types
        if getattr(weft._core, getattr(weft, name).__name__, None) is getattr(weft, name)
    }
    assert others - of_core == set(FUNCTIONS) - of_core
    assert not set(FUNCTIONS) & ufuncs


@pytest.mark.parametrize("name", SIGNED)
def test_signatures_are_the_functions_own(name):
    value = getattr(weft, name)
    value = getattr(value, "_implementation", value)
    if hasattr(value, "__nb_signature__"):
        return  # of nanobind's functions the names are all that Python sees; the random calls use them
    own = inspect.signature(value).parameters.values()
    assert shape_of(own) == shape_of(generate_functions.parameters(FUNCTIONS[name]["signature"]))


@pytest.mark.parametrize("name", SIGNED)
def test_signatures_are_numpys(name):
    if not hasattr(numpy, name):
        return
    try:
        theirs = inspect.signature(getattr(numpy, name)).parameters.values()
    except ValueError:
        return  # NumPy does not say
    same = shape_of(theirs) == shape_of(generate_functions.parameters(FUNCTIONS[name]["signature"]))
    assert same != (name in OTHER_PARAMETERS)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_are_there(name):
    of_scalars = METHODS[name].get("scalar", "array")
    assert callable(getattr(weft.ndarray, name))
    assert hasattr(weft.generic, name) == (of_scalars != "none")
    assert hasattr(numpy.ndarray, name)


def test_public_headers_declare_what_the_table_says():
    assert generate_functions.check_headers(ROWS) == []


def test_generated_files_are_current():
    command = [sys.executable, ROOT / "tools/generate_functions.py", "--check", "--docs"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "row, complaint",
    [
        ({"signature": "a, b="}, "no signature"),
        ({"override": "arguments"}, "it has no signature"),
        ({"signature": "a", "override": "sometimes"}, "no kind of override"),
        ({"signature": "a", "bound": True}, "needs the columns cpp and doc"),
        ({"alias": "sum", "signature": "a"}, "an alias has the name of a function, and nothing else"),
    ],
)
def test_a_wrong_row_is_refused(row, complaint):
    rows = [
        {"name": "sum", "topic": "mathematics", "signature": "a"},
        {"name": "new", "topic": "sets", **row},
    ]
    with pytest.raises(SystemExit, match=complaint):
        generate_functions.check("functions.toml", rows)
