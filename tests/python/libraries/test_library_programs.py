"""Programs that use other libraries: with NumPy, with the import changed on each device, and unchanged by `-m weft`.

A library that is not installed is skipped; `make test-libraries` installs them all.
"""

import ast
import functools
import json
import pathlib
import subprocess
import sys
import warnings

import library_programs
import pytest

PROGRAMS = pathlib.Path(__file__).parent / "programs"
LIBRARIES = {"pillow": "PIL", "sklearn": "sklearn"}  # where the program's name begins otherwise
SUPPORT = pathlib.Path(library_programs.__file__)


def functions_of(path):
    """Names of the generators, found without the library."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(node)
        ):
            yield node.name


CASES = [(path.stem, name) for path in sorted(PROGRAMS.glob("*.py")) for name in functions_of(path)]
EACH = pytest.mark.parametrize("program, name", CASES, ids=[f"{program}-{name}" for program, name in CASES])
pytestmark = pytest.mark.filterwarnings("ignore")


def library_of(program):
    first = program.partition("_")[0]
    return LIBRARIES.get(first, first)


@functools.cache
def loaded(program, changed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return library_programs.load(PROGRAMS / f"{program}.py", changed)


@functools.cache
def with_numpy(program, name):
    return library_programs.results(loaded(program, False), name)


@functools.cache
def unchanged(program):
    words = [sys.executable, "-W", "ignore", "-m", "weft", SUPPORT, PROGRAMS / f"{program}.py"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@EACH
def test_the_import_changed(program, name, device):
    pytest.importorskip(library_of(program))
    if device != "cpu" and name in vars(loaded(program, False)).get("ON_THE_HOST", ()):
        with pytest.raises(TypeError, match="writes into the CPU"):
            library_programs.results(library_programs.load(PROGRAMS / f"{program}.py", True), name)
        return
    # Arrays that a program makes at its import are where that was.
    module = (
        loaded(program, True) if device == "cpu" else library_programs.load(PROGRAMS / f"{program}.py", True)
    )
    found = library_programs.results(module, name)
    assert not list(library_programs.differences(with_numpy(program, name), found))


@EACH
def test_unchanged(program, name):
    pytest.importorskip(library_of(program))
    found = unchanged(program)[name]
    assert not isinstance(found, str), found
    expected = json.loads(json.dumps(with_numpy(program, name)))
    assert not list(library_programs.differences(expected, found))


def test_differences_are_seen():
    import numpy

    one = library_programs.described([numpy.arange(3), 2.0, {"a": None}])
    assert not list(
        library_programs.differences(one, library_programs.described([numpy.arange(3), 2.0, {"a": None}]))
    )
    for other in (
        [numpy.arange(3.0), 2.0, {"a": None}],
        [numpy.arange(4), 2.0, {"a": None}],
        [numpy.arange(3), 2.1, {"a": None}],
        [numpy.arange(3), 2.0, {"b": None}],
        [numpy.arange(3), 2.0],
        [numpy.arange(1, 4), 2, {"a": None}],
    ):
        assert list(library_programs.differences(one, library_programs.described(other)))
