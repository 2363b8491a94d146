"""NumPy's names about dtypes that weft leaves to it: scalar types, dates, matrices, records, iterators.

Types are NumPy's own. Functions run in NumPy, take and give weft's arrays, and are counted (weft.fallback_report()).
"""

import functools

import numpy

from weft import _core
from weft._engine.fallback import counted
from weft._protocols import host_arrays

TYPES = (
    "bytes_ str_ object_ void datetime64 timedelta64 longdouble clongdouble complex256 float128 flexible character "
    "busdaycalendar matrix memmap recarray record"
).split()
FUNCTIONS = (
    "isnat busday_offset busday_count is_busday datetime_as_string datetime_data asmatrix bmat fromregex nested_iters"
).split()


def run_by_numpy(function, name):
    """A function of NumPy's with weft's arrays on both sides, counted."""

    @functools.wraps(function)
    def by_numpy(*args, **kwargs):
        return host_arrays.run(name, function, args, kwargs, "NumPy alone has it")

    by_numpy.__module__ = "weft"
    return by_numpy


def of_module(module, name):
    """A name of one of NumPy's modules as weft's module of that name shows it."""
    if name.startswith("_") or not hasattr(module, name):
        raise AttributeError(
            f"module '{module.__name__.replace('numpy', 'weft', 1)}' has no attribute {name!r}"
        )
    value = getattr(module, name)
    if isinstance(value, type) or not callable(value):
        return value
    return run_by_numpy(value, f"{module.__name__.removeprefix('numpy.')}.{name}")


class nditer:
    """NumPy's iterator over arrays, whose memory on the CPU it reads and writes. Its parameters are numpy.nditer's.

    Raises TypeError for arrays on a GPU: what it wrote would be lost.

    >>> [int(x) for x in np.nditer(np.arange(3))]
    [0, 1, 2]
    """

    def __new__(cls, op, *args, **kwargs):
        if type(op) is _core.ndarray and op.device == "cpu":
            counted("nditer", "NumPy alone has it")
            return numpy.nditer(numpy.asarray(op), *args, **kwargs)
        operands = tuple(op) if isinstance(op, (tuple, list)) else (op,)
        for each in operands:
            if isinstance(each, _core.ndarray) and each.device != "cpu":
                raise TypeError(f"nditer is over the CPU's memory: move the array on {each.device} to it")
        counted("nditer", "NumPy alone has it")
        return numpy.nditer(host_arrays.Conversion().to_numpy(operands), *args, **kwargs)


nditer.__module__ = "weft"

for _name in TYPES:
    if hasattr(numpy, _name):  # some depend on the machine
        globals()[_name] = getattr(numpy, _name)
for _name in FUNCTIONS:
    globals()[_name] = run_by_numpy(getattr(numpy, _name), _name)
