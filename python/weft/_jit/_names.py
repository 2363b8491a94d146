"""What a free name of a function stands for: a constant, a function that the compiler knows, an array and so on.

A name with attributes (`np.random.x`) is followed as long as it leads through modules and enumerations. Each answer is
one of the tuples that the package's docstring lists. Each value that was taken from a dictionary of globals or from a
closure's cell is noted as a guard: where it is another one later, the function has to be compiled again.
"""

import builtins
import sys
import types

from weft._jit import _inner_stencils
from weft._jit._records import is_enumeration, is_frozen, is_record, values_of

_MISSING = object()
_FROM_BUFFER = object()  # of a FFI of cffi's
_CONSTANTS = (bool, int, float, complex, str, type(None), type(...))
# Names of weft's that NumPy does not have. Everything else in weft stands for what NumPy calls so.
_OWN = frozenset(
    "border_dtype cuda get_num_threads get_thread_id guvectorize jit may_overlap njit prange stencil vectorize".split()
)
_HOMES_OF_OWN = (
    "weft.",
    "weft._ufunc.stencil_calls.",
    "weft._jit._decorator.",
    "weft.numba._decorators.",
    "weft.numba._threads.",
    "weft.numba._ufuncs.",
    "numba.",
)
_NUMBAS_TYPES = ("numba.core.types.", "weft.numba._types.")
_NUMBER_TYPES = frozenset(
    ("bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)))
) | {"float16", "float32", "float64", "complex64", "complex128"}
# The classes of Numba's types that isinstance() knows, of values in the place of their types.
_CLASSES_OF_TYPES = frozenset(
    ("Number", "Boolean", "Integer", "Float", "Complex", "Array", "BaseTuple", "NoneType")
)
_ARRAY_PACKAGES = frozenset(("numpy", "weft"))
_PACKAGES = _ARRAY_PACKAGES | {"numba"}
_RANDOM = [f"{package}.random" for package in ("numpy", "weft")]
_NAMESPACES = ("numpy", "weft", "math", "cmath", "random", "builtins", *_RANDOM)


class Names:
    """The free names of one function."""

    def __init__(self, function):
        code = function.__code__
        self._own = {*code.co_varnames, *code.co_cellvars}
        self._cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        self._globals = function.__globals__
        found = self._globals.get("__builtins__", builtins)
        self._builtins = found if isinstance(found, dict) else vars(found)
        self._numbers = {}
        self._guards = {}
        self.symbols = []
        self.has_own_symbols = False
        self.chains = []  # what was asked for, each with the number of its parts that its symbol has

    @property
    def guards(self):
        """The guards, each once: (dictionary or cell, name or None, value), without a value where there is none yet."""
        return list(self._guards.values())

    def resolve(self, chain):
        """The number of the symbol for `chain`, a name and attributes, and how many of its parts the symbol has."""
        value, used = self._lookup(chain[0]), 1
        place = None
        while used < len(chain) and value is not _MISSING:
            if isinstance(value, types.ModuleType):
                inner = getattr(value, chain[used], _MISSING)
                place = None if inner is _MISSING else (value, chain[used])
                self._guard_module(value, chain[used], inner)
            elif _is_enumeration(value):
                inner = value.__members__.get(chain[used], _MISSING)
                if inner is _MISSING:
                    break
            elif _is_cffi(value):
                inner = getattr(value, chain[used], _MISSING)
                place = None
                if chain[used] == "from_buffer":
                    value, used = _FROM_BUFFER, used + 1
                    break
            elif _is_typed_list(value) or _is_typed_dict(value) or _is_kernel_name(value):
                inner = getattr(value, chain[used], _MISSING)
            elif _is_member(value) and chain[used] in ("value", "name"):
                inner = getattr(value, chain[used])
            else:
                break
            value, used = inner, used + 1
        name = ".".join(chain[:used])
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.symbols)
            if value is _MISSING:
                self.symbols.append(("missing", name, self._nearest(name)))
            else:
                self.symbols.append(describe(name, value, place))
        self.chains.append((chain, used))
        return number, used

    def is_builtin(self, name):
        """Whether `name` is Python's own function."""
        return name not in self._cells and name not in self._globals and name in self._builtins

    def is_known(self, chain, paths):
        """Whether `chain` is one of the paths of weft's own, or another of their names."""
        before = self.symbols[:], self.chains[:], dict(self._numbers), dict(self._guards)
        number, used = self.resolve(chain)
        symbol = self.symbols[number]
        self.symbols, self.chains, self._numbers, self._guards = before  # decorators leave no trace
        return used == len(chain) and symbol[0] == "known" and symbol[2] in paths

    def add_stencil(self, node, kernel, options, text):
        """The number of the symbol for a stencil that the function makes itself."""
        stencil = _inner_stencils.stencil_of(node, kernel, options, text, self._globals, self._cells)
        for name in _inner_stencils.free_names(kernel):
            self.resolve((name,))  # what it is now is guarded
        self.has_own_symbols = True
        self.symbols.append(describe(stencil.__name__, stencil))
        return len(self.symbols) - 1

    def add_literal(self, value):
        """The number of the symbol for a literal that is an object."""
        self.has_own_symbols = True
        self.symbols.append(("object", "literal", value))
        return len(self.symbols) - 1

    def _lookup(self, name):
        if name in self._cells:
            cell = self._cells[name]
            try:
                value = cell.cell_contents
            except ValueError:  # nothing was put into it yet
                self._guards[name] = (cell, None)
                return _MISSING
            self._guards[name] = (cell, None, value)
            return value
        value = self._globals.get(name, _MISSING)
        if value is not _MISSING:
            self._guards[name] = (self._globals, name, value)
            return value
        if name not in self._builtins:
            self._guards[name] = (self._globals, name)
        return self._builtins.get(name, _MISSING)

    def _nearest(self, name):
        """The most similar name that there is; empty where none is similar."""
        import difflib

        head, dot, last = name.rpartition(".")
        value = self._lookup(head.partition(".")[0]) if dot else None
        for part in head.split(".")[1:]:
            value = getattr(value, part, None)
        known = dir(value) if dot else {*self._own, *self._cells, *self._globals, *self._builtins}
        found = difflib.get_close_matches(last, [n for n in known if n[:1] != "_"], 1, 0.7)
        return head + dot + found[0] if found else ""

    def _guard_module(self, module, name, value):
        """Attributes of the program's own modules may change, as its globals may."""
        if _root(module.__name__) in sys.stdlib_module_names | _ARRAY_PACKAGES:
            return
        if value is _MISSING:
            self._guards[module.__name__, name] = (vars(module), name)
        elif name in vars(module):
            self._guards[module.__name__, name] = (vars(module), name, value)


