"""Python's own module random in compiled functions: CPython's numbers after random.seed(n), bit for bit."""

import os
import random
import threading

import numpy
import pytest
import weft

REPEATS = 300  # so that pairs, refused draws and new words of the state come up

DRAWS = {
    "random": lambda: random.random(),
    "uniform": lambda: (random.uniform(1.5, 1e6), random.uniform(1.5, -2.5), random.uniform(b=3, a=1)),
    "triangular": lambda: (random.triangular(), random.triangular(1.5, 3.5), random.triangular(-1.0, 3.0, 2.2)),
    "triangular of a point": lambda: (random.triangular(1.5, 1.5), random.triangular(1.5, 1.5, 1.5)),
    "normalvariate": lambda: (random.normalvariate(), random.normalvariate(2.0, 0.5), random.normalvariate(sigma=3)),
    "gauss": lambda: (random.gauss(), random.random(), random.gauss(-1.0, 0.5), random.gauss(2, 3)),
    "lognormvariate": lambda: random.lognormvariate(0.25, 0.5),
    "expovariate": lambda: (random.expovariate(0.2), random.expovariate(lambd=-3)),
    "vonmisesvariate": lambda: (
        random.vonmisesvariate(0.5, 2.5),
        random.vonmisesvariate(-7.0, 1e-7),
        random.vonmisesvariate(3, 100.0),
    ),
    "gammavariate": lambda: (
        random.gammavariate(0.5, 2.5),
        random.gammavariate(1.0, 1.5),
        random.gammavariate(9.5, 3.5),
        random.gammavariate(0.01, 1.0),
    ),
    "betavariate": lambda: (random.betavariate(0.5, 2.5), random.betavariate(3, 1)),
    "paretovariate": lambda: (random.paretovariate(0.5), random.paretovariate(3.5)),
    "weibullvariate": lambda: (random.weibullvariate(0.5, 2.5), random.weibullvariate(2, 0.3)),
    "randrange": lambda: (
        random.randrange(1),
        random.randrange(8),
        random.randrange(-2, 5000),
        random.randrange(2**62 + 2**61),
        random.randrange(-(2**62), 2**62 + 5),
        random.randrange(-2, 40, 6),
        random.randrange(40, 2, -3),
        random.randrange(5, step=1, stop=9),
    ),
    "randint": lambda: (random.randint(1, 6), random.randint(3, 3), random.randint(-(2**63), 2**63 - 1)),
    "getrandbits": lambda: (
        random.getrandbits(1),
        random.getrandbits(31),
        random.getrandbits(32),
        random.getrandbits(33),
        random.getrandbits(63),
        random.getrandbits(64),
        random.getrandbits(0),
    ),
    "choice": lambda: (
        random.choice([1, 5, 7]),
        random.choice((0.5, 1.5)),
        random.choice(range(5, 50, 5)),
    ),
    "choices": lambda: (
        random.choices([1, 5, 7], k=4),
        random.choices([1.5, 2.5]),
        random.choices([1, 5, 7], [2, 3, 1.5], k=4),
        random.choices([1, 5, 7], cum_weights=[1, 1, 4], k=3),
    ),
    "sample": lambda: (
        random.sample([1, 5, 7, 9], 3),
        random.sample(range(1000), 4),
        random.sample(range(80), 7),
        random.sample(range(300), 7),
        random.sample(range(30), 6),
        random.sample(range(22), 5),
        random.sample(range(21), 5),
        random.sample([1, 2], k=0),
    ),
}  # fmt: skip


@weft.jit
def seed(n):
    random.seed(n)


def exact(value):
    """A result as text of all its bits."""
    if isinstance(value, (tuple, list)):
        return [exact(each) for each in value]
    value = value.item() if isinstance(value, weft.generic) else value
    return value.hex() if isinstance(value, float) else value


@pytest.fixture(autouse=True)
def same_state_outside():
    before = random.getstate()
    yield
    random.setstate(before)


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_cpythons_bit_for_bit(name):
    draw = DRAWS[name]
    random.seed(12345)
    expected = [exact(draw()) for _ in range(REPEATS)]
    compiled = weft.jit(draw)
    seed(12345)
    assert [exact(compiled()) for _ in range(REPEATS)] == expected


