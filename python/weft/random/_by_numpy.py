"""Distributions that NumPy draws: it is given the stream's state, draws, and the stream goes on from there.

Each such draw is in the history of kernels: {"fallback": "gamma by NumPy", ...}.
"""

import inspect

from weft import _core
from weft._core import asarray, ndarray

# NumPy's signatures, and what is drawn.
DISTRIBUTIONS = {
    "beta(a, b, size=None)": "the beta distribution",
    "binomial(n, p, size=None)": "how many of `n` trials succeed with probability `p`",
    "chisquare(df, size=None)": "the chi-square distribution",
    "dirichlet(alpha, size=None)": "the Dirichlet distribution",
    "f(dfnum, dfden, size=None)": "Fisher's F distribution",
    "gamma(shape, scale=1.0, size=None)": "the gamma distribution",
    "geometric(p, size=None)": "how many trials it takes to succeed with probability `p`",
    "gumbel(loc=0.0, scale=1.0, size=None)": "the Gumbel distribution",
    "hypergeometric(ngood, nbad, nsample, size=None)": "how many of a sample are good",
    "laplace(loc=0.0, scale=1.0, size=None)": "the Laplace distribution",
    "logistic(loc=0.0, scale=1.0, size=None)": "the logistic distribution",
    "lognormal(mean=0.0, sigma=1.0, size=None)": "numbers whose logarithm is normally distributed",
    "logseries(p, size=None)": "the logarithmic series distribution",
    "multinomial(n, pvals, size=None)": "how often each outcome comes in `n` trials",
    "multivariate_hypergeometric(colors, nsample, size=None, method='marginals')": "a sample's colors",
    "multivariate_normal(mean, cov, size=None, check_valid='warn', tol=1e-8, *, method='svd')": (
        "vectors of the normal distribution"
    ),
    "negative_binomial(n, p, size=None)": "how many trials fail before `n` succeed",
    "noncentral_chisquare(df, nonc, size=None)": "the noncentral chi-square distribution",
    "noncentral_f(dfnum, dfden, nonc, size=None)": "the noncentral F distribution",
    "pareto(a, size=None)": "the Pareto II distribution",
    "poisson(lam=1.0, size=None)": "the Poisson distribution",
    "power(a, size=None)": "powers of numbers in [0, 1)",
    "rayleigh(scale=1.0, size=None)": "the Rayleigh distribution",
    "standard_cauchy(size=None)": "the Cauchy distribution",
    "standard_gamma(shape, size=None, dtype='float64', out=None)": "the gamma distribution with scale 1",
    "standard_t(df, size=None)": "Student's t distribution",
    "triangular(left, mode, right, size=None)": "the triangular distribution",
    "vonmises(mu, kappa, size=None)": "angles around `mu`",
    "wald(mean, scale, size=None)": "the inverse Gaussian distribution",
    "weibull(a, size=None)": "the Weibull distribution",
    "zipf(a, size=None)": "Zipf's distribution",
}


def _as_numpys(value, numpy):
    return numpy.asarray(value) if isinstance(value, ndarray) else value


def draw(bit_generator, name, arguments):
    """What NumPy's Generator draws by method `name`, as arrays of weft's; the stream is then where NumPy's is."""
    try:
        import numpy
    except ImportError as error:
        raise NotImplementedError(f"weft leaves Generator.{name} to NumPy, which is not installed") from error
    out = arguments.pop("out", None)
    arguments = {key: _as_numpys(value, numpy) for key, value in arguments.items()}
    if "dtype" in arguments:
        arguments["dtype"] = _core.dtype(arguments["dtype"]).name
    if out is not None:
        if not isinstance(out, ndarray):
            raise TypeError("out must be an array of weft's")
        arguments["out"] = numpy.empty(out.shape, out.dtype.name)
    with bit_generator._unless_it_fails():
        theirs = getattr(numpy.random, type(bit_generator).__name__)(0)
        theirs.state = bit_generator.state
        drawn = getattr(numpy.random.Generator(theirs), name)(**arguments)
        bit_generator.state = theirs.state
        _core._record_numpys_draw(name, getattr(drawn, "nbytes", 8))
        if out is not None:
            out[...] = asarray(drawn)
            return out
        if isinstance(drawn, numpy.ndarray):
            return asarray(drawn)
        return asarray(drawn)[()] if isinstance(drawn, numpy.generic) else drawn


def methods():
    """The methods by name, with NumPy's signatures."""
    result = {}
    for text, drawn in DISTRIBUTIONS.items():
        name, _, parameters = text.partition("(")
        signature = inspect.signature(eval(f"lambda self, {parameters[:-1]}: None"))
        result[name] = _method(name, signature, f"Draws {drawn}; by NumPy, from this stream's state.")
    return result


def _method(name, signature, documentation):
    def method(*arguments, **options):
        try:
            bound = signature.bind(*arguments, **options)
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        given = dict(bound.arguments)
        return draw(given.pop("self").bit_generator, name, given)

    method.__name__, method.__qualname__ = name, f"Generator.{name}"
    method.__doc__, method.__signature__ = documentation, signature
    method.__module__ = "weft.random"
    return method
