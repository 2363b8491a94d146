"""Distributions of Generator, one after another: each draws from the stream of the object, in the engine.

Parameters are numbers, or arrays that broadcast; without `size` they say the shape.
"""

from weft import _core
from weft._core import asarray, ndarray

_draw_by = _core._draw_by
_INDEX = {name: k for k, name in enumerate(_core._distributions())}

_BETA = _INDEX["beta"]
_BINOMIAL = _INDEX["binomial"]
_CHISQUARE = _INDEX["chisquare"]
_EXPONENTIAL = _INDEX["exponential"]
_F = _INDEX["f"]
_GAMMA = _INDEX["gamma"]
_GEOMETRIC = _INDEX["geometric"]
_GUMBEL = _INDEX["gumbel"]
_HYPERGEOMETRIC = _INDEX["hypergeometric"]
_LAPLACE = _INDEX["laplace"]
_LOGISTIC = _INDEX["logistic"]
_LOGNORMAL = _INDEX["lognormal"]
_LOGSERIES = _INDEX["logseries"]
_NEGATIVE_BINOMIAL = _INDEX["negative_binomial"]
_NONCENTRAL_CHISQUARE = _INDEX["noncentral_chisquare"]
_NONCENTRAL_F = _INDEX["noncentral_f"]
_NORMAL = _INDEX["normal"]
_PARETO = _INDEX["pareto"]
_POISSON = _INDEX["poisson"]
_POWER = _INDEX["power"]
_RANDOM = _INDEX["random"]
_RAYLEIGH = _INDEX["rayleigh"]
_STANDARD_CAUCHY = _INDEX["standard_cauchy"]
_STANDARD_EXPONENTIAL = _INDEX["standard_exponential"]
_STANDARD_GAMMA = _INDEX["standard_gamma"]
_STANDARD_NORMAL = _INDEX["standard_normal"]
_STANDARD_T = _INDEX["standard_t"]
_TRIANGULAR = _INDEX["triangular"]
_UNIFORM = _INDEX["uniform"]
_VONMISES = _INDEX["vonmises"]
_WALD = _INDEX["wald"]
_WEIBULL = _INDEX["weibull"]
_ZIPF = _INDEX["zipf"]

_INFINITY = float("inf")
_MOST_BALLS = 10**9


def _any(found):
    return bool(found.any()) if isinstance(found, ndarray) else bool(found)


def as_parameter(value):
    """A parameter as float64: an array, or a number for one without dimensions."""
    if value is None or isinstance(value, (int, float, str)):
        return float(value)
    value = asarray(value)
    if value.dtype.kind == "c":
        raise TypeError(
            f"Cannot cast array data from {value.dtype!r} to dtype('float64') according to the rule 'safe'"
        )
    value = value.astype("float64", copy=False)
    return value if value.ndim else float(value)


