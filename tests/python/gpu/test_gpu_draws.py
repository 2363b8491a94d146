"""Normal and exponential numbers and integers that GPUs draw: NumPy's own and its states, wherever a draw takes several
units of the stream, and what is left to the CPU."""

import math
import pathlib
import re

import numpy
import pytest
import weft as np
from on_gpu import needs_gpu, on_cpu  # noqa: F401
from random_streams import STREAMS, pair, places_of_odd_words

pytestmark = needs_gpu

TILE = 4096  # units of a block; a warp has an eighth
LEAST = 65536  # numbers that are drawn there
ZIGGURATS = ["standard_normal", "standard_exponential"]
DTYPES = ["f8", "f4"]
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645  # of PCG64
ALL = 2**128


def state_of(generator):
    state = {**generator.bit_generator.state}
    state["uinteger"] *= state["has_uint32"]
    state["state"] = {name: numpy.asarray(value).tolist() for name, value in state["state"].items()}
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in state.items()}


def draw(ours, name, size, **options):
    """On the GPU; gives the numbers and what the history tells."""
    np.clear_kernel_history()
    with np.device("cuda:0"):
        result = getattr(ours, name)(size, **options)
        assert result.device == "cuda:0"
    history = np.kernel_history()
    return numpy.asarray(result.to_device("cpu")), history


def check(theirs, ours, name, size, by_cpu=False, **options):
    expected = getattr(theirs, name)(size, **options)
    result, history = draw(ours, name, size, **options)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    assert result.tobytes() == expected.tobytes(), numpy.flatnonzero((result != expected).reshape(-1))[:5]
    assert state_of(ours) == state_of(theirs)
    assert any(record["fallback"] for record in history) == by_cpu
    assert any(record["name"].startswith("draw_") for record in history) or by_cpu


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", ZIGGURATS)
@pytest.mark.parametrize("stream", STREAMS)
def test_one_draw_after_another(stream, method, dtype):
    theirs, ours = pair(stream, 3)
    for size in (LEAST, LEAST + 1, 20 * TILE - 1, (3, 5, 5001), 150_000):
        check(theirs, ours, method, size, dtype=dtype)
        # Halves of words that wait, and Philox' blocks that are begun.
        for each in (ours, theirs):
            each.random(3, dtype="f4"), each.random()
    assert float(ours.random()) == theirs.random()


@pytest.mark.parametrize("method", ZIGGURATS)
@pytest.mark.parametrize("stream", STREAMS)
def test_any_place_to_begin(stream, method):
    for place in range(6):
        for dtype in DTYPES:
            theirs, ours = pair(stream, 4)
            theirs.random(place, dtype=dtype), ours.random(place, dtype=dtype)
            check(theirs, ours, method, LEAST, dtype=dtype)


def check_from(place, method, size, stream="PCG64", seed=11):
    theirs, ours = pair(stream, seed)
    theirs.bit_generator.advance(int(place)), ours.bit_generator.advance(int(place))
    check(theirs, ours, method, size)


