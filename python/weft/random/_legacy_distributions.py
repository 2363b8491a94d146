"""Distributions of RandomState, one after another: each draws from the stream of the object, in the engine.

Parameters are numbers, or arrays that broadcast; without `size` they say the shape.
"""

from weft import _core
from weft._core import ndarray
from weft.random._distributions import _any, as_parameter, as_whole

_draw_by = _core._draw_by
_INDEX = {name: k for k, name in enumerate(_core._distributions())}

_RANDOM = _INDEX["random"]
_BETA = _INDEX["legacy_beta"]
_BINOMIAL = _INDEX["legacy_binomial"]
_CHISQUARE = _INDEX["legacy_chisquare"]
_EXPONENTIAL = _INDEX["legacy_exponential"]
_F = _INDEX["legacy_f"]
_GAMMA = _INDEX["legacy_gamma"]
_GEOMETRIC = _INDEX["legacy_geometric"]
_GUMBEL = _INDEX["legacy_gumbel"]
_HYPERGEOMETRIC = _INDEX["legacy_hypergeometric"]
_LAPLACE = _INDEX["legacy_laplace"]
_LOGISTIC = _INDEX["legacy_logistic"]
_LOGNORMAL = _INDEX["legacy_lognormal"]
_LOGSERIES = _INDEX["legacy_logseries"]
_NEGATIVE_BINOMIAL = _INDEX["legacy_negative_binomial"]
_NONCENTRAL_CHISQUARE = _INDEX["legacy_noncentral_chisquare"]
_NONCENTRAL_F = _INDEX["legacy_noncentral_f"]
_NORMAL = _INDEX["legacy_normal"]
_PARETO = _INDEX["legacy_pareto"]
_POISSON = _INDEX["legacy_poisson"]
_POWER = _INDEX["legacy_power"]
_RAYLEIGH = _INDEX["legacy_rayleigh"]
_STANDARD_CAUCHY = _INDEX["legacy_standard_cauchy"]
_STANDARD_EXPONENTIAL = _INDEX["legacy_standard_exponential"]
_STANDARD_GAMMA = _INDEX["legacy_standard_gamma"]
_STANDARD_NORMAL = _INDEX["legacy_standard_normal"]
_STANDARD_T = _INDEX["legacy_standard_t"]
_TOMAXINT = _INDEX["legacy_tomaxint"]
_TRIANGULAR = _INDEX["legacy_triangular"]
_UNIFORM = _INDEX["legacy_uniform"]
_VONMISES = _INDEX["legacy_vonmises"]
_WALD = _INDEX["legacy_wald"]
_WEIBULL = _INDEX["legacy_weibull"]
_ZIPF = _INDEX["legacy_zipf"]

_INFINITY = float("inf")


