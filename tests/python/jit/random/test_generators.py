"""Random numbers of NumPy's Generator in compiled functions: the same words of the stream, and the same state."""

import gc
import threading

import numpy
import pytest
import weft

DRAWS = {
    "random": lambda r: (r.random(), r.random(5), r.random((2, 3)), r.random(size=())),
    "random32": lambda r: (r.random(dtype=numpy.float32), r.random(5, numpy.float32), r.random()),
    "standard_normal": lambda r: (r.standard_normal(), r.standard_normal(700), r.standard_normal((2, 3))),
    "standard_normal32": lambda r: (r.standard_normal(dtype=numpy.float32), r.standard_normal(9, numpy.float32)),
    "standard_exponential": lambda r: (r.standard_exponential(), r.standard_exponential(700)),
    "standard_exponential32": lambda r: r.standard_exponential(9, numpy.float32),
    "standard_gamma": lambda r: (r.standard_gamma(0.4), r.standard_gamma(3, 4), r.standard_gamma(2, 3, numpy.float32)),
    "normal": lambda r: (r.normal(), r.normal(1.5, 2.0), r.normal(scale=2, size=(2, 2)), r.normal(loc=1, size=3)),
    "uniform": lambda r: (r.uniform(), r.uniform(-1, 1), r.uniform(2.0, high=3.0, size=4)),
    "exponential": lambda r: (r.exponential(), r.exponential(2.0, 5)),
    "gamma": lambda r: (r.gamma(0.5), r.gamma(2.0, 3.0), r.gamma(2.0, size=5)),
    "beta": lambda r: (r.beta(0.5, 0.5), r.beta(2.0, 3.0, 4)),
    "chisquare": lambda r: (r.chisquare(3), r.chisquare(2.5, 4)),
    "f": lambda r: (r.f(3, 4.5), r.f(2.5, 3, 4)),
    "noncentral": lambda r: (r.noncentral_chisquare(3, 1.5), r.noncentral_f(2, 3, 1.0, 4)),
    "t": lambda r: (r.standard_t(3), r.standard_cauchy(), r.standard_t(2.5, size=4), r.standard_cauchy(3)),
    "vonmises": lambda r: (r.vonmises(0.0, 1.0), r.vonmises(1.0, 4.0, 5)),
    "powers": lambda r: (r.pareto(3.0), r.weibull(2.0), r.power(2.0), r.pareto(3.0, 3), r.power(3, 3)),
    "tails": lambda r: (r.laplace(), r.gumbel(1.0, 2.0), r.logistic(size=3), r.lognormal(0.0, 0.5), r.rayleigh(2.0, 3)),
    "wald": lambda r: (r.wald(1.0, 2.0), r.wald(3.0, 2.0, 3), r.triangular(0.0, 1.0, 3.0), r.triangular(0, 1, 3, 4)),
    "binomial": lambda r: (r.binomial(10, 0.3), r.binomial(100, 0.7, 6), r.binomial(0, 0.5)),
    "poisson": lambda r: (r.poisson(), r.poisson(3.0, 5), r.poisson(100.0, 5)),
    "whole": lambda r: (r.geometric(0.1), r.geometric(0.6), r.zipf(2.5), r.logseries(0.4), r.negative_binomial(3, 0.5)),
    "hypergeometric": lambda r: (r.hypergeometric(5, 6, 7), r.hypergeometric(50, 60, 40, 5)),
    "integers": lambda r: (r.integers(10), r.integers(1, 7, 20), r.integers(-5, 5, endpoint=True), r.integers(2**62)),
    "integers of types": lambda r: (
        r.integers(1, 100, 20, numpy.int8),
        r.integers(0, 65536, 20, dtype=numpy.uint16),
        r.integers(-3, 3, (2, 3), dtype=numpy.int32),
        r.integers(0, 255, dtype=numpy.uint8),
        r.integers(0, 2, 9, dtype=numpy.bool_),
    ),
    "halves": lambda r: (r.integers(10), r.random(), r.integers(10), r.integers(2**40), r.integers(3, size=5)),
    "permutation": lambda r: (r.permutation(10), r.permutation(numpy.arange(12.0).reshape(6, 2)), r.permutation(0)),
    "permutation along an axis": lambda r: (
        r.permutation(numpy.arange(24.0).reshape(2, 3, 4), axis=1),
        r.permutation(numpy.arange(24).reshape(2, 3, 4), -1),
        r.permutation([1.0, 2.0, 3.0]),
    ),
    "choice of rows": lambda r: (
        r.choice(numpy.arange(12.0).reshape(6, 2)),
        r.choice(numpy.arange(12.0).reshape(6, 2), 4),
        r.choice(numpy.arange(12).reshape(2, 6), (2, 2), axis=1),
        r.choice(numpy.arange(12).reshape(2, 6), 3, False, axis=-1),
        r.choice(numpy.arange(12).reshape(6, 2), 2, p=[0.1, 0.2, 0.3, 0.2, 0.1, 0.1]),
    ),
    "standard_exponential by a logarithm": lambda r: (
        r.standard_exponential(method="inv"),
        r.standard_exponential(7, method="inv"),
        r.standard_exponential((2, 2), numpy.float32, "inv"),
        r.standard_exponential(3, numpy.float32, method="zig"),
    ),
    "integers of all of uint64": lambda r: (
        r.integers(0, numpy.uint64(2**64 - 1), 4, numpy.uint64),
        r.integers(numpy.uint64(2**63 + 5), numpy.uint64(2**64 - 1), dtype=numpy.uint64, endpoint=True),
        r.integers(0, 18446744073709551615, 4, numpy.uint64, True),
        r.integers(-(2**63), 2**63 - 1, 4),
    ),
    "multinomial": lambda r: (
        r.multinomial(20, [0.2, 0.3, 0.5]),
        r.multinomial(20, (0.2, 0.3, 0.5), 2),
        r.multinomial(1000, numpy.array([0.25, 0.75]), size=(2, 3)),
        r.multinomial(5, [1.0], ()),
        r.multinomial(5, [0.5, 0.5], 0),
    ),
    "dirichlet": lambda r: (
        r.dirichlet([1.0, 2.0, 3.0]),
        r.dirichlet((1.0, 0.5), 2),
        r.dirichlet(numpy.array([0.01, 0.05, 0.02]), size=(2, 3)),
        r.dirichlet([1, 2], ()),
    ),
    "choice": lambda r: (r.choice(10), r.choice(10, 4), r.choice(10, 4, False), r.choice(1000, 5, replace=False)),
    "choice of an array": lambda r: (
        r.choice(numpy.arange(5.0) * 2),
        r.choice(numpy.arange(5.0) * 2, (2, 3)),
        r.choice(numpy.arange(9), 3, replace=False, shuffle=False),
    ),
    "choice by odds": lambda r: (
        r.choice(5, 3, p=numpy.array([0.1, 0.2, 0.3, 0.2, 0.2])),
        r.choice(5, 3, False, numpy.array([0.1, 0.2, 0.3, 0.2, 0.2])),
        r.choice(2, p=[0.25, 0.75]),
    ),
}  # fmt: skip


