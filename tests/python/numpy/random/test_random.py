"""weft.random draws NumPy's own numbers: seeds, streams, each method, on any number of threads."""

import pickle

import numpy
import pytest
import weft
from comparing import exception_kind, outcome
from random_streams import STREAMS, assert_same, pair, state_of

N = 1_000_003  # odd, so that half a word is left over; several pieces of the stream


@pytest.mark.parametrize("seed", [0, 1, 42, 2**40 + 5, [1, 2, 3], [], [0], 10**50, [[1], 2**70]], ids=str)
def test_seeds(seed):
    ours, theirs = weft.random.SeedSequence(seed), numpy.random.SeedSequence(seed)
    for dtype in ("uint32", "uint64"):
        assert_same(ours.generate_state(11, dtype), theirs.generate_state(11, dtype))
    for _ in range(2):
        for mine, other in zip(ours.spawn(3), theirs.spawn(3), strict=True):
            assert_same(mine.generate_state(4), other.generate_state(4))
            assert mine.spawn_key == other.spawn_key
    assert weft.random.default_rng(seed).random() == numpy.random.default_rng(seed).random()


@pytest.mark.parametrize("seed", [-1, 1.5, "x", [1.5]], ids=str)
def test_wrong_seeds(seed):
    expected = outcome(numpy.random.default_rng, seed)
    assert exception_kind(outcome(weft.random.default_rng, seed)) == exception_kind(expected)


@pytest.mark.parametrize("stream", STREAMS)
def test_streams(stream):
    theirs, ours = getattr(numpy.random, stream)(7), getattr(weft.random, stream)(7)
    for count in (1, 5, 300_001):
        assert_same(ours.random_raw(count), theirs.random_raw(count))
    assert ours.random_raw() == theirs.random_raw()
    assert_same(ours.advance(12345).random_raw(9), theirs.advance(12345).random_raw(9))
    assert_same(ours.jumped(3).random_raw(9), theirs.jumped(3).random_raw(9))
    for mine, other in zip(ours.spawn(2), theirs.spawn(2), strict=True):
        assert_same(mine.random_raw(4), other.random_raw(4))
    again = getattr(weft.random, stream)()
    again.state = ours.state
    copied = pickle.loads(pickle.dumps(ours))
    expected = theirs.random_raw(7)
    for each in (again, copied, ours):
        assert_same(each.random_raw(7), expected)
    with pytest.raises(ValueError, match="state must be for a"):
        again.state = {**ours.state, "bit_generator": "MT19937"}


METHODS = {
    "random": lambda r: r.random(N),
    "random float32": lambda r: r.random(N, dtype="f4"),
    "random float32, seven": lambda r: r.random(7, dtype="f4"),
    "normal": lambda r: r.standard_normal(N),
    "normal float32": lambda r: r.standard_normal(N, dtype="f4"),
    "exponential": lambda r: r.standard_exponential(N),
    "exponential float32": lambda r: r.standard_exponential(N, dtype="f4"),
    "exponential by log": lambda r: r.standard_exponential(N, method="inv"),
    "exponential by log, float32": lambda r: r.standard_exponential(N, dtype="f4", method="inv"),
    "uniform": lambda r: r.uniform(-3, 7, N),
    "scaled normal": lambda r: r.normal(3, 2, N),
    "scaled exponential": lambda r: r.exponential(2.5, N),
    "integers": lambda r: r.integers(0, 10, N),
    "integers, 41 bits": lambda r: r.integers(-5, 2**40, N),
    "integers, 63 bits": lambda r: r.integers(0, 2**63 - 1, N),
    "integers, many refused": lambda r: r.integers(0, 2**63 + 1, N, dtype="u8"),
    "integers, all": lambda r: r.integers(0, 2**64 - 1, N, dtype="u8", endpoint=True),
    "integers, 33 bits": lambda r: r.integers(0, 2**32 + 1, N),
    "integers, 32 bits": lambda r: r.integers(0, 2**32, N),
    "int32": lambda r: r.integers(-7, 1000, N, dtype="i4"),
    "uint32, all": lambda r: r.integers(0, 2**32 - 1, N, dtype="u4", endpoint=True),
    "int16": lambda r: r.integers(-7, 1000, N, dtype="i2"),
    "uint8": lambda r: r.integers(0, 100, N, dtype="u1"),
    "int8, all": lambda r: r.integers(-128, 128, N, dtype="i1"),
    "bool": lambda r: r.integers(0, 2, N, dtype=bool),
    "one integer": lambda r: r.integers(3, 4, 9),
    "permutation": lambda r: r.permutation(100_003),
    "permutation of an array": lambda r: r.permutation(numpy.arange(3003.0).reshape(1001, 3)),
    "choice": lambda r: r.choice(50, (10, 100)),
    "choice with odds": lambda r: r.choice(4, 1000, p=[0.1, 0.2, 0.3, 0.4]),
    "bytes": lambda r: numpy.frombuffer(r.bytes(11), "u1"),
    "one each": lambda r: numpy.array(
        [r.random(), r.standard_normal(), r.integers(5), r.normal(), r.uniform(1, 2)]
    ),
    "parameters that broadcast": lambda r: r.normal([1, 2, 3], [[1], [2]]),
    "parameters and size": lambda r: r.uniform([1, 2], [3, 9], (4, 2)),
    "bounds that broadcast": lambda r: r.integers([1, 10], [[50], [900]], (3, 2, 2)),
}


