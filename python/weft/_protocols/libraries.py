"""Functions of other libraries that want NumPy's own arrays are given those, over the same memory.

Most libraries take weft's arrays by NumPy's protocols. Some functions ask isinstance(x, numpy.ndarray), look up NumPy's
types in tables, or are compiled for NumPy's type. MODULES names them. Each module is changed once, when it has been
loaded: its functions then convert weft's arrays, scalars and dtypes among their arguments. Arrays on a GPU are copied,
which is counted (weft.fallback_report()). WEFT_LIBRARIES=0 changes nothing.
"""

import os
import sys
import types

from weft._core import _HostMemory, asarray, dtype, float64, generic, ndarray, ufunc

# By module: functions, and methods of classes. What a name ends in says more of the function: with ! it writes into the
# arrays that it is given, with > it gives what is written into, with ? it gives arrays of objects that functions of the
# program made, with @ it wants a source of random numbers, with = it asks what a value is, where scalars are like
# NumPy's, with - it asks whether a value is a number of Python's, which scalars are not, with + it wants Python's
# float, with % a function that it is given does, with $ it makes an object
# whose methods want NumPy's arrays, with ~ it keeps an array, with ^ it looks at the dtypes of what holds
# arrays, with # at an index, which may hold them. * stands for all public functions that the module defines.
MODULES = {
    "array_api_compat.common._helpers": "is_writeable_array=",
    "array_api_extra._lib._helpers": "is_python_scalar-",
    "array_api_extra._lib._utils._helpers": "is_python_scalar-",
    "h5py._hl.dataset": "Dataset.read_direct! Dataset.write_direct",
    "h5py._hl.selections": "select",
    "json.encoder": "JSONEncoder.default+ _make_iterencode%",
    "matplotlib.axes._axes": "Axes._pcolorargs Axes.scatter",
    "matplotlib.cbook": "_array_patch_perimeters _reshape_2D _unpack_to_numpy delete_masked_points safe_masked_invalid",
    "networkx.convert": "to_networkx_graph",
    "networkx.utils.misc": "create_random_state@ create_py_random_state@",
    "numexpr.necompiler": "_resolve_last_kwargs>",
    "numpy._core.numerictypes": "isdtype",
    "numpy.ma.core": "MaskedArray.__new__ isMaskedArray",
    "numpy.random": "default_rng@",
    "PIL.Image": "fromarray",
    "pandas._libs.lib": "is_bool is_complex is_float is_integer map_infer? maybe_convert_objects?",
    "pandas._libs.tslibs.period": "Period.__new__",
    "pandas._libs.tslibs.timedeltas": "Timedelta.__new__ Timedelta.__mul__ Timedelta.__rmul__ Timedelta.__truediv__ "
    "Timedelta.__rtruediv__ Timedelta.__floordiv__ Timedelta.__rfloordiv__",
    "pandas._libs.tslibs.timestamps": "Timestamp.__new__",
    "pandas._libs.window.aggregations": "*",
    "pandas.core.algorithms": "factorize take unique",
    "pandas.core.array_algos.putmask": "putmask_inplace",
    "pandas.core.arraylike": "array_ufunc",
    "pandas.core.arrays.arrow.array": "ArrowExtensionArray.__array_ufunc__",
    "pandas.core.arrays.base": "ExtensionArray.__array_ufunc__",
    "pandas.core.arrays.categorical": "Categorical.__array_ufunc__",
    "pandas.core.arrays.datetimelike": "DatetimeLikeArrayMixin.__array_ufunc__",
    "pandas.core.arrays.boolean": "BooleanArray.__init__",
    "pandas.core.arrays.masked": "BaseMaskedArray.__array_ufunc__ BaseMaskedArray.__init__",
    "pandas.core.arrays.numeric": "NumericArray.__init__",
    "pandas.core.arrays.numpy_": "NumpyExtensionArray.__array_ufunc__ NumpyExtensionArray.__init__",
    "pandas.core.arrays.sparse.array": "SparseArray.__array_ufunc__ SparseArray.__init__",
    "pandas.core.computation.common": "result_type_many^",
    "pandas.core.construction": "array",
    "pandas.core.dtypes.cast": "can_hold_element find_result_type infer_dtype_from maybe_promote np_can_hold_element",
    "pandas.core.frame": "DataFrame.__init__ DataFrame.__getitem__ DataFrame.__setitem__ DataFrame.groupby "
    "DataFrame._arith_method DataFrame._cmp_method",
    "pandas.core.generic": "NDFrame._where",
    "pandas.core.indexes.base": "Index.__new__",
    "pandas.core.indexes.datetimes": "date_range",
    "pandas.core.indexes.multi": "MultiIndex.from_arrays",
    "pandas.core.indexing": "_LocationIndexer.__getitem__ _LocationIndexer.__setitem__ "
    "_ScalarAccessIndexer.__getitem__ _ScalarAccessIndexer.__setitem__",
    "pandas.core.reshape.pivot": "crosstab pivot_table",
    "pandas.core.util.hashing": "hash_array",
    "pandas.core.series": "Series.__init__ Series.__getitem__ Series.__setitem__ Series.groupby",
    "scipy._lib.array_api_compat.common._helpers": "is_writeable_array=",
    "scipy._lib.array_api_extra._lib._utils._helpers": "is_python_scalar-",
    "scipy._lib._util": "check_random_state@",
    "scipy.ndimage._ni_support": "_get_output!",
    "scipy.stats._mgc": "multiscale_graphcorr",
    "scipy.sparse.linalg._dsolve.linsolve": "spilu$ splu$",
    "scipy.sparse.linalg._interface": "aslinearoperator",
    "scipy.optimize._lbfgsb": "setulb",
    "scipy.optimize._slsqplib": "*",
    "scipy.sparse._sputils": "isdense",
    "skimage.draw.draw": "set_color! *",
    "sklearn.externals.array_api_extra._lib._helpers": "is_python_scalar-",
    "sklearn.externals.array_api_compat.common._helpers": "is_writeable_array=",
    "sklearn.model_selection._search": "ParameterGrid.__init__ ParameterSampler.__init__",
    "sklearn.utils.validation": "check_random_state@",
    "statsmodels.base.data": "handle_data",
    "xarray.compat.array_api_compat": "is_weak_scalar_type-",
    "xarray.core.dataset": "Dataset.interp",
    "xarray.core.dtypes": "maybe_promote",
    "xarray.namedarray.core": "from_array~",
    "xarray.core.variable": "Variable._broadcast_indexes# as_compatible_data~",
}
PACKAGES = {"skimage": "*"}

