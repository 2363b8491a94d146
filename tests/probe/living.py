"""Python objects that do something while they are looked at: for the scripts of the probe objects.

`World(...)` names the arrays, lists and buffers of a script; an action changes one of them, or enters weft again. The
objects of the other classes do their action when their method is called for the `at`-th time.
"""

import array
import gc

import numpy
import weft as np
from junk import Oops


class World:
    """What the objects of a script can reach. There is one at a time."""

    def __init__(self, **things):
        global world
        world = self
        self.things = things
        self.held = []

    def all(self, kind):
        return [thing for thing in self.things.values() if isinstance(thing, kind)]


world = World()


def action(function):
    """An action ends as it can: what it tries may be refused."""

    def act():
        try:
            function()
        except (Exception, RecursionError):
            pass

    act.__name__ = function.__name__
    ACTIONS[function.__name__] = act
    return act


ACTIONS = {}


@action
def nothing():
    pass


@action
def reshapes():
    for x in world.all(np.ndarray):
        x.shape = (x.size, 1, 1)


@action
def flattens():
    for x in world.all(np.ndarray):
        x.shape = x.size


@action
def shrinks():
    for x in world.all(np.ndarray):
        x.resize(1, refcheck=False)


@action
def empties():
    for x in world.all(np.ndarray):
        x.resize((0,), refcheck=False)


@action
def grows():
    for x in world.all(np.ndarray):
        x.resize((200, 300), refcheck=False)


@action
def becomes_other():
    for x in world.all(np.ndarray):
        x.__setstate__(np.ones((2, 2), "D").__reduce__()[2])


@action
def becomes_small():
    for x in world.all(np.ndarray):
        x.__setstate__(np.ones((), "b").__reduce__()[2])


@action
def writes():
    for x in world.all(np.ndarray):
        x[...] = 2


@action
def writes_far():
    for x in world.all(np.ndarray):
        x[...] = 2**31 - 1 if x.dtype.kind in "iu" and x.itemsize > 2 else 100


@action
def forbids_writing():
    for x in world.all(np.ndarray):
        x.flags.writeable = False


@action
def forgets():
    world.things.clear()
    world.held.clear()
    gc.collect()


@action
def collects():
    gc.collect()


@action
def lengthens():
    for x in world.all((list, bytearray)):
        x.extend([1] * 1000)
    for x in world.all(array.array):
        x.extend(
            (x.typecode == "d" and array.array("d", [1.0] * 1000)) or array.array(x.typecode, [1] * 1000)
        )
    for x in world.all(dict):
        x.update((str(k), k) for k in range(100))
    for x in world.all(set):
        x.update(range(100, 200))


@action
def shortens():
    for x in world.all((list, bytearray, array.array)):
        del x[:]
    for x in world.all((dict, set)):
        x.clear()


@action
def releases():
    for x in world.all(memoryview):
        x.release()


@action
def computes():
    for x in world.all(np.ndarray):
        np.eval(x)
        float((x * 2 + 1).sum())
        np.sort(x.ravel()).tolist()


@action
def shows():
    for x in world.all(np.ndarray):
        world.held.append(memoryview(x))
        world.held.append(numpy.asarray(x))


@action
def takes_views():
    for x in world.all(np.ndarray):
        world.held += [x[...], x.T, x[1:] if x.ndim else x, x.ravel()]


@action
def prints():
    for x in world.all(np.ndarray):
        repr(x)


def raises():
    raise Oops


def exits():
    raise KeyboardInterrupt


ACTIONS["raises"] = raises


class Acts:
    """Does its action at the `at`-th call of any of its methods, and at each one after if `again`."""

    def __init__(self, action, at=1, again=False):
        self._action, self._at, self._again, self._calls = action, at, again, 0

    def _do(self):
        self._calls += 1
        if self._calls == self._at or (self._again and self._calls > self._at):
            self._action()


class Number(Acts):
    """A number."""

    def __init__(self, action, value=1, at=1, again=False):
        super().__init__(action, at, again)
        self._value = value

    def __index__(self):
        self._do()
        return self._value if isinstance(self._value, int) else int(self._value)

    def __int__(self):
        self._do()
        return int(self._value)

    def __float__(self):
        self._do()
        return float(self._value)

    def __complex__(self):
        self._do()
        return complex(self._value)

    def __bool__(self):
        self._do()
        return bool(self._value)

    def __eq__(self, other):
        self._do()
        return self._value == other

    def __lt__(self, other):
        self._do()
        return self._value < other

    def __hash__(self):
        self._do()
        return hash(self._value)

    def __repr__(self):
        self._do()
        return repr(self._value)

    def __neg__(self):
        self._do()
        return -self._value

    def __add__(self, other):
        self._do()
        return self._value + other

    __radd__ = __mul__ = __rmul__ = __sub__ = __mod__ = __floordiv__ = __add__


class WholeNumber(int):
    """An int whose methods act: its type is int's, its value is not asked for."""

    def __new__(cls, action, value=1, at=1, again=False):
        self = int.__new__(cls, value)
        self.acts = Acts(action, at, again)
        return self

    def __index__(self):
        self.acts._do()
        return int.__index__(self)

    __int__ = __index__

    def __float__(self):
        self.acts._do()
        return 1.5

    def __bool__(self):
        self.acts._do()
        return True

    def __hash__(self):
        self.acts._do()
        return int.__hash__(self)

    def __eq__(self, other):
        self.acts._do()
        return int.__eq__(self, other)


