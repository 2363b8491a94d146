"""Ctrl-C during an evaluation, and threads that evaluate while others record: nothing is lost, nothing hangs."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest
import weft


def slow_chain(turns):
    """Many kernels in one evaluation: each write reads the array elsewhere, so that none share a kernel."""
    u = weft.full((600, 600), 1.0)
    for _ in range(turns):
        u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1]) * 0.5
    return u


def test_interrupt_stops_an_evaluation_and_everything_still_works():
    def on_alarm(signum, frame):
        raise KeyboardInterrupt

    x = weft.asarray(numpy.arange(50_000.0))
    pending = weft.sin(x) + 1
    previous = signal.signal(signal.SIGALRM, on_alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            for _ in range(10_000):
                weft.eval(slow_chain(23))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    numpy.testing.assert_allclose(
        numpy.asarray(pending), numpy.sin(numpy.arange(50_000.0)) + 1, rtol=0, atol=1e-15
    )
    expected = numpy.full((600, 600), 1.0)
    numpy.testing.assert_array_equal(numpy.asarray(slow_chain(3)), expected)


def test_threads_record_and_evaluate_side_by_side():
    shared = weft.asarray(numpy.arange(100_000.0))
    failures = []

    def work(number):
        try:
            for turn in range(20):
                result = float((shared * number + turn).sum())
                expected = float((numpy.arange(100_000.0) * number + turn).sum())
                assert abs(result - expected) <= 1e-9 * abs(expected)
        except BaseException as error:  # reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    assert not failures


LONG = {
    "a reduction of one value": "np.broadcast_to(np.ones(1), 2**37).sum().item()",
    "rows": "np.eval(np.broadcast_to(np.ones((4, 1)), (4, 2**35)).max(axis=1))",
    "a scan": "np.eval(np.broadcast_to(np.int8(1), 2**31).cumsum(dtype='b'))",
    "a product": "np.eval(np.broadcast_to(np.ones(1), (2**20, 2**16)) @ np.ones(2**16))",
    "random order": "np.random.default_rng(1).permutation(2**27)",
    "random numbers": "np.random.default_rng(1).normal(size=2**29)",
    "a sort": "np.sort(np.random.default_rng(1).random(2**26))",
    "Python's loops over elements": "all(np.broadcast_to(np.ones(1), 2**37))",
    "a list of elements": "np.broadcast_to(np.ones(1), 2**27).tolist()",
    "bytes": "np.broadcast_to(np.ones((2, 1)), (2, 2**28)).tobytes()",
    "elements of a list": "np.array([(1, 2, 3)] * 2**25, 'f4')",
    "counts": "np.bincount(np.broadcast_to(np.array(3), 2**29))",
}


@pytest.mark.host
@pytest.mark.parametrize("what, threads", [("a reduction of one value", 1), *((what, 2) for what in LONG)])
def test_interrupt_in_the_middle_of(what, threads):
    """Ctrl-C ends what one statement does, wherever that is; what is pending is still there."""
    program = (
        "import os, signal, subprocess, sys, time\n"
        "import weft as np\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background ignores it
        f"np.config.num_threads = {threads}\n"
        "held = np.arange(10**5) * 2.0 + 1\n"
        "subprocess.Popen(['sh', '-c', f'sleep 0.2; kill -INT {os.getpid()}'])\n"
        "start = time.monotonic()\n"
        "try:\n"
        f"    {LONG[what]}\n"
        "    time.sleep(30)\n"
        "except KeyboardInterrupt:\n"
        "    print(time.monotonic() - start, float(held.sum()))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seconds, total = map(float, done.stdout.split())
    assert seconds < 10  # mostly a fraction of one
    assert total == 10**10


def interrupt_after(seconds):
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGINT)


def test_interrupt_leaves_what_is_overwritten_whole():
    """A kernel that reads what it overwrites is not left half way: the next look does not do a part of it twice."""
    x = weft.zeros(2**22)
    weft.eval(x)
    previous = signal.signal(signal.SIGINT, lambda signum, frame: (_ for _ in ()).throw(KeyboardInterrupt))
    turns = 0
    try:
        for attempt in range(60):
            x += 1
            turns += 1
            sender = threading.Thread(target=interrupt_after, args=(attempt % 10 / 1000,))
            try:
                sender.start()
                for _ in range(50):
                    weft.eval(x)
                sender.join()
            except KeyboardInterrupt:
                pass
            sender.join()
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGINT, previous)
    values = numpy.asarray(x)
    assert (values == values[0]).all()
    assert values[0] == turns


def test_a_signal_handler_that_evaluates():
    """A handler may compute what the evaluation around it is about to."""
    x = weft.asarray(numpy.random.default_rng(1).random((700, 700)))
    state = {"inside": False, "calls": 0, "sums": []}

    def look(signum, frame):
        state["calls"] += 1
        if state["inside"]:
            return
        state["inside"] = True
        if state["sums"]:
            float(state["sums"][-1])
        weft.eval(x)
        state["inside"] = False

    def chain(sums):
        y = x
        for k in range(40):
            y = weft.sqrt(y.cumsum(axis=k % 2) + k)
            sums.append(y.sum())
        return [float(each) for each in sums]

    expected = chain([])
    previous = signal.signal(signal.SIGALRM, look)
    try:
        with weft.config(without="loop_detection", tier="block"):
            for turn in range(6):
                state["sums"] = []
                signal.setitimer(signal.ITIMER_REAL, 0.01 + 0.003 * turn, 0.02)
                assert chain(state["sums"]) == expected
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert state["calls"] > 0


def test_a_handler_of_interrupts_that_goes_on():
    """Work that was stopped for a handler which does not raise is done all the same."""
    seen = []
    previous = signal.signal(signal.SIGINT, lambda signum, frame: seen.append(signum))
    try:
        process = subprocess.Popen(["sh", "-c", f"sleep 0.1; kill -INT {os.getpid()}"])
        x = weft.broadcast_to(weft.ones((3, 1)), (3, 2**29))
        assert x.sum(axis=1).tolist() == [2.0**29] * 3
        process.wait()
        while not seen:
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGINT, previous)