_OURS = (ndarray, generic, dtype)
_PASSED = frozenset((str, int, float, bool, complex, bytes, type(None), type(Ellipsis)))
_RESULTS = ("out", "output")
_SOURCES = ("Generator", "RandomState")


def as_numpy(value):
    """The value with NumPy's objects in the place of weft's; in tuples, lists and dicts, too."""
    kind = type(value)
    if kind in _PASSED:
        return value
    if kind is tuple:
        return tuple(map(as_numpy, value))
    if kind is list:  # which are long, at times, and then of one kind
        return [as_numpy(each) for each in value] if value and _is_ours(value[0]) else value
    if kind is dict:
        return (
            {key: as_numpy(each) for key, each in value.items()}
            if any(map(_is_ours, value.values()))
            else value
        )
    if kind is slice:
        return slice(as_numpy(value.start), as_numpy(value.stop), as_numpy(value.step))
    if isinstance(value, ndarray):
        return _array_as_numpy(value)
    if isinstance(value, generic):
        return sys.modules["numpy"].asarray(value)[()]
    if isinstance(value, dtype):
        return value.__numpy_dtype__
    if isinstance(value, type) and issubclass(value, generic):
        return getattr(sys.modules["numpy"], value.__name__, value)
    if kind is ufunc:
        same = getattr(sys.modules["numpy"], value.__name__, value)
        return same if isinstance(same, sys.modules["numpy"].ufunc) else value
    if kind.__name__ in _SOURCES and kind.__module__.startswith(
        "weft.random."
    ):  # NumPy's over the same stream
        return getattr(sys.modules["numpy"].random, kind.__name__)(value._bit_generator)
    return value


def _array_as_numpy(x):
    masked = getattr(sys.modules.get("weft._protocols.host_arrays"), "masked", None)
    if masked is not None and masked.is_masked(x):
        return masked.to_numpy(x)
    asarray = sys.modules["numpy"].asarray
    if x.device == "cpu":
        return asarray(x)
    from weft._engine.fallback import counting

    with counting(
        "numpy.asarray", f"a library's function wants an array of NumPy's, and this one is on {x.device}"
    ) as copy:
        copy.bytes = x.nbytes
        return asarray(x)


def class_for(module, name):
    """`__class__` of objects that have the methods of NumPy's: isinstance(x, NumPy's class) holds once it is loaded."""

    def kind(self):
        found = getattr(sys.modules.get(module), name, None)
        return found if isinstance(found, type) else type(self)

    return property(kind)


def _is_ours(value):
    return isinstance(value, _OURS)


