"""weft: NumPy's arrays, fused and compiled.

>>> import weft as np
>>> a = np.arange(3.0)
>>> 2 * a + 1
array([1., 3., 5.])
"""

from atexit import register as _register

from weft import _core, _methods, exceptions
from weft._array.axes import broadcast_shapes, moveaxis
from weft._array.dtypes import aliases as _aliases
from weft._array.dtypes import finfo, iinfo, isdtype, issubdtype, min_scalar_type
from weft._core import *
from weft._core import __version__, _ufuncs
from weft._engine.config import config, show_config
from weft._engine.device import device, devices, empty_pool, memory_stats, synchronize
from weft._functions.comparing import allclose, array_equal, array_equiv, isclose
from weft._functions.creation import (
    ascontiguousarray,
    asfortranarray,
    astype,
    copy,
    full_like,
    identity,
    linspace,
    ones_like,
    zeros_like,
)
from weft._functions.indexing import (
    argwhere,
    choose,
    compress,
    extract,
    flatnonzero,
    place,
    put,
    put_along_axis,
    putmask,
    select,
    take,
    take_along_axis,
)
from weft._functions.joining import column_stack, concat, dstack, hstack, row_stack, vstack
from weft._functions.products import (
    einsum,
    einsum_path,
    inner,
    matvec,
    outer,
    tensordot,
    trace,
    vdot,
    vecdot,
    vecmat,
)
from weft._functions.properties import (
    angle,
    imag,
    iscomplex,
    iscomplexobj,
    isfortran,
    isneginf,
    isposinf,
    isreal,
    isrealobj,
    isscalar,
    ndim,
    real,
    shape,
    size,
)
from weft._functions.reductions import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    count_nonzero,
    cumprod,
    cumsum,
    cumulative_prod,
    cumulative_sum,
    max,
    mean,
    min,
    prod,
    ptp,
    std,
    sum,
    var,
)
from weft._functions.rounding import around, clip, round
from weft._functions.shapes import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_arrays,
    diagonal,
    fliplr,
    flipud,
    matrix_transpose,
    permute_dims,
    ravel,
    reshape,
    rollaxis,
    squeeze,
    swapaxes,
    transpose,
)
from weft._protocols import overrides as _overrides
from weft._protocols.sharing import from_dlpack
from weft.exceptions import DeviceError, InternalError, OutOfMemoryError

pi = 3.141592653589793
e = 2.718281828459045
euler_gamma = 0.5772156649015329
inf = float("inf")
nan = float("nan")
newaxis = None
little_endian = True

# The functions of the op table that NumPy has too, and NumPy's further names of scalar types.
for _name, _ufunc in _ufuncs.items():
    if _ufunc._is_numpy and _name not in globals():
        globals()[_name] = _ufunc
for _name, _target in _aliases.items():
    globals()[_name] = getattr(_core, _target)
True_, False_ = _core.bool(True), _core.bool(False)

del _name, _ufunc, _target
_overrides.dispatch_all(globals())

# What was queued to be compiled is still compiled, so that the next process finds it on disk.
_register(_core._end_compilations)
del _register


# Names by the module that has them, which is loaded when one of them is asked for.
_MODULES = {
    "_functions.apply": "apply_along_axis apply_over_axes piecewise vectorize",
    "_ufunc.frompyfunc": "frompyfunc",
    "_functions.bits": "packbits unpackbits",
    "_functions.calculus": "convolve correlate cross diff ediff1d gradient interp kron logspace sinc trapezoid unwrap",
    "_engine.cpp": "get_cmake_dir get_include",
    "_functions.counting": ("average bincount corrcoef cov"),
    "_functions.histograms": "histogram histogram2d histogram_bin_edges histogramdd",
    "_functions.nan": (
        "nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar"
    ),
    "_functions.assembly": (
        "append array_split block delete dsplit hsplit insert repeat resize roll rot90 split tile "
        "trim_zeros unstack vsplit"
    ),
    "_functions.creation": "asarray_chkfinite frombuffer fromiter geomspace require",
    "_functions.diagonals": (
        "diag diag_indices diag_indices_from diagflat fill_diagonal mask_indices tri tril tril_indices "
        "tril_indices_from triu triu_indices triu_indices_from vander"
    ),
    "_ufunc.errstate": "errstate geterr geterrcall seterr seterrcall",
    "_io.files": "fromfile fromstring genfromtxt load loadtxt save savetxt savez savez_compressed",
    "_array.dtypes": "common_type mintypecode typename",
    "_array.float_text": "format_float_positional format_float_scientific",
    "_array.format": (
        "array2string array_repr array_str base_repr binary_repr get_printoptions printoptions set_printoptions"
    ),
    "_functions.grids": (
        "c_ fromfunction index_exp indices ix_ meshgrid mgrid ndenumerate ndindex ogrid r_ "
        "ravel_multi_index s_ unravel_index"
    ),
    "_functions.ordering": (
        "argpartition argsort digitize intersect1d isin lexsort partition searchsorted setdiff1d setxor1d sort "
        "sort_complex union1d unique unique_all unique_counts unique_inverse unique_values"
    ),
    "_functions.padding": "pad",
    "_functions.polynomials": "poly poly1d polyadd polyder polydiv polyfit polyint polymul polysub polyval",
    "_engine.profile": "profile",
    "_functions.properties": "real_if_close",
    "_functions.quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "_functions.roots": "roots",
    "_functions.rounding": "fix",
    "_functions.shapes": "broadcast iterable",
    "_array.views": "flatiter",
    "_functions.windows": "bartlett blackman hamming hanning i0 kaiser",
}
_LAZY = {name: module for module, names in _MODULES.items() for name in names.split()}
_SUBMODULES = ("jit", "lib", "linalg", "random", "scipy")


def __getattr__(name):
    from importlib import import_module

    if name in _LAZY:
        value = getattr(import_module(f"weft.{_LAZY[name]}"), name)
        if name in _overrides.names:
            value = _overrides.dispatcher(name, value)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        try:
            return import_module(f"weft.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"weft.{name}":
                raise
    if name.startswith("__"):
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    from weft._protocols.missing import module_message

    raise AttributeError(module_message(name))


def __dir__():
    return sorted(
        {name for name in globals() if not name.startswith("_") or name.startswith("__")} | {*_LAZY}
    )
