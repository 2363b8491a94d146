"""Seeds: entropy mixed into words that are as good as independent.

Method: O'Neill, "Developing a seed_seq alternative", 2015, with NumPy's constants and its tree of children.
"""

import secrets
from operator import index as _index

from weft import _core
from weft._core import asarray

_MASK = 0xFFFFFFFF
_POOL = 4


def _words_of(value):
    """A number, or a sequence of them, as words of 32 bits, low ones first."""
    if value is None:
        return []
    if hasattr(value, "__index__"):
        value = _index(value)
        if value < 0:
            raise ValueError("expected non-negative integer")
        words = [value & _MASK]
        while value := value >> 32:
            words.append(value & _MASK)
        return words
    if isinstance(value, str):
        raise TypeError(f"SeedSequence expects int or sequence of ints for entropy not {value}")
    return [word for each in value for word in _words_of(each)]


class _Hash:
    def __init__(self, constant, multiplier):
        self.constant, self.multiplier = constant, multiplier

    def __call__(self, value):
        value = (value ^ self.constant) & _MASK
        self.constant = self.constant * self.multiplier & _MASK
        value = value * self.constant & _MASK
        return value ^ value >> 16


def _mixed(x, y):
    result = 0xCA01F9DD * x - 0x4973F715 * y & _MASK
    return result ^ result >> 16


class SeedSequence:
    """Entropy and the path of spawned children; generate_state gives words to start a stream from."""

    def __init__(self, entropy=None, *, spawn_key=(), pool_size=_POOL, n_children_spawned=0):
        if pool_size < _POOL:
            raise ValueError(f"The size of the entropy pool should be at least {_POOL}")
        self.entropy = secrets.randbits(32 * pool_size) if entropy is None else entropy
        self.spawn_key = tuple(spawn_key)
        self.pool_size = pool_size
        self.n_children_spawned = n_children_spawned
        words, path = _words_of(self.entropy), _words_of(self.spawn_key)
        if path and len(words) < pool_size:
            words += [0] * (pool_size - len(words))
        words += path
        hashed = _Hash(0x43B0D7E5, 0x931E8875)
        pool = [hashed(words[k] if k < len(words) else 0) for k in range(pool_size)]
        for source in range(pool_size):
            for target in range(pool_size):
                if source != target:
                    pool[target] = _mixed(pool[target], hashed(pool[source]))
        for word in words[pool_size:]:
            for target in range(pool_size):
                pool[target] = _mixed(pool[target], hashed(word))
        self._pool = pool

    def _words(self, count, bits):
        hashed = _Hash(0x8B51F9DD, 0x58F38DED)
        words = [hashed(self._pool[k % self.pool_size]) for k in range(count * bits // 32)]
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
        first = self.n_children_spawned
        self.n_children_spawned += n_children
        return [
            SeedSequence(self.entropy, spawn_key=(*self.spawn_key, first + k), pool_size=self.pool_size)
            for k in range(n_children)
        ]

    @property
    def state(self):
        """What makes an equal one."""
        names = ("entropy", "spawn_key", "pool_size", "n_children_spawned")
        return {name: getattr(self, name) for name in names}

    def __repr__(self):
        path = f"\n    spawn_key={self.spawn_key!r}," if self.spawn_key else ""
        return f"SeedSequence(\n    entropy={self.entropy!r},{path}\n)"
