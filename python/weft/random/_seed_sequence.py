"""Seeds: entropy mixed into words that are as good as independent.

Method: O'Neill, "Developing a seed_seq alternative", 2015, with NumPy's constants and its tree of children.
"""

import abc
import re
import secrets
from operator import index as _index

from weft import _core
from weft._array.class_attributes import with_attributes
from weft._core import asarray, ndarray
from weft._engine.numpy_version import numpy_is_at_least

_MASK = 0xFFFFFFFF
_POOL = 4


def _words_of(value):
    """A number, or a sequence of them, as words of 32 bits, low ones first."""
    if isinstance(value, str):
        if value.startswith("0x"):
            value = int(value, base=16)
        elif re.match("[0-9]+", value):
            value = int(value)
        else:
            raise ValueError("unrecognized seed string")
    if hasattr(value, "__index__") and not getattr(value, "shape", ()):
        value = _index(value)
        if value < 0:
            raise ValueError("expected non-negative integer")
        words = [value & _MASK]
        while value := value >> 32:
            words.append(value & _MASK)
        return words
    if isinstance(value, float) or not hasattr(value, "__iter__"):
        raise TypeError("seed must be integer")
    return [word for each in value for word in _words_of(each)]


class ISeedSequence(abc.ABC):
    """What gives words to start a stream from."""

    @abc.abstractmethod
    def generate_state(self, n_words, dtype="uint32"):
        """So many words, uint32 or uint64."""


class ISpawnableSeedSequence(ISeedSequence):
    """The same, and children of it."""

    @abc.abstractmethod
    def spawn(self, n_children):
        """So many children."""


def _check_children(count):
    if count >= 0:
        return
    if numpy_is_at_least(2, 5):
        raise ValueError("n_children must be non-negative")
    raise OverflowError("can't convert negative value to uint32_t")


def _is_nested(entropy):
    """Which NumPy takes for one row before 2.5."""
    if isinstance(entropy, ndarray):
        return entropy.ndim > 1
    return isinstance(entropy, (list, tuple)) and any(
        isinstance(each, (list, tuple, range)) or (isinstance(each, ndarray) and each.ndim)
        for each in entropy
    )


class SeedlessSeedSequence(ISpawnableSeedSequence):
    """Stands where a bit generator has no seed."""

    def generate_state(self, n_words, dtype="uint32"):
        """None: raises NotImplementedError."""
        raise NotImplementedError("seedless SeedSequences cannot generate state")

    def spawn(self, n_children):
        """Itself, so many times."""
        _check_children(n_children)
        return [self] * n_children


@with_attributes("entropy", "n_children_spawned", "pool_size", "spawn_key")
class SeedSequence(ISpawnableSeedSequence):
    """Entropy and the path of spawned children; generate_state gives words to start a stream from.

    >>> np.random.SeedSequence(42).generate_state(2)
    array([3444837047, 2669555309], dtype=uint32)
    """

    def __init__(self, entropy=None, *, spawn_key=(), pool_size=_POOL, n_children_spawned=0):
        if pool_size < _POOL:
            raise ValueError(f"The size of the entropy pool should be at least {_POOL}")
        if entropy is None:
            entropy = secrets.randbits(32 * pool_size)
        elif not (
            hasattr(entropy, "__index__") or isinstance(entropy, (list, tuple, range, ndarray))
        ) and not (hasattr(entropy, "__array__")):
            raise TypeError(f"SeedSequence expects int or sequence of ints for entropy not {entropy}")
        if _is_nested(entropy) and numpy_is_at_least(2, 5):
            raise TypeError("SeedSequence does not accept nested sequences.")
        self.entropy = entropy
        self.spawn_key = tuple(spawn_key)
        self.pool_size = pool_size
        self.n_children_spawned = n_children_spawned
        if isinstance(entropy, ndarray) or hasattr(entropy, "__array__"):
            entropy = entropy.tolist()
        self._pool = _core._seed_pool(_words_of(entropy), _words_of(self.spawn_key), pool_size)

    @property
    def pool(self):
        """The mixed words."""
        return asarray(self._pool, "uint32")

    def _words(self, count, bits):
        words = _core._seed_words(self._pool, count * bits // 32)
        if bits == 32:
            return words
        return [low | high << 32 for low, high in zip(words[::2], words[1::2])]

    def generate_state(self, n_words, dtype="uint32"):
        """So many words, uint32 or uint64."""
        name = _core.dtype(dtype).name
        if name not in ("uint32", "uint64"):
            raise ValueError("only support uint32 or uint64")
        return asarray(self._words(n_words, int(name[4:])), name)

    def spawn(self, n_children):
        """So many children, whose streams are as good as independent of this one's and each other's."""
        _check_children(n_children)
        first = self.n_children_spawned
        self.n_children_spawned += n_children
        return [
            type(self)(self.entropy, spawn_key=(*self.spawn_key, first + k), pool_size=self.pool_size)
            for k in range(n_children)
        ]

    @property
    def state(self):
        """What makes an equal one."""
        names = ("entropy", "spawn_key", "pool_size", "n_children_spawned")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def __reduce__(self):
        return _seed_sequence_of, (self.state,)

    def __repr__(self):
        lines = [f"{type(self).__name__}(", f"    entropy={self.entropy!r},"]
        if self.spawn_key:
            lines.append(f"    spawn_key={self.spawn_key!r},")
        if self.pool_size != _POOL:
            lines.append(f"    pool_size={self.pool_size!r},")
        if self.n_children_spawned != 0:
            lines.append(f"    n_children_spawned={self.n_children_spawned!r},")
        return "\n".join([*lines, ")"])


def _seed_sequence_of(state):
    return SeedSequence(**state)
