"""Operands that override what is computed with them.

`__array_ufunc__`, `__array_wrap__`, `__array_function__`, and `like=`.

The engine comes here when an operand is neither an array nor a number: an instance of a subclass of ndarray, or of a
class that knows of one of these protocols. The rules are NumPy's (NEP 13 and NEP 18).
"""

import _operator as operator
import sys

from weft import _core, _names
from weft._core import generic, ndarray
from weft._protocols import own_methods
from weft._protocols.no_value import NO_VALUE
from weft._protocols.own_methods import method_of
from weft._protocols.writers import writes_first

_NUMBERS = (bool, int, float, complex, str, bytes, generic)
_SCALAR_PRIORITY = -1000000.0

# Functions that are ufuncs for NumPy, by what computes them; the operator @ comes with that.
_shown = {}
# What the package shows, by name: it hands over its own names when it is loaded.
_package = {}

# Kinds of functions that arguments can override, as python/functions.toml has them.
_ARGUMENTS, _SEQUENCES, _KEEPS_TYPE, _UFUNC = range(4)

# ---- __array_ufunc__ ----


def _default(self, ufunc, method, /, *inputs, **options):
    """What ndarray answers to a ufunc that asks it: the ufunc's result, unless another operand overrides it."""
    for operand in (*inputs, *_outputs(options)):
        if _override_of(operand) is not None:
            return NotImplemented
    if isinstance(ufunc, (_core.ufunc, _core._Dispatcher)):
        return _compute(ufunc, method, inputs, options)
    return _numpy_ufunc(ufunc, method, inputs, options)


def _outputs(options):
    out = options.get("out", ())
    return out if isinstance(out, tuple) else (out,)


def _numpy():
    return sys.modules.get("numpy")


def _override_of(operand):
    """The `__array_ufunc__` of an operand's class, None where it has none but ndarray's."""
    kind = type(operand)
    if kind is ndarray or kind in _NUMBERS:
        return None
    method = getattr(kind, "__array_ufunc__", _override_of)
    if method is _override_of or method is ndarray.__array_ufunc__:
        return None
    if _is_numpy(operand) and method is getattr(_numpy().ndarray, "__array_ufunc__", None):
        return None
    if method is None:
        raise TypeError(f"operand '{kind.__name__}' does not support ufuncs (__array_ufunc__=None)")
    return method


def _ordered(operands, key):
    """One operand of each class that overrides, subclasses before their bases."""
    found = []
    for operand in operands:
        method = key(operand)
        if method is None or any(type(operand) is type(other) for other, _ in found):
            continue
        place = len(found)
        for position, (other, _) in enumerate(found):
            if issubclass(type(operand), type(other)):
                place = position
                break
        found.insert(place, (operand, method))
    return found


_METHOD_PARAMETERS = {
    "reduce": ("axis", "dtype", "out", "keepdims", "initial", "where"),
    "accumulate": ("axis", "dtype", "out"),
    "reduceat": ("axis", "dtype", "out"),
}
_KEYWORDS = {
    "__call__": {"out", "where", "casting", "order", "dtype", "subok", "signature", "sig"}
    | {"axes", "axis", "keepdims"},
    "outer": {"out", "where", "casting", "order", "dtype", "subok", "signature", "sig"},
    "reduce": {"array", "axis", "dtype", "out", "keepdims", "initial", "where"},
    "accumulate": {"array", "axis", "dtype", "out"},
    "reduceat": {"array", "indices", "axis", "dtype", "out"},
    "at": {"a", "indices", "b"},
}


