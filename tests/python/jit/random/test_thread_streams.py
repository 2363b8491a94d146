"""numpy.random's own functions in compiled functions: RandomState's numbers from a stream of the thread's own."""

import os
import subprocess
import sys
import threading

import numpy
import pytest
import weft

DRAWS = {
    "uniform": lambda: (
        numpy.random.rand(),
        numpy.random.rand(2, 3),
        numpy.random.random(3),
        numpy.random.random(),
    ),
    "names": lambda: (numpy.random.random_sample(), numpy.random.ranf(2), numpy.random.sample((2, 2))),
    "randn": lambda: (
        numpy.random.randn(),
        numpy.random.randn(3),
        numpy.random.randn(2, 2),
        numpy.random.randn(),
    ),
    "normal": lambda: (
        numpy.random.normal(),
        numpy.random.normal(1.0, 2.0, 3),
        numpy.random.standard_normal(),
        numpy.random.lognormal(0.0, 0.5, 2),
    ),
    "randint": lambda: (
        numpy.random.randint(10),
        numpy.random.randint(1, 7, 20),
        numpy.random.randint(0, 2**40, size=3),
        numpy.random.randint(0, 100, 5, numpy.int8),
        numpy.random.randint(-3, 3),
    ),
    "real": lambda: (
        numpy.random.uniform(-1.0, 1.0),
        numpy.random.exponential(2.0, 3),
        numpy.random.gamma(2.0, 3.0),
        numpy.random.beta(0.5, 0.5),
        numpy.random.standard_gamma(3.0),
        numpy.random.chisquare(3.0, 2),
        numpy.random.f(2.0, 3.0),
        numpy.random.standard_t(3.0),
        numpy.random.standard_cauchy(),
        numpy.random.vonmises(0.0, 1.0),
        numpy.random.triangular(0.0, 1.0, 3.0, 2),
    ),
    "more": lambda: (
        numpy.random.pareto(3.0),
        numpy.random.weibull(2.0),
        numpy.random.power(2.0, 2),
        numpy.random.laplace(),
        numpy.random.gumbel(1.0, 2.0),
        numpy.random.logistic(),
        numpy.random.rayleigh(),
        numpy.random.wald(1.0, 2.0),
        numpy.random.standard_exponential(2),
    ),
    "whole": lambda: (
        numpy.random.binomial(10, 0.3, 4),
        numpy.random.poisson(3.0),
        numpy.random.geometric(0.2),
        numpy.random.zipf(2.5),
        numpy.random.logseries(0.5, 3),
        numpy.random.negative_binomial(3, 0.5),
        numpy.random.hypergeometric(5, 6, 7),
    ),
    "vectors": lambda: (
        numpy.random.multinomial(20, [0.2, 0.3, 0.5]),
        numpy.random.multinomial(20, [0.2, 0.3, 0.5], (2, 2)),
        numpy.random.dirichlet([1.0, 2.0, 3.0]),
        numpy.random.dirichlet((0.01, 0.05), 3),
        numpy.random.noncentral_chisquare(0.5, 1.0, ()),
    ),
    "orders": lambda: (
        numpy.random.permutation(7),
        numpy.random.permutation(numpy.arange(6.0)),
        numpy.random.choice(10),
        numpy.random.choice(10, 4),
        numpy.random.choice(10, 4, False),
        numpy.random.choice(numpy.arange(4.0), 3, True, numpy.array([0.1, 0.2, 0.3, 0.4])),
    ),
}


def same(got, expected):
    for one, other in zip(got, expected, strict=True):
        one, other = numpy.asarray(one), numpy.asarray(other)
        assert one.shape == other.shape
        assert one.tobytes() == other.astype(one.dtype).tobytes()
        assert one.dtype == other.dtype or not other.ndim


