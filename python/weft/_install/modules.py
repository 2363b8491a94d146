"""The modules that the program gets where it imports NumPy: weft's names, and NumPy's own where weft has none.

A name is looked for once and then stands in the module, so that `np.sin` costs what it costs with NumPy. NumPy itself
is loaded when something of it is needed first.
"""

import sys
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, ModuleType

import weft
from weft._install import fallbacks, kinds, shared, theirs
from weft._protocols.numpy_names import module_names

# What tells of NumPy itself.
_OF_NUMPY = {"get_include", "info", "show_config", "show_runtime", "test", "__version__", "version"}
_SUBMODULES = {
    "char", "ctypeslib", "dtypes", "emath", "exceptions", "f2py", "fft", "lib", "linalg", "ma", "matlib", "polynomial",
    "random", "rec", "strings", "testing", "typing",
}  # fmt: skip
# What works with weft's arrays as it is, or has nothing to do with arrays.
_AS_THEY_ARE = {"ctypeslib", "dtypes", "exceptions", "f2py", "testing", "typing", "version"}
_ABOUT_THE_MODULE = {"__spec__", "__path__", "__file__", "__loader__", "__package__", "__cached__", "__doc__"}
_MISSING = object()

made = {}  # the modules by their names
patched = {}  # by module's name: what the program has replaced, as (weft's, NumPy's) by name


class Module(theirs.Shown):
    """A module of NumPy's as the program sees it. What is written to it is written to NumPy's, too."""

    def __setattr__(self, name, value):
        path = self.__name__
        if name in _ABOUT_THE_MODULE or name == "__name__":
            return
        if isinstance(value, ModuleType) and value.__name__ == f"{path}.{name}":
            return  # the import system's
        before = patched.setdefault(path, {})
        if name in before and value is before[name][0]:
            _restore(self, name)
            return
        if name not in before:
            ours, real = getattr(self, name, _MISSING), theirs.loaded(path)
            before[name] = ours, vars(real).get(name, _MISSING) if real is not None else _MISSING
        vars(self)[name] = value
        if theirs.loaded(path) is not None:
            ModuleType.__setattr__(theirs.loaded(path), name, value)

    def __delattr__(self, name):
        real = theirs.loaded(self.__name__)
        if real is not None and name in vars(real):
            ModuleType.__delattr__(real, name)
        if vars(self).pop(name, _MISSING) is _MISSING and real is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self):
        real = theirs.load(self.__name__)
        return sorted({*(dir(real) if real is not None else ()), *vars(self)} - {"__getattr__"})

    def __reduce__(self):
        return import_module, (self.__name__,)


class Watched(ModuleType):
    """NumPy's own module while weft is installed: what others write to it, the program sees."""

    def __setattr__(self, name, value):
        path = self.__name__
        shown = made.get(path)
        if shown is None or (name.startswith("__") and name.endswith("__")) or isinstance(value, ModuleType):
            ModuleType.__setattr__(self, name, value)
            return
        before = patched.setdefault(path, {})
        if name not in before:
            before[name] = getattr(shown, name, _MISSING), vars(self).get(name, _MISSING)
        if value is before[name][1]:
            _restore(shown, name)
            return
        ModuleType.__setattr__(self, name, value)
        vars(shown)[name] = value

    def __delattr__(self, name):
        ModuleType.__delattr__(self, name)
        shown = made.get(self.__name__)
        before = patched.get(self.__name__, {})
        if shown is not None and name in before:
            vars(shown).pop(name, None)


def _restore(shown, name):
    """Puts back what the program, or a library, has replaced."""
    ours, real_value = patched[shown.__name__].pop(name)
    _put(vars(shown), name, ours)
    real = theirs.loaded(shown.__name__)
    if real is not None:
        _put(vars(real), name, real_value)


def _put(names, name, value):
    if value is _MISSING:
        names.pop(name, None)
    else:
        names[name] = value


def restore_all():
    """Puts back everything that was replaced, in NumPy as well."""
    for path, names in patched.items():
        for name in list(names):
            _restore(made[path], name)


def apply_patches(path):
    """What the program replaced before NumPy was loaded, in NumPy."""
    real = theirs.loaded(path)
    for name, (ours, _) in list(patched.get(path, {}).items()):
        patched[path][name] = ours, vars(real).get(name, _MISSING)
        ModuleType.__setattr__(real, name, vars(made[path])[name])


