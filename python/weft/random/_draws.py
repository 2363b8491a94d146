"""Distributions that Generator and RandomState have in common: each draws from the stream of the object, in the engine.

Parameters are numbers, or arrays that broadcast; without `size` they say the shape.
"""

from weft import _core
from weft._core import asarray, ndarray

draw_by = _core._draw_by
INDEX = {name: k for k, name in enumerate(_core._distributions())}


def any_of(found):
    """Of an array, or of a bool."""
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


def distributions(prefix, source, results):
    """The methods that draw by the engine's distributions of that prefix; the others are for the examples."""

    BETA = INDEX[prefix + "beta"]
    BINOMIAL = INDEX[prefix + "binomial"]
    CHISQUARE = INDEX[prefix + "chisquare"]
    EXPONENTIAL = INDEX[prefix + "exponential"]
    F = INDEX[prefix + "f"]
    GAMMA = INDEX[prefix + "gamma"]
    GEOMETRIC = INDEX[prefix + "geometric"]
    GUMBEL = INDEX[prefix + "gumbel"]
    LAPLACE = INDEX[prefix + "laplace"]
    LOGISTIC = INDEX[prefix + "logistic"]
    LOGNORMAL = INDEX[prefix + "lognormal"]
    LOGSERIES = INDEX[prefix + "logseries"]
    NONCENTRAL_CHISQUARE = INDEX[prefix + "noncentral_chisquare"]
    NONCENTRAL_F = INDEX[prefix + "noncentral_f"]
    NORMAL = INDEX[prefix + "normal"]
    PARETO = INDEX[prefix + "pareto"]
    POISSON = INDEX[prefix + "poisson"]
    POWER = INDEX[prefix + "power"]
    RAYLEIGH = INDEX[prefix + "rayleigh"]
    STANDARD_CAUCHY = INDEX[prefix + "standard_cauchy"]
    STANDARD_T = INDEX[prefix + "standard_t"]
    TRIANGULAR = INDEX[prefix + "triangular"]
    VONMISES = INDEX[prefix + "vonmises"]
    WALD = INDEX[prefix + "wald"]
    WEIBULL = INDEX[prefix + "weibull"]
    ZIPF = INDEX[prefix + "zipf"]

    class Distributions:
        """The methods that draw."""

        def beta(self, a, b, size=None):
            """Numbers of the beta distribution, between 0 and 1.

            >>> beta(2, 3, size=2)
            """
            return draw_by(self._stream, BETA, size, a, b)

        def chisquare(self, df, size=None):
            """Sums of `df` squared normal numbers.

            >>> chisquare(2, size=2)
            """
            return draw_by(self._stream, CHISQUARE, size, df)

        def f(self, dfnum, dfden, size=None):
            """Numbers of Fisher's F distribution.

            >>> f(2, 3, size=2)
            """
            return draw_by(self._stream, F, size, dfnum, dfden)

        def gamma(self, shape, scale=1.0, size=None):
            """Numbers of the gamma distribution.

            >>> gamma(2, size=2)
            """
            return draw_by(self._stream, GAMMA, size, shape, scale)

        def gumbel(self, loc=0.0, scale=1.0, size=None):
            """Numbers of the Gumbel distribution of largest values.

            >>> gumbel(size=2)
            """
            return draw_by(self._stream, GUMBEL, size, loc, scale)

        def laplace(self, loc=0.0, scale=1.0, size=None):
            """Numbers of the Laplace distribution, whose tails are exponential on both sides.

            >>> laplace(size=2)
            """
            return draw_by(self._stream, LAPLACE, size, loc, scale)

        def logistic(self, loc=0.0, scale=1.0, size=None):
            """Numbers of the logistic distribution.

            >>> logistic(size=2)
            """
            return draw_by(self._stream, LOGISTIC, size, loc, scale)

        def lognormal(self, mean=0.0, sigma=1.0, size=None):
            """Numbers whose logarithms are normally distributed.

            >>> lognormal(size=2)
            """
            return draw_by(self._stream, LOGNORMAL, size, mean, sigma)

        def noncentral_chisquare(self, df, nonc, size=None):
            """Sums of squared normal numbers that do not lie around 0.

            >>> noncentral_chisquare(2, 1, size=2)
            """
            return draw_by(self._stream, NONCENTRAL_CHISQUARE, size, df, nonc)

        def noncentral_f(self, dfnum, dfden, nonc, size=None):
            """Numbers of the noncentral F distribution.

            >>> noncentral_f(2, 3, 1, size=2)
            """
            return draw_by(self._stream, NONCENTRAL_F, size, dfnum, dfden, nonc)

        def pareto(self, a, size=None):
            """Numbers of the Pareto II (Lomax) distribution.

            >>> pareto(2, size=2)
            """
            return draw_by(self._stream, PARETO, size, a)

        def power(self, a, size=None):
            """Powers of uniform numbers, whose density is `a x**(a - 1)`.

            >>> power(2, size=2)
            """
            return draw_by(self._stream, POWER, size, a)

        def rayleigh(self, scale=1.0, size=None):
            """Lengths of vectors of two normal numbers.

            >>> rayleigh(2, size=2)
            """
            return draw_by(self._stream, RAYLEIGH, size, scale)

        def standard_cauchy(self, size=None):
            """Quotients of two normal numbers.

            >>> standard_cauchy(size=2)
            """
            return draw_by(self._stream, STANDARD_CAUCHY, size)

        def standard_t(self, df, size=None):
            """Numbers of Student's t distribution.

            >>> standard_t(3, size=2)
            """
            return draw_by(self._stream, STANDARD_T, size, df)

        def vonmises(self, mu, kappa, size=None):
            """Angles around `mu`, the closer the larger `kappa` is.

            >>> vonmises(0, 1, size=2)
            """
            return draw_by(self._stream, VONMISES, size, mu, kappa)

        def wald(self, mean, scale, size=None):
            """Numbers of the inverse Gaussian distribution.

            >>> wald(1, 2, size=2)
            """
            return draw_by(self._stream, WALD, size, mean, scale)

        def weibull(self, a, size=None):
            """Numbers of the Weibull distribution.

            >>> weibull(2, size=2)
            """
            return draw_by(self._stream, WEIBULL, size, a)

        def binomial(self, n, p, size=None):
            """How many of `n` trials succeed, each with probability `p`.

            >>> binomial(10, 0.3, size=2)
            """
            return draw_by(self._stream, BINOMIAL, size, n, p)

        def geometric(self, p, size=None):
            """How many trials it takes to succeed with probability `p`.

            >>> geometric(0.3, size=2)
            """
            return draw_by(self._stream, GEOMETRIC, size, p)

        def logseries(self, p, size=None):
            """Numbers of the logarithmic series distribution.

            >>> logseries(0.5, size=2)
            """
            return draw_by(self._stream, LOGSERIES, size, p)

        def poisson(self, lam=1.0, size=None):
            """How many events happen of which `lam` are expected.

            >>> poisson(3, size=2)
            """
            return draw_by(self._stream, POISSON, size, lam)

        def zipf(self, a, size=None):
            """Numbers whose odds are their powers with exponent `-a`.

            >>> zipf(2, size=2)
            """
            return draw_by(self._stream, ZIPF, size, a)

        def normal(self, loc=0.0, scale=1.0, size=None):
            """Numbers of the normal distribution around `loc` with deviation `scale`.

            >>> normal(3, 2, size=2)
            """
            return draw_by(self._stream, NORMAL, size, loc, scale)

        def exponential(self, scale=1.0, size=None):
            """Numbers of the exponential distribution with mean `scale`.

            >>> exponential(2.5, size=2)
            """
            return draw_by(self._stream, EXPONENTIAL, size, scale)

        def triangular(self, left, mode, right, size=None):
            """Numbers whose density rises from `left` to `mode` and falls to `right`.

            >>> triangular(0, 1, 2, 2)
            """
            left, mode, right = map(as_parameter, (left, mode, right))
            if any_of(left > mode):
                raise ValueError("left > mode")
            if any_of(mode > right):
                raise ValueError("mode > right")
            if any_of(left == right):
                raise ValueError("left == right")
            return draw_by(self._stream, TRIANGULAR, size, left, mode, right)

    for name, result in results.items():
        method = getattr(Distributions, name)
        method.__qualname__ = f"Distributions.{name}"
        doc, _, call = method.__doc__.partition(">>> ")
        method.__doc__ = f"{doc.strip()}\n\n        >>> {source}.{call.strip()}\n        {result}\n        "
    return Distributions
