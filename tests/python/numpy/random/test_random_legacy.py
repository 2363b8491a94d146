"""RandomState, the older functions, and bit generators as other libraries use them."""

import copy
import ctypes
import pickle

import numpy
import pytest
import weft
from comparing import exception_kind, outcome
from random_streams import assert_same

STREAMS = ["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"]

PROGRAMS = """
r.rand(3); r.rand(2, 3); r.rand(); r.randn(5); r.randn(); r.random_sample((2, 2)); r.random(3); r.tomaxint(4)
r.tomaxint()
r.randint(10); r.randint(5, 9, 20); r.randint(0, 255, 30, 'u1'); r.randint(-7, 1000, 30, 'i2')
r.randint(0, 2, 40, bool)
r.randint(0, 2**40, 9); r.randint([1, 5], [3, 50]); r.randint(0, 2**32, 9, 'u4'); r.randint(3, 3)
r.randint(0, 300, 3, 'u1')
r.randint(0); r.randint([3], [1]); r.randint(0, 10, (2, 0)); r.randint(0, 10, dtype='f8'); r.randint(0, 9, 5, 'i4')
r.bytes(7)
r.choice(5); r.choice(5, 3); r.choice(9, 4, False); r.choice([1.5, 2.5], 7); r.choice(4, 3, p=[0.1, 0.2, 0.3, 0.4])
r.choice(4, 3, False, p=[0.1, 0.2, 0.3, 0.4]); r.choice(0); r.choice(3, 5, False); r.choice([[1, 2]])
r.choice(2, p=[0.5, 0.4])
r.choice([], 1); r.choice(3, p=[0.5, 0.5]); r.choice(3, -1, False); r.choice(2, p=[1.5, -0.5]); r.choice(4, ())
r.permutation(10); r.permutation([3, 1, 2]); r.permutation(np.arange(12).reshape(4, 3)); r.permutation(np.array(3))
r.permutation(np.array(['a', 'bc', 'd'])); r.permutation(np.arange('2020', '2023', dtype='M8[Y]'))
r.choice(np.array(['a', 'bc']), 5); r.choice(['a', 'bc'])
r.seed('x')
r.seed(-1); r.seed(2**32); r.seed([]); r.seed([[1, 2]]); r.seed([2**33]); r.seed(1.5); r.seed([1.5]); r.set_state(3)
r.set_state(('PCG64', [1], 2)); r.set_state({}); r.multinomial(5, [0.5, 0.5], 3); r.standard_normal(7)
r.standard_normal()
"""


@pytest.mark.parametrize(
    "program", [each.strip() for each in PROGRAMS.replace("\n", ";").split(";") if each.strip()]
)
def test_programs_with_random_states(program):
    theirs, ours = numpy.random.RandomState(11), weft.random.RandomState(11)
    theirs.normal(), ours.normal()  # a normal number waits
    for _ in range(2):
        expected = outcome(eval, program, {"np": numpy, "r": theirs})
        result = outcome(eval, program, {"np": weft, "r": ours})
        if isinstance(expected, Exception):
            assert exception_kind(result) == exception_kind(expected), (result, expected)
            if isinstance(expected, ValueError) and "seed" not in program:
                assert str(result) == str(expected)
            break
        if isinstance(expected, bytes):
            assert result == expected
        elif isinstance(expected, numpy.ndarray):
            assert isinstance(result, weft.ndarray)
            assert_same(result, expected)
        else:
            assert result == expected
    assert_same(ours.normal(size=3), theirs.normal(size=3))


@pytest.mark.parametrize(
    "seed", [0, 5, 2**32 - 1, [1, 2, 3], list(range(700))], ids=lambda seed: str(seed)[:9]
)
def test_seeds_and_states(seed):
    numpy.random.seed(seed)
    weft.random.seed(seed)
    for name, arguments in (("rand", (700,)), ("normal", (0, 1, 7)), ("randint", (9,)), ("gamma", (2,))):
        assert_same(getattr(weft.random, name)(*arguments), getattr(numpy.random, name)(*arguments))
    mine, other = weft.random.get_state(), numpy.random.get_state()
    assert mine[0] == other[0] and mine[2:] == other[2:]
    assert_same(mine[1], other[1])
    ours = weft.random.RandomState(1)
    ours.set_state(other)
    again = pickle.loads(pickle.dumps(ours))
    copied = copy.deepcopy(ours)
    expected = numpy.random.normal(size=5)
    for each in (ours, again, copied, weft.random):
        assert_same(each.normal(size=5), expected)