def describe(name, value, place=None):
    """The symbol for `name`, which is `value`; `place` is the module and the name where it was found, if in one."""
    if value is _FROM_BUFFER:
        return ("known", name, "cffi.FFI.from_buffer")
    if getattr(type(value), "_is_weft_external", False):
        return ("external", name, value)
    if _is_constant(value):
        return ("constant", name, value)
    if isinstance(value, types.ModuleType):
        return ("module", name, _module_path(value))
    if _is_member(value):
        if is_enumeration(type(value)):
            return ("constant", name, value)
        return describe(name, value.value)
    if isinstance(value, type):
        return _describe_class(name, value, place)
    scalar = _scalar(value)
    if scalar is not None:
        return ("scalar", name, *scalar)
    if _is_array(value) or _is_structure(value):
        return ("array", name, value)
    if _is_generator(value) or _is_date(value):
        return ("object", name, value)
    if _is_structured_dtype(value):
        return ("structure", name, value)
    if (type(value) is tuple or is_record(type(value))) and _is_argument(value):
        return ("object", name, value)
    if type(value) is tuple and _has_functions(value):
        return ("items", name, [describe(f"{name}[{k}]", item) for k, item in enumerate(value)])
    if _is_kernel_name(value):
        return ("known", name, value._path)
    if getattr(type(value), "_is_weft_vector_type", False):  # one of weft.cuda's, made by a plain function
        return ("vector", name, value._function, value._record, value.dtype)
    known = _numba_type(value) or _known_path(value, place)
    if known is not None:
        return ("known", name, known)
    if _is_type_of_several(value):
        return ("constant", name, None)
    if getattr(value, "__qualname__", None) == "Dict.empty" and _is_of_numba(value):
        return ("known", name, "numba.typed.Dict.empty")
    function = called_function(value)
    if function is not None:
        facts = _facts_of_ufunc(value)
        return ("function", name, function) if facts is None else ("ufunc", name, function, facts)
    return ("unknown", name, value)


