"""Streams of random words: MT19937, PCG64, PCG64DXSM, Philox, SFC64."""

import sys
import threading
from operator import index as _index

from weft import _core
from weft._array.class_attributes import with_attributes
from weft._core import asarray, ndarray
from weft._engine.numpy_version import numpy_is_at_least
from weft.random._common import interface
from weft.random._seed_sequence import ISeedSequence, ISpawnableSeedSequence, SeedSequence

_MASK = (1 << 64) - 1
_WORDS = 0  # Distribution::kWords


class _Draws:
    def __init__(self, of):
        self._of = of

    def __enter__(self):
        self._of.lock.acquire()
        self._before = self._of._stream.parts if isinstance(self._of, BitGenerator) else None

    def __exit__(self, kind, error, trace):
        if kind is not None and self._before is not None:
            self._of._stream.parts = self._before
        self._of.lock.release()


def unless_it_fails(bit_generator):
    """A context that draws nothing in the end where what is done in it fails; others wait meanwhile."""
    return _Draws(bit_generator)


def _count_of(size):
    """How many words a size is, to pass over; before NumPy 2.5 it added the extents."""
    extents = asarray(size)
    if not numpy_is_at_least(2, 5):
        return int(extents.sum())
    if (extents < 0).any():
        raise ValueError("negative dimensions are not allowed")
    return int(extents.prod())


@with_attributes("_seed_seq", "lock")
class BitGenerator:
    """A stream of 64-bit words. Its `lock` is held while somebody draws.

    `capsule`, `ctypes` and `cffi` are the addresses of its state and functions, as NumPy's bit generators give
    them: other libraries draw from it with these.
    """

    _algorithm = 0
    _seed_words = 4, "uint64"

    @property
    def __class__(self):
        """NumPy's of that name, once it is loaded: its generators over this one are copied and pickled by it."""
        theirs = getattr(sys.modules.get("numpy.random"), type(self).__name__, None)
        return theirs if isinstance(theirs, type) else type(self)

    def __init__(self, seed=None):
        if type(self) is BitGenerator:
            raise NotImplementedError("BitGenerator is a base class and cannot be instantized")
        if not isinstance(seed, ISeedSequence) and not (
            hasattr(seed, "generate_state") and not isinstance(seed, type)
        ):
            seed = SeedSequence(seed)
        self._begin(threading.RLock(), seed, self._start(seed))

    def _start(self, seed):
        return _core._started(self._algorithm, seed.generate_state(*self._seed_words).tolist())

    def _begin(self, lock, seed_seq, parts):
        self.lock = lock
        self._seed_seq = seed_seq
        self._stream = _core._stream(parts, lock)
        self._addresses = {}

    @property
    def capsule(self):
        """NumPy's C interface to the stream."""
        return self._stream.capsule

    @property
    def seed_seq(self):
        """What the stream started from; None if that is not known."""
        return self._seed_seq

    @property
    def ctypes(self):
        """The state and functions for ctypes."""
        if "ctypes" not in self._addresses:
            import ctypes

            state, next64, next32, next_double, whole = self._stream.addresses
            kinds = [
                ctypes.CFUNCTYPE(kind, ctypes.c_void_p)
                for kind in (ctypes.c_uint64, ctypes.c_uint32, ctypes.c_double)
            ]
            functions = [
                ctypes.cast(address, kind) for address, kind in zip((next64, next32, next_double), kinds)
            ]
            self._addresses["ctypes"] = interface(
                state, ctypes.c_void_p(state), *functions, ctypes.c_void_p(whole)
            )
        return self._addresses["ctypes"]

    @property
    def cffi(self):
        """The state and functions for CFFI."""
        if "cffi" not in self._addresses:
            try:
                import cffi
            except ImportError as error:
                raise ImportError("cffi cannot be imported.") from error
            ffi = cffi.FFI()
            state, next64, next32, next_double, whole = self._stream.addresses
            self._addresses["cffi"] = interface(
                state,
                ffi.cast("void *", state),
                ffi.cast("uint64_t (*)(void *)", next64),
                ffi.cast("uint32_t (*)(void *)", next32),
                ffi.cast("double (*)(void *)", next_double),
                ffi.cast("void *", whole),
            )
        return self._addresses["cffi"]

    def _make(self, words, block=(0, 0, 0, 0), used=4, has_half=False, half=0):
        return self._algorithm, list(words), list(block), int(used), int(has_half), int(half)

    def random_raw(self, size=None, output=True):
        """The stream's words: one, or an array of them."""
        if not output:
            size = 1 if size is None else _count_of(size)
        result = _core._draw(self._stream, _WORDS, () if size is None else size, "uint64")
        if not output:
            return None
        return int(result[()]) if size is None else result

    def _benchmark(self, cnt, method="uint64"):
        if method not in ("uint64", "double"):
            raise ValueError("Unknown method")
        _core._draw(self._stream, int(method == "double"), cnt, "uint64" if method == "uint64" else "float64")

    def spawn(self, n_children):
        """New streams from children of this one's seed."""
        if not isinstance(self._seed_seq, ISpawnableSeedSequence):
            raise TypeError("The underlying SeedSequence does not implement spawning.")
        return [type(self)(seed=seed) for seed in self._seed_seq.spawn(n_children)]

    def _copied(self, parts):
        """Another one of this class, with the same seed, in another state."""
        result = type(self).__new__(type(self))
        result._begin(threading.RLock(), self._seed_seq, parts)
        return result

    def _checked(self, value, kind="PRNG"):
        if not isinstance(value, dict):
            raise TypeError("state must be a dict")
        if value.get("bit_generator", "") != type(self).__name__:
            raise ValueError(f"state must be for a {type(self).__name__} {kind}")
        return value

    @property
    def state(self):
        """What makes an equal one, as NumPy's dict."""
        raise NotImplementedError("Not implemented in base BitGenerator")

    @state.setter
    def state(self, value):
        raise NotImplementedError("Not implemented in base BitGenerator")

    def __getstate__(self):
        return self.state, self._seed_seq

    def __setstate__(self, state):
        if isinstance(state, dict):
            self.state = state
        else:
            self.state = state[0]
            self._seed_seq = state[1]

    def __reduce__(self):
        return _bit_generator_of, (type(self),), self.__getstate__()

    def __repr__(self):
        return f"<weft.random.{type(self).__name__}>"


