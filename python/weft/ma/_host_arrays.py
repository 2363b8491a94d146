"""Masked arrays on their way to NumPy and back: data and mask share their memory with the other side.

weft.ma.MaskedArray holds numbers of weft's; a masked array of strings, dates, objects or structures is NumPy's, in a
HostArray.
"""

import functools
import sys

import numpy
import numpy.ma.mrecords

from weft import _core
from weft._protocols import by_numpy, host_arrays

ours = None  # numpy.ma.core over weft, which the package sets


def is_masked(value):
    return isinstance(value, ours.MaskedArray)


def to_numpy(value):
    """NumPy's masked array over the memory of one of weft's."""
    theirs = numpy.ma
    if value is ours.masked:
        return theirs.masked
    plain = _core.ndarray.view(value, _core.ndarray)
    mask = value._mask
    mask = theirs.nomask if mask is ours.nomask else numpy.asarray(mask)
    made = theirs.MaskedArray(numpy.asarray(plain), mask=mask, hard_mask=value._hardmask, copy=False)
    made._mask = mask
    made._sharedmask = value._sharedmask
    if value._fill_value is not None:
        made._fill_value = numpy.asarray(value._fill_value)
    made.__dict__["_optinfo"] = dict(value._optinfo)
    return made


def to_weft(array):
    """weft's masked array over the memory of one of NumPy's, or a HostArray of it."""
    if array is numpy.ma.masked:
        return ours.masked
    if not host_arrays.is_native(array.dtype):
        return host_arrays.HostArray(array)
    data = host_arrays.as_array(array.view(numpy.ndarray))
    mask = array._mask
    mask = ours.nomask if mask is numpy.ma.nomask else host_arrays.as_array(mask)
    made = ours.MaskedArray(data, mask=mask, hard_mask=array._hardmask, copy=False)
    made._mask = mask
    made._sharedmask = array._sharedmask
    if array._fill_value is not None:
        made._fill_value = host_arrays.as_array(array._fill_value)
    return made


def class_of(array):
    """weft's class of what a HostArray holds."""
    records = sys.modules.get(f"{__package__}.mrecords")  # its class, where the program has it
    name = type(array).__name__
    return getattr(ours, name, None) or getattr(records, name, ours.MaskedArray)


def class_to_numpy(kind):
    """NumPy's class in the place of one of weft's."""
    if kind.__module__.startswith(__package__):
        return getattr(numpy.ma.mrecords, kind.__name__, None) or getattr(numpy.ma, kind.__name__, kind)
    return kind


# ---- functions of weft.ma ----


def _is_for_numpy(value):
    kind = type(value)
    if kind is list or kind is tuple:
        return any(issubclass(type(each), _core._HostMemory) for each in value)
    return issubclass(kind, _core._HostMemory)


# Functions of the top level whose steps NumPy composes of what masked arrays have, so that masks go with the elements.
# weft's own do not look at masks.
_COMPOSED = frozenset(
    """
    angle append apply_along_axis argpartition argsort argwhere around array2string array_repr array_split
    array_str average block choose column_stack compress corrcoef correlate count_nonzero cov cumprod cumsum
    diag diagflat diff dot dsplit ediff1d extract flatnonzero flip geomspace gradient hsplit i0 inner interp
    intersect1d isclose iscomplex ix_ kron linspace logspace matrix_transpose median meshgrid nan_to_num
    nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile
    nanstd nansum nanvar nonzero partition percentile piecewise poly polyadd polydiv polyfit polysub polyval ptp
    quantile ravel_multi_index real_if_close repeat resize roll rot90 round setxor1d sinc sort split take
    tensordot tile trace trapezoid trim_zeros union1d unique unpackbits unstack vsplit
    """.split()
)


def array_function(self, func, types, args, kwargs):
    """`MaskedArray.__array_function__`: functions that lose masks are NumPy's, which is counted."""
    name, module = func.__name__, func.__module__
    if name not in _COMPOSED or module not in ("weft", "numpy"):
        return _core.ndarray.__array_function__(self, func, types, args, kwargs)
    return host_arrays.run(name, getattr(numpy, name), args, kwargs, "a masked array")


def _run(path, args, kwargs):
    function = numpy.ma
    for name in path.split("."):
        function = getattr(function, name)
    return host_arrays.run(
        f"ma.{path}", function, args, kwargs, "a masked array of a dtype that weft has not"
    )


def takes_host_arrays(function, name):
    """A function of weft.ma that leaves calls with arrays of NumPy's dtypes to numpy.ma."""

    @functools.wraps(function)
    def of_masked_arrays(*args, **kwargs):
        if any(map(_is_for_numpy, args)) or (kwargs and any(map(_is_for_numpy, kwargs.values()))):
            return _run(name, args, kwargs)
        try:
            return function(*args, **kwargs)
        except TypeError:
            if not _needs_numpy(name, args, kwargs):
                raise
        return _run(name, args, kwargs)

    return of_masked_arrays


def _needs_numpy(name, args, kwargs):
    return by_numpy._reason(name, args, kwargs, numpy, host_arrays) is not None


def operation_takes_host_arrays(kind):
    """The same for a class of masked ufuncs."""
    for method in ("__call__", "reduce", "accumulate", "outer"):
        function = vars(kind).get(method)
        if function is not None:
            setattr(kind, method, _operation_method(function, method))


def _operation_method(function, method):
    @functools.wraps(function)
    def of_masked_arrays(self, *args, **kwargs):
        if any(map(_is_for_numpy, args)):
            return _run(f"{self.__name__}.{method}", args, kwargs)
        return function(self, *args, **kwargs)

    return of_masked_arrays


def array_takes_host_arrays(kind):
    """MaskedArray(data, ...) for data of NumPy's dtypes."""
    own = kind.__new__

    @functools.wraps(own)
    def __new__(cls, *args, **kwargs):
        if cls is not kind:  # of a class of the program's own
            return own(cls, *args, **kwargs)
        if not any(map(_is_for_numpy, args)) and not any(map(_is_for_numpy, kwargs.values())):
            try:
                return own(cls, *args, **kwargs)
            except TypeError:
                if not _needs_numpy(cls.__name__, args, kwargs):
                    raise
        return _run(cls.__name__, args, kwargs)

    kind.__new__ = __new__
