"""NumPy's functions that call a Python function on parts of arrays."""

import math
from contextlib import nullcontext
from functools import partial
from itertools import islice

from weft import _core
from weft._array.axes import broadcast_shapes, moveaxis, normalize_axes
from weft._core import asarray, empty, ndarray, zeros
from weft._engine.fallback import calling
from weft._ufunc import element_loops
from weft._ufunc.python_calls import elements_in_shape


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """func1d of each row along `axis`: what it returns takes the place of the row. One call for each row.

    A function that reads the elements of float64 rows and gives numbers is compiled where the results are the same.

    >>> np.apply_along_axis(np.sort, 0, [[3, 1], [2, 4]])
    array([[2, 1],
           [3, 4]])
    """
    from itertools import product

    arr = asarray(arr)
    (axis,) = normalize_axes(axis, arr.ndim, None)
    rows = moveaxis(arr, axis, -1)
    places = list(product(*map(range, rows.shape[:-1])))
    if not places:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = asarray(func1d(rows[places[0]], *args, **kwargs))
    if len(places) > 1 and first.ndim == 0 and not kwargs:
        results = _rows_compiled(func1d, rows, args, first.dtype)
        if results is not None and not isinstance(results, str):
            return results
        with calling("apply_along_axis", results) if results else nullcontext():
            return _rows_called(func1d, rows, places, first, axis, args, kwargs)
    return _rows_called(func1d, rows, places, first, axis, args, kwargs)


def _rows_compiled(function, rows, args, dtype):
    """The results of a compiled loop over rows, or why there are none, or None where it was not tried."""
    outer = rows.shape[:-1]
    count, extent = math.prod(outer), rows.shape[-1]
    operands = element_loops.arguments(function, (rows.reshape(count, extent), *args), {})
    found = element_loops.computed_rows(function, operands, count, rows.size, [dtype])
    if not isinstance(found, tuple):
        return found
    (result,), single = found
    return result.reshape(outer) if single else "a tuple is returned"


def _rows_called(func1d, rows, places, first, axis, args, kwargs):
    # NumPy's result lies in memory with the function's own axes last; then they take the row's place.
    buffer = empty((*rows.shape[:-1], *first.shape), first.dtype)
    buffer[places[0]] = first
    for place in places[1:]:
        buffer[place] = asarray(func1d(rows[place], *args, **kwargs))
    kept = rows.ndim - 1
    own = list(range(kept, kept + first.ndim))
    return buffer.transpose([*range(axis), *own, *range(axis, kept)])


def apply_over_axes(func, a, axes):
    """func(a, axis) for each axis in turn, which shall keep the number of dimensions or drop that axis.

    >>> np.apply_over_axes(np.sum, np.ones((2, 3)), [0, 1])
    array([[6.]])
    """
    value = asarray(a)
    ndim = value.ndim
    axes = [axes] if asarray(axes).ndim == 0 else axes
    for axis in axes:
        axis = ndim + axis if axis < 0 else axis
        result = asarray(func(value, axis))
        if result.ndim != value.ndim:
            result = _core.expand_dims(result, (axis,))
            if result.ndim != value.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value


def piecewise(x, condlist, funclist, *args, **kw):
    """Each function's values, or a constant, where its condition is true; the last condition that holds decides.

    One function more than conditions stands for elsewhere; else it is 0 there. Functions get the elements they are for.

    >>> np.piecewise(np.array([-1.0, 2.0]), [np.array([True, False])], [0.5, lambda x: x * x])
    array([0.5, 4. ])
    """
    x = asarray(x)
    if (
        isinstance(condlist, (bool, int, float, _core.generic))
        or len(condlist) == 0
        or (not isinstance(condlist[0], (list, ndarray)) and x.ndim != 0)
    ):
        condlist = [condlist]
    if args or kw:
        funclist = [partial(_with, one, args, kw) if callable(one) else one for one in funclist]
    return _core._piecewise(x, condlist, funclist)


def _with(function, args, kw, x):
    return function(x, *args, **kw)


def _dtype_of(value):
    """The dtype of a result, without the length that a text or the unit that a date has."""
    dtype = asarray(value).dtype
    return dtype if isinstance(dtype, _core.dtype) else _core.dtype(dtype.char)