def _normalized(ufunc, method, arguments, options):
    """The operands, and the options with a tuple of results as `out`, as overrides are shown them."""
    options = dict(options)
    name = ufunc.__name__ if method in ("__call__", "outer") else method
    for key in options:
        if key not in _KEYWORDS[method]:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
    nin, nout = getattr(ufunc, "nin", 2), getattr(ufunc, "nout", 1)
    inputs = arguments
    if method == "__call__":
        if not nin <= len(arguments) <= nin + nout:
            were = "was" if len(arguments) == 1 else "were"
            raise TypeError(
                f"{name}() takes from {nin} to {nin + nout} positional arguments but {len(arguments)} {were} given"
            )
        inputs, results = arguments[:nin], arguments[nin:]
        if results:
            if "out" in options:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            options["out"] = (*results, *(None,) * (nout - len(results)))
    elif method in _METHOD_PARAMETERS:
        count = 2 if method == "reduceat" and len(arguments) > 1 else 1
        inputs = arguments[:count]
        for key in ("array", "indices"):
            if key in options:
                inputs += (options.pop(key),)
        for key, value in zip(_METHOD_PARAMETERS[method], arguments[count:]):
            if key in options:
                raise TypeError(f"argument for {method}() given by name ('{key}') and position")
            options[key] = value
    if "sig" in options:
        options["signature"] = options.pop("sig")
    if "out" in options:
        out = options.pop("out")
        if out is ...:  # results as arrays, whatever their dimensions
            return inputs, {**options, "out": out}
        count = nout if method in ("__call__", "outer") else 1
        if isinstance(out, tuple):
            if len(out) != count:
                raise ValueError(
                    "The 'out' tuple must have exactly one entry per ufunc output"
                    if method == "__call__"
                    else "The 'out' tuple must have exactly one entry"
                )
        elif count > 1 and out is not None:
            raise TypeError("'out' must be a tuple of arrays")
        else:
            out = (out,) * count
        if any(each is not None for each in out):
            options["out"] = out
    return inputs, options


def ufunc(function, method, arguments, options):
    """A call of a ufunc, or of a method of it, in which an operand may have an override."""
    if not isinstance(function, _core.ufunc):
        function = _shown.get(function, function)
    inputs, options = _normalized(function, method, arguments, options)
    asked = _ordered((*inputs, *_outputs(options)), _override_of)
    shown = {key: value for key, value in options.items() if value is not ...}
    for operand, override in asked:
        result = override(operand, function, method, *inputs, **shown)
        if result is not NotImplemented:
            return result
    if asked:
        shown = [repr(each) for each in inputs] + [f"{key}={value!r}" for key, value in options.items()]
        types = [repr(type(each).__name__) for each in (*inputs, *_outputs(options))]
        raise TypeError(
            "operand type(s) all returned NotImplemented from "
            f"__array_ufunc__({function!r}, {method!r}, {', '.join(shown)}): {', '.join(types)}"
        )
    return _compute(function, method, inputs, options)


# ---- __array_wrap__ ----


def _plain(operand):
    """An operand without a say: the ndarray of an instance of a subclass, or what asarray makes of others."""
    if isinstance(operand, ndarray):
        return operand if type(operand) is ndarray else _core._plain(operand)
    kind = type(operand)
    if kind in _NUMBERS or operand is None or isinstance(operand, (list, tuple, generic)):
        return operand
    if hasattr(kind, "__array_wrap__") or hasattr(kind, "__array_ufunc__"):
        return _core.asarray(operand)
    return operand


def _priority(operand, default):
    value = getattr(type(operand), "__array_priority__", default)
    return value if isinstance(value, (int, float)) else default


def _wrapper(inputs):
    """The input whose `__array_wrap__` makes the results: that of the largest priority, the first of these."""
    best, chosen, is_ndarray = float("-inf"), None, False
    for operand in inputs:
        kind = type(operand)
        if kind is ndarray:
            if best < 0.0:
                best, chosen, is_ndarray = 0.0, None, True
        elif kind in _NUMBERS or isinstance(operand, _NUMBERS):
            if best < _SCALAR_PRIORITY:
                best, chosen, is_ndarray = _SCALAR_PRIORITY, None, False
        elif hasattr(kind, "__array_wrap__") and not _is_numpy(operand):
            priority = _priority(operand, 0.0)
            if (
                (chosen is None and best == float("-inf"))
                or priority > best
                or (priority == best and is_ndarray)
            ):
                best, chosen, is_ndarray = priority, operand, False
    return chosen


