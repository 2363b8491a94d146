"""Runs a module with weft.numba wherever it imports numba: as if each import line had been changed.

    python as_numba.py MODULE [arguments]        as python -m MODULE, for example pytest
    python as_numba.py --import PACKAGE...       imports each module of the packages, and tells which fail

For packages that are written for Numba, in an environment without it: PYTHONPATH has weft.
"""

import functools
import importlib
import importlib.abc
import importlib.util
import pkgutil
import runpy
import sys
import types


class AsNumba(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds numba.x as weft.numba.x: the same module object."""

    def find_spec(self, name, path=None, target=None):
        if name != "numba" and not name.startswith("numba."):
            return None
        try:
            found = importlib.util.find_spec(f"weft.{name}")
        except ModuleNotFoundError:
            return None
        if found is None:
            return None
        return importlib.util.spec_from_loader(
            name, self, is_package=found.submodule_search_locations is not None
        )

    def create_module(self, spec):
        module = importlib.import_module(f"weft.{spec.name}")
        self._kept = vars(module).copy()
        return module

    def exec_module(self, module):
        for name in ("__spec__", "__name__", "__loader__", "__package__", "__path__"):
            if name in self._kept:  # importing has set those of numba
                setattr(module, name, self._kept[name])


class Later:
    """In the place of what weft.numba has not yet: used when it is called, so that packages can be imported."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Later(f"{self.__name__}.{name}")

    def __call__(self, *arguments, **options):
        if self.__name__ == "cuda.is_available":
            return False
        if len(arguments) == 1 and isinstance(arguments[0], types.FunctionType):
            return Refused(self.__name__, arguments[0])
        return self  # what decorates


class Refused:
    """A function that such a name has decorated."""

    def __init__(self, name, function):
        self._name = name
        functools.update_wrapper(self, function)

    def __call__(self, *arguments, **options):
        raise NotImplementedError(f"weft.numba has no {self._name} yet, which {self.__name__}() needs")

    def __getitem__(self, _):
        return self


def fill_in():
    """Puts something in the place of the names that packages import and weft.numba has not yet."""
    numba = importlib.import_module("weft.numba")
    for name in ("cuda", "guvectorize", "stencil", "vectorize"):
        if not hasattr(numba, name):
            setattr(numba, name, Later(name))


def import_all(packages):
    """Imports all modules but tests; tells those that fail. Returns how many do."""
    failed = 0
    for package in packages:
        names = [package]
        try:
            module = importlib.import_module(package)
            names += [
                each.name for each in pkgutil.walk_packages(module.__path__, f"{package}.", onerror=print)
            ]
        except Exception as error:
            print(f"{package}: {type(error).__name__}: {error}")
            failed += 1
            continue
        names = [name for name in names if not {"test", "tests", "__main__"}.intersection(name.split("."))]
        good = 0
        for name in names:
            try:
                importlib.import_module(name)
                good += 1
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        print(f"{package}: {good} of {len(names)} modules are imported")
        failed += good < len(names)
    return failed


def main():
    """Runs what the command line says."""
    sys.meta_path.insert(0, AsNumba())
    fill_in()
    del sys.argv[0]
    if sys.argv[:1] == ["--import"]:
        sys.exit(min(import_all(sys.argv[1:]), 1))
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