class LegacyDistributions:
    """The methods that draw."""

    def beta(self, a, b, size=None):
        """Numbers of the beta distribution, between 0 and 1.

        >>> np.random.RandomState(42).beta(2, 3, size=2)
        array([0.49447259, 0.37515277])
        """
        return _draw_by(self._stream, _BETA, size, a, b)

    def chisquare(self, df, size=None):
        """Sums of `df` squared normal numbers.

        >>> np.random.RandomState(42).chisquare(2, size=2)
        array([0.93853618, 6.02024286])
        """
        return _draw_by(self._stream, _CHISQUARE, size, df)

    def f(self, dfnum, dfden, size=None):
        """Numbers of Fisher's F distribution.

        >>> np.random.RandomState(42).f(2, 3, size=2)
        array([2.12879802, 0.05805336])
        """
        return _draw_by(self._stream, _F, size, dfnum, dfden)

    def gamma(self, shape, scale=1.0, size=None):
        """Numbers of the gamma distribution.

        >>> np.random.RandomState(42).gamma(2, size=2)
        array([2.39367939, 1.49446473])
        """
        return _draw_by(self._stream, _GAMMA, size, shape, scale)

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the Gumbel distribution of largest values.

        >>> np.random.RandomState(42).gumbel(size=2)
        array([ 0.75658105, -1.10198042])
        """
        return _draw_by(self._stream, _GUMBEL, size, loc, scale)

    def laplace(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the Laplace distribution, whose tails are exponential on both sides.

        >>> np.random.RandomState(42).laplace(size=2)
        array([-0.28890917,  2.31697425])
        """
        return _draw_by(self._stream, _LAPLACE, size, loc, scale)

    def logistic(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the logistic distribution.

        >>> np.random.RandomState(42).logistic(size=2)
        array([-0.51278827,  2.95957976])
        """
        return _draw_by(self._stream, _LOGISTIC, size, loc, scale)

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        """Numbers whose logarithms are normally distributed.

        >>> np.random.RandomState(42).lognormal(size=2)
        array([1.64331272, 0.87086849])
        """
        return _draw_by(self._stream, _LOGNORMAL, size, mean, sigma)

    def noncentral_chisquare(self, df, nonc, size=None):
        """Sums of squared normal numbers that do not lie around 0.

        >>> np.random.RandomState(42).noncentral_chisquare(2, 1, size=2)
        array([2.99543812, 6.41436329])
        """
        return _draw_by(self._stream, _NONCENTRAL_CHISQUARE, size, df, nonc)

    def noncentral_f(self, dfnum, dfden, nonc, size=None):
        """Numbers of the noncentral F distribution.

        >>> np.random.RandomState(42).noncentral_f(2, 3, 1, size=2)
        array([0.60618832, 0.47969023])
        """
        return _draw_by(self._stream, _NONCENTRAL_F, size, dfnum, dfden, nonc)

    def pareto(self, a, size=None):
        """Numbers of the Pareto II (Lomax) distribution.

        >>> np.random.RandomState(42).pareto(2, size=2)
        array([0.26444595, 3.50442711])
        """
        return _draw_by(self._stream, _PARETO, size, a)

    def power(self, a, size=None):
        """Powers of uniform numbers, whose density is `a x**(a - 1)`.

        >>> np.random.RandomState(42).power(2, size=2)
        array([0.61199683, 0.9750458 ])
        """
        return _draw_by(self._stream, _POWER, size, a)

    def rayleigh(self, scale=1.0, size=None):
        """Lengths of vectors of two normal numbers.

        >>> np.random.RandomState(42).rayleigh(2, size=2)
        array([1.93756154, 4.90723664])
        """
        return _draw_by(self._stream, _RAYLEIGH, size, scale)

    def standard_cauchy(self, size=None):
        """Quotients of two normal numbers.

        >>> np.random.RandomState(42).standard_cauchy(size=2)
        array([-3.59249748,  0.42526319])
        """
        return _draw_by(self._stream, _STANDARD_CAUCHY, size)

    def standard_t(self, df, size=None):
        """Numbers of Student's t distribution.

        >>> np.random.RandomState(42).standard_t(3, size=2)
        array([ 0.60129249, -1.0951669 ])
        """
        return _draw_by(self._stream, _STANDARD_T, size, df)

    def vonmises(self, mu, kappa, size=None):
        """Angles around `mu`, the closer the larger `kappa` is.

        >>> np.random.RandomState(42).vonmises(0, 1, size=2)
        array([ 0.62690657, -1.17478453])
        """
        return _draw_by(self._stream, _VONMISES, size, mu, kappa)

    def wald(self, mean, scale, size=None):
        """Numbers of the inverse Gaussian distribution.

        >>> np.random.RandomState(42).wald(1, 2, size=2)
        array([1.41828613, 1.10266362])
        """
        return _draw_by(self._stream, _WALD, size, mean, scale)

    def weibull(self, a, size=None):
        """Numbers of the Weibull distribution.

        >>> np.random.RandomState(42).weibull(2, size=2)
        array([0.68503145, 1.73497015])
        """
        return _draw_by(self._stream, _WEIBULL, size, a)

    def binomial(self, n, p, size=None):
        """How many of `n` trials succeed, each with probability `p`.

        >>> np.random.RandomState(42).binomial(10, 0.3, size=2)
        array([2, 5])
        """
        return _draw_by(self._stream, _BINOMIAL, size, n, p)

    def geometric(self, p, size=None):
        """How many trials it takes to succeed with probability `p`.

        >>> np.random.RandomState(42).geometric(0.3, size=2)
        array([2, 9])
        """
        return _draw_by(self._stream, _GEOMETRIC, size, p)

    def logseries(self, p, size=None):
        """Numbers of the logarithmic series distribution.

        >>> np.random.RandomState(42).logseries(0.5, size=2)
        array([2, 1])
        """
        return _draw_by(self._stream, _LOGSERIES, size, p)

    def poisson(self, lam=1.0, size=None):
        """How many events happen of which `lam` are expected.

        >>> np.random.RandomState(42).poisson(3, size=2)
        array([4, 1])
        """
        return _draw_by(self._stream, _POISSON, size, lam)

    def zipf(self, a, size=None):
        """Numbers whose odds are their powers with exponent `-a`.

        >>> np.random.RandomState(42).zipf(2, size=2)
        array([1, 3])
        """
        return _draw_by(self._stream, _ZIPF, size, a)

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Numbers of the normal distribution around `loc` with deviation `scale`.

        >>> np.random.RandomState(42).normal(3, 2, size=2)
        array([3.99342831, 2.7234714 ])
        """
        return _draw_by(self._stream, _NORMAL, size, loc, scale)

    def exponential(self, scale=1.0, size=None):
        """Numbers of the exponential distribution with mean `scale`.

        >>> np.random.RandomState(42).exponential(2.5, size=2)
        array([1.17317022, 7.52530358])
        """
        return _draw_by(self._stream, _EXPONENTIAL, size, scale)

    def standard_gamma(self, shape, size=None):
        """Numbers of the gamma distribution with scale 1.

        >>> np.random.RandomState(42).standard_gamma(2, size=2)
        array([2.39367939, 1.49446473])
        """
        return _draw_by(self._stream, _STANDARD_GAMMA, size, shape)

    def standard_normal(self, size=None):
        """Numbers of the normal distribution around 0 with deviation 1.

        >>> np.random.RandomState(42).standard_normal(size=2)
        array([ 0.49671415, -0.1382643 ])
        """
        return _draw_by(self._stream, _STANDARD_NORMAL, size)

    def standard_exponential(self, size=None):
        """Numbers of the exponential distribution with mean 1.

        >>> np.random.RandomState(42).standard_exponential(size=2)
        array([0.46926809, 3.01012143])
        """
        return _draw_by(self._stream, _STANDARD_EXPONENTIAL, size)

    def tomaxint(self, size=None):
        """Integers from 0 to 2**63 - 1.

        >>> np.random.RandomState(42).tomaxint(size=2)
        array([3454522818714476249, 8768791796696926855])
        """
        return _draw_by(self._stream, _TOMAXINT, size)

    def uniform(self, low=0.0, high=1.0, size=None):
        """Numbers that are evenly distributed from `low` to `high`.

        >>> np.random.RandomState(42).uniform(10, 20, 2)
        array([13.74540119, 19.50714306])
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
            raise OverflowError("Range exceeds valid bounds")
        return _draw_by(self._stream, _UNIFORM, size, low, span)

    def triangular(self, left, mode, right, size=None):
        """Numbers whose density rises from `left` to `mode` and falls to `right`.

        >>> np.random.RandomState(42).triangular(0, 1, 2, 2)
        array([0.86549422, 1.68603919])
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

        >>> np.random.RandomState(42).negative_binomial(3, 0.5, 2)
        array([2, 3])
        """
        return _draw_by(self._stream, _NEGATIVE_BINOMIAL, size, n, p)

    def hypergeometric(self, ngood, nbad, nsample, size=None):
        """How many of a sample are good ones.

        >>> np.random.RandomState(42).hypergeometric(5, 6, 7, 2)
        array([2, 4])
        """
        good, bad, sample = as_whole(ngood), as_whole(nbad), as_whole(nsample)
        if _any(good + bad < sample):
            raise ValueError("ngood + nbad < nsample")
        return _draw_by(self._stream, _HYPERGEOMETRIC, size, good, bad, sample)
