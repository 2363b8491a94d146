"""Many threads that record and observe, on arrays of their own and on the same ones: as if one had done it."""

import gc
import threading

import numpy
import pytest
import weft
from many_threads import THREADS, in_threads

N = 40_000  # elements: more than are computed at the call


def numbers(seed, *shape):
    return numpy.random.default_rng(seed).standard_normal(shape)


def smooth(np, x):
    x = np.array(x)
    for _ in range(5):
        x[1:-1] = (x[2:] + x[:-2]) * 0.5
    return x


def replaced(np, x):
    x = np.array(x)
    x[x > 0] = -1.0
    x[np.arange(0, 100, 7)] += 2.0
    return x


# What one thread computes, for weft and NumPy. Where results agree only nearly: by how many units in the last place.
PROGRAMS = {
    "arithmetic": (lambda np, x: 2 * x + x * x - 1, 0),
    "few elements": (lambda np, x: [x[:10] + k for k in range(50)][-1], 0),
    "elementary": (lambda np, x: np.exp(-x) * np.sin(x), 8),
    "sum": (lambda np, x: x.sum(), 64),
    "deviations of rows": (lambda np, x: x.reshape(100, -1).std(axis=1), 64),
    "running sums": (lambda np, x: np.cumsum(np.floor(x)), 0),
    "sorted": (lambda np, x: np.sort(x), 0),
    "positions": (lambda np, x: np.argsort(x, kind="stable")[::3], 0),
    "chosen by a mask": (lambda np, x: x[x > 0.5], 0),
    "chosen by positions": (lambda np, x: x[np.arange(0, N, 3)] + 1, 0),
    "written in place": (smooth, 0),
    "written by masks and positions": (replaced, 0),
    "product": (lambda np, x: np.floor(x).reshape(200, 200) @ np.floor(x).reshape(200, 200), 0),
    "integers": (lambda np, x: (x * 100).astype("i4") // 7 % 5, 0),
    "several": (lambda np, x: np.concatenate([x, x[::-1]]).reshape(2, -1).T, 0),
    "text": (lambda np, x: np.array(str(np.floor(x[:20]).tolist()).count(",")), 0),
}


def close(found, expected, ulp):
    found, expected = numpy.asarray(found), numpy.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if ulp:
        scale = numpy.spacing(numpy.maximum(numpy.abs(expected), 1))
        assert (numpy.abs(found - expected) <= ulp * scale).all()
    else:
        numpy.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "setting", [{}, {"eager": True}, {"fuse": False}, {"small": 0}, {"tier": "auto"}], ids=str
)
def test_own_arrays(setting):
    names = list(PROGRAMS)

    def work(number):
        name = names[number % len(names)]
        program, ulp = PROGRAMS[name]
        values = numbers(number, N)
        close(program(weft, weft.array(values)), program(numpy, values), ulp)

    with weft.config(**setting):
        in_threads(work)


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_read_the_same_array(name):
    program, ulp = PROGRAMS[name]
    values = numbers(1, N)
    shared = weft.array(values - 1) + 1  # still to be computed when the threads start
    expected = program(numpy, values - 1 + 1)
    for found in in_threads(lambda number: program(weft, shared)):
        close(found, expected, ulp)


def test_all_observe_the_same_pending_results():
    for turn in range(10):
        x = weft.arange(float(N)) + turn
        chain = [x := x * 0.5 + 1 for _ in range(20)]
        total = chain[-1].sum()
        expected = numpy.arange(float(N)) + turn
        every = [expected := expected * 0.5 + 1 for _ in range(20)]

        def work(number, chain=chain, total=total, every=every):
            place = (number * 7) % 20
            assert numpy.array_equal(numpy.asarray(chain[place]), every[place])
            return float(total)

        assert len(set(in_threads(work))) == 1