def _describe_class(name, value, place):
    if issubclass(value, BaseException):
        return ("exception", name, value)
    if _is_typed_list(value):
        return ("known", name, "builtins.list")
    if _is_typed_dict(value):
        return ("known", name, "builtins.dict")
    if is_record(value) and f"{value.__module__}.".startswith("numba."):
        return ("record", name, value)
    known = _known_path(value, place)
    if known is not None:
        return ("known", name, known)
    if value.__name__ in _CLASSES_OF_TYPES and _is_of_numba(value):
        return ("known", name, f"numba.types.{value.__name__}")
    if is_record(value) or is_enumeration(value):
        return ("record", name, value)
    return ("unknown", name, value)


def _is_constant(value):
    kind = type(value)
    if kind in _CONSTANTS:
        return True
    if kind is tuple:
        return all(map(_is_constant, value))
    if kind is slice:
        return all(type(bound) in (int, bool, type(None)) for bound in (value.start, value.stop, value.step))
    if is_enumeration(kind):
        return True
    return is_record(kind) and is_frozen(kind) and all(map(_is_constant, values_of(value)))


def _is_argument(value):
    """Whether a value is given to the compiled code when it is called, as arguments are."""
    kind = type(value)
    if kind is tuple or is_record(kind):
        return all(map(_is_argument, values_of(value)))
    if kind is slice:
        return _is_constant(value)
    if kind in _CONSTANTS or value is Ellipsis or _is_array(value) or _is_structure(value) or _is_date(value):
        return True
    return _scalar(value) is not None


def _has_functions(items):
    """Whether a tuple has functions of the program in it, and else nothing but constants."""
    are_functions = [called_function(item) is not None for item in items]
    return any(are_functions) and all(
        is_function or _is_constant(item) for item, is_function in zip(items, are_functions, strict=True)
    )


def _is_enumeration(value):
    enum = sys.modules.get("enum")
    return enum is not None and isinstance(value, enum.EnumMeta)


def _is_member(value):
    enum = sys.modules.get("enum")
    return enum is not None and isinstance(value, enum.Enum)


def _is_cffi(value):
    """Whether it is cffi's FFI, of which compiled functions know from_buffer()."""
    return f"{type(value).__module__}.{type(value).__name__}" in ("cffi.api.FFI", "_cffi_backend.FFI")


def _is_kernel_name(value):
    """Whether it is one of weft.cuda's names that have their meaning in kernels."""
    return getattr(type(value), "_is_weft_cuda_name", False)


def _root(path):
    return path.partition(".")[0]


def _module_path(module):
    """A module's name; weft's modules have the names of NumPy's."""
    name = module.__name__
    root, dot, rest = name.partition(".")
    return "numpy" + dot + rest if root == "weft" else name


def _scalar(value):
    """(dtype, value) of a scalar of NumPy's or weft's."""
    kind = type(value)
    if _root(kind.__module__) not in _ARRAY_PACKAGES or getattr(value, "ndim", None) != 0:
        return None
    if _is_array(value) or not hasattr(value, "dtype") or _is_date(value):
        return None
    plain = value.item()
    return (value.dtype.name, plain) if type(plain) in _CONSTANTS else None


def _is_array(value):
    return any(
        isinstance(value, module.ndarray)
        for module in map(sys.modules.get, _ARRAY_PACKAGES)
        if module is not None and hasattr(module, "ndarray")
    )


def _is_structure(value):
    """Whether it is an element of an array of structures."""
    numpy = sys.modules.get("numpy")
    return isinstance(value, getattr(numpy, "void", ())) and value.dtype.names is not None


def _is_date(value):
    """Whether it is a datetime64 or timedelta64."""
    numpy = sys.modules.get("numpy")
    return isinstance(value, (getattr(numpy, "datetime64", ()), getattr(numpy, "timedelta64", ())))


def _is_generator(value):
    """Whether it is a Generator of NumPy's or weft's, from whose stream compiled functions draw."""
    return any(isinstance(value, sys.modules[name].Generator) for name in _RANDOM if name in sys.modules)


def _is_structured_dtype(value):
    numpy = sys.modules.get("numpy")
    return isinstance(value, getattr(numpy, "dtype", ())) and value.names is not None and not value.hasobject