def test_the_state_of_the_functions_is_wefts_own():
    numpy.random.seed(3)
    weft.random.seed(4)
    assert numpy.random.rand() == numpy.random.RandomState(3).rand()
    weft.random.seed(3)
    assert weft.random.rand() == numpy.random.RandomState(3).rand()
    assert weft.random.ranf() == weft.random.RandomState(3).rand(2)[1]
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = weft.random.nonsense


def test_shuffles():
    theirs, ours = numpy.random.RandomState(3), weft.random.RandomState(3)
    for shape in ((11,), (5, 3), (0, 2)):
        x = numpy.arange(numpy.prod(shape)).reshape(shape)
        y = weft.array(x)
        theirs.shuffle(x), ours.shuffle(y)
        assert_same(y, x)
    words, others = list("abcdefgh"), list("abcdefgh")
    theirs.shuffle(words), ours.shuffle(others)
    assert words == others


@pytest.mark.parametrize("stream", STREAMS)
def test_numpy_draws_from_wefts_streams_and_weft_from_numpys(stream):
    ours, theirs = getattr(weft.random, stream)(9), getattr(numpy.random, stream)(9)
    by_numpy, expected = numpy.random.Generator(ours), numpy.random.Generator(theirs)
    by_weft = weft.random.Generator(getattr(numpy.random, stream)(9))
    for draw in (
        lambda r: r.random(5),
        lambda r: r.normal(size=2000),
        lambda r: r.gamma([1, 2, 3]),
        lambda r: r.integers(0, 99, 3000),
        lambda r: r.permutation(9),
        lambda r: r.random(3, dtype="f4"),
        lambda r: r.poisson(4),
    ):
        wanted = draw(expected)
        assert_same(draw(by_numpy), wanted)
        assert_same(draw(by_weft), wanted)
    assert_same(weft.random.Generator(ours).random(4), expected.random(4))
    interface = ours.ctypes
    wanted = theirs.ctypes.next_double(theirs.ctypes.state)
    assert interface.next_double(ctypes.c_void_p(interface.state_address)) == wanted
    assert hasattr(ours, "capsule") and ours._seed_seq is ours.seed_seq


@pytest.mark.parametrize("stream", STREAMS)
def test_states_jumps_and_children(stream):
    ours, theirs = getattr(weft.random, stream)(9), getattr(numpy.random, stream)(9)
    assert_same(ours.random_raw(700), theirs.random_raw(700))
    again = getattr(weft.random, stream)(0)
    again.state = theirs.state
    assert again.random_raw() == theirs.random_raw() == ours.random_raw()
    if stream != "SFC64":
        assert_same(ours.jumped(2).random_raw(9), theirs.jumped(2).random_raw(9))
    for mine, other in zip(ours.spawn(2), theirs.spawn(2), strict=True):
        assert_same(mine.random_raw(4), other.random_raw(4))
    copied = pickle.loads(pickle.dumps(weft.random.Generator(ours)))
    assert_same(copied.random(3), numpy.random.Generator(theirs).random(3))
    if stream == "MT19937":
        for seed in (5, [1, 2, 3]):
            ours._legacy_seeding(seed), theirs._legacy_seeding(seed)
            assert ours.seed_seq is None
            assert_same(ours.random_raw(9), theirs.random_raw(9))
            with pytest.raises(TypeError, match="spawning"):
                ours.spawn(2)


def test_scipy_draws_from_wefts_streams():
    stats = pytest.importorskip("scipy.stats")
    theirs = stats.norm.rvs(size=5, random_state=numpy.random.Generator(numpy.random.PCG64(3)))
    ours = stats.norm.rvs(size=5, random_state=numpy.random.Generator(weft.random.PCG64(3)))
    assert_same(ours, theirs)
