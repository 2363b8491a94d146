"""What NumPy's Python sources take from its private places, in terms of weft."""

import functools
import operator

import weft
from weft import _core
from weft._protocols import overrides
from weft.exceptions import AxisError

loading = []  # the modules that are being executed
__cpu_targets_info__ = {}


class Absent:
    """A name that weft has not. Sources may use it while they are loaded; afterwards that is an AttributeError."""

    def __init__(self, name):
        self._name = name
        self.__name__ = name

    def __call__(self, *arguments, **options):
        if loading:
            return self
        raise AttributeError(f"weft has no np.{self._name} yet")

    def __getattr__(self, name):
        if name.startswith("__") and name != "__doc__":
            raise AttributeError(name)
        raise AttributeError(f"weft has no np.{self._name} yet")

    def __hash__(self):
        return id(self)

    def __mro_entries__(self, bases):
        return ()


def absent(name):
    return Absent(name)


def set_module(module):
    """Names the place where the public finds a function or class, which is weft's."""

    def decorator(function):
        if module is not None:
            if isinstance(function, type):
                function._module_source = function.__module__
            function.__module__ = "weft" + module.removeprefix("numpy")
        return function

    return decorator


def array_function_dispatch(dispatcher=None, module=None, verify=True, docs_from_dispatcher=False):
    """Lets arguments' __array_function__ override a function."""

    def decorator(implementation):
        where = "weft" + (module or implementation.__module__).removeprefix("numpy").removeprefix("weft")
        return overrides.dispatcher(implementation.__name__, implementation, where, overrides._ARGUMENTS)

    return decorator


def finalize_array_function_like(function):
    return function


def normalize_axis_index(axis, ndim, msg_prefix=None):
    """The axis as one of 0...ndim - 1."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim, msg_prefix)
    return axis + ndim if axis < 0 else axis


def normalize_axis_tuple(axis, ndim, argname=None, allow_duplicate=False):
    """A tuple of axes, each as one of 0...ndim - 1."""
    if not isinstance(axis, (tuple, list)):
        try:
            axis = [operator.index(axis)]
        except TypeError:
            pass
    axis = tuple(normalize_axis_index(each, ndim, argname) for each in axis)
    if not allow_duplicate and len(set(axis)) != len(axis):
        raise ValueError(f"repeated axis in `{argname}` argument" if argname else "repeated axis")
    return axis


def isnat(x, /):
    """numpy.isnat, whose TypeError numpy.testing waits for; weft has no times."""
    if hasattr(weft, "isnat"):
        return weft.isnat(x)
    raise TypeError("ufunc 'isnat' is only defined for np.datetime64 and np.timedelta64.")


def _ureduce(a, func, keepdims=False, **kwargs):
    """Calls a function that reduces one axis, for several axes at once; the result and the shape with kept axes."""
    a = weft.asanyarray(a)
    axis, out = kwargs.get("axis"), kwargs.get("out")
    if keepdims is weft._NoValue:
        keepdims = False
    if axis is None:
        axes = tuple(range(a.ndim))
        if keepdims and out is not None:
            kwargs["out"] = out[(0,) * a.ndim]
    else:
        axes = normalize_axis_tuple(axis, a.ndim)
        if keepdims and out is not None:
            kwargs["out"] = out[tuple(0 if i in axes else slice(None) for i in range(a.ndim))]
        if len(axes) == 1:
            kwargs["axis"] = axes[0]
        else:
            others = [i for i in range(a.ndim) if i not in axes]
            a = a.transpose(*others, *axes).reshape(*(a.shape[i] for i in others), -1)
            kwargs["axis"] = -1
    result = func(a, **kwargs)
    if out is not None:
        return out
    if keepdims:
        place = (None,) * len(axes) if axis is None else None
        place = place or tuple(None if i in axes else slice(None) for i in range(len(axes) + result.ndim))
        result = result[(..., *place)]
    return result


def _to_real_if_imag_zero(values, matrix):
    """Eigenvalues of a real matrix as real numbers, if they are (NumPy 2.5)."""
    is_real = matrix.dtype.kind != "c" and (values.dtype.kind != "c" or bool((values.imag == 0).all()))
    single = matrix.dtype in ("float32", "complex64")
    if is_real:
        return values.real.astype("float32" if single else "float64", copy=False)
    return values.astype("complex64" if single else "complex128", copy=False)


def asbytes(text):
    return text if isinstance(text, bytes) else str(text).encode("latin1")


def asunicode(text):
    return text.decode("latin1") if isinstance(text, bytes) else str(text)


def add_docstring(obj, docstring):
    """Gives an object without documentation its text, where it takes one."""
    try:
        if obj.__doc__ is None:
            obj.__doc__ = docstring
    except (AttributeError, TypeError):
        pass


def add_newdoc(place, obj, doc, warn_on_python=True):
    """Adds documentation to an object, its methods or attributes."""
    import importlib

    found = getattr(importlib.import_module(place.replace("numpy", "weft", 1)), obj)
    if isinstance(doc, str):
        add_docstring(found, doc.strip())
    elif isinstance(doc, tuple):
        add_docstring(getattr(found, doc[0]), doc[1].strip())
    elif isinstance(doc, list):
        for attribute, text in doc:
            add_docstring(getattr(found, attribute), text.strip())


class PytestTester:
    """`test()` of a module: runs the tests of NumPy's module by pytest."""

    def __init__(self, module_name):
        self.module_name = module_name

    def __call__(
        self,
        label="fast",
        verbose=1,
        extra_argv=None,
        doctests=False,
        coverage=False,
        durations=-1,
        tests=None,
    ):
        import pytest

        wanted = tests or [self.module_name.replace("weft", "numpy", 1)]
        arguments = [
            "--pyargs",
            *(["-m", "not slow"] if label == "fast" else []),
            *(extra_argv or ()),
            *wanted,
        ]
        return pytest.main(arguments) == 0


