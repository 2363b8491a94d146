"""RandomState and the functions of numpy.random from before Generator: NumPy's numbers, drawn in the engine.

The functions share one RandomState, which is weft's own: `weft.random.seed` does not seed NumPy's, nor is weft's
seeded by `numpy.random.seed`. New programs take `default_rng`, whose numbers all threads draw.
"""

import warnings
from operator import index as _index

from weft import _core
from weft._core import asarray, ndarray
from weft._protocols.libraries import class_for
from weft.random import _choice, _integers, _vectors
from weft.random._bit_generators import MT19937, unless_it_fails
from weft.random._legacy_distributions import _RANDOM, LegacyDistributions

_draw_by = _core._draw_by

FUNCTIONS = frozenset(
    """beta binomial bytes chisquare choice dirichlet exponential f gamma geometric get_state gumbel hypergeometric
    laplace logistic lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare
    noncentral_f normal pareto permutation poisson power rand randint randn random random_integers random_sample
    rayleigh set_state shuffle standard_cauchy standard_exponential standard_gamma standard_normal standard_t
    triangular uniform vonmises wald weibull zipf""".split()
)


class RandomState(LegacyDistributions):
    """Draws from the Mersenne Twister, as programs did before Generator.

    >>> np.random.RandomState(0).randint(0, 10, 3)
    array([5, 0, 3])
    """

    __class__ = class_for("numpy.random.mtrand", "RandomState")
    _poisson_lam_max = 2.0**63 - (2.0**63) ** 0.5 * 10

    def __init__(self, seed=None):
        if hasattr(seed, "capsule"):
            if isinstance(seed, type):
                raise ValueError("Invalid bit generator. The bit generator must be instantized.")
            bit_generator = seed
        else:
            bit_generator = MT19937(0 if seed is not None else None)
            if seed is not None:
                bit_generator._legacy_seeding(seed)
        self._initialize_bit_generator(bit_generator)

    def _initialize_bit_generator(self, bit_generator):
        self._bit_generator = bit_generator
        self._stream = _core._stream_of(bit_generator.capsule, bit_generator.lock)

    def __repr__(self):
        return f"{self} at 0x{id(self):X}"

    def __str__(self):
        return f"{type(self).__name__}({type(self._bit_generator).__name__})"

    def __getstate__(self):
        return self.get_state(legacy=False)

    def __setstate__(self, state):
        self.set_state(state)

    def __reduce__(self):
        return RandomState, (self._bit_generator,), self.get_state(legacy=False)

    def seed(self, seed=None):
        """Starts again, as RandomState(seed) does."""
        if not isinstance(self._bit_generator, MT19937):
            raise TypeError("can only re-seed a MT19937 BitGenerator")
        with self._bit_generator.lock:
            self._bit_generator._legacy_seeding(seed)
            self._stream.spare = (0, 0.0)

    def get_state(self, legacy=True):
        """What makes an equal one: NumPy's tuple, or without `legacy` a dict."""
        with self._bit_generator.lock:
            state = self._bit_generator.state
            state["has_gauss"], state["gauss"] = self._stream.spare
        if legacy and state["bit_generator"] != "MT19937":
            warnings.warn(
                "get_state and legacy can only be used with the MT19937 BitGenerator. To silence this warning, "
                "set `legacy` to False.",
                RuntimeWarning,
                stacklevel=2,
            )
            legacy = False
        if legacy and not isinstance(self._bit_generator, MT19937):
            raise ValueError(
                "legacy can only be True when the underlying bitgenerator is an instance of MT19937."
            )
        if not legacy:
            return state
        inner = state["state"]
        return state["bit_generator"], inner["key"], inner["pos"], state["has_gauss"], state["gauss"]

    def set_state(self, state):
        """Goes on from what get_state gave."""
        if isinstance(state, dict):
            if "bit_generator" not in state or "state" not in state:
                raise ValueError("state dictionary is not valid.")
        else:
            if not isinstance(state, (tuple, list)):
                raise TypeError("state must be a dict or a tuple.")
            if state[0] != "MT19937":
                raise ValueError("set_state can only be used with legacy MT19937 state instances.")
            parts = state
            state = {"bit_generator": parts[0], "state": {"key": parts[1], "pos": parts[2]}}
            if len(parts) > 3:
                state["has_gauss"], state["gauss"] = parts[3], parts[4]
        spare = _index(state.get("has_gauss", 0)), float(state.get("gauss", 0.0))
        with self._bit_generator.lock:
            self._bit_generator.state = state
            self._stream.spare = spare

    # ---- uniform numbers ----

    def random_sample(self, size=None):
        """Numbers that are evenly distributed in [0, 1).

        >>> np.random.RandomState(42).random_sample(2)
        array([0.37454012, 0.95071431])
        """
        if size is None:
            return _draw_by(self._stream, _RANDOM, None)
        return _core._draw(self._stream, 1, _integers.shape_of(size), "float64")

    def random(self, size=None):
        """The same as random_sample."""
        return self.random_sample(size)

    def rand(self, *args):
        """The same, of a shape that is given by its extents."""
        return self.random_sample(args) if args else _draw_by(self._stream, _RANDOM, None)

    def randn(self, *args):
        """The same of standard_normal."""
        return self.standard_normal(args if args else None)

    # ---- integers ----

    def randint(self, low, high=None, size=None, dtype=int):
        """Integers from `low` on and below `high`; from 0 on where only one bound is given.

        >>> np.random.RandomState(42).randint(0, 10, 5)
        array([6, 3, 7, 4, 6])
        """
        return _integers.draw(self._stream, low, high, size, dtype, False, True, "randint")

    def random_integers(self, low, high=None, size=None):
        """Deprecated: randint(low, high + 1)."""
        low, high = (1, low) if high is None else (low, high)
        warnings.warn(
            f"This function is deprecated. Please call randint({low}, {high} + 1) instead",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.randint(low, int(high) + 1, size=size, dtype="int64")

    def bytes(self, length):
        """So many random bytes."""
        words = self.randint(0, 1 << 32, size=(length - 1) // 4 + 1, dtype="uint32")
        return bytes(words.tobytes()[:length])

    # ---- vectors ----

    def multinomial(self, n, pvals, size=None):
        """How often each outcome comes in `n` trials.

        >>> np.random.RandomState(42).multinomial(10, [0.2, 0.8])
        array([1, 9])
        """
        return _vectors.multinomial(self._stream, n, pvals, size, True)

    def dirichlet(self, alpha, size=None):
        """Vectors of parts of 1, of the Dirichlet distribution."""
        return _vectors.dirichlet(self._stream, alpha, size, True)

    def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8):
        """Vectors of the normal distribution."""
        with unless_it_fails(self._bit_generator):
            return _vectors.multivariate_normal(
                self.standard_normal, mean, cov, size, check_valid, tol, "legacy"
            )

    # ---- order ----

    def permutation(self, x):
        """The numbers below `x`, or a copy of an array's rows, in random order.

        >>> np.random.RandomState(42).permutation(5)
        array([1, 4, 2, 0, 3])
        """
        if not isinstance(x, ndarray) and hasattr(x, "__index__") and not getattr(x, "shape", ()):
            return _core._draw_permutation(self._stream, _index(x))
        x = asarray(x)
        if x.ndim < 1:
            raise IndexError("x must be an integer or at least 1-dimensional")
        with unless_it_fails(self._bit_generator):
            order = _core._draw_permutation(self._stream, x.shape[0])
            return x.take(order, 0)

    def shuffle(self, x):
        """Puts an array's rows, or a list's elements, into random order, in place."""
        if isinstance(x, ndarray):
            if not x.flags.writeable:
                raise ValueError("array is read-only")
            len(x)
            if x.size != 0:
                with unless_it_fails(self._bit_generator):
                    x[...] = self.permutation(x)
            return
        shuffle_sequence(self._stream, x)

    def choice(self, a, size=None, replace=True, p=None):
        """Elements of an array, or numbers below `a`, drawn with or without putting back, alike or with odds `p`.

        >>> np.random.RandomState(42).choice(5, 3, replace=False)
        array([1, 4, 2])
        """
        given = asarray(a)
        if given.ndim > 1:
            raise ValueError("a must be 1-dimensional")
        with unless_it_fails(self._bit_generator):
            given, count = _choice.population_of(a, 0, size, _choice.LEGACY)
            chosen = _choice.positions(self, count, size, replace, p, None, _choice.LEGACY)
            return _choice.taken(given, chosen, 0, size is None)


def shuffle_sequence(stream, x):
    """Of any mutable sequence."""
    from collections.abc import Sequence

    if not isinstance(x, Sequence):
        warnings.warn(
            f"you are shuffling a '{type(x).__name__}' object which is not a subclass of 'Sequence'; `shuffle` is "
            "not guaranteed to behave correctly. E.g., non-numpy array/tensor objects with view semantics may "
            "contain duplicates after shuffling.",
            UserWarning,
            stacklevel=3,
        )
    order = _core._draw_permutation(stream, len(x)).tolist()
    moved = [x[k] for k in order]
    for k, each in enumerate(moved):
        x[k] = each


_rand = RandomState()


def seed(seed=None):
    """Seeds the state that the functions of this module share: NumPy's numbers follow.

    >>> np.random.seed(0)
    >>> np.random.rand()
    0.5488135039273248
    """
    if isinstance(_rand._bit_generator, MT19937):
        return _rand.seed(seed)
    _rand.set_state(type(_rand._bit_generator)(seed).state)
    return None


def get_bit_generator():
    """The bit generator of the state that the functions share."""
    return _rand._bit_generator


def set_bit_generator(bitgen):
    """Lets them draw from another one."""
    _rand._initialize_bit_generator(bitgen)


def sample(*args, **kwargs):
    """The same as random_sample."""
    return _rand.random_sample(*args, **kwargs)


def ranf(*args, **kwargs):
    """The same as random_sample."""
    return _rand.random_sample(*args, **kwargs)


def find(name):
    """A function of this module by its name; None if there is none."""
    if name in FUNCTIONS:
        return getattr(_rand, name)
    if name == "_rand":
        return _rand
    return globals()[name] if name in _OTHERS else None


def names():
    """The names that find() finds."""
    return FUNCTIONS | _OTHERS


_OTHERS = frozenset(["RandomState", "get_bit_generator", "ranf", "sample", "seed", "set_bit_generator"])
