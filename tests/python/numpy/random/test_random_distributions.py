"""Each distribution of Generator and RandomState draws NumPy's own numbers, whatever its parameters and its stream."""

import numpy
import pytest
import weft
from comparing import exception_kind, outcome
from random_streams import assert_same

STREAMS = ["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"]

REAL = """
beta(2, 3); beta(0.5, 0.5); beta(1e-200, 1e-200); beta(0.01, 0.001); beta(1, 1); beta(3, 0.2); chisquare(2)
chisquare(0.3); f(2, 3); f(0.5, 9); gamma(2, 3); gamma(0.5, 2); gamma(1); gamma(0); gamma(1e5, 0.1); gumbel(1, 2)
laplace(1, 2); logistic(1, 2); lognormal(1, 0.5); noncentral_chisquare(3, 2); noncentral_chisquare(0.5, 30)
noncentral_chisquare(2, 0); noncentral_chisquare(2, NAN); noncentral_f(3, 4, 2); noncentral_f(0.5, 4, 2); pareto(3)
power(0.5); power(3); rayleigh(2); standard_cauchy(); standard_t(3); standard_t(0.4); vonmises(1, 2)
vonmises(0, 1e-9)
vonmises(0, 1e-6); vonmises(-3, 1e7); vonmises(0, NAN); wald(2, 3); wald(1e-3, 1e3); weibull(2); weibull(0)
triangular(0, 1, 3)
triangular(0, 0, 1); standard_gamma(0.3); standard_gamma(7); standard_normal(); standard_exponential(); uniform(-2, 5)
normal(3, 2); exponential(3); normal(NAN, 1); gamma(2, NAN)
"""
WHOLE = """
binomial(10, 0.3); binomial(1000, 0.4); binomial(1000, 0.97); binomial(10**15, 0.3); binomial(0, 0.5); binomial(5, 0)
binomial(5, 1); binomial(100, 0.3); binomial(10**6, 1e-5); binomial(3000, 0.5); geometric(0.5); geometric(0.01)
geometric(1); geometric(1e-18); hypergeometric(5, 6, 7); hypergeometric(100, 200, 50); hypergeometric(1000, 10, 500)
hypergeometric(10, 1000, 900); hypergeometric(3, 4, 1); hypergeometric(10**6, 10**7, 10**5); logseries(0.5)
logseries(0.999); negative_binomial(3, 0.5); negative_binomial(0.2, 0.01); negative_binomial(50, 0.9); poisson(3)
poisson(0)
poisson(10); poisson(11.5); poisson(1e6); poisson(1e17); zipf(2); zipf(1.1); zipf(30); zipf(1024.5)
"""


def calls(text):
    return [call.strip() for call in text.replace("\n", ";").split(";") if call.strip()]


def both(call, make, seed=7, size=""):
    """NumPy's result and weft's, and what is drawn next."""
    code = f"r.{call[:-1]}{', ' if not call.endswith('()') and size else ''}{size})"
    results = []
    for np in (numpy, weft):
        r = make(np, seed)
        values = [outcome(eval, code, {"r": r, "np": np, "NAN": float("nan")}) for _ in range(2)]
        results.append((values, r.random(3) if not isinstance(values[0], Exception) else None))
    return results


def assert_both(call, make, seed=7, size=""):
    (theirs, after), (ours, behind) = both(call, make, seed, size)
    for expected, result in zip(theirs, ours, strict=True):
        if isinstance(expected, Exception):
            assert exception_kind(result) == exception_kind(expected), (call, result, expected)
            assert str(result) == str(expected), call
            return
        assert not isinstance(result, Exception), (call, size, result)
        if isinstance(expected, numpy.ndarray):
            assert isinstance(result, weft.ndarray), call
        else:
            assert type(result) is type(expected), call
        assert_same(result, expected)
    assert_same(behind, after)


def generator(stream):
    return lambda np, seed: np.random.Generator(getattr(np.random, stream)(seed))


def legacy(np, seed):
    return np.random.RandomState(seed)


@pytest.mark.parametrize("stream", STREAMS)
def test_real_and_whole_numbers_of_generators(stream):
    for call in calls(REAL) + calls(WHOLE):
        for seed, size in ((7, "size=2000" if stream == "PCG64" else "size=300"), (8, "")):
            assert_both(call, generator(stream), seed, size)


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, [1, 2, 3]], ids=str)
def test_real_and_whole_numbers_of_random_states(seed):
    for call in calls(REAL) + calls(WHOLE):
        if call in ("gamma(2, NAN)", "zipf(1.1)") or "1e-18" in call:
            continue
        assert_both(call, legacy, seed, "size=500")
        assert_both(call, legacy, seed)


