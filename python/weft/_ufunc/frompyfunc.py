"""frompyfunc: functions of Python as ufuncs over objects, as NumPy has them."""

from weft import _core
from weft._array.axes import broadcast_shapes
from weft._core import ndarray
from weft._ufunc import element_loops

_NUMBERS = (bool, int, float)


def frompyfunc(func, /, nin, nout, **kwargs):
    """A Python function of `nin` values, which gives `nout`, as a ufunc: a call for each element, after broadcasting.

    It gets Python's objects, numbers of arrays of numbers, and results are arrays of objects; of values alone the
    result is what the function returns. All of a ufunc's methods are there; `identity` is what `reduce` gives for no
    elements. Over many numbers the function is compiled where the results are those of Python's calls.

    >>> gcd = np.frompyfunc(lambda a, b: a if b == 0 else gcd(b, a % b), 2, 1)
    >>> gcd([12, 18, 7], 6)
    array([6, 6, 1], dtype=object)
    >>> gcd.reduce([12, 18, 30])
    6
    """
    import numpy

    return ObjectUfunc(func, numpy.frompyfunc(func, nin, nout, **kwargs))


class ObjectUfunc:
    """NumPy's ufunc of a Python function, with weft's arrays on both sides."""

    def __init__(self, function, numpys):
        self._function, self._numpys = function, numpys

    __class__ = property(lambda self: _core.ufunc)  # to isinstance it is one

    def __repr__(self):
        return repr(self._numpys)

    def __getattr__(self, name):
        return getattr(self._numpys, name)

    def __reduce__(self):
        return self._numpys.__name__  # as NumPy's: copies are itself, and pickles do not find it

    def __call__(self, *inputs, **options):
        function = self._numpys
        reason = "a function of Python's"
        if not options and len(inputs) == function.nin:
            found = self._compiled(inputs)
            if type(found) is list:
                return found[0] if function.nout == 1 else tuple(found)
            reason = found or reason
        return self._run("", function, inputs, options, reason)

    def _compiled(self, inputs):
        """Arrays of objects from a compiled loop, or why there are none, or None where it was not tried."""
        arrays = [each for each in inputs if type(each) is ndarray]
        if not arrays or any(type(each) is not ndarray and type(each) not in _NUMBERS for each in inputs):
            return None
        try:
            shape = broadcast_shapes(*(each.shape for each in arrays))
        except ValueError:
            return None  # NumPy says it
        if shape == ():
            return None
        found = element_loops.computed(
            self._function, element_loops.arguments(self._function, inputs, {}), shape
        )
        if not isinstance(found, tuple):
            return found
        results, single = found
        if len(results) != self._numpys.nout or single != (self._numpys.nout == 1):
            return "another number of results"
        return [each.astype(object) for each in results]

    def _run(self, method, function, args, options, reason="a function of Python's", first=False):
        from weft._protocols import host_arrays

        name = self._numpys.__name__ + (f".{method}" if method else "")
        return host_arrays.run(name, function, args, options, reason, first)


def _method(name, first=False):
    def method(self, *args, **options):
        return self._run(name, getattr(self._numpys, name), args, options, first=first)

    method.__name__ = name
    return method


for _name in ("reduce", "accumulate", "reduceat", "outer"):
    setattr(ObjectUfunc, _name, _method(_name))
ObjectUfunc.at = _method("at", first=True)
