"""NumPy's own tests, from its wheel, with weft in NumPy's place.

A module of tests is read from the installed NumPy and run with other imports: what it takes from numpy is weft's, where
weft has it. numpy.testing stays NumPy's, and so does what weft has not.
"""

import ast
import functools
import importlib
import importlib.util
import pathlib
import types

import numpy
import pytest
import weft


def _dtype(described):
    """weft's, or NumPy's of what weft has not: tests are parametrised with these."""
    try:
        return weft.dtype(described)
    except TypeError:
        return numpy.dtype(described)


def _plain(value):
    if isinstance(value, (weft.ndarray, weft.generic)):
        return numpy.asarray(value)[()]
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _comparing(function):
    """A function of numpy.testing, which compares NumPy's arrays."""

    @functools.wraps(function)
    def compare(*arguments, **options):
        return function(*map(_plain, arguments), **options)

    return compare


class _Swapped(types.ModuleType):
    """weft's module, and behind it NumPy's of the same name."""

    def __init__(self, name):
        super().__init__(name)
        self._theirs = importlib.import_module(name)
        self._ours = None if name.startswith("numpy.testing") else _ours(name)

    def __getattr__(self, name):
        if name == "dtype" and self.__name__ == "numpy":
            return _dtype
        if name != "testing" and self._ours is not None and not name.startswith("__"):
            try:
                found = getattr(self._ours, name)
            except AttributeError:
                pass
            else:
                return _Swapped(f"{self.__name__}.{name}") if isinstance(found, types.ModuleType) else found
        found = getattr(self._theirs, name)
        if self.__name__ == "numpy.testing" and name.startswith("assert_") and "raises" not in name:
            return _comparing(found)
        return found


def _ours(name):
    try:
        return importlib.import_module(name.replace("numpy", "weft", 1))
    except ImportError:
        return None


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and name.split(".")[0] == "numpy":
        return _Swapped(name if fromlist else "numpy")
    return importlib.__import__(name, globals, locals, fromlist, level)


def _is_fixture(value):
    return type(value).__name__ == "FixtureFunctionDefinition" or hasattr(value, "_pytestfixturefunction")


def load(module, exceptions):
    """The tests of a module, by name, and a fixture that expects some to fail.

    `exceptions` says why, by a name as pytest has it, or by the part before its parameters.
    """
    spec = importlib.util.find_spec(module)
    tree = ast.parse(pathlib.Path(spec.origin).read_text(), spec.origin)
    builtins = {**vars(importlib.import_module("builtins")), "__import__": _import}
    names = {"__name__": module, "__file__": spec.origin, "__builtins__": builtins}
    exec(compile(tree, spec.origin, "exec"), names)
    tests = {name: value for name, value in names.items() if name.startswith(("test", "Test"))}

    @pytest.fixture(autouse=True)
    def known_exceptions(request):
        name = request.node.nodeid.split("::", 1)[1].replace("::", ".")
        reason = exceptions.get(name, exceptions.get(name.split("[")[0]))
        if reason is not None:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))

    for each in exceptions:
        owner, _, method = each.split("[")[0].rpartition(".")
        assert hasattr(tests[owner], method) if owner else method in tests, f"{module} has no test {each}"
    fixtures = {name: value for name, value in names.items() if _is_fixture(value)}
    return {**fixtures, **tests, "known_exceptions": known_exceptions}
