"""New arrays: of constants, of evenly spaced numbers, of other objects' elements."""

from operator import index as _index

from weft import _core
from weft._core import array, asarray, empty_like, ndarray
from weft._engine.device import device as _device
from weft._protocols import overrides

_ufuncs = _core._ufuncs


def _made_like(name, like, *args, **options):
    return overrides.like(name, globals()[name], args, {"like": like, **options})


def ascontiguousarray(a, dtype=None, *, like=None):
    """The array in C order, with one axis at least."""
    if like is not None:
        return _made_like("ascontiguousarray", like, a, dtype)
    return array(a, dtype, copy=None, order="C", ndmin=1)


def asfortranarray(a, dtype=None, *, like=None):
    """The array in Fortran order, with one axis at least."""
    if like is not None:
        return _made_like("asfortranarray", like, a, dtype)
    return array(a, dtype, copy=None, order="F", ndmin=1)


def _filled_like(a, value, dtype, order, subok, shape, device):
    result = empty_like(a, dtype, order, subok, shape, device=device)
    _core.copyto(result, value, "unsafe")
    return result


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Zeros, with the shape, dtype and layout of `a`."""
    return _filled_like(a, 0, dtype, order, subok, shape, device)


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """Ones, with the shape, dtype and layout of `a`."""
    return _filled_like(a, 1, dtype, order, subok, shape, device)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """An array filled with `fill_value`, with the shape, dtype and layout of `a`."""
    return _filled_like(a, fill_value, dtype, order, subok, shape, device)


def identity(n, dtype=None, *, like=None):
    """A square matrix with ones on its diagonal."""
    if like is not None:
        return _made_like("identity", like, n, dtype=dtype)
    return _core.eye(n, dtype=dtype)


def _linspace_of(owner, start, stop, *options):
    return overrides.like_owner(linspace(asarray(start), asarray(stop), *options), owner)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """`num` numbers from `start` to `stop`, evenly spaced.

    >>> np.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    if device is not None:
        with _device(device):
            start, stop = (
                x if isinstance(x, (int, float)) else asarray(x, device=device) for x in (start, stop)
            )
            return linspace(start, stop, num, endpoint, retstep, dtype, axis)
    num = _index(num)
    if isinstance(start, ndarray) and start.__class__ is not ndarray:
        return _linspace_of(start, start, stop, num, endpoint, retstep, dtype, axis)
    if isinstance(stop, ndarray) and stop.__class__ is not ndarray:
        return _linspace_of(stop, start, stop, num, endpoint, retstep, dtype, axis)
    if not isinstance(start, (int, float, complex)):
        start = asarray(start)
    if not isinstance(stop, (int, float, complex)):
        stop = asarray(stop)
    return _core._linspace(start, stop, num, endpoint, retstep, dtype, axis)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of `base`, whose exponents are evenly spaced.

    >>> np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    return _core._logspace(start, stop, num, endpoint, base, dtype, axis)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers from `start` to `stop`, each the same multiple of the one before.

    >>> np.geomspace(1, 1000, 4)
    array([   1.,   10.,  100., 1000.])
    """
    return _core._geomspace(start, stop, num, endpoint, dtype, axis)


def copy(a, order="K", subok=False):
    """A copy of the array."""
    return array(a, copy=True, order=order, subok=subok)


def astype(x, dtype, /, *, copy=True, device=None):
    """A copy of the array with elements of another type, on another device if one is given."""
    result = x.astype(dtype, copy=copy)
    return result if device is None else result.to_device(device)


def asarray_chkfinite(a, dtype=None, order=None):
    """asarray, but a ValueError where there are infinities or NaN."""
    a = asarray(a, dtype, order)
    if a.dtype.kind in "fc" and not bool(_ufuncs["isfinite"](a).all()):
        raise ValueError("array must not contain infs or NaNs")
    return a


_REQUIREMENTS = {
    **dict.fromkeys(("C", "CONTIGUOUS", "C_CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "FORTRAN", "F_CONTIGUOUS"), "F"),
    **dict.fromkeys(("A", "ALIGNED"), "A"),
    **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("E", "ENSUREARRAY"), "E"),
}


def require(a, dtype=None, requirements=None, *, like=None):
    """The array, or a copy, that is contiguous ("C" or "F"), writeable ("W"), and owns its memory ("O") as asked.

    >>> np.require(np.arange(6).reshape(2, 3), requirements=["F"]).flags.f_contiguous
    True
    """
    if not requirements:
        return asarray(a, dtype)
    wanted = {_REQUIREMENTS[one.upper()] for one in requirements} - {"E"}
    order = "K"
    if wanted >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    for one in ("F", "C"):
        order = one if one in wanted else order
    a = _core.array(a, dtype, copy=None, order=order)
    flags = {"C": "c_contiguous", "F": "f_contiguous", "A": "aligned", "W": "writeable", "O": "owndata"}
    missing = any(not getattr(a.flags, flags[one]) for one in wanted)
    return a.copy(order) if missing else a


def fromiter(iter, dtype, count=-1, *, like=None):
    """The numbers of an iterable, `count` of them or all.

    >>> np.fromiter((k * k for k in range(4)), int)
    array([0, 1, 4, 9])
    """
    dtype = _core.dtype(dtype)
    if type(dtype) is _core.dtype:
        return _core._fromiter(iter, dtype, count)
    import numpy  # for texts, objects, structures and others

    from weft._protocols import host_arrays

    theirs = map(host_arrays.Conversion().to_numpy, iter)
    reason = f"dtype {dtype.str if dtype.names is None else 'with fields'}"
    return host_arrays.run("fromiter", numpy.fromiter, (theirs, dtype, count), {}, reason)
