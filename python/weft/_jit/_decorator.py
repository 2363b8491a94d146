"""`weft.jit`: a Python function with loops, compiled for the types of its arguments when it is called."""

import functools
import os
import types

from weft import _core
from weft._jit import _describe

_IGNORED = ("nopython", "inline")
_OPTIONS = ("boundscheck", "error_model", "fastmath", "nogil", "parallel", "cache", "promotion", *_IGNORED)


def compiled(
    function,
    boundscheck=True,
    error_model="python",
    fastmath=False,
    nogil=False,
    parallel=True,
    cache=True,
    promotion="numpy",
    source=None,
    is_kernel=False,
    for_gpu=False,
    tells_accesses=False,
    lineinfo=False,
    limits=(0, 0, 0),
    link=(),
    **ignored,
):
    """What `jit` gives for a function; weft's other decorators take it, too."""
    if getattr(type(function), "_is_weft_jit", False):
        return function
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"weft.jit compiles Python functions, not {type(function).__name__}")
    unknown = [name for name in ignored if name not in _IGNORED]
    if unknown:
        raise TypeError(f"weft.jit has no option {unknown[0]!r}; it has {', '.join(_OPTIONS)}")
    if error_model not in ("python", "numpy"):
        raise ValueError(f"error_model is 'python' or 'numpy', not {error_model!r}")
    if promotion not in ("numpy", "numba"):
        raise ValueError(f"promotion is 'numpy' or 'numba', not {promotion!r}")
    if os.environ.get("WEFT_JIT", "1") == "0":
        return function
    text = _describe.capture(function, source)
    made = _core._jit_function(
        function,
        text,
        bool(boundscheck),
        error_model == "python",
        bool(fastmath),
        bool(nogil),
        bool(parallel),
        bool(cache),
        widens_floats=promotion == "numba",
        is_kernel=is_kernel,
        for_gpu=for_gpu,
        tells_accesses=tells_accesses,
        lineinfo=lineinfo,
        limits=limits,
    )
    functools.update_wrapper(made, function)
    if link:
        made._links = tuple(link)
    options = {"boundscheck": boundscheck, "error_model": error_model, "fastmath": fastmath, "nogil": nogil}
    made._origin = compiled, options | {"parallel": parallel, "cache": cache, "promotion": promotion}, text
    return made


def jit(function=None, /, *, source=None, **options):
    """Compiles a Python function of numbers and arrays: loops, branches and indexing become machine code.

    The function is compiled when it is called, once for each combination of the arguments' types: Python's and
    NumPy's numbers, weft's and NumPy's arrays (or anything with the buffer protocol or DLPack), lists and tuples of
    such. Arrays are not copied, and what the function writes into them is seen outside. Those of a GPU are copied to
    the CPU, where the function runs, and back. Results are numbers, arrays, texts, lists and tuples of such.

    It computes what Python would, with integers of 64 bits that wrap around. Indices are checked, and a division by
    zero raises, as in Python. What cannot be compiled raises `weft.CompileError`, which says where and why.

    Parameters
    ----------
    function : function
        The function; without one the result is a decorator.
    boundscheck : bool
        Whether an index out of bounds raises IndexError (the default). Without it, it is undefined behaviour.
    error_model : {'python', 'numpy'}
        Whether a division by zero raises ZeroDivisionError, or gives what NumPy gives.
    fastmath : bool
        Whether sums and products of floats may be computed in another order: in this function and in plain ones that
        it calls. Compiled functions that it calls keep their own setting.
    nogil : bool
        Whether other Python threads may run meanwhile.
    parallel : bool
        Whether the iterations of a loop over `weft.prange` run at the same time (the default).
    cache : bool
        Whether the code is kept on disk for the next process (the default). It is found by all that it depends on, so
        it is never stale.
    promotion : {'numpy', 'numba'}
        What a float32 is beside a number of Python's: a float32, as in NumPy (the default), or a float64, as in Numba,
        where a complex64 becomes a complex128, too. Integers beside integers give an int64, and with "numba" a uint64
        where both are unsigned. Expressions of arrays are NumPy's in both.
    source : str
        The text of the function, for one that was made by exec().

    Returns
    -------
    JitFunction
        A callable. `py_func` is the Python function.

    Examples
    --------
    >>> @np.jit
    ... def collatz(n):
    ...     steps = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> collatz(27)
    111
    """
    if function is None:
        return functools.partial(compiled, source=source, **options)
    return compiled(function, source=source, **options)


njit = jit  # as Numba calls it


def prange(start, stop=None, step=1, /):
    """A range whose iterations a compiled function may run at the same time, on all cores; elsewhere it is `range`.

    A variable of such a loop is an iteration's own, or a reduction: `s += x`, `s -= x`, `s *= x`, `s = min(s, x)`,
    `s = max(s, x)`, `a |= b`, `if x < least: least = x; at = i` and so on. What iterations come to is combined in an
    order that hangs on the number of iterations alone, so results have the same bits for any number of threads. A
    loop whose iterations need each other's variables is refused with `weft.CompileError`.

    Parameters
    ----------
    start, stop, step : int
        As for `range`.

    Returns
    -------
    range
        The same numbers.

    Examples
    --------
    >>> @np.jit
    ... def mean_square(a):
    ...     total = 0.0
    ...     for i in np.prange(len(a)):
    ...         total += a[i] * a[i]
    ...     return total / len(a)
    >>> mean_square(np.array([1.0, 2.0, 3.0, 4.0]))
    7.5
    """
    return range(start) if stop is None else range(start, stop, step)
