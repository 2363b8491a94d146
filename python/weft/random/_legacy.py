"""The functions of numpy.random from before Generator, and RandomState: NumPy draws, openly; results are weft's arrays.

They share NumPy's one hidden state, so that `seed` and what else the program draws there mean what they meant.
New programs take `default_rng`, whose numbers weft draws by itself, on all threads.
"""

import functools

from weft import _core

NAMES = frozenset(
    """beta binomial bytes chisquare choice dirichlet exponential f gamma geometric get_state gumbel hypergeometric
    laplace logistic lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare
    noncentral_f normal pareto permutation poisson power rand randint randn random random_integers random_sample ranf
    rayleigh sample seed set_state shuffle standard_cauchy standard_exponential standard_gamma standard_normal
    standard_t triangular uniform vonmises wald weibull zipf""".split()
)


def _theirs(value):
    import numpy

    return numpy.asarray(value) if isinstance(value, _core.ndarray) else value


def _ours(value):
    import numpy

    if isinstance(value, numpy.ndarray):
        return _core.asarray(value)
    return _core.asarray(value)[()] if isinstance(value, numpy.generic) else value


def _call(function, *args, **options):
    return _ours(function(*map(_theirs, args), **{name: _theirs(value) for name, value in options.items()}))


def _shuffle(shuffle, x):
    """Shuffles along the first axis, in place."""
    if not isinstance(x, _core.ndarray):
        return shuffle(x)
    shuffled = _theirs(x).copy()
    shuffle(shuffled)
    x[...] = shuffled


def function_of(state, name):
    """The function of that name that draws from `state`: numpy.random, or a RandomState of NumPy's."""
    drawn = getattr(state, name)
    wrapped = functools.partial(_shuffle if name == "shuffle" else _call, drawn)
    return functools.update_wrapper(wrapped, drawn, assigned=("__name__", "__doc__"), updated=())


class RandomState:
    """NumPy's RandomState (the Mersenne Twister), with weft's arrays for results.

    >>> np.random.RandomState(0).randint(0, 10, 3)
    array([5, 0, 3])
    """

    def __init__(self, seed=None):
        import numpy

        self._state = numpy.random.RandomState(seed)

    def __getattr__(self, name):
        if name not in NAMES:
            raise AttributeError(f"'RandomState' object has no attribute {name!r}")
        return function_of(self._state, name)

    def __getstate__(self):
        return self._state.get_state()

    def __setstate__(self, state):
        self.__init__()
        self._state.set_state(state)
