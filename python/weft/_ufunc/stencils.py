"""`weft.stencil`: a function of an element's neighbours, for all elements of an array.

Where the function reads at constant offsets, it becomes a ufunc of the array's shifted views: recorded, fused and tiled
as slices are, on the device of the array. Otherwise a compiled loop over the elements runs at the call.
"""

import ast
import copy
import sys

from weft import _core
from weft._core import asarray, ndarray
from weft._jit import _decorator, _source
from weft._ufunc import stencil_calls
from weft._ufunc.compiled import compiled_ufunc
from weft._ufunc.on_host import result_dtypes
from weft._ufunc.stencil_source import (
    NotConstant,
    Reads,
    constants_of,
    element_function,
    function_of,
    window_of,
)

_OPTIONS = ("cval", "neighborhood", "standard_indexing", "mode")
_MOST_OPERANDS = 15  # of a ufunc, beside its result


def stencil(function=None, /, mode="constant", **options):
    """A function of an element's neighbours, for all elements of an array.

    In the function, an index into an array is relative to the element: `a[0, 0]` is the element itself, and `a[-1, 0]`
    the one before it along the first axis. The result has the array's shape and the type of what the function returns.
    Elements near the border, whose neighbours are not all there, become `cval`.

    Parameters
    ----------
    function : function
        The function; without one the result is a decorator. Its array parameters are read at relative indices. All of
        them have the same shape as the first, or are larger.
    mode : 'constant'
        What the border becomes.
    cval : number
        What the border becomes, 0 without it. An output that is given keeps its border without it.
    neighborhood : tuple of pairs, optional
        For each axis the smallest and the largest relative index. With it, indices may be computed.
    standard_indexing : tuple of str, optional
        Array parameters that are indexed from their beginning, as usual.

    Returns
    -------
    function
        A function of the arrays, with `out` for an array that takes the result.

    Raises
    ------
    ValueError
        For arrays whose shapes do not fit, an output of another shape, and a `cval` that the result cannot hold.
    CompileError
        For relative indices that are not constant without `neighborhood`, and for arrays that are written.

    Examples
    --------
    >>> @np.stencil
    ... def mean_of_four(a):
    ...     return 0.25 * (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 1])
    >>> mean_of_four(np.arange(12.0).reshape(3, 4))
    array([[0., 0., 0., 0.],
           [0., 5., 6., 0.],
           [0., 0., 0., 0.]])
    """
    if isinstance(function, str):
        function, mode = None, function
    for name in options:
        if name not in _OPTIONS:
            raise ValueError(f"Unknown stencil option {name}: it has {', '.join(_OPTIONS)}")
    if mode != "constant":
        raise ValueError(f"Unsupported mode style {mode}: a stencil's border is 'constant'")
    if function is None:
        return lambda given: Stencil(given, options)
    return Stencil(function, options)


def _loop_over(axes, operands):
    """A function that calls `element` for each place of a box and stores what it gives."""
    places = [f"i{d}" for d in range(axes)]
    bounds = [f"{side}{d}" for d in range(axes) for side in ("lower", "upper")]
    names = [f"x{k}" for k in range(operands)]
    lines = [f"def each_element(element, result, {', '.join(bounds + names)}):"]
    for d in range(axes):
        loop = "weft.prange" if d == 0 else "range"
        lines.append("    " * (d + 1) + f"for i{d} in {loop}(lower{d}, upper{d}):")
    lines.append("    " * (axes + 1) + f"result[{', '.join(places)}] = element({', '.join(names + places)})")
    text = "\n".join(lines) + "\n"
    scope = {"weft": sys.modules["weft"]}
    exec(text, scope)
    return _decorator.compiled(scope["each_element"], source=text, error_model="numpy")