def _is_numpy(operand):
    numpy = _numpy()
    return numpy is not None and issubclass(type(operand), (numpy.ndarray, numpy.generic))


def _wrapped(owner, array, context, scalar):
    """owner.__array_wrap__(array, context, scalar), or what of this an older one takes."""
    wrap = owner.__array_wrap__
    foreign = not isinstance(owner, ndarray) and _numpy() is not None
    for arguments in ((array, context, scalar), (array, context), (array,)):
        try:
            try:
                result = wrap(*arguments)
            except TypeError as error:
                if not foreign or error.__traceback__.tb_next is None:
                    raise
                # A class that knows of NumPy's arrays alone.
                result = wrap(_numpy().asarray(array), *arguments[1:])
        except TypeError as error:
            # The frames of a call that fails for its arguments alone do not reach into the method.
            if error.__traceback__.tb_next is not None or len(arguments) == 1:
                raise
            continue
        if len(arguments) < 3:
            import warnings

            warnings.warn(
                "__array_wrap__ must accept context and return_scalar arguments (positionally) in the future. "
                "(Deprecated NumPy 2.0)",
                DeprecationWarning,
                stacklevel=4,
            )
        return result


def array_wrap(self, array, context=None, return_scalar=False, /):
    """The array as one of this one's type; a scalar where `return_scalar` asks for it and this is an ndarray."""
    if _is_numpy(array):  # what NumPy has computed
        array = _core.asarray(array)
    if not isinstance(array, ndarray):
        raise TypeError(f"__array_wrap__() argument 1 must be weft.ndarray, not {type(array).__name__}")
    if return_scalar and type(self) is ndarray and array.ndim == 0:
        return array[()]
    if type(self) is type(array):
        return array
    return _core._view_like(array, self)


def _compute(function, method, inputs, options):
    """The ufunc itself on plain arrays; results are made the operands' types afterwards."""
    if any(_is_numpy_subclass(operand) for operand in (*inputs, *_outputs(options))):
        return _by_numpy(function, method, inputs, options)
    plain = {key: _plain(value) for key, value in options.items() if key not in ("out", "subok")}
    outputs = options.get("out")
    if outputs is ...:
        plain["out"], outputs = ..., None
    if outputs is not None:
        for each in outputs:
            if each is not None and not isinstance(each, ndarray):
                raise TypeError(
                    "return arrays must be of ArrayType" if method != "reduce" else "output must be an array"
                )
        out = tuple(None if each is None else _plain(each) for each in outputs)
        plain["out"] = out if method in ("__call__", "outer") else out[0]
    call = function if method == "__call__" else getattr(function, method)
    if method == "at":
        return call(*(_plain(operand) for operand in inputs))
    operands = inputs if method in ("__call__", "outer") else inputs[:1]
    results = call(*(_plain(operand) for operand in inputs), **plain)
    if options.get("subok", True) is False:
        if outputs is None:
            return results
        owner = None
    else:
        owner = _wrapper(operands)
    several = isinstance(results, tuple)
    wrapped = []
    for position, result in enumerate(results if several else (results,)):
        given = None if outputs is None else outputs[position]
        context = None
        if method in ("__call__", "outer"):
            context = (function, (*inputs, *(outputs or ())), position)
        if given is not None:
            if type(given) is not ndarray and type(given).__array_wrap__ is not ndarray.__array_wrap__:
                given = _wrapped(given, given, context, False)
            wrapped.append(given)
        elif owner is None:
            wrapped.append(result)
        else:
            scalar = not isinstance(result, ndarray)
            wrapped.append(_wrapped(owner, _core._plain(result) if scalar else result, context, scalar))
    return tuple(wrapped) if several else wrapped[0]


def reduction(name, numpy_ufunc, a, axis, dtype, out, keepdims, initial, where):
    """The method of a subclass's instance that folds its elements, by the ufunc that NumPy takes."""
    options = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
    if name in ("any", "all"):
        options["dtype"] = _core.dtype("bool")
    if out is not None:
        options["out"] = out
    if initial is not ... and initial is not NO_VALUE:
        options["initial"] = initial
    if name not in ("any", "all") or where is not True:
        options["where"] = where
    return ufunc(_core._ufuncs[numpy_ufunc], "reduce", (a,), options)