def module(path):
    """The module of that name as the program sees it."""
    found = made.get(path)
    if found is None:
        found = made[path] = Module(path)
        for name in _ABOUT_THE_MODULE & vars(found).keys():
            del vars(found)[name]
        look = _Names(path)
        vars(found)["__getattr__"] = look.find
        if path == "numpy.random":
            kinds.know_random()
        if path != "numpy":
            parent, _, name = path.rpartition(".")
            vars(module(parent))[name] = found
    return found


class _Names:
    """Where a module finds its names."""

    def __init__(self, path):
        self.path = path
        self.inner = path.partition(".")[2]
        self.ours = _module_of_weft(self.inner)
        self.shared = shared.NAMES.get(path, {})

    def find(self, name):
        value = self._found(name)
        if name not in ("__all__", "__path__"):
            vars(made[self.path])[name] = value
        return value

    def _found(self, name):
        if name in _ABOUT_THE_MODULE:
            return theirs.about(self.path, name)
        if name in self.shared:
            return self.shared[name]
        value = self._of_weft(name)
        if value is not _MISSING:
            return module(f"{self.path}.{name}") if isinstance(value, ModuleType) else value
        path = f"{self.path}.{name}"
        if self.path == "numpy":
            if name == "__version__":
                return theirs.version()
            if name in _SUBMODULES:
                return submodule(path)
        real = theirs.load(self.path)
        if real is None:
            raise AttributeError(f"module {self.path!r} has no attribute {name!r}")
        return self._shown(name, getattr(real, name))

    def _of_weft(self, name):
        if self.ours is None or (name.startswith("_") and name != "__array_namespace_info__"):
            return _MISSING
        if self.path == "numpy":
            is_public = name in module_names and name not in _OF_NUMPY
        else:
            is_public = name in getattr(self.ours, "__all__", (name,)) or name in _other_names(self.path)
        return getattr(self.ours, name, _MISSING) if is_public else _MISSING

    def _shown(self, name, value):
        """A value of NumPy's for the program."""
        path = f"{self.path}.{name}"
        if name.startswith("_"):
            return value
        if isinstance(value, ModuleType):
            return submodule(path) if sys.modules.get(path) is value else value
        called = path.partition(".")[2]
        if isinstance(value, type):
            if not issubclass(value, (BaseException, theirs.scalars())):
                fallbacks.used(called)
            return value
        if isinstance(value, (FunctionType, BuiltinFunctionType)) or type(value).__name__ in (
            "_ArrayFunctionDispatcher",
            "builtin_function_or_method",
            "method",
        ):
            return fallbacks.wrap(value, called)
        return value


def submodule(path):
    """A module inside of NumPy: weft's names over NumPy's, or NumPy's module where that serves as it is."""
    inner = path.partition(".")[2]
    if inner in _AS_THEY_ARE and _module_of_weft(inner) is None:
        return theirs.load(path)
    if any(part.startswith("_") for part in inner.split(".")) or inner.partition(".")[0] == "core":
        return theirs.load(path)
    return module(path)


def exists(path):
    """Whether weft has a module for that of NumPy's."""
    return path == "numpy" or _module_of_weft(path.partition(".")[2]) is not None


def _module_of_weft(inner):
    if not inner:
        return weft
    if inner.startswith("_") or "._" in inner:
        return None
    name = f"weft.{inner}"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        return None


def _other_names(path):
    """Public names of weft's module that its `__all__` leaves out, and that are not parts of the package."""
    ours = _module_of_weft(path.partition(".")[2])
    return getattr(ours, "NAMES", ()) or (_LEGACY if path == "numpy.random" else ())


_LEGACY = frozenset(
    """RandomState beta binomial bytes chisquare choice dirichlet exponential f gamma geometric get_state gumbel
    hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal negative_binomial
    noncentral_chisquare noncentral_f normal pareto permutation poisson power rand randint randn random
    random_integers random_sample ranf rayleigh sample seed set_state shuffle standard_cauchy standard_exponential
    standard_gamma standard_normal standard_t triangular uniform vonmises wald weibull zipf MT19937 SFC64
    get_bit_generator set_bit_generator""".split()
)