class _Views:
    """A stencil of shifted views."""

    def __init__(self, owner, reads, names, body, window):
        scalars = [name for name in owner.parameters if name not in names]
        self._reads = [(owner.parameters.index(name), offsets) for name, offsets in reads.reads]
        self._scalars = [owner.parameters.index(name) for name in scalars]
        function, text = function_of(owner.__name__, [*reads.reads.values(), *scalars], body, owner.py_func)
        self._ufunc = compiled_ufunc(function, source=text)
        self._window = window

    def __call__(self, owner, given, shape, out):
        inside = tuple(slice(-low, max(size - high, -low)) for size, (low, high) in zip(shape, self._window))
        views = [
            given[k][tuple(slice(one.start + by, one.stop + by) for one, by in zip(inside, offsets))]
            for k, offsets in self._reads
        ]
        value = self._ufunc(*views, *(given[k] for k in self._scalars))
        if out is None:
            out = owner.with_border(shape, value.dtype)
        else:
            owner.fill_border(out)
        out[inside] = value
        return out


class _Loop:
    """A stencil whose indices are computed, as a loop over its elements."""

    def __init__(self, owner, body, axes, window, checked):
        places = [f"i{d}__" for d in range(axes)]
        function, text = element_function(owner, body, places)
        self._element = _decorator.compiled(function, source=text, error_model="numpy", boundscheck=checked)
        self._loop = _loop_over(axes, len(owner.parameters))
        self._window = window
        self._dtypes = {}

    def __call__(self, owner, given, shape, out):
        key = tuple((x.dtype, x.ndim) if isinstance(x, ndarray) else type(x) for x in given)
        if key not in self._dtypes:
            samples = [_core.zeros((1,) * x.ndim, x.dtype) if isinstance(x, ndarray) else x for x in given]
            ir, _ = self._element._lowered((*samples, *[0] * len(shape)), True)
            found = result_dtypes(ir)
            if len(found) != 1:
                raise owner.error("Stencil kernel must return a scalar, one for each element")
            self._dtypes[key] = found[0], any(word in ir for word in ("raise ", "check "))
        dtype, may_raise = self._dtypes[key]
        result = out
        if out is None:
            result = owner.with_border(shape, dtype)
        elif may_raise or any(_core.may_share_memory(out, x) for x in given if isinstance(x, ndarray)):
            result = _core.empty(shape, out.dtype)
        bounds = [
            bound
            for size, (low, high) in zip(shape, self._window)
            for bound in (-low, max(size - high, -low))
        ]
        if out is not None and result is out:
            owner.fill_border(out)
        self._loop(self._element, result, *bounds, *given)
        if out is None or result is out:
            return result
        owner.fill_border(out)
        inside = tuple(slice(low, high) for low, high in zip(bounds[::2], bounds[1::2]))
        out[inside] = result[inside]
        return out


