"""Random numbers in kernels: published words of SplitMix64 and Philox, xoroshiro128+ beside Python's integers."""

import doctest
import subprocess
import sys

import numpy
import pytest
import scipy.stats
import weft
from weft import cuda
from weft.cuda import random
from weft.numba import cuda as numbas

WORDS = 2**64 - 1
SEEDS = [0, 1, 1234567, 2**63 + 5, 2**64 - 1]


# --- the published algorithms with Python's integers ----------------------------------------------------


def rotated(word, by):
    return (word << by | word >> (64 - by)) & WORDS


def step(s0, s1):
    s1 ^= s0
    return rotated(s0, 55) ^ s1 ^ (s1 << 14 & WORDS), rotated(s1, 36)


def words_of(state, count):
    """The next words of a generator."""
    state, found = tuple(map(int, state)), []
    for _ in range(count):
        found.append(sum(state) & WORDS)
        state = step(*state)
    return found


def after(state, doublings):
    """The state 2**doublings steps on, by squaring the matrix of a step: steps are linear without carries."""
    columns = [step(1 << bit & WORDS, 1 << bit >> 64) for bit in range(128)]

    def times(columns, state):
        s0, s1 = 0, 0
        for bit in range(128):
            if state[bit // 64] >> bit % 64 & 1:
                s0, s1 = s0 ^ columns[bit][0], s1 ^ columns[bit][1]
        return s0, s1

    for _ in range(doublings):
        columns = [times(columns, column) for column in columns]
    return times(columns, tuple(map(int, state)))


# --- xoroshiro128+ --------------------------------------------------------------------------------------


def test_states_begin_with_the_published_word_of_splitmix64():
    for seed, word in ((0, 0xE220A8397B1DCDAF), (1234567, 6457827717110365317)):
        states = random.create_xoroshiro128p_states(1, seed).copy_to_host()
        assert states.dtype == random.xoroshiro128p_dtype
        assert states["s0"][0] == states["s1"][0] == word


@pytest.mark.parametrize("start", [0, 3])
def test_states_are_so_many_jumps_ahead(start):
    states = random.create_xoroshiro128p_states(3, 1234567, subsequence_start=start).copy_to_host()
    state = (6457827717110365317, 6457827717110365317)
    for _ in range(start):
        state = after(state, 64)
    for each in states:
        assert tuple(map(int, each)) == state
        state = after(state, 64)


@cuda.jit
def drawn(states, words, doubles, singles):
    i = cuda.grid(1)
    if i < states.size:
        for k in range(words.shape[1]):
            words[i, k] = random.xoroshiro128p_next(states, i)
            doubles[i, k] = random.xoroshiro128p_uniform_float64(states, i)
            singles[i, k] = random.xoroshiro128p_uniform_float32(states, i)


@numbas.jit
def drawn_as_numba(states, words, doubles, singles):
    i = numbas.grid(1)
    if i < states.size:
        for k in range(words.shape[1]):
            words[i, k] = numbas.random.xoroshiro128p_next(states, i)
            doubles[i, k] = numbas.random.xoroshiro128p_uniform_float64(states, i)
            singles[i, k] = numbas.random.xoroshiro128p_uniform_float32(states, i)


@pytest.mark.parametrize("kernel", [drawn, drawn_as_numba])
@pytest.mark.parametrize("seed", SEEDS)
def test_words_and_uniform_numbers(kernel, seed):
    states = random.create_xoroshiro128p_states(5, seed)
    expected = numpy.array([words_of(state, 30) for state in states.copy_to_host()], "u8").reshape(5, 10, 3)
    words, doubles, singles = (numpy.zeros((5, 10), dtype) for dtype in ("u8", "f8", "f4"))
    kernel[1, 32](states, words, doubles, singles)
    assert (words == expected[:, :, 0]).all()
    units = (expected >> 11) * 2.0**-53
    assert (doubles == units[:, :, 1]).all() and (singles == units[:, :, 2].astype("f4")).all()


@cuda.jit
def normals(states, doubles, singles):
    i = cuda.grid(1)
    for k in range(doubles.shape[1]):
        doubles[i, k] = random.xoroshiro128p_normal_float64(states, i)
        singles[i, k] = random.xoroshiro128p_normal_float32(states, i)


def test_normal_numbers_are_those_of_box_and_muller():
    states = random.create_xoroshiro128p_states(64, 42)
    words = numpy.array([words_of(state, 400) for state in states.copy_to_host()], "u8").reshape(64, 100, 4)
    doubles, singles = numpy.zeros((64, 100)), numpy.zeros((64, 100), "f4")
    normals[2, 32](states, doubles, singles)
    units = ((words >> 11) * 2.0**-53).astype("f4").astype("f8")  # as Numba's, of 24 bits
    expected = numpy.sqrt(-2 * numpy.log(units[..., ::2])) * numpy.cos(2 * numpy.pi * units[..., 1::2])
    numpy.testing.assert_allclose(doubles, expected[..., 0], rtol=0, atol=2e-15)
    numpy.testing.assert_allclose(singles, expected[..., 1], rtol=0, atol=2e-6)
    assert scipy.stats.kstest(doubles.ravel(), "norm").pvalue > 0.01


@numbas.jit
def all_kinds(states, words, numbers):
    i = numbas.grid(1)
    words[i] = numbas.random.xoroshiro128p_next(states, i)
    numbers[i, 0] = numbas.random.xoroshiro128p_uniform_float32(states, i)
    numbers[i, 1] = numbas.random.xoroshiro128p_uniform_float64(states, i)
    numbers[i, 2] = numbas.random.xoroshiro128p_normal_float32(states, i)
    numbers[i, 3] = numbas.random.xoroshiro128p_normal_float64(states, i)


def test_numbers_of_numbas_simulator():
    states = numbas.random.create_xoroshiro128p_states(5, 42, subsequence_start=3)
    words, numbers = numpy.zeros(5, "u8"), numpy.zeros((5, 4))
    all_kinds[1, 5](states, words, numbers)
    assert words[[0, 4]].tolist() == [18145321244964338411, 11459351980519115202]
    assert numbers[[0, 4], 1].tolist() == [0.6004234784037424, 0.9349342865572873]
    expected = [[1.7301316261291504, -0.8107113061326474], [-0.7503513097763062, 0.9167560577548599]]
    numpy.testing.assert_allclose(numbers[[0, 4], 2], [row[0] for row in expected], rtol=1e-6)
    numpy.testing.assert_allclose(numbers[[0, 4], 3], [row[1] for row in expected], rtol=1e-15)


@cuda.jit
def moved(states, seed):
    i = cuda.grid(1)
    random.init_xoroshiro128p_state(states, i, seed)
    for _ in range(i):
        random.xoroshiro128p_jump(states, i)


def test_states_are_started_and_moved_in_kernels():
    states = cuda.device_array(4, random.xoroshiro128p_dtype)
    moved[1, 4](states, 99)
    assert (states.copy_to_host() == random.create_xoroshiro128p_states(4, 99).copy_to_host()).all()


def test_states_of_numpys_memory_and_outside_of_kernels():
    states = numpy.zeros(3, random.xoroshiro128p_dtype)
    random.init_xoroshiro128p_states(states, 7, subsequence_start=2)
    assert (states == random.create_xoroshiro128p_states(5, 7).copy_to_host()[2:]).all()
    expected = words_of(states[1], 2)
    assert [int(random.xoroshiro128p_next(states, 1)) for _ in range(2)] == expected


def test_no_states_and_seeds_that_there_are_not():
    assert random.create_xoroshiro128p_states(0, 1).size == 0
    for n, seed, start, error in (
        (-1, 1, 0, ValueError),
        (3, -1, 0, OverflowError),
        (3, 2**64, 0, OverflowError),
        (3, 1, -1, ValueError),
        (3, 1.5, 0, TypeError),
        (3, 1, "2", TypeError),
    ):
        with pytest.raises(error):
            random.create_xoroshiro128p_states(n, seed, start)
    states = random.create_xoroshiro128p_states(2, 1).copy_to_host()
    with pytest.raises(IndexError):
        random.xoroshiro128p_next(states, 2)


# --- Philox ---------------------------------------------------------------------------------------------

# From kat_vectors of Random123: counter, key, words.
PHILOX_32 = [
    ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff " * 4, "ffffffff " * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]
PHILOX_64 = [
    ("0 0 0 0", "0 0", "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"),
    (
        "ffffffffffffffff " * 4,
        "ffffffffffffffff " * 2,
        "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0",
    ),
    (
        "243f6a8885a308d3 13198a2e03707344 a4093822299f31d0 082efa98ec4e6c89",
        "452821e638d01377 be5466cf34e90c6c",
        "a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6",
    ),
]


def numbers(text):
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "words"), PHILOX_32)
def test_philox_of_32_bits(counter, key, words):
    assert list(map(int, random.philox4x32(*numbers(counter), *numbers(key)))) == numbers(words)


