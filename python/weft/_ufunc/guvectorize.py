"""`weft.guvectorize`: a function of rows, matrices and numbers for arrays of such, with what is before their own axes
broadcast.

A compiled loop goes over what is before. It is made for the number of its axes, and calls the function with views.
"""

import operator
import re
import sys

from weft import _core
from weft._array.axes import broadcast_shapes
from weft._core import asarray, ndarray
from weft._jit import _decorator
from weft._jit._signatures import dtype_of
from weft._protocols.no_value import NO_VALUE
from weft._ufunc.compiled import identity_of
from weft._ufunc.on_host import WEAK, fits, result_dtypes
from weft._ufunc.places_on_gpu import PlaceKernels, on_gpu
from weft.exceptions import AxisError

_OPTIONS = (
    "target",
    "identity",
    "nopython",
    "cache",
    "fastmath",
    "boundscheck",
    "inline",
    "promotion",
    "writable_args",
)
_TARGETS = ("cpu", "parallel", "cuda")
_GROUP = r"\(\s*(?:\w+(?:\s*,\s*\w+)*)?\s*\)"
_SIDE = rf"{_GROUP}(?:\s*,\s*{_GROUP})*"
_TYPE = re.compile(r"\s*(?P<name>[\w.]+)\s*(?P<axes>\[[:\s,0-9]*\])?\s*")
_loops = {}


def guvectorize(*given, **options):
    """A function of arrays of fixed dimensions, as a generalized ufunc.

    The function takes its inputs and writes into its outputs, which are its last parameters; or it has parameters for
    its inputs alone and returns the results. It is compiled. What is before the axes that `layout` names is broadcast,
    and the function is called for each place in it, on all cores.

    Parameters
    ----------
    signatures : str or list of str, optional
        Types of inputs and outputs, as "void(float64[:], int64, float64[:])". A call takes those of its inputs' dtypes,
        or else the first to which these can be cast safely. Without signatures the function is compiled for the types
        that it is called with, and a function that writes into its outputs gets them by `out`.
    layout : str
        The names of the axes of each input and each output, as "(m,n),(n)->(m)". Without "->" there are no outputs:
        the function writes into arguments.
    writable_args : tuple of int or str, optional
        Inputs that the function writes into. They are written even if they have another dtype than the signature.
    identity, nopython, target, cache, fastmath, boundscheck, promotion
        As Numba's. With the target "cuda" a kernel does the work of arrays on a GPU; else they are copied to the
        CPU and back.

    Returns
    -------
    function
        A decorator. What it gives is called with the inputs and `out`, `axes`, `axis`, `keepdims`, `dtype`, `casting`.

    Raises
    ------
    ValueError
        When it is called with axes of one name and different sizes, or with outputs of a wrong shape.

    Examples
    --------
    >>> @np.guvectorize(["void(float64[:], int64, float64[:])"], "(n),()->(n)")
    ... def moving_mean(a, window, out):
    ...     total = 0.0
    ...     for i in range(len(a)):
    ...         total += a[i]
    ...         if i >= window:
    ...             total -= a[i - window]
    ...         out[i] = total / min(i + 1, window)
    >>> moving_mean([[2.0, 4.0, 6.0, 8.0], [1.0, 1.0, 1.0, 5.0]], 2)
    array([[2., 3., 5., 7.],
           [1., 1., 1., 3.]])
    """
    if len(given) not in (1, 2):
        raise TypeError("guvectorize() takes one or two positional arguments")
    signatures = given[0] if len(given) == 2 else ()
    if isinstance(signatures, str) or not isinstance(signatures, (list, tuple)):
        signatures = (signatures,)
    for name in options:
        if name not in (*_OPTIONS, "is_dynamic"):
            raise TypeError(f"guvectorize has no option {name!r}; it has {', '.join(_OPTIONS)}")
    target = options.get("target", "cpu")
    if target not in _TARGETS:
        raise ValueError(f"target is one of {', '.join(map(repr, _TARGETS))}, not {target!r}")

    def decorate(function):
        return GeneralizedUfunc(function, given[-1], signatures, options)

    return decorate