def _refuse_copies(values, name):
    for value in values:
        if isinstance(value, ndarray) and value.device != "cpu":
            raise TypeError(f"{name} writes into the CPU's memory: move the array on {value.device} to it")


def _like(function):
    from functools import wraps  # which weft's own import does without

    return wraps(function)


def giving_numpy(function, writes=False):
    """The function, called with NumPy's arrays in the place of weft's."""

    @_like(function)
    def given_numpy(*args, **kwargs):
        if writes:
            _refuse_copies([*args, *kwargs.values()], function.__name__)
            if args and type(args[0]) is dict:
                _refuse_copies(args[0].values(), function.__name__)
        elif kwargs:
            _refuse_copies([kwargs[name] for name in _RESULTS if name in kwargs], function.__name__)
        return function(*map(as_numpy, args), **{name: as_numpy(value) for name, value in kwargs.items()})

    return given_numpy


def getting_numpy(function):
    """The function, whose result has NumPy's arrays in the place of weft's, into which its caller writes."""

    @_like(function)
    def got_numpy(*args, **kwargs):
        result = function(*args, **kwargs)
        _refuse_copies([result[name] for name in _RESULTS if name in result], "out=")
        return as_numpy(result)

    return got_numpy


def _some(array):
    """A few elements of a large array of objects, which are of one kind, as a rule."""
    flat = array.reshape(-1)
    return flat if flat.size <= 64 else (*flat[:32], *flat[-32:])


def with_numpys_objects(function):
    """The function, whose arrays of objects have NumPy's scalars in the place of weft's."""

    @_like(function)
    def of_objects(values, *args, **kwargs):
        found = function(values, *args, **kwargs)
        numpy = sys.modules["numpy"]
        if type(found) is numpy.ndarray and found.dtype.kind == "O" and any(map(_is_ours, _some(found))):
            plain = numpy.empty(found.shape, object)
            plain.reshape(-1)[:] = [as_numpy(each) for each in found.reshape(-1)]
            if kwargs.get("convert", True):
                return sys.modules["pandas._libs.lib"].maybe_convert_objects.__wrapped__(plain)
            return plain
        return found

    return of_objects


def given_randomness(function):
    """The function, which takes the module weft.random, and gives weft's generators as they are."""

    @_like(function)
    def given_source(seed=None, *args, **kwargs):
        if type(seed).__name__ == "Generator" and type(seed).__module__.startswith("weft.random."):
            return seed
        if isinstance(seed, types.ModuleType) and seed is not sys.modules["numpy"].random:
            package, _, name = seed.__name__.partition(".")
            if name == "random" and package in (
                "weft",
                "numpy",
            ):  # by NumPy's name in programs that import that
                seed = sys.modules["weft"].random.mtrand._rand
        return function(seed, *args, **kwargs)

    return given_source


def taking_scalars(function):
    """The function, to which a scalar of NumPy's stands for any of weft's."""

    @_like(function)
    def taking_scalar(value, *args, **kwargs):
        return function(
            sys.modules["numpy"].float64() if isinstance(value, generic) else value, *args, **kwargs
        )

    return taking_scalar


def taking_floats(method):
    """The method, which gives Python's number for a scalar of float64, NumPy's being floats already."""

    @_like(method)
    def taking_float(self, value):
        return float(value) if type(value) is float64 else method(self, value)

    return taking_float


def _as_kept(value):
    if isinstance(value, generic):
        return asarray(value)
    return as_numpy(value) if isinstance(value, _HostMemory) else value


def keeping_arrays(function):
    """The function, which keeps a scalar as an array of no dimensions, and arrays of NumPy's memory as NumPy's."""

    @_like(function)
    def kept(*args, **kwargs):
        return function(*map(_as_kept, args), **kwargs)

    return kept


def given_dtypes(function):
    """The function, given NumPy's dtypes in the place of what has dtypes of weft's."""

    @_like(function)
    def given_dtype(*args):
        kinds = [getattr(each, "dtype", each) for each in args]
        return function(
            *(as_numpy(kind if isinstance(kind, dtype) else each) for kind, each in zip(kinds, args))
        )

    return given_dtype


def given_an_index(method):
    """The method, given NumPy's arrays for weft's and for those without dimensions that parts of the index hold."""

    @_like(method)
    def indexed(self, key):
        if type(key) is tuple:
            key = tuple(each.data if getattr(each, "dims", None) == () else each for each in key)
        return method(self, as_numpy(key))

    return indexed


def no_scalars(function):
    """The function, which says False for a scalar: float64 is a float to isinstance, but has a dtype of its own."""

    @_like(function)
    def of_python(value):
        return not isinstance(value, generic) and function(value)

    return of_python