def mean(a, axis, dtype, out, keepdims, where):
    """The mean where the elements' class, or that of `out`, may have a say: by the ufuncs that NumPy takes."""
    sum_dtype, result_dtype, count = _core._mean_parts(a, axis, dtype, keepdims, where)
    total = _core._ufuncs["add"].reduce(a, axis, sum_dtype, out, keepdims, where=where)
    divide = _core._ufuncs["divide"]
    if out is not None:
        return divide(out, count, out=out, casting="unsafe")
    if isinstance(count, int) or not isinstance(total, ndarray):
        quotient = total / count
    else:
        quotient = divide(total, count, out=total, casting="unsafe")
    dtype = result_dtype or total.dtype
    return quotient if quotient.dtype == dtype else quotient.astype(dtype)


# ---- operators ----


def _defers(left, right, in_place):
    """Whether the operator is left to the other operand's reflected method."""
    kind = type(right)
    if kind is type(left) or kind is ndarray or kind in _NUMBERS:
        return False
    if hasattr(kind, "__array_ufunc__"):
        return not in_place and kind.__array_ufunc__ is None
    if not in_place and isinstance(right, type(left)):
        return False
    return _priority(left, _SCALAR_PRIORITY) < _priority(right, _SCALAR_PRIORITY)


# Python's operators, by the names of the ufuncs that they are for arrays.
_OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
    "divmod": divmod,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


def _with_number(function, left, right):
    """A scalar with a foreign array of before NEP 13, such as a tensor, is the Python number that NumPy's would be."""
    other = right if isinstance(left, generic) else left
    if isinstance(other, (ndarray, generic)) or hasattr(type(other), "__array_ufunc__"):
        return NotImplemented
    return with_number(function, left, right) if hasattr(type(other), "__array_wrap__") else NotImplemented


def with_number(function, left, right):
    """An operator of a scalar and an object that weft knows nothing of: that of the Python number, or NotImplemented.

    Classes that take NumPy's scalars for numbers, such as pandas' Timedelta, are compiled to ask for these alone.
    """
    if (
        function.__name__ not in _OPERATORS
        or isinstance(left, (str, bytes))
        or isinstance(right, (str, bytes))
    ):
        return NotImplemented
    numbers = [each.item() if isinstance(each, generic) else each for each in (left, right)]
    try:
        return _OPERATORS[function.__name__](*numbers)
    except TypeError:
        return NotImplemented


def binary(function, left, right):
    """left + right and the like."""
    if isinstance(left, generic) or isinstance(right, generic):
        result = _with_number(function, left, right)
        if result is not NotImplemented:
            return result
    if isinstance(left, (ndarray, generic)) and _defers(left, right, False):
        if function.__name__ not in ("equal", "not_equal") or hasattr(type(right), "__array_ufunc__"):
            return NotImplemented
        # If nobody compares, Python compares identities, which no array means.
        result = getattr(right, "__eq__" if function.__name__ == "equal" else "__ne__")(left)
        if result is not NotImplemented:
            return result
    return function(left, right)


def in_place(function, target, other):
    """target += other and the like."""
    if _defers(target, other, True):
        return NotImplemented
    return function(target, other, out=(target,))


# ---- NumPy's ufuncs and functions on weft's arrays ----


def _is_numpy_subclass(operand):
    """Of a class with a meaning of its own; mapped files are NumPy's arrays like others."""
    numpy = _numpy()
    return (
        numpy is not None
        and isinstance(operand, numpy.ndarray)
        and type(operand) not in (numpy.ndarray, numpy.memmap)
    )


def _to_numpy(operand):
    if type(operand) in (list, tuple):
        return type(operand)(map(_to_numpy, operand))
    return _numpy().asarray(operand) if isinstance(operand, (ndarray, generic)) else operand


