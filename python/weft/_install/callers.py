"""Who gets weft where it imports NumPy: decided once for each module that imports.

The program's own files do, and packages of LISTED. Other installed packages, Python's own and NumPy itself get NumPy.
WEFT_INSTALL_INCLUDE and WEFT_INSTALL_EXCLUDE name further packages, with commas between.
"""

import os
import sys

# Installed packages that get weft. They are Python alone, and reach NumPy by its functions.
LISTED = {
    "autograd": "differentiates functions of NumPy's by wrapping them",
    "einops": "reshapes arrays of any library by methods that weft's have",
    "emcee": "samples with NumPy's functions alone",
    "filterpy": "filters by products of matrices",
    "numpy_financial": "computes with NumPy's functions alone",
    "opt_einsum": "calls the tensordot and einsum of the array's library",
    "sympy": "lambdify makes functions of the caller's program",
}

_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_MAIN = ("__main__", "__mp_main__")

_PASSED_OVER = sys.stdlib_module_names - {"__main__"} | {"weft"}

included, excluded = set(), set()
_decided = {}


def configure(include=(), exclude=()):
    """Takes the environment's names and further ones; what was decided before is decided anew."""
    for chosen, variable, more in (
        (included, "WEFT_INSTALL_INCLUDE", include),
        (excluded, "WEFT_INSTALL_EXCLUDE", exclude),
    ):
        given = [more] if isinstance(more, str) else more
        chosen.clear()
        chosen.update(name.strip() for name in os.environ.get(variable, "").split(",") if name.strip())
        chosen.update(given)
    _decided.clear()


def is_installed(path):
    """Whether a file belongs to an installed package or to Python itself."""
    if any(part in path for part in _INSTALLED):
        return True
    return path.startswith((_STANDARD, "<frozen "))


def _decide(name, path):
    package = name.partition(".")[0]
    if package in ("weft", "numpy"):
        return False
    for names, answer in ((excluded, False), (included, True)):
        if package in names or name in names:
            return answer
    if name in _MAIN:
        return True
    if package in LISTED:
        return True
    if path is None:  # a notebook, an interactive session, or a module of Python's that is compiled in
        return package not in sys.stdlib_module_names
    return not is_installed(path)


def gets_weft(namespace):
    """Whether the module with these globals gets weft. Code that runs without a name belongs to who runs it."""
    name = namespace.get("__name__") if namespace is not None else None
    if not isinstance(name, str):
        name, path = _of_frames()
    else:
        path = namespace.get("__file__")
    if not isinstance(path, str):
        path = None
    key = (name, path)
    answer = _decided.get(key)
    if answer is None:
        answer = _decided[key] = _decide(name, path)
    return answer


def _of_frames():
    """The nearest caller that has a name and is neither weft's nor of Python's own library."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and name.partition(".")[0] not in _PASSED_OVER:
            return name, frame.f_globals.get("__file__")
        frame = frame.f_back
    return "__main__", None


def is_of_weft(name):
    """Whether a module of that name is one of this package's."""
    return name == "weft" or name.startswith("weft.")


def is_standard(path):
    """Whether a folder is one of Python's own library."""
    return (path + os.sep).startswith(_STANDARD) and not is_installed_package(path)


def is_installed_package(path):
    return any(part in path + os.sep for part in _INSTALLED)