ARRAYS = """
gamma([1, 2, 3]); gamma([[0.5], [2]], [1, 2, 3]); normal([1.0, 2.0], 3, size=(4, 2)); poisson([0, 1, 20.0])
binomial([5, 100, 1000], 0.3); binomial(10, [0.1, 0.9]); binomial([[5], [60]], [0.2, 0.7], size=(3, 2, 2))
beta([1, 2], 3)
hypergeometric([5, 50], 20, [10, 30]); triangular([0, 1], 2, [3, 4]); uniform([0, 1], [[2], [5]]); vonmises([0, 1], 2)
negative_binomial([3, 4], 0.5); zipf([2, 3]); geometric([0.5, 0.1]); logseries([0.5, 0.9])
standard_gamma([0.5, 2, 1])
exponential([1, 2, 3]); noncentral_f([1, 2], 3, [4, 5]); wald([1, 2], [3, 4]); poisson([]); gamma(np.array(2.0))
poisson(np.array([1, 2])); binomial(np.array(5), 0.5); normal(np.float32(1), np.int8(2)); gamma(True)
normal(np.arange(2000.0), 2); uniform(np.arange(3000), 5000); exponential(np.arange(1.0, 2000))
"""


@pytest.mark.parametrize(
    "make", [generator("PCG64"), generator("MT19937"), legacy], ids=["PCG64", "MT19937", "legacy"]
)
def test_parameters_that_are_arrays(make):
    for call in calls(ARRAYS):
        (theirs, after), (ours, behind) = both(call, make)
        for expected, result in zip(theirs, ours, strict=True):
            assert not isinstance(result, Exception), (call, result)
            assert_same(result, expected)
        assert_same(behind, after)


WRONG = """
gamma(-1); gamma([1, -1]); gamma(1, -1); gamma(-0.0); beta(0, 1); beta(1, [0, 1]); beta(1, -1); binomial(-1, 0.5)
binomial(3, 1.5); binomial(3, [0.5, 1.5]); binomial(3, NAN); binomial(3, [NAN]); binomial([-1], 0.5); chisquare(0)
geometric(0); geometric(1.5); geometric([0.5, 0]); hypergeometric(-1, 2, 1); hypergeometric(3, 4, 8)
hypergeometric(3, [4], 8); hypergeometric(3, -4, -8); hypergeometric(3, 4, -1); logseries(1); logseries(-0.1)
logseries([1])
negative_binomial(0, 0.5); negative_binomial(3, 0); negative_binomial(3, -1); negative_binomial(3, [2]); poisson(-1)
poisson([-1]); poisson(NAN); poisson([NAN]); poisson(1e30); poisson([1e30]); zipf(1); zipf(NAN); zipf([1])
zipf([NAN])
triangular(3, 1, 2); triangular(0, 3, 2); triangular(1, 1, 1); triangular([3], 1, 2); uniform(0, np.inf)
uniform([0], np.inf)
vonmises(0, -1); wald(0, 1); wald(1, 0); weibull(-1); power(0); pareto(0); standard_t(0); f(0, 1); f(1, 0)
laplace(0, -1)
normal(0, -1); normal(0, [-1]); lognormal(0, -1); rayleigh(-1); gumbel(0, -1); logistic(0, -1); noncentral_f(0, 1, 1)
noncentral_chisquare(1, -1); gamma(1j); gamma([1j]); gamma(None); poisson('x'); binomial(3.5, 0.5)
binomial([3.5], 0.5)
gamma([1, 2], size=3); gamma([1, 2], size=(2, 1)); gamma(1, size=-1); gamma(1, size=(2, -3)); gamma(1, size=2.5)
gamma()
gamma(1, 2, 3, 4); exponential(-1); standard_gamma(-1); standard_normal(-1); dirichlet([-1, 2]); dirichlet(3)
dirichlet([[1, 2]]); multinomial(-1, [0.5, 0.5]); multinomial(3, [0.8, 0.8, 0.1]); multinomial(3, [-0.1, 1.1])
multinomial(3, 0.5); multivariate_normal([0, 1], [[1, 2]]); multivariate_normal([[0]], [[1]])
multivariate_normal([0], [[1, 0], [0, 1]])
"""


