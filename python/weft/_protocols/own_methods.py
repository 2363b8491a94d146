"""Functions that a table's or a matrix's own method computes, as in NumPy: np.round(frame, 2) is frame.round(...).

Objects without `__array_function__` that have the method decide so: pandas' tables, SciPy's sparse matrices. The
binding comes here with arguments that have one (python/bindings/protocols/overrides.cpp).
"""

from weft._core import generic, ndarray

# By function: the object whose method is asked, and what NumPy gives it, by position and by name.
_CALLS = {
    "take": lambda a, indices, axis=None, out=None, mode="raise": (
        a,
        (indices,),
        {"axis": axis, "out": out, "mode": mode},
    ),
    "reshape": lambda a, /, shape, order="C", *, copy=None: (
        a,
        (shape,),
        {"order": order} if copy is None else {"order": order, "copy": copy},
    ),
    "choose": lambda a, choices, out=None, mode="raise": (a, (choices,), {"out": out, "mode": mode}),
    "repeat": lambda a, repeats, axis=None: (a, (repeats,), {"axis": axis}),
    "swapaxes": lambda a, axis1, axis2: (a, (axis1, axis2), {}),
    "transpose": lambda a, axes=None: (a, (axes,), {}),
    "argpartition": lambda a, kth, axis=-1, kind="introselect", order=None: (
        a,
        (kth,),
        {"axis": axis, "kind": kind, "order": order},
    ),
    "argsort": lambda a, axis=-1, kind=None, order=None, *, stable=None: (
        a,
        (),
        {"axis": axis, "kind": kind, "order": order, "stable": stable},
    ),
    "argmax": lambda a, axis=None, out=None, **keepdims: (a, (), {"axis": axis, "out": out, **keepdims}),
    "argmin": lambda a, axis=None, out=None, **keepdims: (a, (), {"axis": axis, "out": out, **keepdims}),
    "searchsorted": lambda a, v, side="left", sorter=None: (a, (v,), {"side": side, "sorter": sorter}),
    "nonzero": lambda a: (a, (), {}),
    "compress": lambda condition, a, axis=None, out=None: (a, (condition,), {"axis": axis, "out": out}),
    "clip": lambda a, a_min=None, a_max=None, out=None, *, min=None, max=None, **kwargs: (
        a,
        (a_min if min is None else min, a_max if max is None else max),
        {"out": out, **kwargs},
    ),
    "cumsum": lambda a, axis=None, dtype=None, out=None: (a, (), {"axis": axis, "dtype": dtype, "out": out}),
    "round": lambda a, decimals=0, out=None: (a, (), {"decimals": decimals, "out": out}),
    "squeeze": lambda a, axis=None: (a, (), {} if axis is None else {"axis": axis}),
    "flip": lambda m, axis=None: (m, (_reversed_axes(axis, m.ndim),), {}),
    "put": lambda a, ind, v, mode="raise": (a, (ind, v), {"mode": mode}),
}
_CALLS["cumprod"] = _CALLS["cumsum"]
_CALLS["around"] = _CALLS["round"]
# Methods of other names.
_METHODS = {"around": "round", "flip": "__getitem__"}
# Functions whose errors the method's TypeErrors are; after those of others the function computes.
_STRICT = ("flip", "squeeze", "put")
_NOT_WRAPPED = ("nonzero",)  # a tuple


def method_of(name):
    """The method that decides on a function of the package; None where there is none."""
    return _METHODS.get(name, name) if name in _CALLS else None


def _reversed_axes(axis, ndim):
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    chosen = [range(ndim)[k] for k in axes]
    return tuple(slice(None, None, -1) if k in chosen else slice(None) for k in range(ndim))


def has_a_say(a):
    """Whether functions ask an object for its methods: not arrays of other libraries, which weft takes as its own."""
    kind = type(a)
    return issubclass(kind, ndarray) or not (
        issubclass(kind, generic) or hasattr(kind, "__dlpack__") or kind.__module__.startswith("numpy")
    )


def own_method(a, name):
    """The method of a subclass, or of a table such as pandas', in the function's place; None for others."""
    method = getattr(type(a), name, None)
    if method is None or method is getattr(ndarray, name) or not has_a_say(a):
        return None
    return getattr(a, name)


def call(public, implementation, arguments, options, wrapped):
    """A call of a function of which an argument may have a method that decides; NotImplemented where it has none.

    What the function computes in a method's place is given to `wrapped`, with the argument.
    """
    name = public.__name__
    try:
        owner, given, named = _CALLS[name](*arguments, **options)
    except (TypeError, AttributeError, IndexError):  # the function says what is wrong
        return NotImplemented
    if isinstance(owner, ndarray) or not has_a_say(owner):
        return NotImplemented
    method = own_method(owner, method_of(name))
    if method is not None:
        try:
            return method(*given, **named)
        except TypeError:  # a method of other parameters
            if name in _STRICT:
                raise
    if name in _NOT_WRAPPED or not hasattr(type(owner), "__array_wrap__"):
        return NotImplemented
    try:
        result = implementation(*arguments, **options)
    except TypeError:  # NumPy may have the dtype
        return NotImplemented
    return wrapped(result, owner)
