"""os.fork while other threads record, compile and evaluate: the child computes, and waits for nothing."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest
import weft

FORKS = 10
SECONDS = 60  # for a child; more is a deadlock

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")


def outcome(check):
    """What a forked child's `check` comes to: "right", "wrong", an exception's text or "hangs"."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = "right" if check() else "wrong"
        except BaseException as error:
            text = repr(error)
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    end = time.monotonic() + SECONDS
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reader)
            return "hangs"
        time.sleep(0.001)
    with os.fdopen(reader) as pipe:
        return pipe.read() or "died"


def large():
    return weft.arange(100_000.0)


def evaluate_many_kernels(turn):
    u = weft.full((300, 300), float(turn))
    for _ in range(20):
        u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1]) * 0.5
    return float(u[5, 5]) == turn


def compile_another(turn):
    x = large()
    for bit in f"{turn:b}":
        x = x + 1 if bit == "1" else x * 2
    return bool((x >= 0).all())


SHARED = weft.array(
    numpy.zeros(100_000)
)  # in memory: what is pending would be computed by other tests' loops


def write_what_is_shared(turn, array=SHARED):
    array += 1.0
    values = numpy.asarray(array + 0.0)
    return values[0] == values[-1]


def read_foreign_memory(turn):
    # Freeing the last reference to NumPy's memory takes the GIL in the middle of an evaluation.
    return weft.asarray(numpy.full(100_000, turn), copy=False).sum() == 100_000 * turn


WORK = [evaluate_many_kernels, compile_another, write_what_is_shared, read_foreign_memory]


def fork_beside_threads():
    """Forks while each kind of work goes on in a thread; gives what the children report."""
    stop = threading.Event()
    failures = []
    turns = itertools.count(1000)
    values = numpy.arange(100_000.0)
    kept = weft.asarray(values)

    def work(function):
        try:
            while not stop.is_set():
                assert function(next(turns)), function.__name__
        except BaseException as error:  # reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(function,)) for function in WORK]
    for thread in threads:
        thread.start()
    found = []
    try:
        for k in range(FORKS):
            pending = weft.sqrt(kept) + k

            def check(k=k, pending=pending):
                fresh = compile_another(next(turns) + 100_000 + k)
                same = numpy.array_equal(numpy.asarray(pending), numpy.sqrt(values) + k)
                return fresh and same and all(function(7) for function in WORK)

            found.append(outcome(check))
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=SECONDS)
    assert not any(thread.is_alive() for thread in threads)
    assert not failures
    return found


@pytest.mark.parametrize("setting", [{}, {"eager": True}, {"fuse": False}, {"small": 0}], ids=str)
def test_a_child_forked_beside_computing_threads_works(setting):
    with weft.config(**setting):
        assert fork_beside_threads() == ["right"] * FORKS


def test_a_signal_handler_may_fork_within_an_evaluation():
    found = []

    def on_alarm(signum, frame):
        found.append(outcome(lambda: evaluate_many_kernels(3)))
        signal.setitimer(signal.ITIMER_REAL, 0.1)  # here, so that no signal comes while this one is handled

    previous = signal.signal(signal.SIGALRM, on_alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        end = time.monotonic() + 20
        turn = 0
        while len(found) < 3 and time.monotonic() < end:
            u = weft.full((600, 600), float(turn := turn + 1))
            for _ in range(23):
                u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1]) * 0.5
            assert float(u[9, 9]) == turn
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert len(found) >= 3 and set(found) == {"right"}


def test_a_child_ends_cleanly():
    program = """
import os, sys
import weft
x = weft.arange(100_000.0)
assert float((x + 1).sum()) == 5000050000.0
child = os.fork()
assert float((x + 2).sum()) == 5000150000.0
if child:
    _, status = os.waitpid(child, 0)
    assert status == 0, status
"""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=SECONDS
    )
    assert (result.returncode, result.stderr) == (0, "")