def _parsed(layout):
    if not isinstance(layout, str) or not re.fullmatch(rf"\s*{_SIDE}\s*(->\s*{_SIDE}\s*)?", layout):
        raise ValueError(f"{layout!r} is no layout such as '(m,n),(n)->(m)'")
    inputs, _, outputs = layout.partition("->")
    return [
        [tuple(re.findall(r"\w+", part)) for part in re.findall(_GROUP, side)] for side in (inputs, outputs)
    ]


class _Operand:
    """What a signature says of an operand: its dtype, and whether the function sees an array."""

    def __init__(self, given):
        dtype, ndim = getattr(given, "dtype", None), getattr(given, "ndim", 0)
        if dtype is not None and not isinstance(given, (str, _core.dtype)):
            self.dtype, self.ndim = dtype_of(dtype), ndim
            return
        found = _TYPE.fullmatch(given if isinstance(given, str) else str(given))
        if found is None:
            raise TypeError(f"{given!r} in a signature is no type of an operand")
        self.dtype = dtype_of(found["name"])
        self.ndim = (
            0
            if found["axes"] is None
            else found["axes"].count(":") - 2 * found["axes"].count("::1") + found["axes"].count("::1")
        )


def _operands_of(signature):
    if not isinstance(signature, str):
        arguments = getattr(signature, "args", signature)
        return [_Operand(one) for one in arguments]
    text = signature.strip()
    inside = re.fullmatch(r"(?:\w+)?\s*\((.*)\)", text, re.DOTALL)
    text = inside[1] if inside else text
    return [_Operand(one) for one in re.split(r",(?![^\[]*\])", text) if one.strip()]


def _call(axes, forms, outputs, returns):
    """The operands' names, and the call of a function with their elements or subarrays in a place.

    `forms` has for each operand whether it is 'number', which is the same for all places, 'element' or 'view'.
    """
    names = [f"x{k}" for k in range(len(forms))]
    place = ", ".join(f"i{d}" for d in range(axes))
    given = [name if form == "number" else f"{name}[{place}]" for name, form in zip(names, forms)]
    inputs = given[: len(given) - outputs] if returns else given
    call = f"function({', '.join(inputs)})"
    if returns:
        targets = [
            f"{name}[{place}{', ...' if form == 'view' else ''}]"
            for name, form in list(zip(names, forms))[-outputs:]
        ]
        call = f"{', '.join(targets)} = {call}"
    return names, call


def _loop(axes, forms, outputs, returns):
    """A loop over `axes` dimensions that calls a function with the operands' elements or subarrays there."""
    key = axes, forms, outputs, returns
    if key not in _loops:
        names, call = _call(axes, forms, outputs, returns)
        sizes = [f"n{d}" for d in range(axes)]
        lines = [f"def each_place(function, {', '.join(sizes + names)}):"]
        for d in range(axes):
            loop = "weft.prange" if d == 0 else "range"
            lines.append("    " * (d + 1) + f"for i{d} in {loop}(n{d}):")
        lines.append("    " * (axes + 1) + call)
        text = "\n".join(lines) + "\n"
        scope = {"weft": sys.modules["weft"]}
        exec(text, scope)
        _loops[key] = scope["each_place"], text
    return _loops[key]


def _as_array(given):
    """Over the memory of what lends it: the loop has run when the call returns."""
    if isinstance(given, ndarray):
        return given
    try:
        return asarray(given, copy=False)
    except (ValueError, TypeError):
        return asarray(given)


def _axis_of(axis, ndim):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim)
    return axis % ndim


def _core_last(x, axes):
    rest = [d for d in range(x.ndim) if d not in axes]
    return x.transpose([*rest, *axes]) if axes else x


def _core_back(x, axes):
    if not axes:
        return x
    order, rest = [None] * x.ndim, iter(range(x.ndim - len(axes)))
    for k, axis in enumerate(axes):
        order[axis] = x.ndim - len(axes) + k
    return x.transpose([next(rest) if one is None else one for one in order])


