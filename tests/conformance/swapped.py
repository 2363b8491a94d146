"""NumPy's test modules, run with weft in NumPy's place.

What a test imports from numpy is weft's: a public name is weft's name, and a private place of NumPy's (numpy._core...)
gives weft's name of the same public object. What weft has not is an AttributeError when a test uses it. While a module
is loaded it is a stand-in instead, so that only those tests fail that touch it. Numbers, texts and objects of Python
that stand in private places are NumPy's own.
"""

import ast
import builtins
import functools
import importlib
import importlib.util
import pathlib
import sys
import types

import numpy
import weft

# Where public objects of NumPy are looked for, and weft's module of the same name.
_PUBLIC = (
    "numpy numpy.linalg numpy.fft numpy.random numpy.polynomial numpy.lib numpy.lib.stride_tricks numpy.lib.format "
    "numpy.lib.npyio numpy.lib.scimath numpy.lib.mixins numpy.lib.array_utils numpy.lib.introspect numpy.exceptions "
    "numpy.dtypes numpy.ma numpy.ma.extras numpy.ma.core numpy.rec numpy.char numpy.strings numpy.emath "
    "numpy.lib.recfunctions numpy.lib.user_array numpy.typing numpy.ctypeslib"
).split()
_PLAIN = (
    builtins.bool, int, float, complex, str, bytes, type(None), types.BuiltinFunctionType, type(NotImplemented)
)  # fmt: skip
_loading = 0
_modules = {}


class NotThere(AttributeError):
    """weft has no such name."""


class StandIn:
    """A name that weft has not, while a module of tests is loaded; any use of it afterwards says so."""

    def __init__(self, name, theirs=None):
        self.__dict__["_name"] = name
        self.__dict__["_theirs"] = theirs
        if isinstance(getattr(theirs, "__name__", None), str):
            self.__dict__["__name__"] = theirs.__name__  # pytest names parameters by it

    def _use(self, *arguments, **options):
        if not _loading:
            raise NotThere(f"weft has no {self._name}")
        return StandIn(self._name)

    def __getattr__(self, name):
        if name.startswith("__") or not _loading:
            raise NotThere(f"weft has no {self._name}")
        found = getattr(self._theirs, name, None)
        if type(found) in (str, int, bool, float):
            return found  # ids of tests are made of such
        return StandIn(f"{self._name}.{name}", found)

    def __setattr__(self, name, value):
        self._use()

    def __iter__(self):
        self._use()
        return iter(())

    def __bool__(self):
        return self._use() is None

    def __mro_entries__(self, bases):
        return (type("StandIn", (), {"__new__": lambda kind, *_, **__: self._use()}),)

    def __hash__(self):
        return id(self)

    __call__ = __getitem__ = __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __or__ = __ror__ = _use
    __lt__ = __le__ = __gt__ = __ge__ = __truediv__ = __pow__ = __and__ = __neg__ = __enter__ = __exit__ = (
        _use
    )
    __contains__ = lambda self, _: self._use() is None  # noqa: E731


@functools.cache
def _public_names():
    """The public places of NumPy's objects, by identity."""
    found = {}
    for place in _PUBLIC:
        module = _numpys(place)
        for name in dir(module):
            value = getattr(module, name, None)
            if not name.startswith("_") and not isinstance(value, (*_PLAIN[:-2], types.ModuleType)):
                found.setdefault(id(value), (value, f"{place}.{name}"))
    return found


