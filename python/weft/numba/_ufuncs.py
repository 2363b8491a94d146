"""vectorize, guvectorize and stencil with Numba's keywords; results are NumPy's where the arguments are."""

import sys

from weft._functions.apply import vectorize as _vectorize
from weft._ufunc.guvectorize import guvectorize as _guvectorize
from weft._ufunc.stencils import stencil as _stencil
from weft.numba import config
from weft.numba._signatures import is_signature

# Keywords that weft's functions have; what else Numba has asks for nothing.
_FOLLOWED = ("target", "identity", "nopython", "cache", "fastmath", "boundscheck", "writable_args")
_TAKEN = ("debug", "forceinline", "inline", "locals", "looplift", "no_cpython_wrapper", "no_rewrites")


def _followed(name, options):
    unknown = [each for each in options if each not in (*_FOLLOWED, *_TAKEN, "forceobj")]
    if unknown:
        raise TypeError(f"weft.numba.{name} has no keyword {unknown[0]!r}; it follows {', '.join(_FOLLOWED)}")
    if options.get("forceobj") or (options.get("target") == "cuda" and options.get("nopython") is False):
        raise NotImplementedError(f"weft.numba.{name} has no object mode: call weft.vectorize")
    kept = {each: value for each, value in options.items() if each in _FOLLOWED}
    if name == "vectorize":
        kept.pop("writable_args", None)
    return kept | {"nopython": True}


class GUFunc:
    """A ufunc of weft's whose results are NumPy's, unless an argument is an array of weft's."""

    def __init__(self, ufunc, function):
        self.ufunc = ufunc
        self.__wrapped__ = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__

    def __call__(self, *arguments, **options):
        inputs = getattr(self.ufunc, "nin", len(arguments))
        if len(arguments) > inputs and "out" not in options:
            options["out"], arguments = arguments[inputs:], arguments[:inputs]
        return _called(self.ufunc, arguments, options)

    def __getattr__(self, name):
        if name.startswith("_") or name == "py_func":
            raise AttributeError(name)
        found = getattr(self.ufunc, name)
        if not callable(found):
            return found
        if name == "at":
            return lambda a, *rest, **options: found(_shown(a), *rest, **options)
        return lambda *arguments, **options: _called(found, arguments, options)

    def __repr__(self):
        return repr(self.ufunc)

    def __reduce__(self):
        return self.__qualname__


def _called(function, arguments, options):
    weft = sys.modules["weft"]
    outs = options.get("out")
    several = isinstance(outs, tuple)
    shown = [_shown(each) for each in (outs if several else (outs,))]
    if outs is not None:
        options["out"] = tuple(shown) if several else shown[0]
    result = function(*arguments, **options)
    if any(isinstance(each, weft.ndarray) for each in arguments):
        return result
    results = result if isinstance(result, tuple) else (result,)
    given = outs if several else (outs,)
    made = tuple(
        _of_numpy(each) if own is None else _written(own, each)
        for each, own in zip(results, (*given, *(None,) * len(results)), strict=False)
    )
    return made if isinstance(result, tuple) else made[0]


def _shown(out):
    """An array that takes a result, as weft's over the same memory."""
    weft = sys.modules["weft"]
    return out if out is None or isinstance(out, weft.ndarray) else weft.asarray(out, copy=False)


def _written(out, result):
    _of_numpy(result)  # which ends what is recorded
    return out


def _of_numpy(result):
    numpy = sys.modules.get("numpy")
    weft = sys.modules["weft"]
    if numpy is None or not isinstance(result, (weft.ndarray, weft.generic)):
        return result
    made = numpy.asarray(result)
    return made if isinstance(result, weft.ndarray) else made[()]


def vectorize(ftylist_or_function=(), target="cpu", identity=None, **options):
    """A function of numbers as a ufunc, as `weft.vectorize` compiles it, with the keywords of Numba's.

    Examples
    --------
    >>> import numpy
    >>> from weft.numba import vectorize, float64
    >>> @vectorize([float64(float64, float64)])
    ... def clipped(x, most):
    ...     return most if x > most else x
    >>> clipped(numpy.arange(4.0), 1.5)
    array([0. , 1. , 1.5, 1.5])
    """
    kept = _followed("vectorize", options | {"target": target}) | {"identity": identity}
    given = ftylist_or_function
    if callable(given) and not is_signature(given):
        return _made(_vectorize(None, **kept), _plain(given), target)
    signatures = [given] if given and is_signature(given) else list(given)

    def decorate(function):
        function = _plain(function)
        if config.DISABLE_JIT:
            return _vectorize(function)
        made = _vectorize(signatures, **kept) if signatures else _vectorize(None, **kept)
        return _made(made, function, target)

    return decorate


def _made(decorator, function, target):
    """The ufunc that a decorator of weft's makes, with what its callers expect of it."""
    if target == "cuda":
        from weft.cuda._ufuncs import Ufunc

        return Ufunc(decorator(function), function)
    made = GUFunc(decorator(function), function)
    made.py_func = function  # which compiled functions call
    return made


def guvectorize(*arguments, **options):
    """A function of arrays of fixed dimensions, as `weft.guvectorize`, with the keywords of Numba's.

    Examples
    --------
    >>> import numpy
    >>> from weft.numba import guvectorize
    >>> @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    ... def summed(a, out):
    ...     total = 0.0
    ...     for i in range(len(a)):
    ...         total += a[i]
    ...         out[i] = total
    >>> summed(numpy.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 3.],
           [3., 7.]])
    """
    made = _guvectorize(*arguments, promotion="numba", **_followed("guvectorize", options))
    return lambda function: _made(made, _plain(function), options.get("target"))


def stencil(func_or_mode="constant", **options):
    """A function of an element's neighbours for all elements of an array, as `weft.stencil`.

    Examples
    --------
    >>> import numpy
    >>> from weft.numba import stencil
    >>> @stencil
    ... def slope(a):
    ...     return a[1] - a[-1]
    >>> slope(numpy.array([1.0, 2.0, 4.0, 8.0]))
    array([0., 3., 6., 0.])
    """
    if isinstance(func_or_mode, str):
        made = _stencil(func_or_mode, **options)
        return lambda function: GUFunc(made(_plain(function)), _plain(function))
    return GUFunc(_stencil(_plain(func_or_mode), **options), _plain(func_or_mode))


def _plain(function):
    return getattr(function, "py_func", function)