@pytest.mark.parametrize("start", [0, 1, 125, 2**32 - 1, 2**32, 2**40 + 7, 2**63 - 1, -1, -(2**63), True])
def test_seeds_are_cpythons(start):
    def seeded(n):
        random.seed(n)
        return random.random(), random.getrandbits(64)

    assert exact(weft.jit(seeded)(start)) == exact(seeded(start))


def test_seeds_above_int64():
    def seeded():
        random.seed(numpy.uint64(2**63 + 11))
        return random.random()

    random.seed(2**63 + 11)
    assert weft.jit(seeded)() == random.random()


def test_seeds_of_the_system():
    draw = weft.jit(lambda: (random.seed(), random.random(), random.seed(None), random.random()))
    assert len({draw()[1::2] for _ in range(5)}) == 5


def test_a_seed_forgets_the_second_number_of_a_pair():
    def draw():
        random.seed(4)
        first = random.gauss(0.0, 1.0)
        random.seed(4)
        return first, random.gauss(0.0, 1.0)

    first, second = weft.jit(draw)()
    assert first == second


def test_states_are_apart():
    def both():
        random.seed(1)
        numpy.random.seed(1)
        return random.random(), numpy.random.rand(), random.random(), numpy.random.rand()

    before = random.getstate()
    state, other = numpy.random.RandomState(1), random.Random(1)
    assert weft.jit(both)() == (other.random(), state.rand(), other.random(), state.rand())
    assert random.getstate() == before


def test_names_that_were_imported():
    from random import gauss, getrandbits
    from random import random as draw

    seed(3)
    expected = random.Random(3)
    got = weft.jit(lambda: (draw(), gauss(0, 1), getrandbits(9)))()
    assert got == (expected.random(), expected.gauss(0, 1), expected.getrandbits(9))


@pytest.mark.parametrize("items", [list(range(20)), [0.5, 1.5, 2.5], [], [7]])
def test_shuffle_of_lists(items):
    ours, theirs = items.copy(), items.copy()
    seed(9)
    weft.jit(lambda x: random.shuffle(x))(ours)
    random.Random(9).shuffle(theirs)
    assert ours == theirs


def test_shuffle_of_arrays():
    shuffle = weft.jit(lambda x: random.shuffle(x))
    line, rows = numpy.arange(20), numpy.arange(32).reshape(8, 4)
    seed(9)
    shuffle(line)
    expected = numpy.arange(20)
    random.Random(9).shuffle(expected)
    assert line.tolist() == expected.tolist()
    shuffle(rows)  # CPython's would write rows over each other
    assert rows.tolist() != numpy.arange(32).reshape(8, 4).tolist()
    assert sorted(rows.tolist()) == numpy.arange(32).reshape(8, 4).tolist()


def test_choice_of_arrays():
    choose = weft.jit(lambda x: random.choice(x))
    seed(2)
    expected = random.Random(2)
    numbers = numpy.arange(10) * 1.5
    assert [choose(numbers) for _ in range(9)] == [expected.choice(numbers) for _ in range(9)]


def test_each_thread_has_its_own():
    draw = weft.jit(lambda: random.random())
    seed(1)
    first = draw()
    found = []
    other = threading.Thread(target=lambda: (seed(1), found.append(draw()), seed(2)))
    other.start()
    other.join()
    expected = random.Random(1)
    assert [first, found[0], draw()] == [expected.random(), first, expected.random()]


def test_new_threads_begin_differently():
    draw = weft.jit(lambda: (random.random(), random.gauss(0.0, 1.0)))
    found = [draw()]
    for _ in range(3):
        other = threading.Thread(target=lambda: found.append(draw()))
        other.start()
        other.join()
    assert len({each for pair in found for each in pair}) == 8


def test_forked_processes_begin_differently():
    draw = weft.jit(lambda: (random.random(), numpy.random.rand()))
    seed(1)
    draw()
    told = []
    for _ in range(2):
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            os.write(write, repr(draw()).encode())
            os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        with os.fdopen(read) as pipe:
            told.append(eval(pipe.read()))
    told.append(draw())
    assert len({each for pair in told for each in pair}) == 6


