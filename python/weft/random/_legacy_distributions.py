"""Distributions of RandomState."""

from weft._core import ndarray
from weft.random._draws import INDEX, any_of, as_parameter, as_whole, distributions, draw_by

_HYPERGEOMETRIC = INDEX["legacy_hypergeometric"]
_NEGATIVE_BINOMIAL = INDEX["legacy_negative_binomial"]
_RANDOM = INDEX["random"]
_STANDARD_EXPONENTIAL = INDEX["legacy_standard_exponential"]
_STANDARD_GAMMA = INDEX["legacy_standard_gamma"]
_STANDARD_NORMAL = INDEX["legacy_standard_normal"]
_TOMAXINT = INDEX["legacy_tomaxint"]
_UNIFORM = INDEX["legacy_uniform"]
_INFINITY = float("inf")


class LegacyDistributions(
    distributions(
        "legacy_",
        "np.random.RandomState(42)",
        {
            "beta": "array([0.49447259, 0.37515277])",
            "chisquare": "array([0.93853618, 6.02024286])",
            "f": "array([2.12879802, 0.05805336])",
            "gamma": "array([2.39367939, 1.49446473])",
            "gumbel": "array([ 0.75658105, -1.10198042])",
            "laplace": "array([-0.28890917,  2.31697425])",
            "logistic": "array([-0.51278827,  2.95957976])",
            "lognormal": "array([1.64331272, 0.87086849])",
            "noncentral_chisquare": "array([2.99543812, 6.41436329])",
            "noncentral_f": "array([0.60618832, 0.47969023])",
            "pareto": "array([0.26444595, 3.50442711])",
            "power": "array([0.61199683, 0.9750458 ])",
            "rayleigh": "array([1.93756154, 4.90723664])",
            "standard_cauchy": "array([-3.59249748,  0.42526319])",
            "standard_t": "array([ 0.60129249, -1.0951669 ])",
            "vonmises": "array([ 0.62690657, -1.17478453])",
            "wald": "array([1.41828613, 1.10266362])",
            "weibull": "array([0.68503145, 1.73497015])",
            "binomial": "array([2, 5])",
            "geometric": "array([2, 9])",
            "logseries": "array([2, 1])",
            "poisson": "array([4, 1])",
            "zipf": "array([1, 3])",
            "normal": "array([3.99342831, 2.7234714 ])",
            "exponential": "array([1.17317022, 7.52530358])",
            "triangular": "array([0.86549422, 1.68603919])",
        },
    )
):
    """The methods that draw."""

    def standard_gamma(self, shape, size=None):
        """Numbers of the gamma distribution with scale 1.

        >>> np.random.RandomState(42).standard_gamma(2, size=2)
        array([2.39367939, 1.49446473])
        """
        return draw_by(self._stream, _STANDARD_GAMMA, size, shape)

    def standard_normal(self, size=None):
        """Numbers of the normal distribution around 0 with deviation 1.

        >>> np.random.RandomState(42).standard_normal(size=2)
        array([ 0.49671415, -0.1382643 ])
        """
        return draw_by(self._stream, _STANDARD_NORMAL, size)

    def standard_exponential(self, size=None):
        """Numbers of the exponential distribution with mean 1.

        >>> np.random.RandomState(42).standard_exponential(size=2)
        array([0.46926809, 3.01012143])
        """
        return draw_by(self._stream, _STANDARD_EXPONENTIAL, size)

    def tomaxint(self, size=None):
        """Integers from 0 to 2**63 - 1.

        >>> np.random.RandomState(42).tomaxint(size=2)
        array([3454522818714476249, 8768791796696926855])
        """
        return draw_by(self._stream, _TOMAXINT, size)

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
                return draw_by(self._stream, _UNIFORM, size, low, span)
        if not abs(span) < _INFINITY:
            raise OverflowError("Range exceeds valid bounds")
        return draw_by(self._stream, _UNIFORM, size, low, span)

    def negative_binomial(self, n, p, size=None):
        """How many trials fail before `n` succeed, each with probability `p`.

        >>> np.random.RandomState(42).negative_binomial(3, 0.5, 2)
        array([2, 3])
        """
        return draw_by(self._stream, _NEGATIVE_BINOMIAL, size, n, p)

    def hypergeometric(self, ngood, nbad, nsample, size=None):
        """How many of a sample are good ones.

        >>> np.random.RandomState(42).hypergeometric(5, 6, 7, 2)
        array([2, 4])
        """
        good, bad, sample = as_whole(ngood), as_whole(nbad), as_whole(nsample)
        if any_of(good + bad < sample):
            raise ValueError("ngood + nbad < nsample")
        return draw_by(self._stream, _HYPERGEOMETRIC, size, good, bad, sample)
