"""Draws by all threads, where pieces of the stream meet: refused units on both sides, any split, any stores."""

import hashlib
import os
import subprocess
import sys

import numpy
import pytest
import weft
from random_streams import STREAMS, assert_same, pair, places_of_odd_words, state_of

PIECE = 4096  # words that a thread decodes at a time
ZIGGURATS = ["standard_normal", "standard_exponential"]


def check_from(place, method, count, stream="PCG64", seed=11, dtype="f8"):
    theirs, ours = pair(stream, seed)
    theirs.bit_generator.advance(int(place)), ours.bit_generator.advance(int(place))
    assert_same(getattr(ours, method)(count, dtype=dtype), getattr(theirs, method)(count, dtype=dtype))
    assert_same(ours.random(3, dtype="f4"), theirs.random(3, dtype="f4"))
    assert state_of(ours) == state_of(theirs)


@pytest.mark.parametrize("method", ZIGGURATS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_refused_word_beside_the_end_of_a_piece(method, threads):
    places = places_of_odd_words(method, 60_000)
    assert len(places) > 100
    with weft.config(num_threads=threads):
        for place in places[places > 2 * PIECE][:12]:
            for before in (-1, 0, 1, 2):
                check_from(place - PIECE + before, method, 2 * PIECE + 100)
                check_from(place - 2 * PIECE + before, method, 3 * PIECE)


@pytest.mark.parametrize("method", ZIGGURATS)
def test_the_guess_is_wrong_for_several_draws(method):
    """The word behind a refused one at the end of a piece looks like a refused one: the guess takes it so."""
    places = places_of_odd_words(method, 3_000_000, at_least=2)
    assert len(places) > 10
    for place in places[places > PIECE][:20]:
        for before in (-1, 0, 1, 2):
            check_from(place - PIECE + before, method, 2 * PIECE + 100)


@pytest.mark.parametrize("method", ZIGGURATS)
@pytest.mark.parametrize("before", [0, 1, 2, 3, 4, 5])
def test_a_tail_across_the_end_of_a_piece(method, before):
    edge = 3.6541528853610088 if method == "standard_normal" else 7.69711747013105
    words = numpy.random.PCG64(11).random_raw(400_000)
    # The first layer's numbers beyond the edge begin a tail: seldom a draw of few words.
    layers = words & 0xFF if method == "standard_normal" else (words >> numpy.uint64(3)) & 0xFF
    bits, width = (52, 9) if method == "standard_normal" else (53, 11)
    integers = (words >> numpy.uint64(width)) & numpy.uint64(2**bits - 1)
    highest = integers > 0.97 * 2**bits
    places = numpy.flatnonzero((layers == 0) & highest)
    places = places[places > PIECE]
    assert len(places) > 20
    seen = 0
    for place in places[:20]:
        rng = numpy.random.Generator(numpy.random.PCG64(11).advance(int(place)))
        seen += abs(getattr(rng, method)()) > edge
        check_from(place - PIECE + before, method, 2 * PIECE)
    assert seen > 15


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("method", ZIGGURATS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_a_million_draws_by_any_number_of_threads_however_they_are_stored(stream, method, dtype):
    count = 1_000_003
    theirs, _ = pair(stream, 3)
    expected = getattr(theirs, method)(count, dtype=dtype)
    for threads in (1, 2, 3, 8):
        for limit in (0, 2**40):  # by non-temporal stores or not
            with weft.config(num_threads=threads, stream=limit):
                _, ours = pair(stream, 3)
                assert_same(getattr(ours, method)(count, dtype=dtype), expected)
                assert stream == "Philox" or state_of(ours) == state_of(theirs)
    with weft.config(stream=0):
        for parts in ([1, 7, 100_001, 900_000 - 6], [12_345] * 81 + [58]):
            _, ours = pair(stream, 3)
            drawn = [numpy.asarray(getattr(ours, method)(n, dtype=dtype)) for n in parts]
            assert_same(numpy.concatenate(drawn), expected)


@pytest.mark.parametrize("stream", STREAMS)
def test_integers_past_the_caches(stream):
    with weft.config(stream=0):
        for bound, dtype in (
            (10, "i8"),
            (2**40, "i8"),
            (2**31 + 5, "i8"),
            (1000, "i4"),
            (1000, "i2"),
            (100, "i1"),
        ):
            theirs, ours = pair(stream)
            for count in (70_001, 1, 8192):
                assert_same(
                    ours.integers(0, bound, count, dtype=dtype), theirs.integers(0, bound, count, dtype=dtype)
                )


DIGEST = """if True:
    def digest_of(random):
        digest = hashlib.sha256()
        for stream in ("PCG64", "PCG64DXSM", "Philox"):
            rng = random.Generator(getattr(random, stream)(9))
            for dtype in ("f8", "f4"):
                for method in (rng.random, rng.standard_normal, rng.standard_exponential):
                    digest.update(numpy.asarray(method(50_001, dtype=dtype)))
            digest.update(numpy.asarray(rng.integers(0, 77, 50_001)))
        return digest.hexdigest()
"""


@pytest.mark.parametrize("cpu", ["x86-64-v2", "haswell", ""])
def test_the_numbers_do_not_depend_on_the_processor(cpu):
    names = {"hashlib": hashlib, "numpy": numpy}
    exec(DIGEST, names)
    program = "import hashlib, numpy, weft\n" + DIGEST + "print(digest_of(weft.random))"
    environment = {**os.environ, "WEFT_CPU": cpu}
    shown = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True)
    assert shown.stdout.decode().strip() == names["digest_of"](numpy.random)