def test_parallel_loops_draw():
    def inside(n):
        count = 0
        for _ in weft.prange(n):
            x, y = random.random(), random.uniform(-1.0, 1.0)
            count += x * x + y * y < 1
        return count / n

    assert abs(weft.jit(inside)(200_000) - numpy.pi / 4) < 0.02


WRONG = {
    "gammavariate": (lambda: random.gammavariate(0.0, 1.0), ValueError, "alpha and beta must be > 0.0"),
    "gammavariate of beta": (lambda: random.gammavariate(1.0, -0.5), ValueError, "alpha and beta must be > 0.0"),
    "betavariate": (lambda: random.betavariate(1.0, 0.0), ValueError, "alpha and beta must be > 0.0"),
    "expovariate": (lambda: random.expovariate(0.0), ZeroDivisionError, "division by zero"),
    "paretovariate": (lambda: random.paretovariate(0.0), ZeroDivisionError, "division by zero"),
    "paretovariate too large": (lambda: random.paretovariate(1e-5), OverflowError, "34, 'Numerical result out"),
    "weibullvariate": (lambda: random.weibullvariate(1.0, 0.0), ZeroDivisionError, "division by zero"),
    "lognormvariate": (lambda: random.lognormvariate(1000.0, 0.0), OverflowError, "math range error"),
    "randrange": (lambda: random.randrange(0), ValueError, r"empty range for randrange\(\)"),
    "randrange of two": (lambda: random.randrange(5, 2), ValueError, "empty range"),
    "randrange up": (lambda: random.randrange(7, 5, 1), ValueError, "empty range"),
    "randrange down": (lambda: random.randrange(5, 7, -1), ValueError, "empty range"),
    "randrange by 0": (lambda: random.randrange(5, 7, 0), ValueError, "zero step for randrange"),
    "randint": (lambda: random.randint(5, 4), ValueError, "empty range"),
    "getrandbits": (lambda: random.getrandbits(-1), ValueError, "number of bits must be non-negative"),
    "sample": (lambda: random.sample([1, 2], 3), ValueError, "Sample larger than population or is negative"),
    "sample of fewer": (lambda: random.sample([1, 2], -1), ValueError, "Sample larger than population"),
    "choices": (lambda: random.choices([1, 2], [1.0]), ValueError, "number of weights does not match"),
    "choices of nothing": (lambda: random.choices([1, 2], [0, 0]), ValueError, "must be greater than zero"),
    "choices of inf": (lambda: random.choices([1, 2], [1, numpy.inf]), ValueError, "must be finite"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters_are_cpythons_errors(name):
    draw, exception, text = WRONG[name]
    for function in (draw, weft.jit(draw)):
        with pytest.raises(exception, match=text):
            function()


def test_nothing_to_choose_from():
    with pytest.raises(IndexError, match="Cannot choose from an empty sequence"):
        weft.jit(lambda x: random.choice(x))(numpy.zeros(0))


def test_more_bits_than_an_int_has():
    draw = weft.jit(lambda k: random.getrandbits(k))
    for wrong in (64, 65, 9999999):
        with pytest.raises(OverflowError, match="gives 63 bits at most"):
            draw(wrong)


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda: random.binomialvariate(5, 0.5), r"random\.\w+ is not compiled yet|no attribute|has no"),
        (lambda: random.getstate(), r"random\.getstate is not compiled yet"),
        (lambda: random.gauss("x", 1.0), r"gauss\(\) takes a number for 'mu' in a compiled function, not"),
        (lambda: random.randint(1.0, 5.0), r"randint\(\) takes an integer for 'a' in a compiled function, not"),
        (lambda: random.seed(1.5), r"seed\(\) takes an integer or None for 'a' in a compiled function, not"),
        (lambda: random.gauss(sgma=1), "unexpected keyword argument 'sgma'"),
        (lambda: random.choices([1], [1], cum_weights=[1]), "both weights and cumulative weights"),
    ],
)  # fmt: skip
def test_what_is_not_compiled_says_so(draw, text):
    with pytest.raises(weft.CompileError, match=text):
        weft.jit(draw)()


def test_generators_of_the_program_are_not_the_module():
    own = random.Random(5).gauss
    with pytest.raises(weft.CompileError, match="'own' is a method"):
        weft.jit(lambda: own(0.0, 1.0))()