def same(got, expected):
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            same(one, other)
        return
    got, expected = numpy.asarray(got), numpy.asarray(expected)
    assert got.dtype == expected.dtype or not expected.ndim  # numbers are Python's
    assert got.shape == expected.shape
    assert got.tobytes() == expected.astype(got.dtype).tobytes()


def state_of(generator):
    state = generator.bit_generator.state
    inner = {k: numpy.asarray(v).tolist() for k, v in state["state"].items()}
    return inner, state.get("has_uint32"), state.get("uinteger"), state.get("buffer_pos")


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_numpys_word_for_word(name):
    draw = DRAWS[name]
    theirs = numpy.random.default_rng(42)
    expected = [draw(theirs), draw(theirs)]
    compiled = weft.jit(draw)
    for generator in (numpy.random.default_rng(42), weft.random.default_rng(42)):
        same(compiled(generator), expected[0])
        same(compiled(generator), expected[1])
        assert state_of(generator) == state_of(theirs)


@pytest.mark.parametrize("kind", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
@pytest.mark.parametrize("package", [numpy, weft])
def test_all_bit_generators(kind, package):
    def draw(r):
        return r.random(3), r.integers(1000, size=5), r.normal(), r.permutation(7), r.random(3, numpy.float32)

    theirs = numpy.random.Generator(getattr(numpy.random, kind)(7))
    ours = package.random.Generator(getattr(package.random, kind)(7))
    same(weft.jit(draw)(ours), draw(theirs))
    same(ours.random(3), theirs.random(3))  # which goes on from there


def test_shuffle():
    def shuffled(r):
        line, rows, numbers = numpy.arange(10), numpy.arange(12).reshape(6, 2), [1.0, 2.0, 3.0, 4.0]
        r.shuffle(line)
        r.shuffle(rows[::2])
        r.shuffle(numbers)
        return line, rows, numpy.array(numbers)

    same(weft.jit(shuffled)(numpy.random.default_rng(5)), shuffled(numpy.random.default_rng(5)))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_shuffle_along_an_axis(axis):
    def shuffled(r):
        block = numpy.arange(60).reshape(3, 4, 5)
        r.shuffle(block, axis=axis)
        rows = numpy.arange(40).reshape(5, 8)[:, ::2]
        r.shuffle(rows, 1)
        return block, rows

    same(weft.jit(shuffled)(numpy.random.default_rng(5)), shuffled(numpy.random.default_rng(5)))


def test_draws_in_a_loop_and_in_functions_that_are_called():
    def step(r, x):
        return x + r.normal() if r.random() < 0.5 else x

    def walk(r, n):
        x = 0.0
        path = numpy.empty(n)
        for i in range(n):
            x = step(r, x)
            path[i] = x
        return path

    same(weft.jit(walk)(numpy.random.default_rng(1), 1000), walk(numpy.random.default_rng(1), 1000))


shared = numpy.random.default_rng(11)


def test_generators_of_the_module():
    draw = weft.jit(lambda: shared.random())
    expected = numpy.random.default_rng(11)
    assert [draw(), draw()] == [expected.random(), expected.random()]


def test_generators_in_tuples_and_results():
    def first(both):
        return both[0], both[0].random() + both[1].random()

    a, b = numpy.random.default_rng(1), numpy.random.default_rng(2)
    got, total = weft.jit(first)((a, b))
    assert got is a
    assert total == numpy.random.default_rng(1).random() + numpy.random.default_rng(2).random()


def test_two_generators_have_one_signature():
    draw = weft.jit(lambda r: r.random())
    draw(numpy.random.default_rng(1))
    draw(weft.random.Generator(weft.random.Philox(1)))
    assert len(draw.signatures) == 1


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda r: r.normal(0.0, -1.0), "scale < 0"),
        (lambda r: r.normal(0.0, -1.0, 3)[0], "scale < 0"),
        (lambda r: r.poisson(-1.0), "lam < 0 or lam is NaN"),
        (lambda r: r.binomial(3, 1.5), "p < 0, p > 1 or p is NaN"),
        (lambda r: r.integers(5, 5), "low >= high"),
        (lambda r: r.integers(0), "high <= 0"),
        (lambda r: r.integers(0, 300, dtype=numpy.int8), "high is out of bounds for int8"),
        (lambda r: r.integers(-1, 3, dtype=numpy.uint8), "low is out of bounds for uint8"),
        (lambda r: r.choice(3, 5, False)[0], "Cannot take a larger sample than population when replace is False"),
        (lambda r: r.choice(2, p=numpy.array([0.5, 0.6])), "Probabilities do not sum to 1"),
        (lambda r: r.choice(3, p=numpy.array([0.5, 0.5])), "a and p must have same size"),
        (lambda r: r.hypergeometric(2, 2, 5), r"ngood \+ nbad < nsample"),
        (lambda r: r.triangular(2.0, 1.0, 3.0), "left > mode"),
        (lambda r: r.random(-1)[0], "negative dimensions are not allowed"),
        (lambda r: r.integers(-1, 3, dtype=numpy.uint64), "low is out of bounds for uint64"),
        (lambda r: r.integers(0, numpy.uint64(2**63 + 1)), "high is out of bounds for int64"),
        (lambda r: r.multinomial(-1, [0.5, 0.5])[0], "n < 0"),
        (lambda r: r.multinomial(3, [1.5, 0.5])[0], "pvals < 0, pvals > 1 or pvals contains NaNs"),
        (lambda r: r.multinomial(3, [0.9, 0.9, 0.1])[0], r"sum\(pvals\[:-1\]\) > 1.0"),
        (lambda r: r.multinomial(3, numpy.zeros(0))[0], "pvals must have at least 1 dimension"),
        (lambda r: r.dirichlet([1.0, -1.0])[0], "alpha < 0"),
    ],
)  # fmt: skip
def test_wrong_parameters_are_numpys_errors(draw, text):
    for function in (draw, weft.jit(draw)):
        with pytest.raises(ValueError, match=text):
            function(numpy.random.default_rng(0))