class Items(Acts):
    """A sequence: says that it has `said` items, and gives others each time it is walked."""

    def __init__(self, action, items=(1, 2, 3), later=None, said=None, at=1, again=False):
        super().__init__(action, at, again)
        self._items, self._later, self._said, self._walks = items, later, said, 0

    def _now(self):
        return self._items if self._later is None or self._walks <= 1 else self._later

    def __len__(self):
        self._do()
        return len(self._now()) if self._said is None else self._said

    def __getitem__(self, place):
        self._do()
        if place == 0:
            self._walks += 1
        return self._now()[place]

    def __iter__(self):
        self._do()
        self._walks += 1
        for item in self._now():
            self._do()
            yield item

    def __contains__(self, item):
        self._do()
        return True


class LyingList(list):
    """A list whose methods say otherwise."""

    def __init__(self, action, items=(1, 2, 3), at=1, again=False):
        super().__init__(items)
        self.acts = Acts(action, at, again)

    def __len__(self):
        self.acts._do()
        return 2

    def __iter__(self):
        self.acts._do()
        return iter([5] * 10)

    def __getitem__(self, place):
        self.acts._do()
        return 7


class LyingTuple(tuple):
    """A tuple whose methods say otherwise."""

    def __new__(cls, action, items=(1, 2, 3), at=1, again=False):
        self = tuple.__new__(cls, items)
        self.acts = Acts(action, at, again)
        return self

    def __len__(self):
        self.acts._do()
        return 7

    def __iter__(self):
        self.acts._do()
        return iter([5] * 10)

    def __getitem__(self, place):
        self.acts._do()
        return 7


class Converts(Acts):
    """Becomes an array: another one each time."""

    def __init__(self, action, value, later=None, at=1, again=False):
        super().__init__(action, at, again)
        self._value, self._later = value, later

    def __array__(self, dtype=None, copy=None):
        self._do()
        value, self._value = self._value, self._value if self._later is None else self._later
        return value

    @property
    def shape(self):
        self._do()
        return (3,)

    @property
    def dtype(self):
        self._do()
        return np.dtype("f4")

    @property
    def ndim(self):
        self._do()
        return 5

    @property
    def size(self):
        self._do()
        return 2**40


class Describes(Acts):
    """Says where its memory is, and does its action when it is asked."""

    def __init__(self, action, value, at=1, again=False):
        super().__init__(action, at, again)
        self._value = value

    @property
    def __array_interface__(self):
        self._do()
        return numpy.asarray(self._value).__array_interface__


class Lends(Acts):
    """Shares memory by DLPack."""

    def __init__(self, action, value, at=1, again=False):
        super().__init__(action, at, again)
        self._value = numpy.asarray(value)

    def __dlpack__(self, **options):
        self._do()
        return self._value.__dlpack__(**options)

    def __dlpack_device__(self):
        self._do()
        return self._value.__dlpack_device__()


class Decides(Acts):
    """Overrides what is computed with it."""

    def __init__(self, action, result=None, at=1, again=False):
        super().__init__(action, at, again)
        self._result = result

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        self._do()
        return self._result

    def __array_function__(self, function, types, arguments, options):
        self._do()
        return self._result


class Watching(np.ndarray):
    """A subclass that acts when one of its arrays is made, or asked how it looks."""

    acts = Acts(nothing)

    def __array_finalize__(self, origin):
        Watching.acts._do()

    def __array_wrap__(self, array, context=None, return_scalar=False):
        Watching.acts._do()
        return array

    @property
    def ndim(self):
        Watching.acts._do()
        return 1

    @property
    def shape(self):
        Watching.acts._do()
        return (100,)

    @property
    def size(self):
        Watching.acts._do()
        return 100

    @property
    def dtype(self):
        Watching.acts._do()
        return np.dtype("D")


def watching(action, array, at=1, again=False):
    view = np.ndarray.view(array, Watching)
    Watching.acts = Acts(action, at, again)
    return view


class Keywords(dict):
    """A dictionary for **, whose size changes while it is walked."""

    def __init__(self, action, at=1, again=False, **items):
        super().__init__(items)
        self.acts = Acts(action, at, again)

    def keys(self):
        self.acts._do()
        self["extra"] = 1
        return list(dict.keys(self))

    def __getitem__(self, key):
        self.acts._do()
        return dict.__getitem__(self, key)


def generated(action, items=(1, 2, 3), at=1, again=False):
    """A generator."""
    acts = Acts(action, at, again)
    for item in items:
        acts._do()
        yield item


def function(action, result=None, at=1, again=False):
    """A function that acts and gives the result, or its first argument."""
    acts = Acts(action, at, again)

    def call(*arguments, **options):
        acts._do()
        return (arguments[0] if arguments else 0) if result is None else result

    return call


globals().update(ACTIONS)
__all__ = [
    name for name in globals() if not name.startswith("_") and name not in ("np", "array", "gc", "numpy")
]