class GeneralizedUfunc:
    """What guvectorize makes."""

    def __init__(self, function, layout, signatures, options):
        if getattr(type(function), "_is_weft_jit", False):
            function = function.py_func
        self._inputs, self._outputs = _parsed(layout)
        self.nin, self.nout = len(self._inputs), len(self._outputs)
        self.nargs, self.signature = self.nin + self.nout, layout
        self.identity = identity_of(options.get("identity"))
        self._promotion = options.get("promotion", "numpy")
        self._kernel_options = {
            "boundscheck": options.get("boundscheck") in (None, True),
            "promotion": self._promotion,
        }
        self._compiled = _decorator.compiled(function, error_model="numpy", **self._kernel_options)
        self._has_kernels = options.get("target") == "cuda" and self._compiled is not function
        self.py_func, self.__name__, self.__doc__ = function, function.__name__, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        count = function.__code__.co_argcount
        if count not in (self.nargs, self.nin):
            raise TypeError(
                f"{self.__name__}() has {count} parameters, and its layout {layout} has {self.nin} inputs and "
                f"{self.nout} outputs"
            )
        self._returns = self.nout > 0 and count == self.nin
        self._loops, self._kernels, self._seen = {}, None, []
        self._signatures = [self._checked(_operands_of(one), one) for one in signatures]
        self._writable = self._written(options.get("writable_args", ()), function.__code__.co_varnames)

    def _written(self, writable, names):
        inputs = names[: self.nin]
        for one in writable:
            if one not in inputs if isinstance(one, str) else not 0 <= operator.index(one) < self.nin:
                raise ValueError(
                    f"writable_args has {one!r}, and {self.__name__}() has the inputs {', '.join(inputs)}"
                )
        return {inputs.index(one) if isinstance(one, str) else one for one in writable}

    def _checked(self, operands, signature):
        if len(operands) != self.nargs:
            raise TypeError(
                f"the signature {signature} has {len(operands)} operands, and the layout {self.signature} has "
                f"{self.nargs}"
            )
        for operand, axes in zip(operands, self._inputs + self._outputs):
            if operand.ndim != len(axes) and not (not axes and operand.ndim == 1):
                raise TypeError(
                    f"the signature {signature} has an operand of {operand.ndim} dimensions, where the layout "
                    f"{self.signature} has {len(axes)}"
                )
        return operands

    @property
    def _facts(self):
        """What compiled functions that call it have to know."""
        return {
            "inputs": self.nin,
            "outputs": self.nout,
            "loops": [[(one.dtype, one.ndim) for one in operands] for operands in self._signatures],
            "identity": None,
            "layout": self.signature,
            "axes": self._inputs + self._outputs,
            "returns": self._returns,
            "written": sorted(self._writable),
        }

    @property
    def is_dynamic(self):
        """Whether it has no signatures, and is compiled for the types of each call."""
        return not self._signatures

    def _no_reduction(self, *_, **__):
        """Raises RuntimeError, as NumPy's ufuncs with a signature do."""
        raise RuntimeError("Reduction not defined on ufunc with signature")

    reduce = accumulate = reduceat = _no_reduction

    def at(self, *_, **__):
        """Raises TypeError, as NumPy's ufuncs with a signature do."""
        raise TypeError("at does not support ufunc with non-trivial signature")

    def outer(self, *_, **__):
        """Raises TypeError, as NumPy's ufuncs with a signature do."""
        raise TypeError("method outer is not allowed in ufunc with non-trivial signature")

    @property
    def types(self):
        return [
            "".join(one.dtype.char for one in operands[: self.nin])
            + "->"
            + "".join(one.dtype.char for one in operands[self.nin :])
            for operands in self._signatures or self._seen
        ]

    @property
    def ntypes(self):
        return len(self.types)

    def __repr__(self):
        return f"<ufunc {self.__name__!r}>"

    def __reduce__(self):
        return self.__qualname__  # as functions are: by the place where it is defined

    def __call__(
        self,
        *operands,
        out=None,
        axes=NO_VALUE,
        axis=NO_VALUE,
        keepdims=False,
        casting="same_kind",
        order="K",
        dtype=None,
        subok=True,
        signature=None,
    ):
        if not self.nin <= len(operands) <= self.nargs:
            raise TypeError(
                f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments but "
                f"{len(operands)} were given"
            )
        if len(operands) > self.nin:
            if out is not None:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            operands, out = operands[: self.nin], operands[self.nin :]
        outs = list(out) if isinstance(out, tuple) else [out]
        outs += [None] * (self.nout - len(outs))
        for one in outs:
            if one is not None and not isinstance(one, ndarray):
                raise TypeError("return arrays must be of ArrayType")
            if one is not None and not one.flags.writeable:
                raise ValueError("output array is read-only")
        given = [_as_array(one) for one in operands]
        self._check_writable(operands, given)
        self._check_dimensions(given)
        kept = self._axes_kept(keepdims)
        moves = self._moves(given, outs, axes, axis, kept)
        shown = [_core_last(x, move) for x, move in zip(given, moves)]
        sizes = self._sizes(shown)
        loops = [x.shape[: x.ndim - len(core)] for x, core in zip(shown, self._inputs)]
        try:
            outer = broadcast_shapes(*loops)
        except ValueError:
            shapes = ", ".join(f"{x.shape} (its own axes are {core})" for x, core in zip(given, self._inputs))
            raise ValueError(
                f"{self.__name__}: operands could not be broadcast together with shapes {shapes}"
            ) from None
        targets = [
            None if one is None else _core_last(one, move) if not kept else one.squeeze(tuple(move))
            for one, move in zip(outs, moves[self.nin :])
        ]
        self._sizes_of_outputs(targets, outer, sizes)
        kinds = [type(one) if type(one) in WEAK else x.dtype for one, x in zip(operands, shown)]
        dtypes = self._dtypes(shown, kinds, targets, dtype)
        with next((x for x in given if x.ndim), given[0]).device:
            computed = self._computed(shown, targets, outer, sizes, dtypes, casting)
            return self._finished(computed, outs, moves[self.nin :], kept, casting, outer)

    def _check_writable(self, operands, given):
        for k in self._writable:
            if not isinstance(given[k], ndarray) or not hasattr(operands[k], "flags"):
                raise TypeError(f"{self.__name__}() writes into input {k}, which is no array")
            if not given[k].flags.writeable:
                raise ValueError(f"{self.__name__}() writes into input {k}, which is read-only")

    def _check_dimensions(self, given):
        for k, (x, core) in enumerate(zip(given, self._inputs)):
            if x.ndim < len(core):
                raise ValueError(
                    f"{self.__name__}: Input operand {k} does not have enough dimensions (has {x.ndim}, gufunc "
                    f"core with signature {self.signature} requires {len(core)})"
                )

    def _axes_kept(self, keepdims):
        if not keepdims:
            return 0
        counts = {len(core) for core in self._inputs}
        if len(counts) != 1 or any(self._outputs):
            raise TypeError(
                f"{self.__name__} does not support keepdims: its signature {self.signature} has inputs of "
                "different numbers of core dimensions, or outputs that have some"
            )
        return counts.pop()

    def _moves(self, given, outs, axes, axis, kept):
        """For each operand the axes that the layout names, as the call says."""
        cores = [len(core) for core in self._inputs] + [kept or len(core) for core in self._outputs]
        if axes is NO_VALUE and axis is NO_VALUE:
            last = [[x.ndim - n + k for k in range(n)] for x, n in zip(given, cores)]
            return (
                [*last, *[list(range(-n, 0)) for n in cores[self.nin :]]]
                if kept
                else [
                    *[[] for _ in given],
                    *[[] for _ in outs],
                ]
            )
        if axis is not NO_VALUE:
            names = {name for core in self._inputs + self._outputs for name in core}
            if len(names) != 1 or any(len(core) > 1 for core in self._inputs):
                raise TypeError(
                    f"{self.__name__}: axis can only be used with a single shared core dimension, not with the "
                    f"{len(names)} distinct ones implied by signature {self.signature}."
                )
            axes = [axis if count else () for count in cores]
        if not isinstance(axes, list):
            raise TypeError("axes should be a list.")
        if len(axes) == self.nin and not any(cores[self.nin :]):
            axes = [*axes, *[()] * self.nout]
        if len(axes) != self.nargs:
            raise ValueError(
                f"axes should be a list with an entry for all {self.nargs} inputs and outputs; entries for outputs "
                "can only be omitted if none of them has core axes."
            )
        loop = max((x.ndim - len(core) for x, core in zip(given, self._inputs)), default=0)
        dimensions = [x.ndim for x in given] + [loop + n for n in cores[self.nin :]]
        moves = []
        for k, (chosen, count, ndim) in enumerate(zip(axes, cores, dimensions)):
            chosen = chosen if isinstance(chosen, tuple) else (chosen,)
            if len(chosen) != count:
                raise AxisError(
                    f"{self.__name__}: operand {k} has {count} core dimensions, but {len(chosen)} dimensions are "
                    "specified by axes tuple."
                )
            found = [_axis_of(one, ndim) for one in chosen]
            if len(set(found)) != len(found):
                raise ValueError(f"axes item {k} has a value repeated")
            moves.append(found)
        return moves

    def _sizes(self, shown):
        sizes = {}
        for k, (x, core) in enumerate(zip(shown, self._inputs)):
            for place, name in enumerate(core):
                size = x.shape[x.ndim - len(core) + place]
                if sizes.setdefault(name, size) != size:
                    raise ValueError(
                        f"{self.__name__}: Input operand {k} has a mismatch in its core dimension {place} ({name}), "
                        f"with gufunc signature {self.signature} (size {size} is different from {sizes[name]})"
                    )
        return sizes

    def _sizes_of_outputs(self, targets, outer, sizes):
        for k, (target, core) in enumerate(zip(targets, self._outputs)):
            if target is not None and target.ndim < len(core):
                raise ValueError(
                    f"{self.__name__}: Output operand {k} does not have enough dimensions (has {target.ndim}, "
                    f"gufunc core with signature {self.signature} requires {len(core)})"
                )
            for place, name in enumerate(core):
                if target is None:
                    if name not in sizes:
                        raise ValueError(
                            f"{self.__name__}: Output operand {k} has core dimension {place} unspecified, with gufunc "
                            f"signature {self.signature}: no input has an axis {name}, so give out="
                        )
                    continue
                size = target.shape[target.ndim - len(core) + place]
                if sizes.setdefault(name, size) != size:
                    raise ValueError(
                        f"{self.__name__}: Output operand {k} has a mismatch in its core dimension {place} ({name}), "
                        f"with gufunc signature {self.signature} (size {size} is different from {sizes[name]})"
                    )
            if target is not None and target.shape[: target.ndim - len(core)] != outer:
                raise ValueError(
                    f"{self.__name__}: non-broadcastable output operand with shape {target.shape} doesn't match "
                    f"the broadcast shape {(*outer, *(sizes[name] for name in core))}"
                )

    def _dtypes(self, shown, kinds, targets, dtype):
        """The operands of the signature that is taken; without signatures, of the call's own types."""
        for exactly in (True, False):
            for operands in self._signatures:
                if dtype is not None and self.nout and operands[self.nin].dtype != _core.dtype(dtype):
                    continue
                if all(fits(kind, one.dtype, exactly) for kind, one in zip(kinds, operands)):
                    return operands
        if self._signatures:
            types = ", ".join(str(x.dtype) for x in shown)
            raise TypeError(
                f"ufunc '{self.__name__}' not supported for the input types ({types}), and the inputs could not be "
                "safely coerced to any supported types according to the casting rule ''safe''"
            )
        operands = [_Known(x.dtype, len(core)) for x, core in zip(shown, self._inputs)]
        results = [None if target is None else target.dtype for target in targets]
        if None in results:
            if not self._returns:
                raise TypeError(
                    f"{self.__name__}() has no signatures and writes into its outputs, so their types are not known: "
                    "give out=, or signatures"
                )
            results = self._returned(operands)
        operands += [_Known(one, len(core)) for one, core in zip(results, self._outputs)]
        dtypes = [one.dtype for one in operands]
        if all(dtypes != [one.dtype for one in seen] for seen in self._seen):
            self._seen.append(operands)
        return operands

    def _returned(self, operands):
        samples = tuple(
            _core.zeros((1,) * one.ndim, one.dtype) if one.ndim else one.dtype.type(0) for one in operands
        )
        found = result_dtypes(self._compiled._lowered(samples)[0])
        if len(found) != self.nout:
            raise TypeError(
                f"{self.__name__}() returns arrays, whose types are known by signatures or out= alone"
            )
        return found

    def _computed(self, shown, targets, outer, sizes, operands, casting):
        loops = outer or (1,)
        forms, arrays, written = [], [], []
        for k, (x, core, one) in enumerate(zip(shown, self._inputs, operands)):
            as_view = one.ndim > 0
            if not as_view and x.ndim == 0:
                forms.append("number")
                arrays.append(x.astype(one.dtype, copy=False)[()])
                continue
            own = x.shape[x.ndim - len(core) :]
            given, x = x, x.astype(one.dtype, copy=False)
            if k in self._writable:
                if given.shape != (*outer, *own):
                    raise ValueError(
                        f"{self.__name__}() writes into input {k}, whose shape {given.shape} is not that of all "
                        f"inputs together, {(*outer, *own)}"
                    )
                if given.dtype != one.dtype:
                    written.append((given, x))
            if x.shape != (*outer, *own):
                x = _core.broadcast_to(x, (*outer, *own))
            x = x if outer else x[None]  # a view, into which the function may write
            forms.append("view" if as_view else "element")
            arrays.append(x[..., None] if as_view and not core else x)
        results = []
        for target, core, one in zip(targets, self._outputs, operands[self.nin :]):
            shape = (*outer, *(sizes[name] for name in core))
            if target is None:
                result = _core.empty(shape, one.dtype)
            else:  # the function may read what is there
                if not _core.can_cast(one.dtype, target.dtype, casting):
                    raise TypeError(
                        f"Cannot cast ufunc '{self.__name__}' output from {one.dtype!r} to {target.dtype!r} with "
                        f"casting rule '{casting}'"
                    )
                result = target.astype(one.dtype, order="C")
            results.append(result)
            shown_result = result.reshape((*loops, *shape[len(outer) :]))
            as_element = self._returns and not core
            forms.append("element" if as_element else "view")
            arrays.append(shown_result if core or as_element else shown_result[..., None])
        if all(loops):
            self._run(tuple(forms), loops, arrays)
        for given, made in written:
            _core.copyto(given, made, "unsafe")
        return results

    def _run(self, forms, loops, arrays):
        """Calls the function in each place."""
        key = len(loops), forms
        if self._has_kernels and on_gpu():
            if self._kernels is None:
                self._kernels = PlaceKernels(self.py_func, **self._kernel_options)
            names, call = _call(*key, self.nout, self._returns)
            self._kernels.run(key, names, call, loops, arrays)
            return
        if key not in self._loops:
            function, text = _loop(*key, self.nout, self._returns)
            self._loops[key] = _decorator.compiled(
                function, source=text, error_model="numpy", promotion=self._promotion
            )
        self._loops[key](self._compiled, *loops, *arrays)

    def _finished(self, results, outs, moves, kept, casting, outer):
        finished = []
        for result, target, move in zip(results, outs, moves):
            if kept:
                places = move if any(place >= 0 for place in move) else range(len(outer), len(outer) + kept)
                result = _core.expand_dims(result, tuple(places))
            else:
                result = _core_back(result, move)
            if target is None:
                finished.append(result if result.ndim else result[()])
            else:
                _core.copyto(target, result, casting)
                finished.append(target)
        if not finished:
            return None
        return finished[0] if self.nout == 1 else tuple(finished)


class _Known(_Operand):
    def __init__(self, dtype, ndim):
        self.dtype, self.ndim = dtype, ndim