def test_ranges_that_are_no_numbers():
    draw = weft.jit(lambda r: r.uniform(-1e308, 1e308))
    with pytest.raises(OverflowError, match="high - low range exceeds valid bounds"):
        draw(numpy.random.default_rng(0))


def test_what_is_not_compiled_says_so():
    generator = numpy.random.default_rng(0)
    with pytest.raises(weft.CompileError, match="Generator has no method 'nothing' in a compiled function"):
        weft.jit(lambda r: r.nothing())(generator)
    with pytest.raises(
        weft.CompileError, match=r"normal\(\) takes a number for 'loc' in a compiled function, not array"
    ):
        weft.jit(lambda r: r.normal(numpy.zeros(3)))(generator)
    with pytest.raises(weft.CompileError, match="unexpected keyword argument 'scal'"):
        weft.jit(lambda r: r.normal(scal=1.0))(generator)


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda r: r.gamma("x"), r"gamma\(\) takes a number for 'shape'"),
        (lambda r: r.binomial("x", 0.5), r"binomial\(\) takes a number for 'n'"),
        (lambda r: r.uniform(0.0, "x"), r"uniform\(\) takes a number for 'high'"),
        (lambda r: r.integers("x"), r"integers\(\) takes a number for 'low'"),
        (lambda r: r.integers(3, endpoint="x"), r"integers\(\) takes a bool for 'endpoint'"),
        (lambda r: r.integers(3, dtype=numpy.float64), r"integers\(\) takes an integer type or bool for 'dtype'"),
        (lambda r: r.random(dtype=numpy.int64), r"random\(\) takes float64 or float32 for 'dtype'"),
        (lambda r: r.random(dtype=1), r"random\(\) takes a dtype for 'dtype'"),
        (lambda r: r.standard_exponential(method=1), r"takes a text for 'method'"),
        (lambda r: r.random(1.5), r"random\(\) takes an integer, a tuple of integers or None for 'size'"),
        (lambda r: r.random((2, "x")), r"random\(\) takes an integer, a tuple of integers or None for 'size'"),
        (lambda r: r.shuffle("x"), r"shuffle\(\) takes an array or a list for 'x'"),
        (lambda r: r.shuffle(numpy.arange(3), axis="x"), r"shuffle\(\) takes an integer that is a constant for 'axis'"),
        (lambda r: r.shuffle(numpy.arange(3), axis=1), "axis 1 is out of bounds for array of dimension 1"),
        (lambda r: r.shuffle([1, 2], axis=1), "Axis argument is only supported on ndarray objects"),
        (lambda r: r.permutation(numpy.arange(3), -2), "axis -2 is out of bounds for array of dimension 1"),
        (lambda r: r.permutation(1.5), r"permutation\(\) takes an integer, an array or a list for 'x'"),
        (lambda r: r.choice(numpy.zeros((2, 2)), axis=2), "axis 2 is out of bounds for array of dimension 2"),
        (lambda r: r.multinomial(3, 0.5), r"multinomial\(\) takes numbers for 'pvals'"),
        (lambda r: r.dirichlet(numpy.ones((2, 2))), "alpha must be 1-dimensional"),
    ],
)  # fmt: skip
def test_arguments_of_other_types_are_named(draw, text):
    with pytest.raises(weft.CompileError, match=text):
        weft.jit(draw)(numpy.random.default_rng(0))


