"""jit and its kin, with Numba's keywords."""

import functools
import os
import sys
import types

from weft import _core
from weft._jit import _describe
from weft.numba import _types, config
from weft.numba._inner_calls import called_by_others
from weft.numba._signatures import Conversion, is_signature, normalize_signature

# Keywords that ask for nothing, since weft does so anyway or has nothing of the kind.
_TAKEN = (
    "cache",
    "debug",
    "forceinline",
    "inline",
    "locals",
    "looplift",
    "nopython",
    "no_cfunc_wrapper",
    "no_cpython_wrapper",
    "no_rewrites",
    "writable_args",
    "_dbg_extend_lifetimes",
    "_nrt",
)
_FOLLOWED = ("boundscheck", "error_model", "fastmath", "nogil", "parallel")
_REFUSED = {
    "forceobj": "weft has no object mode: leave the function without decorator",
    "pipeline_class": "weft has no passes written in Python",
    "target_backend": "weft compiles for the CPU",
}
_REORDERS = {"fast", "reassoc"}  # flags of fastmath that allow another order of sums


def jit(signature_or_function=None, **options):
    """Compiles a function as `weft.jit` does, with the keywords, signatures and results of Numba's jit.

    Arrays that it returns are NumPy's, unless an argument is an array of weft's; numbers are Python's. A loop over
    `prange` runs on all cores with `parallel=True` alone. With signatures, arguments and results are converted to their
    types, also where another compiled function calls.

    Parameters
    ----------
    signature_or_function : function, str, signature or list of them
        The function, or the types it is compiled for: "float64(int64, float64[:])".
    **options
        boundscheck, error_model, fastmath, nogil and parallel are followed, and forceobj and pipeline_class refused.
        What else Numba has is taken: nopython, cache, inline, locals, debug.

    Returns
    -------
    function or decorator

    Examples
    --------
    >>> from weft.numba import njit
    >>> @njit("float64(int64)")
    ... def harmonic(n):
    ...     total = 0.0
    ...     for k in range(1, n + 1):
    ...         total += 1 / k
    ...     return total
    >>> harmonic(4)
    2.083333333333333
    """
    for name, advice in _REFUSED.items():
        if options.get(name):
            raise NotImplementedError(f"weft.numba.jit has no {name}: {advice}")
    unknown = [name for name in options if name not in (*_TAKEN, *_FOLLOWED, *_REFUSED)]
    if unknown:
        raise TypeError(f"weft.numba.jit has no keyword {unknown[0]!r}; it follows {', '.join(_FOLLOWED)}")
    given = signature_or_function
    if given is None or is_signature(given) or isinstance(given, list):
        return functools.partial(_compiled, _signatures(given), options)
    return _compiled([], options, given)


njit = jit


def _signatures(given):
    if given is None:
        return []
    return given if isinstance(given, list) else [given]


def _compiled(signatures, options, function, source=None):
    if is_jitted(function):
        return function
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"weft.numba.jit compiles Python functions, not {type(function).__name__}")
    if config.DISABLE_JIT or os.environ.get("WEFT_JIT", "1") == "0":
        return function
    boundscheck = options.get("boundscheck")
    text = _describe.capture(function, source)
    made = _core._jit_function(
        function,
        text,
        True if boundscheck is None else bool(boundscheck),
        options.get("error_model", "python") == "python",
        _reorders(options),
        bool(options.get("nogil")),
        bool(options.get("parallel")),
        True,
        True,
        Conversion(function, signatures) if signatures else None,
        widens_floats=True,
    )
    functools.update_wrapper(made, function)
    if signatures:
        called = called_by_others(function, map(normalize_signature, signatures), _reorders(options))
        made._called_by_others = (function, called) if called is not None else None
    made.targetoptions = dict(options)
    made._origin = _made_again, {"signatures": signatures, "options": options}, text
    made.compile = functools.partial(_compile, made)
    made.disable_compile = _disable_compile
    made.enable_caching = _enable_caching
    made.recompile = functools.partial(_recompile, made)
    return made


def _made_again(function, source, signatures, options):
    """What pickle makes of a function that it has read."""
    return _compiled(signatures, options, function, source)


def _reorders(options):
    """Whether fastmath lets sums of floats have another order."""
    fastmath = options.get("fastmath") or False
    return fastmath is True or bool(
        _REORDERS.intersection([fastmath] if type(fastmath) is str else fastmath or ())
    )


def _compile(made, signature):
    """Compiles for the types of a signature, without a call."""
    from weft.numba._samples import sample

    arguments, _ = normalize_signature(signature)
    made._compile(tuple(map(sample, arguments)))


def _disable_compile(value=True):
    """Nothing: weft compiles for the types that it is given."""


def _enable_caching():
    """Nothing: code is kept on disk."""


def _recompile(made):
    """Lets the next call compile again, with the fastmath that `targetoptions` has now."""
    _, called = getattr(made, "_called_by_others", None) or (None, None)
    for each in (made, called):
        if each is not None:
            each._recompile(_reorders(made.targetoptions))


def is_jitted(function):
    """Whether it is a compiled function."""
    return getattr(type(function), "_is_weft_jit", False)


def jit_module(**options):
    """Compiles all functions of the module that calls this."""
    frame = sys._getframe(1)
    module = frame.f_globals
    for name, value in list(module.items()):
        if isinstance(value, types.FunctionType) and value.__module__ == module["__name__"]:
            module[name] = jit(value, **options)


def cfunc(*arguments, **options):
    """C's calls of compiled functions are not there yet."""
    raise NotImplementedError(
        "weft.numba has no cfunc: compiled functions have no address for C yet; call them from Python"
    )


def typeof(value):
    """The type of a value.

    >>> from weft.numba import typeof
    >>> typeof((1, 2.5))
    Tuple(int64, float64)
    """
    return _types.of_value(value)


def from_dtype(dtype):
    """The type of the elements of an array of a dtype."""
    return _types.from_numpy(dtype)


def literal_unroll(values):
    """A tuple whose elements a loop takes one after another, each by its own type: `for x in literal_unroll(t)`."""
    return values


class objmode:
    """Python inside of a compiled function, which weft has not: there it is refused. In Python it changes nothing."""

    def __init__(self, *arguments, **types):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def literally(value):
    """The value: weft compiles for values of defaults alone."""
    return value