def _known_path(value, place):
    """The path of a function or class that is none of the program's own; `place` is where it was found."""
    kind = type(value)
    if _root(kind.__module__) in _ARRAY_PACKAGES and isinstance(value, _dtype_classes()):
        return f"numpy.{value.name}"
    name = getattr(value, "__name__", None)
    if place is not None:
        holder, attribute = place
        if _is_library(holder.__name__):
            # One function has one path, whatever it was called by: numpy.abs is numpy.absolute.
            same = isinstance(name, str) and vars(holder).get(name) is value
            return _path_in(holder, name if same else attribute)
    if not isinstance(name, str):
        return None
    home = getattr(value, "__module__", None)
    has_home = isinstance(home, str) and (_is_library(home) or (f"{home}." in _HOMES_OF_OWN and name in _OWN))
    homes = (_root(home), home) if has_home else ()
    for namespace in (*_NAMESPACES, *homes):
        module = sys.modules.get(namespace)
        if module is not None and vars(module).get(name, _MISSING) is value:
            return _path_in(module, name)
    if isinstance(home, str) and isinstance(value, types.BuiltinFunctionType):
        return f"{home}.{name}"
    return None


def _is_type_of_several(value):
    """Whether it is Numba's type of arrays, lists or tuples, which says nothing in a compiled function."""
    is_type = f"{type(value).__module__}.".startswith(_NUMBAS_TYPES)
    return is_type and (hasattr(value, "dtype") or hasattr(value, "types"))


def _is_typed_list(value):
    """Whether it is Numba's typed.List, or that of weft.numba."""
    return isinstance(value, type) and issubclass(value, list) and _is_of_numba(value)


def _is_typed_dict(value):
    """Whether it is Numba's typed.Dict, or that of weft.numba."""
    return isinstance(value, type) and value.__name__ == "Dict" and _is_of_numba(value)


def _is_of_numba(value):
    """Whether a class is Numba's, or of weft.numba."""
    return f"{value.__module__}.".startswith(("numba.", "weft.numba."))


def _numba_type(value):
    """The path of NumPy's type that one of Numba's stands for: numba.int32 is numpy.int32."""
    if not _is_of_numba(type(value)):
        return None
    name = getattr(value, "name", None)
    return f"numpy.{name}" if isinstance(name, str) and name in _NUMBER_TYPES else None


def _is_library(module):
    """Whether a module's functions are none of the program's own."""
    # These are made of plain functions.
    if f"{module}.".startswith(("weft.numba.", "weft.cuda.random.", "weft.cuda.libdevice.")):
        return False
    return _root(module) in (*_PACKAGES, "math", "cmath", "random") and ".tests" not in module


def _dtype_classes():
    return tuple(sys.modules[name].dtype for name in _ARRAY_PACKAGES if name in sys.modules)


def _path_in(module, name):
    """The path of a name in a module that the compiler may know."""
    if name in _OWN and f"{module.__name__}." in _HOMES_OF_OWN:
        return f"weft.{name}"
    return f"{_module_path(module)}.{name}"


def _facts_of_ufunc(value):
    """What there is to know of a ufunc that weft.vectorize or guvectorize made; None for other values."""
    if isinstance(value, types.FunctionType):  # which may have the attributes of a ufunc that it wraps
        return None
    core = sys.modules.get("weft._core")  # which is not there yet where the prelude is packed
    ufunc = getattr(value, "ufunc", value)  # weft.numba's have one
    if core is None or isinstance(ufunc, type):
        return None
    maker = ufunc._maker if isinstance(ufunc, core.ufunc) else ufunc
    return getattr(maker, "_facts", None)


def _called_instead(value, function):
    """What compiled functions call for `value`; wrappers may have the attribute of what they wrap."""
    owner, called = getattr(value, "_called_by_others", None) or (None, None)
    return called if called is not None and owner is function else value


def called_function(value):
    """The function of a Python function, or the dispatcher of a compiled one."""
    if isinstance(value, types.FunctionType):
        return _called_instead(value, value)
    if getattr(type(value), "_is_weft_jit", False):
        return _called_instead(value, getattr(value, "py_func", None))
    stencil = getattr(value, "ufunc", value)  # weft.numba's have one
    if getattr(type(stencil), "_is_weft_stencil", False):
        return stencil.called()
    python = getattr(value, "py_func", None)  # Numba's dispatchers
    return python if isinstance(python, types.FunctionType) else None