@pytest.mark.parametrize("stream", STREAMS)
def test_a_million_draws_of_each_method_one_after_another(stream):
    theirs, ours = pair(stream)
    for name, method in METHODS.items():
        expected = method(theirs)
        assert_same(method(ours), expected)
        if stream != "Philox":  # whose blocks are counted otherwise while they are whole
            assert state_of(ours) == state_of(theirs), name


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_any_number_of_threads_and_any_split(threads):
    expected = numpy.random.default_rng(9).random(400_000)
    expected32 = numpy.random.default_rng(9).random(400_000, dtype="f4")
    with weft.config(num_threads=threads):
        for parts in ([400_000], [1, 399_999], [65_536] * 6 + [6784], [3, 131_072, 131_073, 137_852]):
            rng, rng32 = weft.random.default_rng(9), weft.random.default_rng(9)
            assert_same(numpy.concatenate([numpy.asarray(rng.random(n)) for n in parts]), expected)
            drawn = [numpy.asarray(rng32.random(n, dtype="f4")) for n in parts]
            assert_same(numpy.concatenate(drawn), expected32)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize(
    "method",
    [
        lambda r, n: r.standard_normal(n),
        lambda r, n: r.standard_normal(n, dtype="f4"),
        lambda r, n: r.standard_exponential(n),
        lambda r, n: r.standard_exponential(n, dtype="f4"),
        lambda r, n: r.integers(0, 10, n),
        lambda r, n: r.integers(0, 2**31 + 5, n),  # nearly half of the draws refused
        lambda r, n: r.integers(0, 2**63 + 5, n, dtype="u8"),
        lambda r, n: r.integers(0, 129, n, dtype="u1"),
        lambda r, n: r.integers(0, 2**15 + 1, n, dtype="u2"),
        lambda r, n: r.integers(0, 2, n, dtype=bool),
        lambda r, n: r.integers(0, 256, n, dtype="u1"),
    ],
)
def test_draws_that_are_refused_in_any_split(stream, threads, method):
    with weft.config(num_threads=threads):
        for seed in range(3):
            theirs, ours = pair(stream, seed)
            for count in (1, 1023, 4095, 4096, 4097, 12_289, 3, 70_001, 2 * 4096, 1_100_003):
                assert_same(method(ours, count), method(theirs, count))
                assert_same(ours.random(3, dtype="f4"), theirs.random(3, dtype="f4"))