@pytest.mark.parametrize(("counter", "key", "words"), PHILOX_64)
def test_philox_of_64_bits(counter, key, words):
    found = random.philox4x64(*(numpy.uint64(word) for word in numbers(counter) + numbers(key)))
    assert list(map(int, found)) == numbers(words)


@cuda.jit
def by_position(key, words, units):
    i = cuda.grid(1)
    words[i] = random.philox_next(key, i)
    units[i] = random.philox_random(key, i)


@pytest.mark.parametrize("key", [0, 7, 2**63 - 1])
@pytest.mark.parametrize("module", [numpy, weft])
def test_positions_in_numpys_stream(key, module):
    words, units = numpy.zeros(64, "u8"), numpy.zeros(64)
    by_position[2, 32](key, words, units)
    assert words.tolist() == module.random.Philox(key=key).random_raw(64).tolist()
    rng = module.random.Generator(module.random.Philox(key=key))
    assert units.tolist() == rng.random(64).tolist()


@cuda.jit
def by_counter(seed, sequence, uniforms, singles, normals, normal_singles):
    i = cuda.grid(1)
    uniforms[i] = random.philox_uniform_float64(seed, i, sequence)
    singles[i] = random.philox_uniform_float32(seed, i, sequence)
    normals[i] = random.philox_normal_float64(seed, i, sequence)
    normal_singles[i] = random.philox_normal_float32(seed, i, sequence)