def _get_legacy_print_mode():
    return 2**31


def dtype_is_implied(dtype):
    """Whether an array's text leaves the dtype out."""
    return weft.dtype(dtype).type in (weft.bool, weft.int64, weft.float64, weft.complex128)


def dtype_short_repr(dtype):
    """The dtype as an array's text has it."""
    return weft.dtype(dtype).name


def _dragon4(function):
    def text(x, *arguments, **options):
        return getattr(weft, function)(x, *arguments, **options)

    return text


dragon4_positional = _dragon4("format_float_positional")
dragon4_scientific = _dragon4("format_float_scientific")


def dtype_of(described):
    """weft.dtype, which takes no types of ctypes."""
    code = getattr(described, "_type_", None)
    return weft.dtype(code if isinstance(code, str) and code in "?bBhHiIlLqQfd" else described)


def _getintp_ctype():
    import ctypes

    return ctypes.c_ssize_t


tracemalloc_domain = 389047
ARRAY_FUNCTIONS = set()
_ilp64 = True
_blas_supports_fpe = lambda *_: True  # noqa: E731
drop_metadata = lambda dtype, /: dtype  # noqa: E731


# Types that weft has not: nothing is an instance of them.
_TYPES = "void str_ bytes_ object_ flexible character datetime64 timedelta64 matrix recarray record".split()


@functools.cache
def _no_instances(name):
    return type(name, (), {"__module__": "weft"})


def find(name):
    """The object of a private place; a name that nobody has is told when it is used."""
    if name in globals() and name not in ("weft", "operator", "overrides", "find", "Absent", "absent"):
        return globals()[name]
    if hasattr(weft, name):
        return getattr(weft, name)
    if hasattr(_core, name) and not name.startswith("_"):
        return getattr(_core, name)
    return _no_instances(name) if name in _TYPES and not loading else Absent(name)
