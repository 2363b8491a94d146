"""Distributions of Generator."""

from weft._core import asarray, ndarray
from weft.random._draws import INDEX, any_of, as_parameter, as_whole, distributions, draw_by

_HYPERGEOMETRIC = INDEX["hypergeometric"]
_NEGATIVE_BINOMIAL = INDEX["negative_binomial"]
_UNIFORM = INDEX["uniform"]
_INFINITY = float("inf")
_MOST_BALLS = 10**9


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
    if any_of(largest > _LARGEST_MEAN):
        raise ValueError("n too large or p too small, see Generator.negative_binomial Notes")


_LARGEST_MEAN = 2.0**63 - (2.0**63) ** 0.5 * 10


class Distributions(
    distributions(
        "",
        "np.random.default_rng(42)",
        {
            "beta": "array([0.33841184, 0.41040973])",
            "chisquare": "array([4.80841721, 4.67237931])",
            "f": "array([9.87196943, 0.32030926])",
            "gamma": "array([2.09181727, 2.83534559])",
            "gumbel": "array([-0.39677803,  0.54849684])",
            "laplace": "array([ 0.79387864, -0.13038563])",
            "logistic": "array([ 1.23078563, -0.24571509])",
            "lognormal": "array([1.35624124, 0.3534603 ])",
            "noncentral_chisquare": "array([4.67307968, 1.21945061])",
            "noncentral_f": "array([1.39856077, 5.58380445])",
            "pareto": "array([2.32711081, 2.21586003])",
            "power": "array([0.95376257, 0.95042339])",
            "rayleigh": "array([4.38562069, 4.32313743])",
            "standard_cauchy": "array([-0.29300167,  0.797873  ])",
            "standard_t": "array([0.6174654 , 1.00636148])",
            "vonmises": "array([1.83788195, 1.51309604])",
            "wald": "array([0.8064988 , 1.68980383])",
            "weibull": "array([1.55055106, 1.5284599 ])",
            "binomial": "array([4, 3])",
            "geometric": "array([7, 7])",
            "logseries": "array([1, 2])",
            "poisson": "array([4, 4])",
            "zipf": "array([4, 1])",
            "normal": "array([3.60943416, 0.92003179])",
            "exponential": "array([6.01052151, 5.84047414])",
            "triangular": "array([1.32762518, 0.9368868 ])",
        },
    )
):
    """The methods that draw."""

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
                return draw_by(self._stream, _UNIFORM, size, low, span)
        if not abs(span) < _INFINITY:
            raise OverflowError("high - low range exceeds valid bounds")
        return draw_by(self._stream, _UNIFORM, size, low, span)

    def negative_binomial(self, n, p, size=None):
        """How many trials fail before `n` succeed, each with probability `p`.

        >>> np.random.default_rng(42).negative_binomial(3, 0.5, 2)
        array([5, 5])
        """
        check_negative_binomial(n, p)
        return draw_by(self._stream, _NEGATIVE_BINOMIAL, size, n, p)

    def hypergeometric(self, ngood, nbad, nsample, size=None):
        """How many of a sample are good ones.

        >>> np.random.default_rng(42).hypergeometric(5, 6, 7, 2)
        array([3, 3])
        """
        good, bad, sample = as_whole(ngood), as_whole(nbad), as_whole(nsample)
        if any_of(good >= _MOST_BALLS) or any_of(bad >= _MOST_BALLS):
            raise ValueError(f"both ngood and nbad must be less than {_MOST_BALLS}")
        if any_of(good + bad < sample):
            raise ValueError("ngood + nbad < nsample")
        return draw_by(self._stream, _HYPERGEOMETRIC, size, good, bad, sample)