class Stencil:
    """What `stencil` makes of a function."""

    _is_weft_stencil = True

    def __init__(self, function, options):
        if getattr(type(function), "_is_weft_jit", False):
            function = function.py_func
        self.py_func, self.options = function, options
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        code = function.__code__
        self.parameters = list(code.co_varnames[: code.co_argcount])
        if "out" in self.parameters:
            raise ValueError("Cannot use the reserved word 'out' in stencil kernels.")
        standard = options.get("standard_indexing") or ()
        self.standard = {standard} if isinstance(standard, str) else set(standard)
        for name in self.standard:
            if name not in self.parameters:
                raise ValueError(
                    f"Standard indexing requested for an array name {name} not present in the parameters"
                )
        self.text = _source.capture(function)
        self._known = {}
        self._called = None

    def called(self):
        """What functions that weft.jit compiles call in the stencil's place."""
        if self._called is None:
            self._called = stencil_calls.function_of(self)
        return self._called

    def __repr__(self):
        return f"<weft.stencil {self.__name__!r}>"

    def __call__(self, *given, out=None, **keywords):
        given = self._bound(given, keywords)
        home = next(
            (x.device for x in (out, *given) if isinstance(x, ndarray)), None
        )  # of NumPy's arrays, too
        given = [
            x if isinstance(x, (ndarray, int, float, complex)) else asarray(x, device=home) for x in given
        ]
        given = [x[()] if isinstance(x, ndarray) and x.ndim == 0 else x for x in given]
        if not isinstance(given[0], ndarray) or self.parameters[0] in self.standard:
            raise ValueError(
                "The first argument to a stencil kernel must be an array, and use relative indexing"
            )
        shape = given[0].shape
        relative = {
            name: x.ndim
            for name, x in zip(self.parameters, given)
            if isinstance(x, ndarray) and name not in self.standard
        }
        for name, x in zip(self.parameters, given):
            if name not in relative:
                continue
            if x.ndim != len(shape):
                raise ValueError(
                    f"Secondary stencil array does not have same number of dimensions as the first stencil input: "
                    f"{name} has the shape {x.shape}, {self.parameters[0]} has {shape}"
                )
            if any(own < first for own, first in zip(x.shape, shape)):
                raise ValueError(
                    f"Secondary stencil array has some dimension smaller the same dimension in the first stencil "
                    f"input: {name} has the shape {x.shape}, {self.parameters[0]} has {shape}"
                )
        out = self._checked_output(out, shape)
        # Loops carry sums of integers from column to column; kernels, which fuse, do not.
        prefers_loop = out is not None and all(
            x.dtype.kind in "iu" and x.dtype.itemsize <= 2 and x.device == "cpu"
            for name, x in zip(self.parameters, given)
            if name in relative
        )
        key = prefers_loop, *relative.items()
        if key not in self._known:
            self._known[key] = self._compiled(relative, len(shape), prefers_loop)
        with given[0].device:
            return self._known[key](self, given, shape, out)

    def _bound(self, given, keywords):
        import inspect

        if not keywords and len(given) == len(self.parameters):
            return given
        try:
            bound = inspect.signature(self.py_func).bind(*given, **keywords)
        except TypeError as error:
            raise TypeError(f"{self.__name__}(): {error}") from None
        bound.apply_defaults()
        return bound.args

    def _checked_output(self, out, shape):
        if out is None:
            return None
        if not isinstance(out, ndarray):
            raise TypeError("return arrays must be of ArrayType")
        if out.shape != shape:
            raise ValueError(f"the output has the shape {out.shape}, and the stencil gives {shape}")
        return out

    def _compiled(self, relative, axes, prefers_loop):
        node = _source.find(self.py_func, self.text)
        body = node.body if isinstance(node.body, list) else [ast.Return(node.body)]
        constants = constants_of(self.py_func, node)
        around = self.neighborhood_of(axes)
        made = None if prefers_loop else self._of_views(relative, axes, body, constants, around)
        if made is not None:
            return made
        places = [f"i{d}__" for d in range(axes)]
        reads = Reads(self.py_func, relative, constants, around, places)
        moved = [reads.visit(copy.deepcopy(each)) for each in body]
        self.check_reads(reads)
        # All that is read at constant offsets alone is in the window, and so in the array.
        checked = bool(self.standard) or reads.uses_whole or reads.computes
        return _Loop(self, moved, axes, window_of(reads, axes, around), checked)

    def neighborhood_of(self, axes):
        """The ranges of the relative indices along each axis, where the program gives them."""
        around = self.options.get("neighborhood")
        if around is not None and len(around) != axes:
            raise ValueError(
                f"{len(around)} dimensional neighborhood specified for {axes} dimensional input array"
            )
        return around

    def _of_views(self, relative, axes, body, constants, around):
        if self.standard:
            return None
        reads = Reads(self.py_func, relative, constants, around)
        try:
            moved = [reads.visit(copy.deepcopy(each)) for each in body]
        except NotConstant:
            return None
        self.check_reads(reads)
        operands = len(reads.reads) + len(self.parameters) - len(relative)
        if reads.uses_whole or operands > _MOST_OPERANDS:
            return None
        return _Views(self, reads, relative, moved, window_of(reads, axes, around))

    def check_reads(self, reads):
        if not reads.reads:
            raise self.error("Stencil kernel with no accesses to relatively indexed arrays.")

    def error(self, message):
        from weft.exceptions import CompileError

        code = self.py_func.__code__
        return CompileError(f"{code.co_filename}, line {code.co_firstlineno}, in {self.__name__}: {message}")

    def with_border(self, shape, dtype):
        return _core.full(shape, self._border(dtype), dtype)

    def fill_border(self, out):
        if "cval" in self.options:
            out[...] = self._border(out.dtype)

    def _border(self, dtype):
        value = self.options.get("cval", 0)
        if isinstance(value, complex) and dtype.kind != "c":
            raise ValueError(f"cval type does not match stencil return type. {value!r} is no {dtype}")
        return value