def _call_numpy(function, arguments, options, first):
    """One of NumPy's functions, whose results in arrays on a GPU are copied there; `first`: it writes into its first
    argument."""
    from weft._protocols import host_arrays

    return host_arrays.call_with_copies(function, arguments, options, first, _to_numpy, _numpy().array)


def _by_numpy(function, method, inputs, options):
    """With an instance of a subclass of NumPy's array: its own ufunc, which knows what to do with that."""
    numpy = _numpy()
    function = getattr(numpy, function.__name__)
    return _call_numpy(getattr(function, method), inputs, options, method == "at")


def _numpy_ufunc(function, method, inputs, options):
    """One of NumPy's ufuncs, called with an array of weft's: weft's ufunc of that name where there is one.

    Results that go to NumPy's arrays, and types that weft does not have, are NumPy's to compute.
    """
    numpy = sys.modules["numpy"]
    mine = _core._ufuncs.get(function.__name__)
    if function in (numpy.matmul, numpy.vecdot, numpy.matvec, numpy.vecmat):
        mine = public_function(function.__name__)
    theirs = any(
        isinstance(each, numpy.ndarray)
        and (_is_numpy_subclass(each) or each.dtype.kind not in "biufc" or each.dtype.itemsize > 16)
        for each in inputs
    )
    out = options.get("out")
    out = out if isinstance(out, tuple) else None
    if mine is not None and not theirs and (out is None or all(isinstance(each, ndarray) for each in out)):
        if method == "__call__" or hasattr(mine, method):
            try:
                return ufunc(mine, method, inputs, options)
            except NotImplementedError:
                pass
    result = _call_numpy(getattr(function, method), inputs, options, method == "at")
    return out[0] if out is not None and len(out) == 1 else result


# ---- __array_function__ ----


def _function_of(argument):
    kind = type(argument)
    if kind is ndarray:
        return ndarray.__array_function__
    if kind in _NUMBERS:
        return None
    method = getattr(kind, "__array_function__", None)
    numpy = _numpy()
    if method is None or (numpy is not None and method is getattr(numpy.ndarray, "__array_function__", None)):
        return None
    return method


def _arguments(arguments, options, kind):
    for argument in (*arguments, *options.values()):
        if kind == _SEQUENCES and type(argument) in (list, tuple):
            yield from argument
        else:
            yield argument


def _function_by_numpy(public, arguments, options):
    """With an instance of a subclass of NumPy's array: NumPy's function of that name."""
    owner = _numpy()
    for part in public.__module__.split(".")[1:]:
        owner = getattr(owner, part)
    name = public.__name__
    return _call_numpy(getattr(owner, name), arguments, options, writes_first(name))


def _refused(name, types):
    return TypeError(
        f"no implementation found for '{name}' on types that implement __array_function__: {list(types)}"
    )


def function(public, implementation, arguments, options):
    """A call of a function of the package, in which an argument may have an override."""
    if public._kind == _UFUNC:
        return ufunc(public, "__call__", arguments, options)
    asked = _ordered(_arguments(arguments, options, public._kind), _function_of)
    if not asked or all(override is ndarray.__array_function__ for _, override in asked):
        if any(map(_is_numpy_subclass, _arguments(arguments, options, public._kind))):
            return _function_by_numpy(public, arguments, options)
        if not asked:
            return implementation(*arguments, **options)
    types = tuple(type(argument) for argument, _ in asked)
    for argument, override in asked:
        if override is ndarray.__array_function__:
            if all(issubclass(kind, ndarray) for kind in types):
                result = implementation(*arguments, **options)
                return (
                    _as_given(public.__name__, result, arguments, options)
                    if public._kind == _KEEPS_TYPE
                    else result
                )
            continue
        result = override(argument, public, types, arguments, options)
        if result is not NotImplemented:
            return result
    raise _refused(f"{public.__module__}.{public.__name__}", types)


def by_method(public, implementation, arguments, options):
    """A call of a function of the package, of which an argument has a method of that name."""
    return own_methods.call(public, implementation, arguments, options, like_owner)