def _numpys(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        owner, _, last = name.rpartition(".")
        return getattr(_numpys(owner), last)


def _wefts(name):
    """weft's module in the place of one of NumPy's, or None."""
    ours = name.replace("numpy", "weft", 1)
    try:
        return importlib.import_module(ours)
    except ImportError:
        owner, _, last = ours.rpartition(".")
        owner = sys.modules.get(owner)
        found = getattr(owner, last, None) if owner is not None else None
        return found if isinstance(found, types.ModuleType) else None


class Swapped(types.ModuleType):
    """A module of NumPy's as tests see it."""

    def __init__(self, name):
        super().__init__(name)
        ours = _wefts(name) if name == "numpy" or not _is_numpys_own(name) else None
        self.__dict__.update(_theirs=_numpys(name), _ours=ours)
        for special in ("__file__", "__path__", "__all__"):
            if hasattr(self._theirs, special):
                self.__dict__[special] = getattr(self._theirs, special)
        if name == "numpy._core.umath":  # tests look for ufuncs in its __dict__
            ufuncs = [each for each, value in vars(self._theirs).items() if isinstance(value, numpy.ufunc)]
            found = {each: getattr(weft, each, None) for each in ufuncs if not each.startswith("_")}
            self.__dict__.update((each, value) for each, value in found.items() if value is not None)

    def __getattr__(self, name):
        full = f"{self.__name__}.{name}"
        if self._ours is not None:
            try:
                found = getattr(self._ours, name)
            except AttributeError:
                pass
            else:
                if not isinstance(found, types.ModuleType) or not found.__name__.startswith("weft"):
                    return _lenient(found) if _loading and callable(found) and name == "dtype" else found
                return swapped(full)
        if name.startswith("__") and not (_loading and hasattr(self._theirs, name)):
            return getattr(self._ours or self._theirs, name)
        if _is_test_module(full):
            return swapped(full)
        theirs = getattr(self._theirs, name, None)
        if isinstance(theirs, types.ModuleType):
            # A public module that weft has not is not there; a private one leads to public objects.
            known = theirs.__name__.split(".")[0] == "numpy"
            if not known or _wefts(full) is not None or _is_private(full):
                return swapped(full) if known else theirs
        elif self.__name__ == "numpy.testing" and self._ours is None and theirs is not None:
            return _comparing(theirs) if name.startswith("assert_") and "raises" not in name else theirs
        elif full.startswith("numpy._utils.") and theirs is not None:
            return theirs  # Python's texts and inspection
        elif _is_private(full) and theirs is not None:
            place = _public_names().get(id(theirs))
            if place is not None:
                owner, _, last = place[1].rpartition(".")
                return getattr(swapped(owner), last)
            if type(theirs) in (dict, list, tuple):
                return _translated(theirs)
            if (
                isinstance(theirs, _PLAIN[:-2])
                or getattr(theirs, "__module__", "numpy").split(".")[0] != "numpy"
            ):
                return theirs
        if _loading:
            return StandIn(full, theirs)
        raise NotThere(f"weft has no {full}")

    def __dir__(self):
        if self._ours is None:
            return dir(self._theirs)
        # weft's own modules, such as cuda, are none of NumPy's names.
        own = {name for name, value in vars(self._ours).items() if isinstance(value, types.ModuleType)}
        own |= set(getattr(self._ours, "_SUBMODULES", ()))
        return sorted(set(dir(self._ours)) - (own - set(dir(self._theirs))))

    def __setattr__(self, name, value):
        setattr(self._ours or self._theirs, name, value)

    def __delattr__(self, name):
        delattr(self._ours or self._theirs, name)


def _translated(value):
    """A private table of NumPy's with weft's objects in it, and without what weft has not."""
    if type(value) is dict:
        return {key: _translated(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(each for each in map(_translated, value) if each is not None)
    place = _public_names().get(id(value))
    return value if place is None else getattr(weft, place[1].rpartition(".")[2], None)


def _is_private(name):
    return any(part.startswith("_") for part in name.split(".")) or name.startswith("numpy.testing")


def _is_numpys_own(name):
    """Places inside of NumPy whose modules weft cannot stand for."""
    return name.startswith(("numpy._core", "numpy.core"))


def _is_test_module(name):
    return ".tests." in name and importlib.util.find_spec(name) is not None


def _lenient(dtype):
    """weft.dtype that gives a stand-in for what weft has not, for parameters of tests."""

    class Lenient(type):
        def __call__(self, *arguments, **options):
            try:
                return dtype(*arguments, **options)
            except Exception:
                try:
                    theirs = numpy.dtype(*arguments, **options)
                except Exception:
                    theirs = None
                return StandIn(f"dtype {arguments[:1]}", theirs)

        def __instancecheck__(self, value):
            return isinstance(value, dtype)

        def __subclasscheck__(self, value):
            return issubclass(value, dtype)

        def __eq__(self, other):
            return other is dtype or other is self

        __hash__ = type.__hash__

        def __getattr__(self, name):
            return getattr(dtype, name)

    return Lenient("dtype", (), {})


def _plain(value):
    if isinstance(value, (weft.ndarray, weft.generic)):
        return numpy.asarray(value)[()]
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _comparing(function):
    """A function of numpy.testing, which compares NumPy's arrays; for as long as there is no weft.testing."""

    @functools.wraps(function)
    def compare(*arguments, **options):
        return function(*map(_plain, arguments), **options)

    return compare


def swapped(name):
    """The module that a test has in the place of one of NumPy's."""
    if name not in _modules:
        _modules[name] = load(name) if _is_test_module(name) else Swapped(name)
    return _modules[name]


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if level:
        package = globals["__package__"].split(".")
        name = ".".join(package[: len(package) - level + 1] + ([name] if name else []))
    elif name.split(".")[0] != "numpy":
        return importlib.__import__(name, globals, locals, fromlist, level)
    if not fromlist:
        return swapped("numpy")
    module = swapped(name)
    for each in fromlist:
        if each == "*":
            continue
        try:
            getattr(module, each)
        except AttributeError as error:
            raise ImportError(f"cannot import name {each!r}: {error}") from None
    return module


def load(name):
    """A module of NumPy's tests; `not_there` has the errors of the classes and functions that could not be made."""
    global _loading
    spec = importlib.util.find_spec(name)
    tree = ast.parse(pathlib.Path(spec.origin).read_text(), spec.origin)
    module = types.ModuleType(name)
    module.__dict__.update(
        __file__=spec.origin,
        __package__=name.rpartition(".")[0],
        __builtins__={**vars(builtins), "__import__": _import},
        not_there={},
    )
    module.__dict__["__not_there__"] = module.not_there.__setitem__
    _modules[name] = sys.modules[name] = module
    _loading += 1
    try:
        for statement in tree.body:
            code = compile(ast.Module([_guarded(statement)], []), spec.origin, "exec")
            try:
                exec(code, module.__dict__)
            except Exception as error:
                for each in ast.walk(statement):
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                        module.__dict__[each.id] = StandIn(each.id)
                if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
                    module.not_there[statement.name] = error
    finally:
        _loading -= 1
    return module


def _guarded(statement):
    """A class whose parts are made one by one, so that one that cannot be made does not take the others with it."""
    if isinstance(statement, ast.ClassDef):
        for place, part in enumerate(statement.body):
            if isinstance(part, ast.FunctionDef):
                name = f"{statement.name}::{part.name}"
                guard = ast.parse(
                    f"try: pass\nexcept Exception as _error: __not_there__({name!r}, _error)"
                ).body[0]
                guard.body = [part]
                statement.body[place] = ast.fix_missing_locations(ast.copy_location(guard, part))
    return statement


class loading:
    """Stand-ins are lent inside: pytest makes parameters and ids."""

    def __enter__(self):
        global _loading
        _loading += 1

    def __exit__(self, *_):
        global _loading
        _loading -= 1