def test_each_writes_its_row_of_a_shared_array():
    shared = weft.zeros((THREADS, N // 10))
    few = weft.zeros((THREADS, 3))

    def work(number):
        for turn in range(20):
            shared[number] += number
            few[number] += turn
            if turn % 5 == 0:
                assert float(shared[number, -1]) == number * (turn + 1)

    in_threads(work)
    counts = numpy.arange(THREADS, dtype=float)[:, None]
    assert numpy.array_equal(numpy.asarray(shared), numpy.repeat(counts * 20, N // 10, axis=1))
    assert numpy.array_equal(numpy.asarray(few), numpy.full((THREADS, 3), 190.0))


def test_what_one_writes_another_reads_whole():
    shared = weft.zeros(N)

    def work(number):
        for turn in range(15):
            if number % 2:
                shared[...] = float(number * 100 + turn)
            else:
                seen = numpy.asarray(shared + 0.0)  # one version, whichever
                assert (seen == seen[0]).all()

    in_threads(work)
    last = set(numpy.asarray(shared).tolist())
    assert len(last) == 1 and last.pop() % 100 == 14


def test_views_of_one_storage_written_by_many():
    shared = weft.zeros((64, 64, 8))

    def work(number):
        row, column = divmod(number, 8)
        view = shared[row::4, column::8].T
        for _ in range(10):
            view += 1 + number
        del view
        return float(shared[row, column, 0])

    assert in_threads(work) == [10.0 * (1 + number) for number in range(THREADS)]
    expected = numpy.zeros((64, 64, 8))
    for number in range(THREADS):
        row, column = divmod(number, 8)
        expected[row::4, column::8] += 10 * (1 + number)
    assert numpy.array_equal(numpy.asarray(shared), expected)


def test_exported_memory_is_written_beside_computing():
    owner = numpy.zeros((THREADS, 1000))
    shared = weft.asarray(owner, copy=False)

    def work(number):
        for turn in range(10):
            shared[number] += 1.0
            exported = memoryview(shared[number])
            assert exported[0] == exported[999] == turn + 1
            exported.release()

    in_threads(work)
    assert (owner == 10).all()


def test_a_shared_generator_gives_each_number_once():
    rng = weft.random.default_rng(7)
    blocks = in_threads(lambda number: [tuple(rng.random(500).tolist()) for _ in range(4)])
    expected = numpy.random.default_rng(7).random(THREADS * 4 * 500).reshape(-1, 500)
    assert sorted(block for some in blocks for block in some) == sorted(map(tuple, expected.tolist()))


def test_arrays_go_from_thread_to_thread():
    """What a thread made and left pending is observed and freed by others, after it is gone."""
    made = in_threads(lambda number: (weft.arange(float(N)) * number, weft.ones(100) * number))
    found = in_threads(lambda number: (float(made[-1 - number][0][-1]), float(made[-1 - number][1][7])))
    assert found == [((N - 1.0) * k, float(k)) for k in reversed(range(THREADS))]
    in_threads(lambda number: made.pop() and None)
    gc.collect()


def test_an_error_in_one_thread_is_that_thread_s():
    x = weft.arange(float(N))

    def work(number):
        for turn in range(10):
            if number % 3 == 0:
                with pytest.raises(ValueError, match="broadcast"):
                    x + weft.ones(number + 2)
            elif number % 3 == 1:
                with pytest.raises(IndexError):
                    x[N + number]
            assert float((x[:-1] + turn).sum()) == (N - 1) * (N - 2) / 2 + turn * (N - 1)

    in_threads(work)


def test_floating_point_errors_are_told_to_the_thread_that_asked():
    x = weft.zeros(N)

    def work(number):
        for _ in range(5):
            if number % 2:
                with weft.errstate(divide="raise"), pytest.raises(FloatingPointError):
                    weft.eval(1 / x)
            else:
                assert numpy.isinf(numpy.asarray(1 / x)).all()

    in_threads(work)


def test_settings_change_while_others_compute():
    stop = threading.Event()
    values = numpy.arange(float(N))

    def work(number):
        if number == 0:
            try:
                for turn in range(40):
                    with weft.config(
                        num_threads=1 + turn % 4, fuse=turn % 3 > 0, tier=("jit", "block", "auto")[turn % 3]
                    ):
                        weft.eval(weft.arange(float(N)) + turn)
            finally:
                stop.set()
            return
        turn = 0
        while not stop.is_set() and turn < 200:
            turn += 1
            found = weft.asarray(values, copy=False) * turn - number
            assert numpy.array_equal(numpy.asarray(found), values * turn - number)

    in_threads(work, 8)


def test_looking_at_the_engine_disturbs_nobody():
    stop = threading.Event()
    x = weft.arange(float(N))

    def work(number):
        if number == 0:
            try:
                for turn in range(30):
                    weft.kernel_history()
                    weft.memory_stats()
                    weft.cache_info()
                    weft.explain(x * turn)
                    weft.clear_kernel_history()
                    weft.empty_pool()
                    repr(weft.config)
            finally:
                stop.set()
            return
        turn = 0
        while not stop.is_set() or turn == 0:
            turn += 1
            with weft.profile() as profile:
                assert float((x + turn + number).max()) == N - 1 + turn + number
            assert any("max" in row["name"] for row in profile.table())

    in_threads(work, 6)


def test_scalars_not_yet_computed_are_asked_by_many():
    for turn in range(10):
        total = (weft.arange(float(N)) + turn).sum()
        rest = total * 2 + 1
        expected = N * (N - 1) / 2 + turn * N
        asked = [float, hash, repr, bool, str, weft.float64.item, weft.sqrt, weft.isnan]
        in_threads(lambda number, total=total, asked=asked: asked[number % len(asked)](total))
        assert set(in_threads(lambda number, rest=rest: float(rest))) == {2 * expected + 1}


def test_a_thread_with_a_small_stack_frees_a_long_chain():
    def work(number):
        x = weft.zeros(N // 8)
        with weft.config(tier="block"):
            y = x
            for _ in range(3000):
                y = y[::-1] + 1
            return float(y[3])

    before = threading.stack_size(512 << 10)
    try:
        assert in_threads(work, 4) == [3000.0] * 4
    finally:
        threading.stack_size(before)