def of_counters(seed, sequence, count=1024):
    out = [numpy.zeros(count, dtype) for dtype in ("f8", "f4", "f8", "f4")]
    by_counter[count // 256, 256](seed, sequence, *out)
    return out


@pytest.mark.parametrize(("seed", "sequence"), [(0, 0), (0x123456789ABCDEF0, 0x7EDCBA9876543210)])
def test_numbers_by_counter(seed, sequence):
    uniforms, singles, normals, normal_singles = of_counters(seed, sequence)
    for i in (0, 1, 1023):
        halves = [each for word in (i, sequence, seed) for each in (word & 0xFFFFFFFF, word >> 32)]
        w = list(map(int, random.philox4x32(*halves)))
        first, second = ((w[k] << 32 | w[k + 1]) >> 11 for k in (0, 2))
        assert uniforms[i] == first * 2.0**-53
        assert singles[i] == (w[0] >> 8) * 2.0**-24
        expected = numpy.sqrt(-2 * numpy.log1p(-first * 2.0**-53)) * numpy.cos(
            2 * numpy.pi * second * 2.0**-53
        )
        assert normals[i] == pytest.approx(expected, rel=1e-13, abs=1e-15)
        radius = numpy.sqrt(-2 * numpy.log((w[0] + 1) * 2.0**-32))
        expected = radius * numpy.cos(2 * numpy.pi * (w[2] >> 8) * 2.0**-24)
        assert normal_singles[i] == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_numbers_by_counter_are_spread_as_they_should():
    uniforms, singles, normals, normal_singles = of_counters(11, 0, 1 << 15)
    for sample, law in (
        (uniforms, "uniform"),
        (singles, "uniform"),
        (normals, "norm"),
        (normal_singles, "norm"),
    ):
        assert numpy.isfinite(sample).all() and scipy.stats.kstest(sample, law).pvalue > 0.01
    others = of_counters(11, 1, 1 << 15)[0]
    assert abs(numpy.corrcoef(uniforms, others)[0, 1]) < 0.02
    assert uniforms.min() >= 0 and uniforms.max() < 1 and numpy.unique(uniforms).size == 1 << 15


# --- names ----------------------------------------------------------------------------------------------


def test_numbas_names():
    from weft.numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_type

    assert create_xoroshiro128p_states is random.create_xoroshiro128p_states
    assert str(xoroshiro128p_type) == "Record(s0[type=uint64], s1[type=uint64])"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cuda.nothing  # noqa: B018


LATE = """
import sys
from weft import cuda
assert "numpy" not in sys.modules and "weft.cuda.random" not in sys.modules
import weft as np

@cuda.jit
def drawn(out):
    out[cuda.grid(1)] = cuda.random.philox_random(7, cuda.grid(1))

out = np.zeros(8)
drawn[1, 8](out)
assert out.tolist() == np.random.Generator(np.random.Philox(key=7)).random(8).tolist()
"""


def test_the_functions_are_loaded_when_a_kernel_names_them(tmp_path):
    path = tmp_path / "late.py"
    path.write_text(LATE)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [name for name in random.__all__ if name != "xoroshiro128p_dtype"])
def test_the_examples_of_the_docstrings(name):
    text = getattr(random, name).__doc__
    examples = doctest.DocTestParser().get_doctest(text, {"np": weft}, name, None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert examples.examples and not said, "".join(said)
