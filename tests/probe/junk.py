"""What the scripts of the probes calls and objects import: odd values, and what watches a call of weft.

A script begins with `begin()`, wraps each function that it calls in `watched(function, what it may write)`, which
raises Fault where a call raised and yet changed what it was given, and hands each result to `use`.
"""

import array
import functools
import itertools
import sys
import types

import cases
import numpy
import weft as np

nan, inf = float("nan"), float("inf")

ADDRESSES = 6 << 30  # bytes that a script may have
LOOKED_AT = 1 << 14  # elements up to which values are read and compared

_PRINTING = np.get_printoptions()
_SETTINGS = {name: getattr(np.config, name) for name in dir(np.config) if name != "guard"}


def begin(**settings):
    """The state in which every script begins, whatever one before it has left."""
    cases.limit_addresses(ADDRESSES)
    for name, value in {**_SETTINGS, **settings}.items():
        if np._core._get_setting(name) != value:
            np._core._set_setting(name, value)
    np._core._set_current_device(None)
    np.seterr(all="ignore")
    np.seterrcall(None)
    np.set_printoptions(**_PRINTING)
    sys.setrecursionlimit(1000)


def _bytes_of(value):
    """What can be compared later, of what can be changed: the bytes of what has memory, and the layout of an array."""
    if isinstance(value, np.ndarray):
        held = (
            np.ndarray.copy(value) if value.size <= LOOKED_AT else None
        )  # recorded where `value` is pending
        return (value.shape, value.strides, value.dtype, held)
    if isinstance(value, numpy.ndarray):
        return value.tobytes() if value.size <= LOOKED_AT and not value.dtype.hasobject else None
    if isinstance(value, (bytearray, array.array)):
        return bytes(value)
    return None


def _same(before, value):
    if isinstance(value, np.ndarray):
        shape, strides, dtype, held = before
        if (shape, strides, dtype) != (value.shape, value.strides, value.dtype):
            return False
        return held is None or np.ndarray.tobytes(held) == np.ndarray.tobytes(value)
    return before is None or before == _bytes_of(value)


def _overlap(value, written):
    for other in written:
        if value is other:
            return True
        if isinstance(value, np.ndarray) and isinstance(other, np.ndarray):
            if np.may_share_memory(value, other):
                return True
        elif isinstance(value, (np.ndarray, numpy.ndarray)) and hasattr(other, "__array__"):
            return True
        elif type(value) in (bytearray, array.array) and hasattr(other, "__array__"):
            return True
    return False


def _flat(values):
    for value in values:
        if type(value) in (tuple, list):
            yield from value
        else:
            yield value


def watched(function, *writes):
    """The function, which must not change what it is given where it raises: but for `out` and arguments `writes`.

    A number stands for that argument, and (number,) for all from that one on.
    """
    last = min((place[0] for place in writes if isinstance(place, tuple)), default=1 << 30)

    @functools.wraps(function, assigned=(), updated=())
    def call(*arguments, **keywords):
        written = [value for place, value in enumerate(arguments) if place in writes or place >= last]
        written = list(_flat([*written, keywords.get("out")]))
        given = [
            value
            for value in _flat([*arguments, *(value for key, value in keywords.items() if key != "out")])
            if isinstance(value, (np.ndarray, numpy.ndarray, bytearray, array.array))
        ]
        given = [value for value in given if not _overlap(value, written)]
        before = [_bytes_of(value) for value in given]
        try:
            return function(*arguments, **keywords)
        except Exception as error:
            for place, value in enumerate(given):
                if not _same(before[place], value):
                    raise cases.Fault(f"array {place} was changed by a call that raised {error!r}") from error
            raise

    return call


def method(name):
    """The method of that name of the first argument."""
    return lambda self, *arguments, **keywords: getattr(self, name)(*arguments, **keywords)


def use(result, depth=0):
    """Looks at a result as programs do."""
    if isinstance(result, np.ndarray):
        str((result.shape, result.strides, result.dtype, result.nbytes, result.flags.num))
        if result.size <= LOOKED_AT:
            np.eval(result)
            np.ndarray.tobytes(result)
        repr(result)
    elif isinstance(result, np.generic):
        result.item()
        repr(result)
    elif isinstance(result, (tuple, list)) and depth < 3:
        for item in result[:20]:
            use(item, depth + 1)
    elif isinstance(result, dict) and depth < 3:
        for item in list(result.values())[:20]:
            use(item, depth + 1)
    elif isinstance(result, types.GeneratorType) or (hasattr(result, "__next__") and depth < 3):
        for item in itertools.islice(result, 3):
            use(item, depth + 1)


# ---- odd values ----


def as_is(value):
    return value


def total(*values, **options):
    """A function for those that call one."""
    return sum(values[1:], values[0]) if values else 0


def deep(depth, value=1):
    """Lists in lists."""
    for _ in range(depth):
        value = [value]
    return value


def cyclic():
    value = [1]
    value.append(value)
    return value


def pending(*shape):
    """An array that is still to be computed, whatever its size."""
    with np.config(small=0):
        return np.add(np.ones(shape), np.arange(1.0))


def readonly(value):
    value.flags.writeable = False
    return value


def overlapping():
    return np.lib.stride_tricks.as_strided(np.arange(8.0), (3, 4), (8, 8))


def aligned_badly():
    """Doubles at an odd address."""
    return np.frombuffer(bytearray(33), "d", 4, 1)


class Oops(Exception):
    pass


class Raises:
    """An object whose methods of these names raise."""

    def __new__(cls, *names):
        def raises(*arguments, **options):
            raise Oops

        return object.__new__(type("Raises", (Raises,), dict.fromkeys(names, raises)))

    def __init__(self, *names):
        pass


class Gives:
    """An object whose methods of these names give these values."""

    def __new__(cls, **values):
        def giving(value):
            return lambda *arguments, **options: value

        methods = {f"__{name}__": giving(value) for name, value in values.items()}
        return object.__new__(type("Gives", (Gives,), methods))

    def __init__(self, **values):
        pass


class Sequence:
    """A sequence that says that it has so many items, and has others."""

    def __init__(self, said, items):
        self.said, self.items = said, items

    def __len__(self):
        return self.said

    def __getitem__(self, place):
        if place >= self.items:
            raise IndexError(place)
        return place


class Has:
    """An object with attributes."""

    def __init__(self, **values):
        self.__dict__.update(values)


class SubArray(np.ndarray):
    pass


class Finalized(np.ndarray):
    def __array_finalize__(self, origin):
        if origin is not None:
            raise Oops


class SubInt(int):
    pass


class SubFloat(float):
    pass


class SubComplex(complex):
    pass


class SubList(list):
    pass


class SubTuple(tuple):
    pass


class SubStr(str):
    pass


class SubDict(dict):
    pass


def sub_array(*shape):
    return np.ones(shape).view(SubArray)


Point = __import__("collections").namedtuple("Point", "x y")


class Foreign:
    """An array of another library, by its interface."""

    def __init__(self, value):
        self.value = numpy.asarray(value)

    @property
    def __array_interface__(self):
        return self.value.__array_interface__


class Converts:
    """An object that becomes an array."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return self.value


class Overrides:
    """An object that decides what is computed with it."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return NotImplemented

    def __array_function__(self, function, types, arguments, options):
        return NotImplemented


__all__ = [name for name in globals() if not name.startswith("_") and name != "np"]