@weft.jit
def seed(n):
    numpy.random.seed(n)


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_numpys_word_for_word(name):
    draw = DRAWS[name]
    before = numpy.random.get_state()
    try:
        numpy.random.seed(12345)
        expected = [draw(), draw()]
    finally:
        numpy.random.set_state(before)
    compiled = weft.jit(draw)
    seed(12345)
    same(compiled(), expected[0])
    same(compiled(), expected[1])


def test_the_state_outside_is_another():
    before = numpy.random.get_state()[1].tolist()
    seed(1)
    weft.jit(lambda: numpy.random.rand())()
    assert numpy.random.get_state()[1].tolist() == before


def test_seeds_in_the_function():
    def seeded(n):
        numpy.random.seed(n)
        return numpy.random.randn(), numpy.random.rand()

    state = numpy.random.RandomState(7)
    compiled = weft.jit(seeded)
    assert compiled(7) == compiled(7) == (state.randn(), state.rand())


@pytest.mark.parametrize("wrong", [-1, 2**32])
def test_seeds_that_are_none(wrong):
    with pytest.raises(ValueError, match="Seed must be between 0 and"):
        seed(wrong)


def test_wefts_names_are_the_same():
    seed(3)
    got = weft.jit(lambda: weft.random.rand())()
    assert got == numpy.random.RandomState(3).rand()


def test_names_that_were_imported():
    from numpy.random import rand

    seed(3)
    assert weft.jit(lambda: rand())() == numpy.random.RandomState(3).rand()


def test_shuffle():
    def shuffled():
        a = numpy.arange(10)
        numpy.random.shuffle(a)
        return a

    seed(9)
    expected = numpy.arange(10)
    numpy.random.RandomState(9).shuffle(expected)
    assert weft.jit(shuffled)().tolist() == expected.tolist()


def test_vectors_that_are_none():
    with pytest.raises(ValueError, match="alpha <= 0"):
        weft.jit(lambda: numpy.random.dirichlet([0.0, 1.0]))()
    with pytest.raises(ValueError, match="n < 0"):
        weft.jit(lambda: numpy.random.multinomial(-1, [0.5, 0.5]))()


def test_each_thread_has_its_own():
    draw = weft.jit(lambda: numpy.random.rand())
    seed(1)
    first = draw()
    found = []
    other = threading.Thread(target=lambda: (seed(1), found.append(draw()), seed(2)))
    other.start()
    other.join()
    state = numpy.random.RandomState(1)
    assert [first, found[0], draw()] == [state.rand(), first, state.rand()]


def test_parallel_loops_draw():
    def inside(n):
        count = 0
        for _ in weft.prange(n):
            x, y = numpy.random.rand(), numpy.random.rand()
            count += x * x + y * y < 1
        return count / n

    assert abs(weft.jit(inside)(200_000) - numpy.pi / 4) < 0.02


def test_processes_begin_differently_and_code_from_disk_draws(tmp_path):
    program = tmp_path / "draws.py"
    program.write_text(
        "import numpy, weft\n"
        "@weft.jit\n"
        "def draw(n, r):\n"
        "    return numpy.random.rand(), numpy.random.randn(n), r.integers(100), r.normal(size=n)\n"
        "x, y, a, b = draw(3, numpy.random.default_rng(4))\n"
        "print(x, a, b.tolist(), *draw.stats.values())\n"
    )
    environment = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path / "kernels")}
    lines = [
        subprocess.run(
            [sys.executable, program], capture_output=True, text=True, env=environment, check=True
        ).stdout.split(" ", 1)
        for _ in range(2)
    ]
    assert lines[0][0] != lines[1][0]
    assert "'from_disk': True" in lines[1][1]
    r = numpy.random.default_rng(4)
    expected = f"{r.integers(100)} {r.normal(size=3).tolist()}"
    assert all(line[1].startswith(expected) for line in lines)


def test_what_is_not_compiled_says_so():
    with pytest.raises(weft.CompileError, match=r"numpy\.random\.bytes is not compiled yet"):
        weft.jit(lambda: numpy.random.bytes(3))()
