"""Functions of Python as ufuncs over numbers, for functions that are not compiled into kernels."""

import math
from contextlib import nullcontext

from weft import _core
from weft._array.axes import broadcast_shapes, moveaxis, normalize_axes
from weft._core import array, asarray, ndarray
from weft._engine.fallback import calling
from weft._ufunc import element_loops

_NONE = object()


def elements_in_shape(x, shape):
    """The elements of an array in a larger shape, as Python's objects."""
    if issubclass(type(x), ndarray):
        return _core.broadcast_to(x, shape).ravel().tolist()
    import numpy  # of objects, texts and dates

    return numpy.broadcast_to(x, shape).ravel().tolist()


class PythonUfunc:
    """A ufunc whose loop calls a Python function. Results are arrays of numbers."""

    def __init__(self, function, nin, nout, identity):
        if not callable(function):
            raise TypeError("function must be callable")
        if nin < 0 or nout < 0:
            raise ValueError(
                f"a ufunc has no negative number of operands: {nin} given to it, {nout} given by it"
            )
        self._function, self.nin, self.nout, self.identity = function, int(nin), int(nout), identity
        self.nargs, self.ntypes, self.signature = self.nin + self.nout, 1, None
        self.types = ["O" * self.nin + "->" + "O" * self.nout]
        self.__name__ = f"{getattr(function, '__name__', '?')} (vectorized)"
        self.__doc__ = getattr(function, "__doc__", None)

    def __repr__(self):
        return f"<ufunc {self.__name__!r}>"

    def __call__(self, *inputs, out=None, where=True):
        if not self.nin <= len(inputs) <= self.nargs:
            least, most = self.nin, self.nargs
            allowed = f"from {least} to {most} positional arguments" if self.nout else f"{least} arguments"
            were = "was" if len(inputs) == 1 else "were"
            raise TypeError(f"{self.__name__}() takes {allowed} but {len(inputs)} {were} given")
        if len(inputs) > self.nin:
            if out is not None:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            inputs, out = inputs[: self.nin], inputs[self.nin :]
        outs = out if isinstance(out, tuple) else (out,) * min(1, self.nout)
        outs += (None,) * (self.nout - len(outs))
        if any(each is not None and not isinstance(each, ndarray) for each in outs):
            raise TypeError("return arrays must be of ArrayType")
        given = [asarray(value) for value in inputs]
        mask = asarray(where)
        shape = broadcast_shapes(*(x.shape for x in given), mask.shape)
        shown = [each.shape for each in outs if each is not None]
        if shown and broadcast_shapes(shape, *shown) != shown[0]:
            raise ValueError(f"output of shape {shown[0]} does not hold what broadcasts to {shape}")
        chosen = None if where is True else _core.broadcast_to(mask, shape).ravel().tolist()
        if chosen is None and shape != ():
            compiled = self._compiled(given, shape)
            if not isinstance(compiled, (str, type(None))):
                return self._put_all(compiled, outs)
            with calling(self.__name__, compiled) if compiled else nullcontext():
                rows = self._rows_of(given, shape)
        else:
            rows = self._rows_of(given, shape, chosen)
        if shape == () and not shown and chosen is None:
            return rows[0][0] if self.nout == 1 else rows[0]
        results = []
        for position, target in enumerate(outs):
            values = self._array([row[position] for row in rows])
            if chosen is None and target is None:
                results.append(values.reshape(shape))
                continue
            if target is None:
                target = _core.zeros(shape, values.dtype)
            if chosen is None:
                _core.copyto(target, values.reshape(shape), "same_kind")
            else:
                target[_core.broadcast_to(mask, target.shape)] = values.astype(
                    target.dtype, casting="same_kind"
                )
            results.append(target)
        return results[0] if self.nout == 1 else tuple(results)

    def _compiled(self, given, shape):
        """Results of a compiled loop, or why there are none, or None where it was not tried."""
        found = element_loops.computed(
            self._function, element_loops.arguments(self._function, given, {}), shape
        )
        if not isinstance(found, tuple):
            return found
        results, single = found
        if len(results) != self.nout or single != (self.nout == 1):
            return "another number of results"
        return results

    def _put_all(self, results, outs):
        finished = []
        for result, target in zip(results, outs):
            if target is not None:
                _core.copyto(target, result, "same_kind")
            finished.append(result if target is None else target)
        return finished[0] if self.nout == 1 else tuple(finished)

    def _rows_of(self, given, shape, chosen=None):
        """The function's results, for each element or each chosen one."""
        columns = [elements_in_shape(x, shape) for x in given]
        return [
            self._call([column[k] for column in columns])
            for k in range(math.prod(shape))
            if chosen is None or chosen[k]
        ]

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=_NONE):
        """The function of the first two elements along `axis`, then of that and the third, and so on."""
        self._ask_for_two("reduce")
        x = asarray(array)
        if (axis is None and x.ndim > 1) or (isinstance(axis, tuple) and len(axis) > 1):
            raise ValueError(
                f"reduction operation {self.__name__!r} is not reorderable, so at most one axis may be specified"
            )
        if x.ndim == 0:
            return self._deliver([self._fold([x.tolist()], initial)], (), dtype, out)
        (axis,) = normalize_axes(0 if axis is None else axis, x.ndim, None)
        rows, kept = self._rows(x, axis)
        shape = (*kept[:axis], 1, *kept[axis:]) if keepdims else kept
        return self._deliver([self._fold(row, initial) for row in rows], shape, dtype, out)

    def accumulate(self, array, axis=0, dtype=None, out=None):
        """What `reduce` passes on the way, an element for each."""
        self._ask_for_two("accumulate")
        x = asarray(array)
        if x.ndim == 0:
            raise TypeError("cannot accumulate on a scalar")
        (axis,) = normalize_axes(axis, x.ndim, None)
        rows, kept = self._rows(x, axis)
        values = [value for row in rows for value in self._steps(row)]
        result = moveaxis(self._array(values).reshape((*kept, x.shape[axis])), -1, axis)
        return self._put(result if dtype is None else result.astype(dtype), out)

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        """`reduce` of the elements from each index up to the next; of one element where the next is not larger."""
        self._ask_for_two("reduceat")
        x = asarray(array)
        if x.ndim == 0:
            raise TypeError("cannot reduceat on a scalar")
        (axis,) = normalize_axes(axis, x.ndim, None)
        starts, size = asarray(indices).tolist(), x.shape[axis]
        for start in starts:
            if not 0 <= start < size:
                raise IndexError(f"index {start} out-of-bounds in {self.__name__}.reduceat [0, {size})")
        ends = [end if end > start else start + 1 for start, end in zip(starts, [*starts[1:], max(size, 1)])]
        rows, kept = self._rows(x, axis)
        values = [self._fold(row[start:end]) for row in rows for start, end in zip(starts, ends)]
        result = moveaxis(self._array(values).reshape((*kept, len(starts))), -1, axis)
        return self._put(result if dtype is None else result.astype(dtype), out)

    def outer(self, A, B, /, **options):
        """The function of each element of A with each of B: shape A.shape + B.shape."""
        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        left, right = asarray(A), asarray(B)
        return self(left.reshape(left.shape + (1,) * right.ndim), right, **options)

    def at(self, a, indices, b=None, /):
        """a[indices] = function(a[indices], b), one after the other where an index comes again."""
        if not isinstance(a, ndarray):
            raise TypeError("first operand must be array")
        if self.nout != 1 or self.nin not in (1, 2):
            raise ValueError("Only unary and binary ufuncs supported at this time")
        if (b is None) != (self.nin == 1):
            raise ValueError("second operand needed for ufunc" if b is None else "needs no second operand")
        # Where each chosen element lies in a's elements in C order: the same index into an array of positions.
        places = _core.arange(a.size).reshape(a.shape)[indices]
        numbers = a.ravel().tolist()
        others = [()] * places.size
        if b is not None:
            others = [(value,) for value in _core.broadcast_to(asarray(b), places.shape).ravel().tolist()]
        for place, other in zip(places.ravel().tolist(), others):
            numbers[place] = self._call([numbers[place], *other])[0]
        a[...] = self._array(numbers).astype(a.dtype, casting="same_kind").reshape(a.shape)

    def _call(self, numbers):
        value = self._function(*numbers)
        if self.nout == 1:
            return (value,)
        if not isinstance(value, tuple) or len(value) != self.nout:
            raise TypeError(f"{self.__name__} returned {value!r}, not a tuple of {self.nout} results")
        return value

    def _array(self, values):
        result = array(values) if values else _core.empty(0, "float64")
        if result.shape != (len(values),):
            raise TypeError(f"{self.__name__} returned {values[0]!r}; weft's arrays hold numbers")
        return result

    def _ask_for_two(self, method):
        if self.nin != 2:
            raise ValueError(f"{method} only supported for binary functions")
        if self.nout != 1:
            raise ValueError(f"{method} only supported for functions returning a single value")

    def _rows(self, x, axis):
        rows = moveaxis(x, axis, -1)
        kept = rows.shape[:-1]
        return rows.reshape((math.prod(kept), x.shape[axis])).tolist(), kept

    def _steps(self, row, initial=_NONE):
        if initial is not _NONE and initial is not None:
            row = [initial, *row]
        if not row:
            return
        value = row[0]
        yield value
        for each in row[1:]:
            (value,) = self._call([value, each])
            yield value

    def _fold(self, row, initial=_NONE):
        value = _NONE
        for value in self._steps(row, initial):  # noqa: B007
            pass
        if value is not _NONE:
            return value
        if self.identity is None:
            raise ValueError(f"zero-size array to reduction operation {self.__name__} which has no identity")
        return self.identity

    def _deliver(self, values, shape, dtype, out):
        if shape == () and out is None and dtype is None:
            return values[0]
        result = self._array(values).reshape(shape)
        return self._put(result if dtype is None else result.astype(dtype), out)

    @staticmethod
    def _put(result, out):
        if out is None:
            return result
        target = out[0] if isinstance(out, tuple) else out
        _core.copyto(target, result, "same_kind")
        return target