def _bit_generator_of(kind):
    """For pickles: one whose state comes next."""
    return kind(0)


class _Pcg(BitGenerator):
    def _of(self, state, increment, has_half=False, half=0):
        words = (state & _MASK, state >> 64, increment & _MASK, increment >> 64, 0, 0)
        return self._make(words, has_half=has_half, half=half)

    def advance(self, delta):
        """Goes on as if so many words had been drawn; a half that waits is dropped."""
        with self.lock:
            inner = self.state["state"]
            self._stream.parts = self._of(self._ahead(inner["state"], inner["inc"], delta), inner["inc"])
        return self

    @property
    def state(self):
        """What makes an equal one, as NumPy's dict."""
        _, words, _, _, has_half, half = self._stream.parts
        return {
            "bit_generator": type(self).__name__,
            "state": {"state": words[0] | words[1] << 64, "inc": words[2] | words[3] << 64},
            "has_uint32": int(has_half),
            "uinteger": half,
        }

    @state.setter
    def state(self, value):
        inner = self._checked(value, "RNG")["state"]
        with self.lock:
            self._stream.parts = self._of(
                int(inner["state"]), int(inner["inc"]), bool(value["has_uint32"]), value["uinteger"]
            )

    def jumped(self, jumps=1):
        """A stream that is as far ahead as nobody draws: jumps * 210306068529402873165736369884012333109 words."""
        inner = self.state["state"]
        ahead = self._ahead(inner["state"], inner["inc"], jumps * 0x9E3779B97F4A7C15F39CC0605CEDC835)
        return self._copied(self._of(ahead, inner["inc"]))

    def _ahead(self, state, increment, steps):
        mask, multiplier, product, total = (1 << 128) - 1, self._multiplier, 1, 0
        steps &= mask
        while steps:
            if steps & 1:
                product, total = product * multiplier & mask, (total * multiplier + increment) & mask
            increment, multiplier = (multiplier + 1) * increment & mask, multiplier * multiplier & mask
            steps >>= 1
        return (product * state + total) & mask


class PCG64(_Pcg):
    """O'Neill's PCG-64 (XSL-RR), default_rng's stream.

    >>> np.random.PCG64(42).random_raw()
    14276969152011380360
    """

    _algorithm = 0
    _multiplier = 0x2360ED051FC65DA44385DF649FCCF645


class PCG64DXSM(_Pcg):
    """O'Neill's PCG-64 with another output (DXSM) and a cheaper multiplier."""

    _algorithm = 1
    _multiplier = 0xDA942042E4DD58B5


