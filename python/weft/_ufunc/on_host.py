"""Ufuncs of compiled functions that kernels do not run: those that raise errors, call themselves, need memory, print.

A compiled loop computes them at the call, on all cores of the CPU. An error ends the call and leaves its outputs alone.
"""

import re
import sys

from weft import _core
from weft._array.axes import broadcast_shapes
from weft._core import asarray, ndarray
from weft._jit import _decorator
from weft._ufunc.python_calls import PythonUfunc

_NAMES = {"bool": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex", "bf": "bfloat"}
WEAK = {int: 1, float: 3, complex: 4}  # the places of their kinds among _KINDS
_KINDS = "biufc"
_WEAK_ZERO = {int: 0, float: 0.0, complex: 0j}
_loops = {}


def fits(kind, wanted, exactly):
    """Whether an operand can be cast safely, or is of that dtype exactly; Python's numbers go by their kind."""
    if kind in WEAK:
        return not exactly and _KINDS.index(wanted.kind) >= WEAK[kind]
    return kind == wanted if exactly else _core.can_cast(kind, wanted, "safe")


def result_dtypes(ir):
    """The dtypes that the first function of kernel IR gives."""
    types = re.match(r"function @\S+\(.*?\) : ([^{]*) \{", ir)
    if types is None:
        return []
    found = [re.fullmatch(r"([a-z]+)(\d*)", one.strip()) for one in types[1].split(",")]
    return [_core.dtype(_NAMES[one[1]] + one[2]) for one in found]


def _loop(arrays, outputs, parallel):
    """A loop over elements that calls a function: of operands that are arrays, where `arrays` says so, or numbers."""
    key = arrays, outputs, parallel
    if key not in _loops:
        inputs = [f"x{k}" for k in range(len(arrays))]
        results = [f"y{k}" for k in range(outputs)]
        given = ", ".join(f"{name}[i]" if is_array else name for name, is_array in zip(inputs, arrays))
        text = (
            f"def each_element(function, count, {', '.join(inputs + results)}):\n"
            f"    for i in {'weft.prange' if parallel else 'range'}(count):\n"
            f"        {', '.join(f'{name}[i]' for name in results)} = function({given})\n"
        )
        names = {"weft": sys.modules["weft"]}
        exec(text, names)
        _loops[key] = _decorator.compiled(names["each_element"], source=text, error_model="numpy")
    return _loops[key]


class HostUfunc(PythonUfunc):
    """As PythonUfunc, but that elements are computed by a compiled loop."""

    def __init__(self, compiled, nin, identity, signatures):
        super().__init__(compiled, nin, 1, identity)
        self.__name__, self.__doc__ = compiled.__name__, compiled.__doc__
        self._signatures, self._results = signatures, {}

    def _types_for(self, inputs):
        """Of the loop: as they are where there are no signatures, else those of the first that fits."""
        kinds = [type(x) if type(x) in WEAK else x.dtype for x in inputs]
        if not self._signatures:
            return kinds, ()

        for exactly in (True, False):
            for wanted, outputs in self._signatures:
                if all(fits(kind, one, exactly) for kind, one in zip(kinds, wanted)):
                    return wanted, outputs
        raise TypeError(
            f"ufunc '{self.__name__}' not supported for the input types, and the inputs could not be safely "
            "coerced to any supported types according to the casting rule ''safe''"
        )

    def _results_of(self, types, outputs):
        key = tuple(types)
        if key not in self._results:
            samples = tuple(_WEAK_ZERO[one] if one in WEAK else one.type(0) for one in types)
            ir, _ = self._function._lowered(samples, True)
            self._results[key] = (
                list(outputs) or result_dtypes(ir),
                not any(word in ir for word in ("tell ", "engine ")),  # which have an order
            )
        return self._results[key]

    def __call__(self, *inputs, out=None, where=True, **options):
        for name in options:
            raise TypeError(
                f"{self.__name__}() is computed at its call, since no kernel runs it, and takes out and where, "
                f"not {name}"
            )
        if len(inputs) > self.nin:
            if out is not None:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            inputs, out = inputs[: self.nin], inputs[self.nin :]
        if len(inputs) != self.nin:
            raise TypeError(
                f"{self.__name__}() takes {self.nin} positional arguments but {len(inputs)} were given"
            )
        given = [x if type(x) in WEAK else asarray(x) for x in inputs]
        types, outputs = self._types_for(given)
        dtypes, in_parallel = self._results_of(types, outputs)
        self.nout = len(dtypes)
        self.nargs = self.nin + self.nout
        outs = out if isinstance(out, tuple) else (out,)
        outs += (None,) * (self.nout - len(outs))
        if any(each is not None and not isinstance(each, ndarray) for each in outs):
            raise TypeError("return arrays must be of ArrayType")
        mask = None if where is True else asarray(where)
        shapes = [x.shape for x in given if type(x) not in WEAK]
        shape = broadcast_shapes(*shapes, *([] if mask is None else [mask.shape]))
        shown = [each.shape for each in outs if each is not None]
        if shown and broadcast_shapes(shape, *shown) != shown[0]:
            raise ValueError(f"non-broadcastable output operand with shape {shown[0]} for {shape}")
        shape = shown[0] if shown else shape
        arrays = [x for x in given if type(x) not in WEAK]
        if not arrays:
            return self._delivered(
                self._computed(given, types, dtypes, shape, mask, in_parallel), outs, mask, shape
            )
        with next((x for x in arrays if x.ndim), arrays[0]).device:
            return self._delivered(
                self._computed(given, types, dtypes, shape, mask, in_parallel), outs, mask, shape
            )

    def _delivered(self, results, outs, mask, shape):
        finished = []
        for result, target in zip(results, outs):
            if target is None and mask is not None:
                target = _core.zeros(shape, result.dtype)
            if target is None:
                finished.append(result if shape else result[()])
                continue
            if not _core.can_cast(result.dtype, target.dtype, "same_kind"):
                raise TypeError(
                    f"Cannot cast ufunc '{self.__name__}' output from {result.dtype!r} to {target.dtype!r} with "
                    "casting rule 'same_kind'"
                )
            _core.copyto(target, result, "unsafe", where=True if mask is None else mask)
            finished.append(target)
        return finished[0] if self.nout == 1 else tuple(finished)

    def _computed(self, given, types, dtypes, shape, mask, in_parallel):
        chosen = None
        if mask is not None:
            chosen = _core.broadcast_to(mask, shape).ravel()
        rows = []
        for x, kind in zip(given, types):
            if type(x) in WEAK:
                rows.append(x if kind in WEAK else _core.full((), x, kind)[()])
            elif x.ndim == 0:
                rows.append(x.astype(kind)[()])
            else:
                row = _core.broadcast_to(x, shape).ravel().astype(kind, copy=False)
                rows.append(row if chosen is None else row[chosen])
        count = 1
        for extent in shape:
            count *= extent
        if chosen is not None:
            count = int(chosen.sum())
        results = [_core.empty((count,), dtype) for dtype in dtypes]
        loop = _loop(tuple(isinstance(row, ndarray) for row in rows), len(dtypes), in_parallel)
        loop(self._function, count, *rows, *results)
        if chosen is None:
            return [result.reshape(shape) for result in results]
        whole = []
        for result in results:
            full = _core.zeros(chosen.shape, result.dtype)
            full[chosen] = result
            whole.append(full.reshape(shape))
        return whole
