"""Of numba.extending: what needs no compiler of Numba's."""

import types

from weft.numba._decorators import is_jitted
from weft.numba._inner_calls import chosen_by_types

__all__ = ["intrinsic", "is_jitted", "overload", "register_jitable"]


def register_jitable(*arguments, **options):
    """Marks a function for compiled ones, which take any function: it is returned as it is."""
    if len(arguments) == 1 and not options and callable(arguments[0]):
        return arguments[0]
    return lambda function: function


def overload(function, jit_options=None, strict=True, inline="never", prefer_literal=False, **options):
    """Other code for a function where it is called by compiled ones.

    weft compiles the function itself, and takes the overload of one that does nothing in Python. The overload is
    compiled, too: given the arguments in the place of their types, it has to return one function for each of their
    types, by `isinstance` with the classes of `types`, by `ndim` and by what else is known of types.

    Examples
    --------
    >>> import numpy
    >>> from weft.numba import njit, types
    >>> from weft.numba.extending import overload
    >>> def size_of(x):
    ...     pass
    >>> @overload(size_of)
    ... def size_of_types(x):
    ...     if isinstance(x, types.Array):
    ...         return lambda x: x.size
    ...     return lambda x: 1
    >>> njit(lambda x, y: size_of(x) + size_of(y))(2.5, numpy.zeros(3))
    4
    """
    if not isinstance(function, types.FunctionType):
        name = getattr(function, "__name__", repr(function))
        raise NotImplementedError(
            f"weft.numba.extending.overload gives no code to {name}, which is no Python function; write a function of "
            "your own and call that"
        )

    def decorate(implementation):
        if _is_empty(function) and isinstance(implementation, types.FunctionType):
            function._called_by_others = function, chosen_by_types(function, implementation)
        return implementation

    return decorate


def _is_empty(function):
    nothing = (lambda: None).__code__.co_code
    return len(function.__code__.co_code) <= len(nothing) and not function.__code__.co_names


def intrinsic(*arguments, **options):
    """Instructions written by hand, which weft does not take: what calls the function is refused."""

    def refused(function):
        def call(*arguments):
            raise NotImplementedError(call._weft_refusal)

        call.__name__, call.__doc__ = function.__name__, function.__doc__
        call._weft_refusal = (
            f"{function.__name__}() is an intrinsic, made of instructions for Numba's compiler. Write it in Python: "
            "weft has np.bitwise_count, shifts and views."
        )
        return call

    return refused(arguments[0]) if arguments and callable(arguments[0]) else refused


def __getattr__(name):
    raise AttributeError(
        f"weft.numba.extending has no {name!r}, which is for Numba's compiler: weft compiles plain functions, so "
        "write one"
    )