def as_whole(value):
    """A parameter as int64: an array, or a number for one without dimensions."""
    if type(value) is int:
        return value
    truncated = isinstance(value, (float, list, tuple))
    value = asarray(value)
    if not truncated and (value.dtype.kind not in "iub" or value.dtype.name == "uint64"):
        raise TypeError(
            f"Cannot cast array data from {value.dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    value = value.astype("int64", copy=False)
    return value if value.ndim else int(value)


def check_negative_binomial(n, p):
    """Raises for parameters with which numbers would be too large for int64."""
    n, p = as_parameter(n), as_parameter(p)
    if isinstance(n, float) and isinstance(p, float):
        if not (n > 0 and 0 < p <= 1):
            return  # the engine says what is wrong
        largest = (1 - p) / p * (n + 10 * n**0.5)
    else:
        n, p = asarray(n), asarray(p)
        if not (bool((n > 0).all()) and bool((p > 0).all())):
            return
        largest = (1 - p) / p * (n + 10 * n**0.5)
    if _any(largest > _LARGEST_MEAN):
        raise ValueError("n too large or p too small, see Generator.negative_binomial Notes")


_LARGEST_MEAN = 2.0**63 - (2.0**63) ** 0.5 * 10


class Distributions:
    """The methods that draw."""

    def beta(self, a, b, size=None):
        """Numbers of the beta distribution, between 0 and 1.

        >>> np.random.default_rng(42).beta(2, 3, size=2)
        array([0.33841184, 0.41040973])
        """
        return _draw_by(self._stream, _BETA, size, a, b)

    def chisquare(self, df, size=None):
        """Sums of `df` squared normal numbers.

        >>> np.random.default_rng(42).chisquare(2, size=2)
        array([4.80841721, 4.67237931])
        """
        return _draw_by(self._stream, _CHISQUARE, size, df)

    def f(self, dfnum, dfden, size=None):
        """Numbers of Fisher's F distribution.

        >>> np.random.default_rng(42).f(2, 3, size=2)
        array([9.87196943, 0.32030926])
        """
        return _draw_by(self._stream, _F, size, dfnum, dfden)

    def gamma(self, shape, scale=1.0, size=None):
        """Numbers of the gamma distribution.

        >>> np.random.default_rng(42).gamma(2, size=2)
        array([2.09181727, 2.83534559])
        """
        return _draw_by(self._stream, _GAMMA, size, shape, scale)

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the Gumbel distribution of largest values.

        >>> np.random.default_rng(42).gumbel(size=2)
        array([-0.39677803,  0.54849684])
        """
        return _draw_by(self._stream, _GUMBEL, size, loc, scale)

    def laplace(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the Laplace distribution, whose tails are exponential on both sides.

        >>> np.random.default_rng(42).laplace(size=2)
        array([ 0.79387864, -0.13038563])
        """
        return _draw_by(self._stream, _LAPLACE, size, loc, scale)

    def logistic(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the logistic distribution.

        >>> np.random.default_rng(42).logistic(size=2)
        array([ 1.23078563, -0.24571509])
        """
        return _draw_by(self._stream, _LOGISTIC, size, loc, scale)

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        """Numbers whose logarithms are normally distributed.

        >>> np.random.default_rng(42).lognormal(size=2)
        array([1.35624124, 0.3534603 ])
        """
        return _draw_by(self._stream, _LOGNORMAL, size, mean, sigma)

    def noncentral_chisquare(self, df, nonc, size=None):
        """Sums of squared normal numbers that do not lie around 0.

        >>> np.random.default_rng(42).noncentral_chisquare(2, 1, size=2)
        array([4.67307968, 1.21945061])
        """
        return _draw_by(self._stream, _NONCENTRAL_CHISQUARE, size, df, nonc)

    def noncentral_f(self, dfnum, dfden, nonc, size=None):
        """Numbers of the noncentral F distribution.

        >>> np.random.default_rng(42).noncentral_f(2, 3, 1, size=2)
        array([1.39856077, 5.58380445])
        """
        return _draw_by(self._stream, _NONCENTRAL_F, size, dfnum, dfden, nonc)

    def pareto(self, a, size=None):
        """Numbers of the Pareto II (Lomax) distribution.

        >>> np.random.default_rng(42).pareto(2, size=2)
        array([2.32711081, 2.21586003])
        """
        return _draw_by(self._stream, _PARETO, size, a)

    def power(self, a, size=None):
        """Powers of uniform numbers, whose density is `a x**(a - 1)`.

        >>> np.random.default_rng(42).power(2, size=2)
        array([0.95376257, 0.95042339])
        """
        return _draw_by(self._stream, _POWER, size, a)

    def rayleigh(self, scale=1.0, size=None):
        """Lengths of vectors of two normal numbers.

        >>> np.random.default_rng(42).rayleigh(2, size=2)
        array([4.38562069, 4.32313743])
        """
        return _draw_by(self._stream, _RAYLEIGH, size, scale)

    def standard_cauchy(self, size=None):
        """Quotients of two normal numbers.

        >>> np.random.default_rng(42).standard_cauchy(size=2)
        array([-0.29300167,  0.797873  ])
        """
        return _draw_by(self._stream, _STANDARD_CAUCHY, size)

    def standard_t(self, df, size=None):
        """Numbers of Student's t distribution.

        >>> np.random.default_rng(42).standard_t(3, size=2)
        array([0.6174654 , 1.00636148])
        """
        return _draw_by(self._stream, _STANDARD_T, size, df)

    def vonmises(self, mu, kappa, size=None):
        """Angles around `mu`, the closer the larger `kappa` is.

        >>> np.random.default_rng(42).vonmises(0, 1, size=2)
        array([1.83788195, 1.51309604])
        """
        return _draw_by(self._stream, _VONMISES, size, mu, kappa)

    def wald(self, mean, scale, size=None):
        """Numbers of the inverse Gaussian distribution.

        >>> np.random.default_rng(42).wald(1, 2, size=2)
        array([0.8064988 , 1.68980383])
        """
        return _draw_by(self._stream, _WALD, size, mean, scale)

    def weibull(self, a, size=None):
        """Numbers of the Weibull distribution.

        >>> np.random.default_rng(42).weibull(2, size=2)
        array([1.55055106, 1.5284599 ])
        """
        return _draw_by(self._stream, _WEIBULL, size, a)

    def binomial(self, n, p, size=None):
        """How many of `n` trials succeed, each with probability `p`.

        >>> np.random.default_rng(42).binomial(10, 0.3, size=2)
        array([4, 3])
        """
        return _draw_by(self._stream, _BINOMIAL, size, n, p)

    def geometric(self, p, size=None):
        """How many trials it takes to succeed with probability `p`.

        >>> np.random.default_rng(42).geometric(0.3, size=2)
        array([7, 7])
        """
        return _draw_by(self._stream, _GEOMETRIC, size, p)

    def logseries(self, p, size=None):
        """Numbers of the logarithmic series distribution.

        >>> np.random.default_rng(42).logseries(0.5, size=2)
        array([1, 2])
        """
        return _draw_by(self._stream, _LOGSERIES, size, p)

    def poisson(self, lam=1.0, size=None):
        """How many events happen of which `lam` are expected.

        >>> np.random.default_rng(42).poisson(3, size=2)
        array([4, 4])
        """
        return _draw_by(self._stream, _POISSON, size, lam)

    def zipf(self, a, size=None):
        """Numbers whose odds are their powers with exponent `-a`.

        >>> np.random.default_rng(42).zipf(2, size=2)
        array([4, 1])
        """
        return _draw_by(self._stream, _ZIPF, size, a)

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the normal distribution around `loc` with deviation `scale`.

        >>> np.random.default_rng(42).normal(3, 2, size=2)
        array([3.60943416, 0.92003179])
        """
        return _draw_by(self._stream, _NORMAL, size, loc, scale)

    def exponential(self, scale=1.0, size=None):
        """Numbers of the exponential distribution with mean `scale`.

        >>> np.random.default_rng(42).exponential(2.5, size=2)
        array([6.01052151, 5.84047414])
        """
        return _draw_by(self._stream, _EXPONENTIAL, size, scale)

    def uniform(self, low=0.0, high=1.0, size=None):
        """Numbers that are evenly distributed from `low` to `high`.

        >>> np.random.default_rng(42).uniform(10, 20, 2)
        array([17.73956049, 14.3887844 ])
        """
        if type(low) is float and type(high) is float:
            span = high - low
        else:
            low, high = as_parameter(low), as_parameter(high)
            span = high - low
            if isinstance(span, ndarray):
                if not bool((abs(span) < _INFINITY).all()):
                    raise OverflowError("Range exceeds valid bounds")
                return _draw_by(self._stream, _UNIFORM, size, low, span)
        if not abs(span) < _INFINITY:
            raise OverflowError("high - low range exceeds valid bounds")
        return _draw_by(self._stream, _UNIFORM, size, low, span)

    def triangular(self, left, mode, right, size=None):
        """Numbers whose density rises from `left` to `mode` and falls to `right`.

        >>> np.random.default_rng(42).triangular(0, 1, 2, 2)
        array([1.32762518, 0.9368868 ])
        """
        left, mode, right = map(as_parameter, (left, mode, right))
        if _any(left > mode):
            raise ValueError("left > mode")
        if _any(mode > right):
            raise ValueError("mode > right")
        if _any(left == right):
            raise ValueError("left == right")
        return _draw_by(self._stream, _TRIANGULAR, size, left, mode, right)

    def negative_binomial(self, n, p, size=None):
        """How many trials fail before `n` succeed, each with probability `p`.

        >>> np.random.default_rng(42).negative_binomial(3, 0.5, 2)
        array([5, 5])
        """
        check_negative_binomial(n, p)
        return _draw_by(self._stream, _NEGATIVE_BINOMIAL, size, n, p)

    def hypergeometric(self, ngood, nbad, nsample, size=None):
        """How many of a sample are good ones.

        >>> np.random.default_rng(42).hypergeometric(5, 6, 7, 2)
        array([3, 3])
        """
        good, bad, sample = as_whole(ngood), as_whole(nbad), as_whole(nsample)
        if _any(good >= _MOST_BALLS) or _any(bad >= _MOST_BALLS):
            raise ValueError(f"both ngood and nbad must be less than {_MOST_BALLS}")
        if _any(good + bad < sample):
            raise ValueError("ngood + nbad < nsample")
        return _draw_by(self._stream, _HYPERGEOMETRIC, size, good, bad, sample)
