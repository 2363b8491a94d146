"""Streams of random words: PCG64, PCG64DXSM, Philox."""

import threading
from operator import index as _index

from weft import _core
from weft._core import asarray
from weft.random._seed_sequence import SeedSequence

_MASK = (1 << 64) - 1
_WORDS = 0  # Distribution::kWords


class _Draws:
    def __init__(self, bit_generator):
        self._of = bit_generator

    def __enter__(self):
        self._of.lock.acquire()
        self._before = self._of._stream

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self._of._stream = self._before
        self._of.lock.release()


class BitGenerator:
    """A stream of 64-bit words. Its `lock` is held while somebody draws."""

    _algorithm = 0

    def __init__(self, seed=None):
        if type(self) is BitGenerator:
            raise NotImplementedError("BitGenerator is a base class and cannot be instantized")
        self.lock = threading.RLock()
        self.seed_seq = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
        self._stream = self._start(self.seed_seq)

    def _make(self, words, block=(0, 0, 0, 0), used=4, has_half=False, half=0):
        return _core._stream(self._algorithm, list(words), list(block), used, has_half, half)

    def _draw(self, function, *arguments):
        with self.lock:
            result, self._stream = function(self._stream, *arguments)
        return result

    def _unless_it_fails(self):
        """A context that draws nothing in the end where what is done in it fails; others wait meanwhile."""
        return _Draws(self)

    def random_raw(self, size=None, output=True):
        """The stream's words: one, or an array of them."""
        shape = () if size is None else size
        result = self._draw(_core._draw, _WORDS, shape, "uint64")
        if not output:
            return None
        return int(result[()]) if size is None else result

    def spawn(self, n_children):
        """New streams from children of this one's seed."""
        return [type(self)(seed) for seed in self.seed_seq.spawn(n_children)]

    def __getstate__(self):
        return {"seed_seq": self.seed_seq, "stream": self._stream}

    def __setstate__(self, state):
        seed_seq, stream = state["seed_seq"], state["stream"]
        _core._stream_parts(stream)  # raises for what is none
        if stream[0] != self._algorithm:
            raise ValueError(f"the state is not of a {type(self).__name__}")
        self.lock = threading.RLock()
        self.seed_seq, self._stream = seed_seq, stream

    def __repr__(self):
        return f"<weft.random.{type(self).__name__}>"


class _Pcg(BitGenerator):
    def _start(self, seed):
        words = seed._words(4, 64)
        increment = ((words[2] << 64 | words[3]) << 1 | 1) & ((1 << 128) - 1)
        state = (increment + (words[0] << 64 | words[1])) & ((1 << 128) - 1)
        state = (state * PCG64._multiplier + increment) & ((1 << 128) - 1)  # whichever steps it takes later
        return self._of(state, increment)

    def _of(self, state, increment, has_half=False, half=0):
        words = (state & _MASK, state >> 64, increment & _MASK, increment >> 64, 0, 0)
        return self._make(words, has_half=has_half, half=half)

    def advance(self, delta):
        """Goes on as if so many words had been drawn; a half that waits is dropped."""
        with self.lock:
            inner = self.state["state"]
            self._stream = self._of(self._ahead(inner["state"], inner["inc"], delta), inner["inc"])
        return self

    @property
    def state(self):
        """What makes an equal one, as NumPy's dict."""
        words, _, _, has_half, half = _core._stream_parts(self._stream)
        return {
            "bit_generator": type(self).__name__,
            "state": {"state": words[0] | words[1] << 64, "inc": words[2] | words[3] << 64},
            "has_uint32": int(has_half),
            "uinteger": half,
        }

    @state.setter
    def state(self, value):
        if value.get("bit_generator") != type(self).__name__:
            raise ValueError(f"state must be for a {type(self).__name__} RNG")
        self._stream = self._of(
            value["state"]["state"], value["state"]["inc"], bool(value["has_uint32"]), value["uinteger"]
        )

    def jumped(self, jumps=1):
        """A stream that is as far ahead as nobody draws: jumps * 210306068529402873165736369884012333109 words."""
        result = type(self)(0)
        result.seed_seq = self.seed_seq
        state, increment = self.state["state"]["state"], self.state["state"]["inc"]
        result._stream = result._of(
            self._ahead(state, increment, jumps * 0x9E3779B97F4A7C15F39CC0605CEDC835), increment
        )
        return result

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

    def __init__(self, seed=None, counter=None, key=None):
        if seed is not None and key is not None:
            raise ValueError("seed and key cannot be both used")
        super().__init__(seed)
        if key is None and counter is None:
            return
        words = _core._stream_parts(self._stream)[0]
        own = words[4:] if key is None else self._split(key, 2)
        self._stream = self._make((*([0] * 4 if counter is None else self._split(counter, 4)), *own))

    @staticmethod
    def _split(value, count):
        if hasattr(value, "__index__"):
            value = _index(value)
            return [value >> 64 * k & _MASK for k in range(count)]
        return [int(word) for word in value]

    def _start(self, seed):
        return self._make((0, 0, 0, 0, *seed._words(2, 64)))

    @property
    def state(self):
        """What makes an equal one, as NumPy's dict."""
        words, block, used, has_half, half = _core._stream_parts(self._stream)
        return {
            "bit_generator": "Philox",
            "state": {"counter": asarray(words[:4], "uint64"), "key": asarray(words[4:], "uint64")},
            "buffer": asarray(block, "uint64"),
            "buffer_pos": used,
            "has_uint32": int(has_half),
            "uinteger": half,
        }

    @state.setter
    def state(self, value):
        if value.get("bit_generator") != "Philox":
            raise ValueError("state must be for a Philox RNG")
        inner = value["state"]
        words = [int(word) for word in (*inner["counter"], *inner["key"])]
        block = [int(word) for word in value["buffer"]]
        self._stream = self._make(
            words, block, value["buffer_pos"], bool(value["has_uint32"]), value["uinteger"]
        )

    def _counted(self, words, more):
        counter = sum(word << 64 * k for k, word in enumerate(words[:4])) + more
        return (*self._split(counter, 4), *words[4:])

    def advance(self, delta):
        """Adds to the counter, of which each step is four words; what waits of the current one is dropped."""
        with self.lock:
            self._stream = self._make(self._counted(_core._stream_parts(self._stream)[0], delta))
        return self

    def jumped(self, jumps=1):
        """A stream 2^128 * jumps blocks ahead."""
        result = type(self)(0)
        result.seed_seq = self.seed_seq
        result._stream = self._make(self._counted(_core._stream_parts(self._stream)[0], jumps << 128))
        return result