PROGRAMS = """
r.random(3, dtype='i4'); r.random(-1); r.random((2, 3)); r.random(()); r.random(0); r.integers(0); r.integers(5, 5)
r.integers(-1, 300, 3, 'u1'); r.integers(5.0); r.integers(0, 10, dtype='f8'); r.integers(3, 1); r.integers([3], [1])
r.integers(2, size=()); r.integers([9]); r.normal(0, -1); r.uniform(5, 1); r.uniform(0, np.inf); r.exponential(-1)
r.choice(0); r.choice(3, 5, replace=False); r.choice([], 1); r.choice(-1); r.choice(3, p=[0.5, 0.5])
r.choice(2, p=[0.5, 0.6]); r.choice(2, p=[-0.5, 1.5]); r.choice([[1, 2], [3, 4]], 5)
r.choice([[1, 2], [3, 4]], 2, axis=1); r.standard_exponential(3, method='x'); r.permutation([3, 1, 2])
r.permutation(5.5); r.permutation([[1, 2], [3, 4]], axis=1); r.normal(size=3); r.uniform(size=2)
r.exponential(size=()); r.normal([1, 2], size=3); r.random(2, out=np.zeros(2))
r.random(out=np.zeros(3)); r.random(out=np.zeros(2, 'f4')); r.standard_normal(out=np.zeros((2, 2)))
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("program", [p.strip() for p in PROGRAMS if p.strip()])
def test_rules(program):
    theirs, ours = pair()
    expected = outcome(eval, program, {"np": numpy, "r": theirs})
    result = outcome(eval, program, {"np": weft, "r": ours})
    if isinstance(expected, Exception):
        assert exception_kind(result) == exception_kind(expected), (result, expected)
    else:
        assert not isinstance(result, Exception), result
        if isinstance(expected, float):
            assert result == expected and type(result) is float
        else:
            assert_same(result, expected)


def test_the_layer_of_units_in_one_line():
    theirs, ours = numpy.random.default_rng(1), weft.random.default_rng(1)
    h = numpy.random.default_rng(2).normal(size=(64, 32))
    expected = theirs.random(h.shape) < 1 / (1 + numpy.exp(-h))
    result = ours.random(h.shape) < 1 / (1 + weft.exp(-weft.array(h)))
    assert (numpy.asarray(result) == expected).mean() > 0.999


@pytest.mark.parametrize("size", [2**61, 2**62, (2**32, 2**32), (2**40, 2**40)])
def test_draws_that_no_memory_holds_are_refused(size):
    rng = weft.random.default_rng(4)
    for call in (rng.random, rng.standard_normal, rng.standard_exponential, lambda n: rng.integers(0, 9, n)):
        with pytest.raises((ValueError, MemoryError)):
            call(size)
    assert rng.random(3).shape == (3,)


@pytest.mark.parametrize("stream", [*STREAMS, "SFC64", "MT19937"])
@pytest.mark.parametrize(
    "change",
    {
        "no name": lambda state: {**state, "bit_generator": None},
        "another algorithm": lambda state: {**state, "bit_generator": "PCG65"},
        "no numbers": lambda state: {**state, "state": {}},
        "too few numbers": lambda state: {**state, "state": {name: [1] for name in state["state"]}},
        "no list": lambda state: {**state, "state": None},
        "a text": lambda state: "state",
        "nothing": lambda state: None,
        "more used than there are": lambda state: {
            **state, "buffer_pos": 5, "uinteger": -1, "state": {**state["state"], "pos": 625}},
    }.items(),
    ids=lambda change: change[0],
)  # fmt: skip
def test_states_that_are_none_are_refused(stream, change):
    generator = getattr(weft.random, stream)(3)
    state = generator.state
    before = generator._stream.parts
    with pytest.raises((ValueError, TypeError, KeyError, AttributeError, OverflowError, RuntimeError)):
        generator.__setstate__((change[1](state), generator.seed_seq))
    assert generator._stream.parts == before
    generator.state = state
    assert generator.random_raw() == getattr(numpy.random, stream)(3).random_raw()


def test_a_permutation_of_fewer_than_no_numbers_is_empty():
    assert (
        weft.random.default_rng(4).permutation(-1).shape == numpy.random.default_rng(4).permutation(-1).shape
    )


@pytest.mark.parametrize("size", [None, (), 1, (2, 0)])
def test_kinds_of_results(size):
    """A number without size=, an array with it, also where it has no dimensions."""
    for name, parameters in (("uniform", (0, 1)), ("normal", (0, 1)), ("exponential", (1,)), ("random", ())):
        for wrap in (float, weft.asarray):
            if name == "random" and wrap is not float:
                continue
            result = getattr(weft.random.default_rng(1), name)(*map(wrap, parameters), size=size)
            numpys = [float(x) if wrap is float else numpy.asarray(float(x)) for x in parameters]
            expected = getattr(numpy.random.default_rng(1), name)(*numpys, size=size)
            if size is None:
                assert type(result) is type(expected) is float
            else:
                assert isinstance(result, weft.ndarray)
                assert result.shape == expected.shape
