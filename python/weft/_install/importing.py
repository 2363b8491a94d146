"""Where the program imports NumPy it gets weft's modules; everybody else gets NumPy.

`import` statements and importlib.import_module ask here for names of NumPy's alone; other imports go on as ever, by a
call in C++ that adds no frame to tracebacks. NumPy stays unloaded for as long as the program's own files alone ask for
it: the finder loads it before the first installed package or extension module.
"""

import builtins
import importlib
import importlib.machinery
import sys

from weft import _core
from weft._install import callers, modules, theirs

_before = {}


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    """`__import__` for the names of NumPy's."""
    if level != 0 or theirs.is_loading():
        return _before["__import__"](name, globals, locals, fromlist, level)
    if not callers.gets_weft(globals) or _is_private(name):
        theirs.load("numpy")
        return _before["__import__"](name, globals, locals, fromlist, level)
    shown = _shown(name)
    if shown is None:
        return _before["__import__"](name, globals, locals, fromlist, level)
    return shown if fromlist else modules.module("numpy")


def _import_module(name, package=None):
    """`importlib.import_module` for the names of NumPy's."""
    if not theirs.is_loading() and not _is_private(name) and callers.gets_weft(sys._getframe(1).f_globals):
        shown = _shown(name)
        if shown is not None:
            return shown
    theirs.load("numpy")
    return _before["import_module"](name, package)


def _is_private(name):
    return "._" in name or name.startswith("numpy.core")


def _shown(name):
    """The module of that name as the program sees it; None for what only the import system can answer."""
    if name == "numpy":
        if "numpy" not in sys.modules:
            if theirs.about("numpy", "__spec__") is None:
                return modules.module("numpy")  # NumPy is not installed, and not needed yet
            sys.modules["numpy"] = modules.module("numpy")
        return modules.module("numpy")
    _shown("numpy")
    if not modules.exists(name):
        try:
            if theirs.load(name) is None:
                return None
        except (ImportError, AttributeError):
            return None
    found = modules.module("numpy")
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


class _Existing:
    """Loads a module that is there already, and leaves it as it is."""

    def __init__(self, module):
        self._module, self._names = module, {}

    def create_module(self, spec):
        self._names = {name: value for name, value in vars(self._module).items() if name.startswith("__")}
        return self._module

    def exec_module(self, module):
        names = vars(module)
        for name in ("__spec__", "__loader__", "__package__", "__path__", "__file__", "__cached__"):
            if name in self._names:
                names[name] = self._names[name]
            else:
                names.pop(name, None)


def _importer():
    """The globals of who imports; None where that is an extension module, which has no frame."""
    frame = sys._getframe(2)
    while frame is not None:
        code, name = frame.f_code, frame.f_globals.get("__name__") or ""
        if code.co_filename.startswith("<frozen importlib"):
            loader = frame.f_locals.get("self") if code.co_name in ("create_module", "exec_module") else None
            if isinstance(loader, importlib.machinery.ExtensionFileLoader):
                return None
        elif name not in ("importlib", "_weft_install") and not callers.is_of_weft(name):
            return frame.f_globals
        frame = frame.f_back
    return None


class Finder:
    """Stands first in sys.meta_path while NumPy is not loaded.

    It answers imports of NumPy that do not come by an `import` statement, and loads NumPy before an installed package
    or an extension module is loaded: those expect to find it.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        if theirs.is_loading() or theirs.loaded("numpy") is not None or callers.is_of_weft(name):
            return None
        if name == "numpy" or name.startswith("numpy."):
            importer = _importer()
            if importer is not None and callers.gets_weft(importer) and not _is_private(name):
                module = _shown(name)
            else:
                module = theirs.load(name)
            if module is None:
                return None
            # The import system takes the __spec__ of what it finds there, and would load it a second time.
            sys.modules.pop(name, None)
            is_package = getattr(module, "__path__", None) is not None
            return importlib.machinery.ModuleSpec(name, _Existing(module), is_package=is_package)
        if path is None and name in sys.stdlib_module_names:
            return None
        if path is not None and all(map(callers.is_standard, path)):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.origin is None:
            return None
        is_extension = isinstance(spec.loader, importlib.machinery.ExtensionFileLoader)
        if is_extension or callers.is_installed(spec.origin):
            theirs.load("numpy")
        return None


def install():
    _before["__import__"], _before["import_module"] = builtins.__import__, importlib.import_module
    builtins.__import__ = _core._Router(builtins.__import__, _import)
    importlib.import_module = _core._Router(importlib.import_module, _import_module)
    if theirs.loaded("numpy") is None:
        sys.meta_path.insert(0, Finder)


def forget_finder():
    """NumPy is loaded."""
    if Finder in sys.meta_path:
        sys.meta_path.remove(Finder)


def uninstall():
    forget_finder()
    if sys.modules.get("numpy") is modules.made.get("numpy", _before):
        del sys.modules["numpy"]
    if isinstance(builtins.__import__, _core._Router):
        builtins.__import__ = _before["__import__"]
    if isinstance(importlib.import_module, _core._Router):
        importlib.import_module = _before["import_module"]
