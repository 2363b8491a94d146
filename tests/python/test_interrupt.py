"""Ctrl-C during an evaluation, and threads that evaluate while others record: nothing is lost, nothing hangs."""

import signal
import threading

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
