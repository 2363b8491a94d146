"""Uniform numbers are recorded, not drawn: what reads them computes them in its own kernel, the same ones."""

import copy
import pickle

import numpy
import pytest
import weft
from random_streams import STREAMS, assert_same, pair, state_of

LAYER = "r.random(h.shape) < 1 / (1 + np.exp(-h))"


def kernels_of(make):
    weft.clear_kernel_history()
    result = numpy.asarray(make())
    return result, weft.kernel_history()


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize(
    "shape", [100_003, (300, 257), (50, 60, 7), (5, 20_001), (2, 3, 5, 7, 11, 13)], ids=str
)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_a_comparison_draws_in_its_own_kernel(stream, shape, dtype):
    theirs, ours = pair(stream)
    theirs.random(3), ours.random(3)
    bound = numpy.random.default_rng(1).random(shape).astype(dtype)
    expected = theirs.random(shape, dtype=dtype) < bound * 2 - bound
    limit = weft.array(bound)
    result, history = kernels_of(lambda: ours.random(shape, dtype=dtype) < limit * 2 - limit)
    assert_same(result, expected)
    assert len(history) == 1 and history[0]["bytes_written"] == expected.size
    assert stream == "Philox" or state_of(ours) == state_of(theirs)
    assert_same(ours.random(9), theirs.random(9))


@pytest.mark.parametrize("tier", ["jit", "block", "auto"])
@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_however_it_runs(tier, fuse, threads):
    for stream in STREAMS:
        theirs, ours = pair(stream, 3)
        with weft.config(tier=tier, fuse=fuse, num_threads=threads):
            for count in (70_001, 4097, 250_000):
                assert_same(ours.random(count) * 2, theirs.random(count) * 2)
                assert_same(ours.uniform(-1, 5, count), theirs.uniform(-1, 5, count))
                assert_same(ours.random(count, dtype="f4"), theirs.random(count, dtype="f4"))
                assert_same(ours.bit_generator.random_raw(count), theirs.bit_generator.random_raw(count))


def test_pending_draws_keep_their_place_whatever_is_drawn_meanwhile():
    theirs, ours = pair()
    draws = [
        lambda r: r.random(50_001),
        lambda r: r.random(50_001, dtype="f4"),
        lambda r: r.standard_normal(5000),
        lambda r: r.random(dtype="f4"),
        lambda r: r.random((70, 1001), dtype="f4"),
        lambda r: r.integers(0, 10, 30_001, dtype="i4"),
        lambda r: r.uniform(2, 3, 20_000),
        lambda r: r.random(20_001, dtype="f4"),
    ]
    expected = []
    pending = []
    for turn in range(3):
        for draw in draws:
            expected.append(draw(theirs))
            pending.append(draw(ours))
            if turn == 1:
                assert state_of(ours) == state_of(theirs)
        ours = pickle.loads(pickle.dumps(ours)) if turn == 0 else copy.deepcopy(ours)
    for mine, other in reversed(list(zip(pending, expected, strict=True))):
        assert_same(mine, other)


VIEWS = [
    "x[5:]",
    "x[::-3]",
    "x.reshape(250, 404)[3:, 1::2] * 2",
    "x.reshape(250, 404).T + 1",
    "x.sum()",
    "(x < 0.5).sum()",
    "x.reshape(404, 250).mean(1)",
    "x.reshape(404, 250).max(0) - x.reshape(404, 250).min(0)",
    "np.cumsum(x)[::100]",
    "x[np.arange(0, 101000, 7)]",
    "x[x > 0.75]",
    "np.sort(x)[:100]",
    "x.reshape(404, 250) / x.reshape(404, 250).max(1, keepdims=True)",
    "np.stack([x, x + 1])[1]",
    "np.concatenate([x, x[::-1]])[50000:]",
    "np.where(x < 0.3, x, -x) + x[::-1]",
    "x[1:] - x[:-1]",
    "np.broadcast_to(x, (3, 101000)) * 2",
    "x.astype('f4') * 3",
    "(x * 8).astype('i8') // 2",
]


@pytest.mark.parametrize("program", VIEWS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_whatever_reads_them(program, dtype):
    if "/ x.reshape" not in program and ("mean" in program or "sum" in program) and dtype == "f4":
        pytest.skip("sums of float32 are rounded in another order")
    theirs, ours = pair()
    expected = eval(program, {"np": numpy, "x": theirs.random(101_000, dtype=dtype)})
    result = eval(program, {"np": weft, "x": ours.random(101_000, dtype=dtype)})
    if "cumsum" in program or "mean" in program or ".sum()" in program:
        numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=1e-5 if dtype == "f4" else 1e-12)
    else:
        assert_same(result, expected)


def test_they_are_written_where_the_program_says():
    theirs, ours = pair()
    x, y = numpy.zeros((200, 300)), weft.zeros((200, 300))
    x[3:150, ::2] = theirs.random((147, 150))
    y[3:150, ::2] = ours.random((147, 150))
    x += theirs.random(300)
    y += ours.random(300)
    assert_same(y, x)
    out = weft.zeros(60_000)
    assert ours.random(out=out) is out
    assert_same(out, theirs.random(60_000))


def test_two_readers_and_one_stream():
    theirs, ours = pair()
    x, y = theirs.random(90_000), ours.random(90_000)
    first, second = y.reshape(300, 300).sum(0), y * 2
    assert_same(second, x * 2)
    numpy.testing.assert_allclose(numpy.asarray(first), x.reshape(300, 300).sum(0), rtol=1e-13)
    assert_same(y, x)


@pytest.mark.parametrize("stream", STREAMS)
def test_states_that_drawing_does_not_give(stream):
    theirs, ours = pair(stream)
    theirs.random(dtype="f4"), ours.random(dtype="f4")
    state = theirs.bit_generator.state
    state["has_uint32"], state["uinteger"] = 1, 12345
    if stream == "Philox":
        state["buffer"], state["buffer_pos"] = numpy.arange(4, dtype="u8") << numpy.uint64(40), 2
    theirs.bit_generator.state = state
    ours.bit_generator.state = state
    for _ in range(2):
        assert_same(ours.random(50_001, dtype="f4"), theirs.random(50_001, dtype="f4"))
        assert_same(ours.random(50_001), theirs.random(50_001))


def test_a_loop_meets_its_plan_again_and_draws_anew():
    theirs, ours = pair()
    h = numpy.random.default_rng(0).random((100, 120)).astype("f4")
    mine = weft.array(h)
    for _ in range(12):
        assert_same(ours.random(h.shape, dtype="f4") < mine, theirs.random(h.shape, dtype="f4") < h)
    weft.clear_kernel_history()
    for _ in range(5):
        assert_same(ours.random(h.shape, dtype="f4") < mine, theirs.random(h.shape, dtype="f4") < h)
    assert [each["compile_seconds"] for each in weft.kernel_history()] == [0] * 5
