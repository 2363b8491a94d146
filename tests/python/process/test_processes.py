"""Worker processes: by fork, spawn and a fork server, with work pending, threads computing and kernels compiling."""

import concurrent.futures
import contextlib
import hashlib
import multiprocessing
import multiprocessing.shared_memory
import threading

import numpy
import pytest
import weft

METHODS = ["fork", "spawn", "forkserver"]
SECONDS = 60
N = 40_000
VALUES = numpy.arange(float(N))

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")


def many_kernels(seed):
    """Work of several kernels, and what NumPy makes of it."""
    results = []
    for np in (weft, numpy):
        x = np.arange(float(N)) + seed
        for _ in range(4):
            x[1:-1] = (x[2:] + x[:-2]) * 0.5
        results.append(np.sort(np.floor(x * 1.25) % 17)[:: 1 + seed % 3].sum() + x[x > seed].size)
    return float(results[0]), float(results[1])


def double(array):
    return array * 2, array.sum()


def add_to_shared(name, row):
    """Adds to a row of memory that processes share."""
    memory = multiprocessing.shared_memory.SharedMemory(name=name)
    try:
        shared = weft.asarray(numpy.ndarray((4, N), buffer=memory.buf), copy=False)
        shared[row] += weft.arange(float(N)) + row
        weft.eval(shared)
        del shared
    finally:
        memory.close()


def fail(text):
    weft.ones(3) + weft.ones(4 + len(text))


def start_processes_of_its_own(seed):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.map(many_kernels, [seed, seed + 1])


@contextlib.contextmanager
def computing_threads(count=2):
    """Threads that evaluate and compile meanwhile."""
    stop, failures = threading.Event(), []

    def work(number):
        turn = 0
        try:
            while not stop.is_set():
                turn += 1
                x = weft.asarray(VALUES, copy=False) * turn + number
                for bit in f"{turn * 8 + number:b}":  # another kernel each time
                    x = x + 1 if bit == "1" else x - 1
                weft.eval(x)
        except BaseException as error:  # raised again by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=SECONDS)
    assert not failures and not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("method", METHODS)
def test_a_pool_computes(method):
    weft.eval(weft.arange(float(N)) * 2)  # the threads of this process run
    with multiprocessing.get_context(method).Pool(2) as pool:
        for found, expected in pool.map_async(many_kernels, range(6)).get(SECONDS):
            assert found == expected


@pytest.mark.parametrize("method", METHODS)
def test_arrays_are_sent_and_sent_back(method):
    pending = weft.arange(float(N)) - 3
    sent = [pending, pending[::-2], pending.reshape(200, -1).T, pending[0], weft.arange(3, dtype="i2")]
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context(method)) as executor:
        for array, (twice, total) in zip(sent, executor.map(double, sent, timeout=SECONDS)):
            expected = numpy.asarray(array) * 2
            assert type(twice) is type(array * 2) and twice.dtype == expected.dtype
            assert numpy.array_equal(numpy.asarray(twice), expected)
            assert total.dtype == expected.sum().dtype and float(total) == float(array.sum())


@pytest.mark.parametrize("method", METHODS)
def test_memory_that_processes_share(method):
    memory = multiprocessing.shared_memory.SharedMemory(create=True, size=4 * N * 8)
    try:
        context = multiprocessing.get_context(method)
        processes = [context.Process(target=add_to_shared, args=(memory.name, row)) for row in range(4)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(SECONDS)
        assert [process.exitcode for process in processes] == [0] * 4
        found = numpy.ndarray((4, N), buffer=memory.buf).copy()
        assert numpy.array_equal(found, VALUES + numpy.arange(4.0)[:, None])
    finally:
        memory.close()
        memory.unlink()


@pytest.mark.parametrize("method", METHODS)
def test_errors_come_back(method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        with pytest.raises(ValueError, match="broadcast"):
            pool.apply_async(fail, ("abc",)).get(SECONDS)
        assert pool.apply_async(double, (weft.ones(5),)).get(SECONDS)[1] == 5


def digest(array):
    return hashlib.sha256(numpy.asarray(array).tobytes()).hexdigest()


def report(queue, check):
    try:
        queue.put(check())
    except BaseException as error:
        queue.put(repr(error))


def in_fork(check):
    """What `check` returns in a forked process, which must end by itself."""
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=report, args=(queue, check))
    process.start()
    process.join(SECONDS)
    if process.is_alive():
        process.kill()
        return "hangs"
    assert process.exitcode == 0
    return queue.get()


@pytest.mark.parametrize(
    "setting", [{}, {"small": 0}, {"tier": "auto", "small": 0}, {"num_threads": 3}], ids=str
)
def test_work_pending_at_the_fork_is_done_on_both_sides(setting):
    with weft.config(**setting):
        for turn in range(3):
            x = weft.asarray(VALUES, copy=True)
            x[1:-1] = x[2:] * 2 + turn
            y = weft.sqrt(x[::2] + 1)
            total, few = y.sum(), weft.ones(5) + turn
            values = VALUES.copy()
            values[1:-1] = values[2:] * 2 + turn
            expected = [digest(values), digest(numpy.sqrt(values[::2] + 1)), 5.0 * (1 + turn)]

            def look(x=x, y=y, total=total, few=few):
                x[3] = x[3]  # each side has versions of its own
                return [digest(y), float(total), digest(x), float(few.sum())]

            found = in_fork(look)
            root, total_here, whole, few_here = look()
            assert found == [root, total_here, whole, few_here]
            assert [whole, root, few_here] == expected


@pytest.mark.parametrize("tier", ["auto", "jit", "block"])
def test_forks_beside_threads_that_compute_and_compile(tier):
    with (
        weft.config(tier=tier, small=0, cache=False, tier_delay=2 if tier == "auto" else 0),
        computing_threads(),
    ):
        for turn in range(4):
            pending = weft.asarray(VALUES, copy=False) * 0.5 - turn

            def look(pending=pending, turn=turn):
                fresh, expected = many_kernels(turn)
                return fresh == expected and numpy.array_equal(numpy.asarray(pending), VALUES * 0.5 - turn)

            assert in_fork(look) is True
            assert look()


def test_processes_start_processes():
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, context) as executor:
        for found, expected in executor.submit(start_processes_of_its_own, 3).result(SECONDS):
            assert found == expected


def test_a_killed_child_harms_nobody():
    context = multiprocessing.get_context("fork")
    pending = weft.asarray(VALUES, copy=False) + 1

    def compute_for_ever():
        while True:
            weft.eval(weft.arange(float(N)) * 2)

    process = context.Process(target=compute_for_ever)
    process.start()
    assert float(pending.sum()) == VALUES.sum() + N
    process.kill()
    process.join(SECONDS)
    assert process.exitcode == -9
    assert many_kernels(2)[0] == many_kernels(2)[1]


def test_ufuncs_travel_by_their_names():
    import copy
    import pickle

    for function in (weft.sqrt, weft.add, weft.special.erf):
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function
    theirs = numpy.sqrt  # the module's names are weft's while that is installed
    with weft.install():
        assert pickle.loads(pickle.dumps(weft.sqrt)) is theirs