@pytest.mark.parametrize("make", [generator("PCG64"), legacy], ids=["PCG64", "legacy"])
@pytest.mark.parametrize("call", calls(WRONG))
def test_wrong_parameters(make, call):
    (theirs, _), (ours, _) = both(call, make)
    assert exception_kind(ours[0]) == exception_kind(theirs[0]), (ours[0], theirs[0])
    if (
        isinstance(theirs[0], ValueError)
        and "broadcast" not in str(theirs[0])
        and "convert" not in str(theirs[0])
    ):
        assert str(ours[0]) == str(theirs[0])


VECTORS = """
dirichlet([1, 2, 3]); dirichlet([1, 2, 3], 4); dirichlet([0.01, 0.02, 0.03], (2, 3)); dirichlet([0.05, 0, 0.01], 5)
dirichlet([2.0], 3); dirichlet([], 2); multinomial(20, [0.2, 0.3, 0.5]); multinomial(20, [0.2, 0.3, 0.5], 4)
multinomial(200, [0.4, 0.6], (2, 2)); multinomial(0, [0.4, 0.6]); multinomial(5, [1.0])
multinomial(5, [0, 0, 1.0], 2)
"""
VECTORS_OF_GENERATORS = """
multinomial([5, 60], [0.4, 0.6]); multinomial([[5], [7]], [[0.4, 0.6], [0.1, 0.9]])
multinomial([5, 6], [0.4, 0.6], size=(3, 2))
multivariate_hypergeometric([3, 4, 5], 6); multivariate_hypergeometric([3, 4, 5], 9, 4)
multivariate_hypergeometric([30, 400], 100, 3)
multivariate_hypergeometric([3, 4, 5], 6, 3, method='count')
multivariate_hypergeometric([3, 4, 5], 9, method='count')
multivariate_hypergeometric([3, 4], 8); multivariate_hypergeometric([3, -4], 8)
multivariate_hypergeometric([3], 1, method='x')
multivariate_hypergeometric([3.5], 1); multivariate_hypergeometric([3], 1.5); multivariate_hypergeometric([], 0)
"""


def test_vectors():
    for stream in STREAMS:
        for call in calls(VECTORS) + calls(VECTORS_OF_GENERATORS):
            assert_both(call, generator(stream))
    for call in calls(VECTORS):
        if "0.05, 0" in call:
            continue
        (theirs, after), (ours, behind) = both(call, legacy)
        assert_same(ours[0], theirs[0])
        assert_same(behind, after)


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_normal_vectors_are_those_of_the_same_factors(method):
    mean, cov = [1.0, 2.0, 3.0], [[4.0, 1, 0], [1, 3, 0.5], [0, 0.5, 2]]
    expected = numpy.random.default_rng(3).multivariate_normal(mean, cov, (4, 5), method=method)
    result = weft.random.default_rng(3).multivariate_normal(mean, cov, (4, 5), method=method)
    numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=1e-10)
    expected = numpy.random.RandomState(3).multivariate_normal(mean, cov, 7)
    numpy.testing.assert_allclose(
        numpy.asarray(weft.random.RandomState(3).multivariate_normal(mean, cov, 7)), expected, rtol=1e-10
    )
    for check in ("warn", "raise", "nonsense"):
        with pytest.warns(RuntimeWarning) if check == "warn" else pytest.raises(ValueError):
            weft.random.default_rng(3).multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid=check)


def test_single_precision_and_outputs():
    for make in (generator("PCG64"), generator("MT19937")):
        theirs, ours = make(numpy, 3), make(weft, 3)
        for shape in (0.3, 1, 2.5, 0, [0.5, 1, 3]):
            size = {} if isinstance(shape, list) else {"size": 300}
            assert_same(
                ours.standard_gamma(shape, dtype="f4", **size),
                theirs.standard_gamma(shape, dtype="f4", **size),
            )
        for name in ("random", "standard_normal", "standard_exponential"):
            for dtype in ("f4", "f8"):
                a, b = numpy.zeros((30, 4), dtype), weft.zeros((30, 4), dtype)
                assert getattr(ours, name)(out=b, dtype=dtype) is b
                getattr(theirs, name)(out=a, dtype=dtype)
                assert_same(b, a)
        a, b = numpy.zeros((3, 4)), weft.zeros((3, 4))
        theirs.standard_gamma(2.0, out=a), ours.standard_gamma(2.0, out=b)
        assert_same(b, a)
        assert type(ours.standard_gamma(2.0, dtype="f4")) is float
        assert ours.random() == [theirs.standard_gamma(2.0, dtype="f4"), theirs.random()][1]