def test_parallel_loops_do_not_draw_from_one_stream():
    def total(r, n):
        s = 0.0
        for _ in weft.prange(n):
            s += r.random()
        return s

    with pytest.raises(weft.CompileError, match="hang on the threads"):
        weft.jit(total)(numpy.random.default_rng(0), 10)
    same(
        weft.jit(parallel=False)(total)(numpy.random.default_rng(0), 10),
        total(numpy.random.default_rng(0), 10),
    )


def test_the_lock_of_a_stream_is_held():
    generator = numpy.random.default_rng(0)
    draw = weft.jit(nogil=True)(lambda r, n: r.random(n))
    draw(generator, 3)
    done = threading.Event()
    with generator.bit_generator.lock:
        other = threading.Thread(target=lambda: (draw(generator, 3), done.set()))
        other.start()
        assert not done.wait(0.2)
    other.join()
    assert done.is_set()
    assert generator.bit_generator.lock.acquire(timeout=1)  # it was given back


def test_the_lock_is_given_back_by_a_call_that_fails():
    generator = numpy.random.default_rng(0)
    with pytest.raises(ValueError, match="scale"):
        weft.jit(lambda r: r.normal(0.0, -1.0))(generator)
    taken = []
    other = threading.Thread(target=lambda: taken.append(generator.bit_generator.lock.acquire(timeout=5)))
    other.start()
    other.join()
    assert taken == [True]


def test_arguments_are_kept_while_they_are_drawn_from():
    @weft.jit
    def rows(r, n):
        for _ in range(n):
            yield r.random()

    numbers = rows(numpy.random.default_rng(3), 4)
    gc.collect()
    assert list(numbers) == numpy.random.default_rng(3).random(4).tolist()
