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
    "busdaycalendar matrix recarray record"
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
    value = NotImplemented if name.startswith("_") else getattr(module, name, NotImplemented)
    if value is NotImplemented:
        raise AttributeError(
            f"module '{module.__name__.replace('numpy', 'weft', 1)}' has no attribute {name!r}"
        )
    if isinstance(value, type) or not callable(value):
        return value
    return run_by_numpy(value, f"{module.__name__.removeprefix('numpy.')}.{name}")


class nditer:
    """NumPy's iterator over arrays, whose memory on the CPU it reads and writes. Its parameters are numpy.nditer's.

    Raises TypeError for arrays on a GPU: what it wrote would be lost.

    >>> [int(x) for x in np.nditer(np.arange(3))]
    [0, 1, 2]
    """

    __slots__ = ("_conversion", "_iterator")

    def __init__(
        self,
        op,
        flags=None,
        op_flags=None,
        op_dtypes=None,
        order="K",
        casting="safe",
        op_axes=None,
        itershape=None,
        buffersize=0,
    ):
        for each in op if isinstance(op, (tuple, list)) else (op,):
            if isinstance(each, _core.ndarray) and each.device != "cpu":
                raise TypeError(f"nditer is over the CPU's memory: move the array on {each.device} to it")
        counted("nditer", "NumPy alone has it")
        self._conversion = conversion = host_arrays.Conversion()
        self._iterator = numpy.nditer(
            conversion.to_numpy(op),
            flags,
            op_flags,
            conversion.to_numpy(op_dtypes),
            order,
            casting,
            op_axes,
            itershape,
            buffersize,
        )

    @classmethod
    def _over(cls, iterator, conversion):
        self = cls.__new__(cls)
        self._iterator, self._conversion = iterator, conversion
        return self

    @property
    def operands(self):
        """The arrays that it goes over: those that were given, and those that it has made."""
        # A copy that is written back is NumPy's own: its flags say so, until it is.
        return tuple(
            host_arrays.HostArray(each) if each.flags.writebackifcopy else self._conversion.to_weft(each)
            for each in self._iterator.operands
        )

    def copy(self, /):
        """Another iterator in the same state."""
        return nditer._over(self._iterator.copy(), self._conversion)

    __copy__ = copy

    def __iter__(self):
        return iter(self._iterator)

    def __enter__(self):
        self._iterator.__enter__()
        return self


def _of_iterator(name):
    """An attribute or a method of NumPy's iterator."""
    theirs = getattr(numpy.nditer, name)
    if not callable(theirs):
        return property(
            lambda self: getattr(self._iterator, name),
            lambda self, value: setattr(self._iterator, name, value),
            lambda self: delattr(self._iterator, name),
            theirs.__doc__,
        )

    @functools.wraps(theirs)
    def method(self, *args):
        return theirs(self._iterator, *args)

    return method


nditer.__module__ = "weft"
for _name in vars(numpy.nditer):
    if _name not in vars(nditer) and _name not in ("__getattribute__", "__new__"):
        setattr(nditer, _name, _of_iterator(_name))

for _name in TYPES:
    if hasattr(numpy, _name):  # some depend on the machine
        globals()[_name] = getattr(numpy, _name)
for _name in FUNCTIONS:
    globals()[_name] = run_by_numpy(getattr(numpy, _name), _name)