# Keywords of Numba's that ask for a compiled ufunc.
_COMPILES = frozenset(
    ("target", "identity", "nopython", "fastmath", "inline", "writable_args", "boundscheck")
)


def _signatures(given):
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _compiled(signatures, options, function):
    from weft._ufunc.compiled import compiled_ufunc

    return compiled_ufunc(function, signatures, **options)


class vectorize:
    """A Python function of numbers as a function of arrays: one call for each element, after broadcasting.

    It gets Python's numbers. The results' dtypes are `otypes`, or those of a first call with scalars. `excluded`
    arguments are passed on as they are. Over many elements the function is compiled where the results are those of
    Python's calls; `fallback_report()` says why where it is not. With a `signature` such as "(n),(n)->()" the function
    takes arrays and is called for what is before their own axes.

    With signatures such as "float64(float64, float64)" for the first argument, or with keywords of Numba's (`nopython`,
    `target`, `identity`), the function is compiled, and the result is a ufunc. Its work is recorded and fused with
    what is around it, on the device that its arguments are on. Without signatures it has a loop for each combination of
    types that it is called with. Divisions by zero give what NumPy gives. A function that raises errors, calls itself
    or makes arrays is computed at the call, on the CPU.

    >>> np.vectorize(lambda a, b: a - b if a > b else a + b)([1, 2, 3, 4], 2)
    array([3, 4, 1, 2])

    >>> @np.vectorize(["float64(float64, float64)"])
    ... def clipped(x, most):
    ...     return most if x > most else x
    >>> clipped(np.arange(4.0), 1.5) + 10
    array([10. , 11. , 11.5, 11.5])
    """

    def __new__(
        cls, pyfunc=None, otypes=None, doc=None, excluded=None, cache=False, signature=None, **options
    ):
        if isinstance(pyfunc, str) or (pyfunc is not None and not callable(pyfunc)):
            return partial(_compiled, _signatures(pyfunc), options)
        if _COMPILES.intersection(options):
            if pyfunc is None:
                return partial(_compiled, (), options)
            return _compiled((), options, pyfunc)
        return super().__new__(cls)

    def __init__(self, pyfunc=None, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        self.pyfunc, self.cache, self.signature = pyfunc, cache, signature
        self.excluded = set() if excluded is None else set(excluded)
        self.__doc__ = getattr(pyfunc, "__doc__", None) if doc is None else doc
        self.__name__ = getattr(pyfunc, "__name__", type(self).__name__)
        self.otypes = None
        if otypes is not None:
            self.otypes = [_core.dtype(one) for one in otypes]
        self._core_axes = None if signature is None else _parse(signature)

    def __call__(self, *args, **kwargs):
        if self.pyfunc is None:
            self.__init__(args[0])
            return self
        varied = [k for k in range(len(args)) if k not in self.excluded]
        names = [name for name in kwargs if name not in self.excluded]
        given = [asarray(args[k]) for k in varied] + [asarray(kwargs[name]) for name in names]

        def placed(values):
            """The arguments of the function, with these in the places of what varies."""
            own, named = list(args), dict(kwargs)
            for k, value in zip(varied, values):
                own[k] = value
            named.update(zip(names, values[len(varied) :]))
            return own, named

        def call(values):
            own, named = placed(values)
            return self.pyfunc(*own, **named)

        if not self._core_axes:
            return self._of_elements(call, placed, given)
        why = "a function of arrays is called for each place: weft.guvectorize compiles one that writes its output"
        with calling(f"vectorize({self.__name__})", why):
            return self._of_arrays(call, given)

    def _of_elements(self, call, placed, given):
        if not given:
            return call([])
        dtypes, first = self.otypes, None
        if dtypes is None:
            if any(x.size == 0 for x in given):
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            # As in NumPy, the function is called once more for the dtypes, with scalars.
            first = call([x.flat[0] for x in given])
            several = isinstance(first, tuple)
            dtypes = [_dtype_of(one) for one in (first if several else (first,))]
        else:
            several = len(dtypes) > 1
        shape = broadcast_shapes(*(x.shape for x in given))
        if math.prod(shape) == 0:
            results = tuple(empty(shape, dtype) for dtype in dtypes)
            return results if several else results[0]
        results = self._compiled(placed, given, shape, dtypes, several)
        if isinstance(results, str):
            with calling(f"vectorize({self.__name__})", results):
                results = self._called(call, given, shape, dtypes, several, first)
        elif results is None:
            results = self._called(call, given, shape, dtypes, several, first)
        elif self.cache and first is not None:
            for result, value in zip(results, first if several else (first,)):
                result.reshape(-1)[0] = value
        return tuple(results) if several else results[0]

    def _compiled(self, placed, given, shape, dtypes, several):
        """Results of a compiled loop, or why there are none, or None where it was not tried."""
        args, kwargs = placed(given)
        found = element_loops.computed(
            self.pyfunc, element_loops.arguments(self.pyfunc, args, kwargs), shape, dtypes
        )
        if not isinstance(found, tuple):
            return found
        results, single = found
        if single == several:
            return "the first results are another number than others may be"
        results = [element_loops.cast(result, dtype) for result, dtype in zip(results, dtypes)]
        return (
            results
            if all(result is not None for result in results)
            else "a result is out of its dtype's range"
        )

    def _called(self, call, given, shape, dtypes, several, first):
        columns = [elements_in_shape(x, shape) for x in given]
        rows = [first] if self.cache and first is not None else []
        rows += [call(values) for values in islice(zip(*columns), len(rows), None)]
        parts = list(zip(*rows)) if several else [rows]
        return [_core.array(list(part), dtype=dtype).reshape(shape) for part, dtype in zip(parts, dtypes)]

    def _of_arrays(self, call, given):
        from itertools import product

        inputs, outputs = self._core_axes
        if len(given) != len(inputs):
            raise TypeError(f"wrong number of positional arguments: expected {len(inputs)}, got {len(given)}")
        extents, shapes = {}, []
        for x, axes in zip(given, inputs):
            if x.ndim < len(axes):
                raise ValueError(
                    f"{x.ndim}-dimensional argument does not have enough dimensions for all core dimensions {axes!r}"
                )
            own = x.shape[x.ndim - len(axes) :]
            for name, extent in zip(axes, own):
                if extents.setdefault(name, extent) != extent:
                    raise ValueError(
                        f"inconsistent size for core dimension {name!r}: {extent!r} vs {extents[name]!r}"
                    )
            shapes.append(x.shape[: x.ndim - len(axes)])
        outer = broadcast_shapes(*shapes) if shapes else ()
        given = [
            _core.broadcast_to(x, (*outer, *x.shape[x.ndim - len(axes) :])) for x, axes in zip(given, inputs)
        ]
        results = None
        for place in product(*map(range, outer)):
            values = call([x[place] for x in given])
            values = values if len(outputs) > 1 else (values,)
            if len(values) != len(outputs):
                raise ValueError(
                    f"wrong number of outputs from pyfunc: expected {len(outputs)}, got {len(values)}"
                )
            values = [asarray(value) for value in values]
            if results is None:
                dtypes = self.otypes or [value.dtype for value in values]
                for value, axes in zip(values, outputs):
                    for name, extent in zip(axes, value.shape[value.ndim - len(axes) :]):
                        extents.setdefault(name, extent)
                results = [
                    empty((*outer, *(extents[name] for name in axes)), dtype)
                    for axes, dtype in zip(outputs, dtypes)
                ]
            for result, value in zip(results, values):
                result[place] = value
        if results is None:
            if self.otypes is None:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            if any(name not in extents for axes in outputs for name in axes):
                raise ValueError(
                    "cannot call `vectorize` with a signature including new output dimensions on size 0 inputs"
                )
            results = [
                zeros((*outer, *(extents[name] for name in axes)), dtype)
                for axes, dtype in zip(outputs, self.otypes)
            ]
        return results[0] if len(results) == 1 else tuple(results)


def _parse(signature):
    """The names of axes of each input and each result of "(m,n),(n)->(m)"."""
    import re

    group = r"\(\s*(?:\w+(?:\s*,\s*\w+)*)?\s*\)"
    if not re.fullmatch(
        rf"\s*(?:{group}(?:\s*,\s*{group})*)?\s*->\s*{group}(?:\s*,\s*{group})*\s*", signature
    ):
        raise ValueError(f"not a valid gufunc signature: {signature}")
    return tuple(
        [tuple(re.findall(r"\w+", part)) for part in re.findall(group, side)]
        for side in signature.split("->")
    )