def with_texts_of_floats(function):
    """json's maker of encoders, whose function for floats (the fifth argument) is given Python's."""

    @_like(function)
    def make(markers, default, encoder, indent, text_of_float, *rest, **kwargs):
        return function(markers, default, encoder, indent, lambda x: text_of_float(float(x)), *rest, **kwargs)

    return make


class _Compiled:
    """Stands for an object of a compiled class, whose methods take NumPy's arrays alone."""

    def __init__(self, own):
        self._own = own

    @property
    def __class__(self):
        return type(self._own)

    def __getattr__(self, name):
        found = getattr(self._own, name)
        return giving_numpy(found) if callable(found) else found

    def __repr__(self):
        return repr(self._own)


def making_compiled(function):
    """The function, which gives objects of a compiled class."""

    @_like(function)
    def made(*args, **kwargs):
        return _Compiled(function(*map(as_numpy, args), **kwargs))

    return made


_KINDS = {
    "-": no_scalars,
    "%": with_texts_of_floats,
    "~": keeping_arrays,
    "^": given_dtypes,
    "#": given_an_index,
    "$": making_compiled,
    "+": taking_floats,
    "=": taking_scalars,
    "@": given_randomness,
    ">": getting_numpy,
    "?": with_numpys_objects,
    "!": lambda function: giving_numpy(function, writes=True),
}


def _change(owner, name, kind, late):
    found = vars(owner).get(name)
    of_class = type(found) if isinstance(found, (classmethod, staticmethod)) else None
    function = found.__func__ if of_class else found
    if not callable(function) or getattr(function, "_of_weft", False):
        return
    changed = _KINDS.get(kind, giving_numpy)(function)
    changed._of_weft = True
    if isinstance(owner, type):
        setattr(owner, name, of_class(changed) if of_class else changed)
        return
    vars(owner)[name] = changed  # a program that watches the module has replaced nothing
    if late:  # other modules of the package may have it by its name
        package = owner.__name__.partition(".")[0]
        for other, module in list(sys.modules.items()):
            if other.partition(".")[0] == package and vars(module).get(name) is found:
                setattr(module, name, changed)


def _change_module(module, names, late=False):
    for each in names.split():
        if each == "*":
            for name, value in list(vars(module).items()):
                of_module = getattr(value, "__module__", None) == module.__name__
                if of_module and not name.startswith("_") and not isinstance(value, type):
                    _change(module, name, "", late)
            continue
        owner, _, name = each.rstrip("!>?@=+%-~^#$").rpartition(".")
        owner = getattr(module, owner, None) if owner else module
        if owner is not None:
            _change(owner, name, each[-1], late)


def _names_of(name):
    """What is to be changed in the module of that name; none."""
    names = MODULES.get(name)
    if names is None and "." in name:
        names = PACKAGES.get(name[: name.index(".")])
        if names is not None and ".tests" in name:
            return None
    return names


class _Finder:
    """Finds what is to be changed by the other finders, and changes it when it has been loaded."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        names = _names_of(name)
        if names is None:
            return None
        for finder in sys.meta_path:
            if finder is not _Finder and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    _change_when_loaded(spec.loader, names)
                    return spec
        return None


def _change_when_loaded(loader, names):
    execute = getattr(loader, "exec_module", None)
    if execute is None or not hasattr(loader, "__dict__"):
        return

    def exec_module(module):
        vars(loader).pop("exec_module", None)
        execute(module)
        _change_module(module, names)

    loader.exec_module = exec_module


def _repr_inline_(self, max_width):
    """What xarray shows of an array in a line, as it does of NumPy's."""
    from xarray.core.formatting import format_array_flat

    return format_array_flat(sys.modules["numpy"].asarray(self), max_width)


ndarray._repr_inline_ = _repr_inline_
del _repr_inline_


def _leaves_libraries():
    return os.environ.get("WEFT_LIBRARIES", "") == "0"


def keep_masks():
    """From now on there are masked arrays, of which numpy.asanyarray would take the elements and not the masks."""
    if not _leaves_libraries():
        _change(sys.modules["numpy"], "asanyarray", "", late=False)


def watch():
    """Changes what is loaded, and from now on what is."""
    if _leaves_libraries():
        return
    sys.meta_path.insert(0, _Finder)
    packages = {name.partition(".")[0] for name in (*MODULES, *PACKAGES)}
    if any(package in sys.modules for package in packages):
        for name, module in list(sys.modules.items()):
            names = _names_of(name)
            if names is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
                _change_module(module, names, late=True)