class Philox(BitGenerator):
    """Salmon and others' Philox 4x64 with ten rounds: a counter, encrypted."""

    _algorithm = 2
    _seed_words = 2, "uint64"

    def __init__(self, seed=None, counter=None, key=None):
        if seed is not None and key is not None:
            raise ValueError("seed and key cannot be both used")
        super().__init__(seed)
        if key is None and counter is None:
            return
        words = self._stream.parts[1]
        if key is not None:
            self._seed_seq = None
        own = words[4:] if key is None else self._split(key, 2, "key")
        self._stream.parts = self._make(
            (*([0] * 4 if counter is None else self._split(counter, 4, "counter")), *own)
        )

    @staticmethod
    def _split(value, count, name="value"):
        value = asarray(value).tolist() if not isinstance(value, int) else value
        if isinstance(value, list):
            if len(value) != count:
                raise ValueError(f"{name} must have {count} elements when using array form")
            return [_index(word) & _MASK for word in value]
        value = int(value)
        if value < 0 or value >> 64 * count:
            raise ValueError(f"{name} must be positive and less than 2**{64 * count}.")
        return [value >> 64 * k & _MASK for k in range(count)]

    @property
    def state(self):
        """What makes an equal one, as NumPy's dict."""
        _, words, block, used, has_half, half = self._stream.parts
        return {
            "bit_generator": type(self).__name__,
            "state": {"counter": asarray(words[:4], "uint64"), "key": asarray(words[4:], "uint64")},
            "buffer": asarray(block, "uint64"),
            "buffer_pos": used,
            "has_uint32": int(has_half),
            "uinteger": half,
        }

    @state.setter
    def state(self, value):
        inner = self._checked(value)["state"]
        if numpy_is_at_least(2, 5) and not 1 <= value["buffer_pos"] <= 4:
            raise ValueError("buffer_pos must be between 1 and 4")
        words = [int(word) for word in (*inner["counter"], *inner["key"])]
        block = [int(word) for word in value["buffer"]]
        parts = self._make(words, block, value["buffer_pos"], bool(value["has_uint32"]), value["uinteger"])
        with self.lock:
            self._stream.parts = parts

    def _counted(self, more):
        words = self._stream.parts[1]
        counter = sum(word << 64 * k for k, word in enumerate(words[:4])) + more & (1 << 256) - 1
        return self._make((*self._split(counter, 4), *words[4:]))

    def advance(self, delta):
        """Adds to the counter, of which each step is four words; what waits of the current one is dropped."""
        with self.lock:
            self._stream.parts = self._counted(delta)
        return self

    def jumped(self, jumps=1):
        """A stream 2^128 * jumps blocks ahead."""
        return self._copied(self._counted(jumps << 128))


class SFC64(BitGenerator):
    """Doty-Humphrey's small fast chaotic stream.

    >>> np.random.SFC64(42).random_raw()
    9775594601838723485
    """

    _algorithm = 3
    _seed_words = 3, "uint64"

    @property
    def state(self):
        """What makes an equal one, as NumPy's dict."""
        _, words, _, _, has_half, half = self._stream.parts
        return {
            "bit_generator": type(self).__name__,
            "state": {"state": asarray(words, "uint64")},
            "has_uint32": int(has_half),
            "uinteger": half,
        }

    @state.setter
    def state(self, value):
        inner = self._checked(value, "RNG")["state"]
        words = [int(word) for word in inner["state"]]
        parts = self._make(words, has_half=bool(value["has_uint32"]), half=value["uinteger"])
        with self.lock:
            self._stream.parts = parts


class MT19937(BitGenerator):
    """Matsumoto and Nishimura's Mersenne Twister, RandomState's stream.

    >>> np.random.MT19937(42).random_raw()
    2327846034
    """

    _algorithm = 4
    _seed_words = 624, "uint32"

    def _legacy_seeding(self, seed):
        """Starts as RandomState(seed) does: from a number, an array of them, or at random."""
        with self.lock:
            if seed is None:
                self._stream.parts = self._start(SeedSequence())
            else:
                self._seed_stream(seed)
            self._seed_seq = None

    def _seed_stream(self, seed):
        if hasattr(seed, "squeeze"):
            seed = seed.squeeze()
        try:
            number = _index(seed)
        except TypeError:
            numbers = asarray(seed)
        else:
            if not 0 <= number < 1 << 32:
                raise ValueError("Seed must be between 0 and 2**32 - 1")
            return self._stream.seed(number)
        if numbers.size == 0:
            raise ValueError("Seed must be non-empty")
        if numbers.dtype.kind not in "iub" or numbers.dtype.name == "uint64":
            raise TypeError(
                f"Cannot cast array data from {numbers.dtype!r} to dtype('int64') according to the rule 'safe'"
            )
        if numbers.ndim != 1:
            raise ValueError("Seed array must be 1-d")
        numbers = [int(each) for each in numbers.tolist()]
        if not all(0 <= each < 1 << 32 for each in numbers):
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        return self._stream.seed_by_array(numbers)

    @property
    def state(self):
        """What makes an equal one, as NumPy's dict."""
        _, words, _, used, _, _ = self._stream.parts
        return {"bit_generator": type(self).__name__, "state": {"key": asarray(words, "uint32"), "pos": used}}

    @state.setter
    def state(self, value):
        if isinstance(value, tuple):
            if value[0] != "MT19937" or len(value) not in (3, 5):
                raise ValueError("state is not a legacy MT19937 state")
            value = {"bit_generator": "MT19937", "state": {"key": value[1], "pos": value[2]}}
        inner = self._checked(value)["state"]
        key = inner["key"]
        words = key.tolist() if isinstance(key, ndarray) else [int(word) for word in key]
        if numpy_is_at_least(2, 5) and not 0 <= inner["pos"] <= 624:
            raise ValueError("state position must be between 0 and 624")
        parts = self._make(words, (), inner["pos"])
        with self.lock:
            self._stream.parts = parts

    def jumped(self, jumps=1):
        """A stream 2^128 * jumps words ahead."""
        result = self._copied(self._stream.parts)
        for _ in range(jumps):
            result._stream.jump()
        return result