def array_function(self, /, func, types, args, kwargs):
    """What ndarray answers to a function: its result, if all types are subclasses of ndarray, or NumPy's array."""
    numpy = _numpy()
    if not all(issubclass(kind, ndarray) for kind in types):
        if numpy is None or not all(issubclass(kind, (ndarray, numpy.ndarray)) for kind in types):
            return NotImplemented
    result = None
    if isinstance(func, _core._Dispatcher):
        result = func._implementation(*args, **kwargs)
    elif any(issubclass(kind, numpy.ndarray) and kind not in (numpy.ndarray, numpy.memmap) for kind in types):
        return func._implementation(*args, **kwargs)  # a class of NumPy's, which knows what it does
    else:
        overridden = any(
            kind.__array_function__ is not ndarray.__array_function__
            for kind in types
            if issubclass(kind, ndarray)
        )
        from weft._protocols import array_functions

        func, result = array_functions.call(func, args, kwargs, overridden)
    if getattr(func, "_kind", None) == _KEEPS_TYPE:
        return _as_given(func.__name__, result, args, kwargs)
    return result


def like(name, general, arguments, options):
    """array(x, like=y) and the like: y's `__array_function__` makes the array."""
    options = dict(options)
    reference = options.pop("like")
    if reference is None:
        return general(*arguments, **options)
    method = getattr(type(reference), "__array_function__", None)
    if method is None:
        raise TypeError(
            "The `like` argument must be an array-like that implements the `__array_function__` protocol."
        )
    if _function_of(reference) in (None, ndarray.__array_function__):
        return general(*arguments, **options)
    result = method(reference, public_function(name), (type(reference),), arguments, options)
    if result is NotImplemented:
        raise _refused(f"weft.{name}", (type(reference),))
    return result


def _as_given(name, result, arguments, options):
    """What was computed from plain arrays, as arrays of the type of the first argument that is one."""
    if isinstance(result, generic) and name in _names.GIVE_SCALARS:
        return result
    for owner in (*arguments, *options.values()):
        if isinstance(owner, ndarray):
            break
    if type(owner) is ndarray:
        return result
    return like_owner(result, owner)


def like_owner(result, owner):
    """Plain arrays and scalars, also those in lists and tuples, as `owner.__array_wrap__` makes them."""
    if isinstance(result, (list, tuple)):
        return type(result)(like_owner(each, owner) for each in result)
    if isinstance(result, generic):
        return owner.__array_wrap__(_core.asarray(result), None, True)
    return owner.__array_wrap__(result, None, False) if type(result) is ndarray else result


def dispatcher(name, implementation, module="weft", kind=None):
    """The function as the package shows it, or one of its modules."""
    kind = _names.OVERRIDES[name] if kind is None else kind
    method = method_of(name) if module == "weft" else None
    public = _core._dispatcher(
        implementation, kind, name if module == "weft" else f"{module}.{name}", method=method
    )
    if kind == _UFUNC:
        public.nin, public.nout, public.nargs = 2, 1, 3
        _shown[implementation] = public
    public.__name__ = public.__qualname__ = name
    public.__doc__ = implementation.__doc__
    public.__module__ = module
    public.__wrapped__ = implementation
    return public


def dispatch_all(package):
    """Puts dispatchers in place of the package's functions, and keeps its names for `public_function`."""
    global _package
    for name in _names.OVERRIDES.keys() & package.keys():
        package[name] = dispatcher(name, package[name])
    # No argument overrides it, but NumPy has dtypes that weft has not (by_numpy.py).
    package["promote_types"] = dispatcher("promote_types", package["promote_types"], kind=_ARGUMENTS)
    for name, target in _names.ALIASES.items():
        package[name] = package[target]
    _package = package


def public_function(name):
    """A function as the package shows it: a dispatcher, where arguments can override it."""
    return _package[name]


def install():
    """Gives ndarray its answers to the protocols."""
    for name, method in {
        "__array_ufunc__": _default,
        "__array_wrap__": array_wrap,
        "__array_function__": array_function,
    }.items():
        method.__name__ = name
        method.__qualname__ = f"ndarray.{name}"
        setattr(ndarray, name, method)


install()