@pytest.mark.parametrize("method", ZIGGURATS)
@pytest.mark.parametrize("at_least", [1, 2])
def test_wedges_across_the_end_of_a_tile(method, at_least):
    places = places_of_odd_words(method, 3_000_000, at_least=at_least)
    assert len(places) > 10
    for place in places[places > 2 * TILE][:6]:
        for before in (-1, 0, 1, 2):
            check_from(place - TILE + before, method, LEAST)
        check_from(place - TILE - TILE // 8 + 1, method, LEAST)


@pytest.mark.parametrize("method", ZIGGURATS)
def test_tails_across_the_end_of_a_tile(method):
    words = numpy.random.PCG64(11).random_raw(600_000)
    normal = method == "standard_normal"
    layers = words & 0xFF if normal else (words >> numpy.uint64(3)) & 0xFF
    width, bits = (9, 52) if normal else (11, 53)
    magnitudes = (words >> numpy.uint64(width)) & numpy.uint64(2**bits - 1)
    places = numpy.flatnonzero((layers == 0) & (magnitudes > 0.97 * 2**bits))
    places = places[places > 2 * TILE]
    assert len(places) > 20
    for place in places[:6]:
        for before in range(5):
            check_from(place - TILE + before, method, LEAST)


@pytest.mark.parametrize("method", ZIGGURATS)
def test_the_last_number(method):
    """The state is that behind the last number, wherever the draws before and after it begin."""
    places = places_of_odd_words(method, 300_000)
    theirs, _ = pair("PCG64", 11)
    theirs.bit_generator.advance(int(places[3]))
    for size in range(LEAST, LEAST + 150, 7):
        check_from(places[3], method, size)
    # Wedges as the last of all.
    numbers = getattr(pair("PCG64", 11)[0], method)(LEAST + 3000)
    slow = numpy.flatnonzero(abs(numbers) > (3.4 if method == "standard_normal" else 7.0))
    for last in slow[slow > LEAST][:20]:
        for more in (0, 1, 2):
            check_from(0, method, int(last) + more)


def test_location_and_scale():
    theirs, ours = pair("PCG64", 8)
    for method, arguments in (("normal", (2.5, 0.1)), ("exponential", (3.0,)), ("normal", (-1, 4))):
        expected = getattr(theirs, method)(*arguments, 70_000)
        with np.device("cuda:0"):
            result = getattr(ours, method)(*arguments, 70_000)
        assert numpy.asarray(result.to_device("cpu")).tobytes() == expected.tobytes()
        assert state_of(ours) == state_of(theirs)


def test_what_is_drawn_is_an_array_like_any():
    theirs, ours = pair("PCG64DXSM", 8)
    expected = theirs.standard_normal((300, 400))
    np.clear_kernel_history()
    with np.device("cuda:0"):
        result = ours.standard_normal((300, 400))
        assert result.flags["OWNDATA"] and result.flags["WRITEABLE"] and result.flags["C_CONTIGUOUS"]
        result[::2] *= 2
        expected[::2] *= 2
        total = (result.T + 1)[5:]
        out = np.empty(100_000)
        ours.standard_exponential(out=out)
    assert not any(record["fallback"] for record in np.kernel_history())
    assert numpy.asarray(total.to_device("cpu")).tobytes() == (expected.T + 1)[5:].tobytes()
    assert numpy.asarray(out.to_device("cpu")).tobytes() == theirs.standard_exponential(100_000).tobytes()


def test_many_draws_of_many_tiles():
    theirs, ours = pair("PCG64", 21)
    for method in ZIGGURATS:
        check(theirs, ours, method, 1_000_003)


INTERVALS = [  # from words, from halves to both sizes, none of which is refused up to every other one
    (0, 2, "i8"),
    (-5, 72, "i8"),
    (0, 2**31 + 1, "i8"),
    (7, 2**32 - 9, "i8"),
    (0, 2**32 + 1, "i8"),
    (-(2**62), 2**62 + 3, "i8"),
    (0, 2**63 + 1, "u8"),
    (0, 1000, "i4"),
    (-(2**30), 2**30 + 1, "i4"),
    (1, 2**31 + 2, "u4"),
]


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("low, high, dtype", INTERVALS)
def test_integers(stream, low, high, dtype):
    theirs, ours = pair(stream, 5)
    for size in (LEAST, LEAST + 1, 20 * TILE - 1, (7, 11_111)):
        expected = theirs.integers(low, high, size, dtype=dtype)
        np.clear_kernel_history()
        with np.device("cuda:0"):
            result = ours.integers(low, high, size, dtype=dtype)
        assert [(record["name"], record["fallback"]) for record in np.kernel_history()] == [
            ("draw_integers", "")
        ]
        host = numpy.asarray(result.to_device("cpu"))
        assert (result.device, host.dtype, host.shape) == ("cuda:0", expected.dtype, expected.shape)
        assert host.tobytes() == expected.tobytes()
        assert state_of(ours) == state_of(theirs)
        for each in (ours, theirs):
            each.random(3, dtype="f4"), each.random()


@pytest.mark.parametrize(
    "low, high, dtype", [(0, 100, "i1"), (0, 1000, "u2"), (0, 2, "?"), (4, 5, "i8"), (0, 2**32, "i8")]
)
def test_integers_of_the_cpu(low, high, dtype):
    theirs, ours = pair()
    expected = theirs.integers(low, high, LEAST + 1, dtype=dtype)
    with np.device("cuda:0"):
        result = ours.integers(low, high, LEAST + 1, dtype=dtype)
    assert numpy.asarray(result.to_device("cpu")).tobytes() == expected.tobytes()
    assert state_of(ours) == state_of(theirs)


# ---- what the CPU draws ----


@pytest.mark.parametrize("method", ZIGGURATS)
def test_few_numbers(method):
    theirs, ours = pair()
    for size in (0, 1, 1000, LEAST - 1):
        check(theirs, ours, method, size, by_cpu=True)
    check(theirs, ours, method, LEAST)


def test_other_methods():
    theirs, ours = pair()
    check(theirs, ours, "standard_exponential", LEAST, by_cpu=True, method="inv")
    check(theirs, ours, "standard_exponential", LEAST)


def set_states(state, increment, back, *generators):
    """PCG64 whose state is that, after so many words."""
    stream = numpy.random.PCG64(0)
    inner = {"state": state, "inc": increment}
    stream.state = {**stream.state, "state": inner}
    stream.advance(ALL - back)
    assert (stream.state["state"]["state"] == state) == (back == 0)
    for generator in generators:
        generator.bit_generator.state = stream.state


def words_that_are_close(method):
    """A word in a wedge, and the word that decides it, as far as float64 tells on the curve."""
    normal = method == "standard_normal"
    layer, magnitude_bits, shift = (100, 52, 9) if normal else (100, 53, 11)
    heights, factor, least = layer_of(method, layer)
    magnitude = (least + 2**magnitude_bits) // 2
    x = magnitude * factor
    density = math.exp(-0.5 * x * x) if normal else math.exp(-x)
    uniform = (density - heights[1]) / (heights[0] - heights[1])
    assert 0 < uniform < 1
    word = magnitude << shift | (layer if normal else layer << 3)
    return word, int(uniform * 2**53) << 11


def layer_of(method, layer):
    """Heights of a layer, its factor, and the first magnitude in its wedge."""
    text = (pathlib.Path(__file__).parents[3] / "src" / "random" / "ziggurat_tables.inc").read_text()

    def table(name):
        values = re.search(rf"k{name}\[256\] = {{(.*?)}};", text, re.DOTALL)[1].replace("\n", " ").split(",")
        return [value.strip() for value in values if value.strip()]

    kind = "Normal" if method == "standard_normal" else "Exponential"
    heights = [read(table(kind + "Heights")[layer - 1]), read(table(kind + "Heights")[layer])]
    return heights, read(table(kind + "Factors")[layer]), int(table(kind + "Thresholds")[layer], 16)


def read(text):
    return float.fromhex(text) if "0x" in text else float(text)


@pytest.mark.parametrize("method", ZIGGURATS)
def test_what_is_too_close_to_decide(method):
    word, next_word = words_that_are_close(method)
    # States that show these words: their upper halves are zeros, so that nothing is rotated.
    for second in (next_word, next_word ^ 1):
        increment = (second - word * MULTIPLIER) % ALL
        if increment % 2 == 1:
            break
    before = (word - increment) * pow(MULTIPLIER, -1, ALL) % ALL
    theirs, ours = pair()
    set_states(before, increment, 0, theirs)
    assert theirs.bit_generator.random_raw(2).tolist() == [word, second]
    for back in (0, 5000, 33_333):
        set_states(before, increment, back, theirs, ours)
        check(theirs, ours, method, LEAST, by_cpu=True)
    # The words do not come again, and another decision is clear.
    check(theirs, ours, method, LEAST)


@pytest.mark.parametrize("method", ZIGGURATS)
def test_streams_that_are_not_random(method):
    """One word for ever, whose wedge accepts: more attempts of several units than a tile has room for."""
    theirs, ours = pair()
    for word, by_cpu in ((1 if method == "standard_normal" else 8, True), (1 << 20, False)):
        set_states(word, word * (1 - MULTIPLIER) % ALL, 0, theirs, ours)
        check(theirs, ours, method, LEAST, by_cpu=by_cpu)


def test_nothing_but_tails():
    word = (2**53 - 1) << 11
    theirs, ours = pair()
    set_states(word, word * (1 - MULTIPLIER) % ALL, 0, theirs, ours)
    check(theirs, ours, "standard_exponential", LEAST, by_cpu=True)
