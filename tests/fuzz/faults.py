"""Deliberate faults: NumPy made wrong in one place, to see that the random programs find it.

Each fault rewrites the steps that the subject runs, or replaces functions of the module.
"""

import re
import types

import numpy


class Changed(types.ModuleType):
    """NumPy with some functions replaced."""

    def __init__(self, **functions):
        super().__init__("numpy")
        self.__dict__.update(functions)

    def __getattr__(self, name):
        return getattr(numpy, name)


def nearly(function):
    """The function with its floating-point results moved by an ulp: no fault, the tolerances must allow it."""

    def moved(*args, **kwargs):
        result = function(*args, **kwargs)
        if isinstance(result, (numpy.ndarray, numpy.generic)) and result.dtype.kind == "f":
            return numpy.nextafter(result, numpy.asarray(0, result.dtype))[()]
        return result

    return moved


def wrong_sum(x, *args, **kwargs):
    """A sum in which small integers wrap instead of widening."""
    x = numpy.asarray(x)
    if x.dtype.kind in "iu" and not kwargs.get("dtype"):
        kwargs["dtype"] = x.dtype
    return numpy.sum(x, *args, **kwargs)


def copy_in_order(target, value):
    """An assignment that reads each element only when it writes it."""
    while value.ndim > target.ndim and value.shape[0] == 1:
        value = value[0]
    value = numpy.broadcast_to(value, target.shape)
    for index in numpy.ndindex(target.shape):
        target[index] = value[index]


def within_ulps():
    names = "exp exp2 expm1 log log2 log10 log1p sin cos tan arctan sinh cosh tanh cbrt hypot arctan2".split()
    return Changed(**{name: nearly(getattr(numpy, name)) for name in names})


# name: (module, rewrite of a step)
FAULTS = {
    "copy gives a view": (numpy, lambda source: source.replace(".copy()", "[...]")),
    "flatten gives a view": (numpy, lambda source: source.replace(".flatten()", ".ravel()")),
    "ravel copies": (numpy, lambda source: source.replace(".ravel()", ".flatten()")),
    "a slice is a copy": (numpy, lambda source: re.sub(r"^(x\d+ = x\d+\[[^]]*:[^]]*\])$", r"\1.copy()", source)),
    "overlap is ignored": (
        Changed(copy_in_order=copy_in_order),
        lambda source: re.sub(r"^(x\d+)\[(.*)\] = \1\[(.*)\]$", r"np.copy_in_order(\1[\2], \1[\3])", source),
    ),
    "transpose is contiguous": (numpy, lambda source: re.sub(r"^(x\d+ = x\d+\.T)$", r"\1.copy()", source)),
    "sums of small integers wrap": (Changed(sum=wrong_sum), None),
    "where gives float64": (Changed(where=lambda *a: numpy.where(*a) * numpy.float64(1)), None),
    "reversed slices start one late": (numpy, lambda source: source.replace("[::-1]", "[-2::-1]")),
    "casting is not checked": (numpy, lambda source: source.replace(", casting='safe'", "")),
    "minimum of nothing is 0": (numpy, lambda source: re.sub(r"^(x\d+) = (x\d+)\.max\(\)$",
                                                             r"\1 = \2.max(initial=0) if \2.size == 0 else \2.max()",
                                                             source)),
    "exp is wrong in the sixth digit": (
        Changed(exp=lambda x: numpy.exp(x) * numpy.asarray(1 + 1e-6, numpy.exp(x).dtype)),
        None,
    ),
}  # fmt: skip
