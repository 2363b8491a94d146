"""Loops for tests of indices that fail: compiled when they are first reached, by whoever reaches them."""

import os
import re
import subprocess
import sys
import threading

import numpy
import pytest
import weft as np


def differences(a, k):
    """Of each element and the one k behind it. Those before the first count from the end."""
    out = numpy.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] - a[i + k, j + k]
    return out


def compiled(a, k, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] - a[i + k, j + k]


def reached(function):
    """How many loops for failing tests were compiled, and how many there are."""
    found = re.search(r"(\d+) of (\d+) loops for failing tests compiled", function.explain())
    return tuple(int(number) for number in found.groups())


def test_what_no_call_reaches_is_not_compiled():
    f = np.jit(compiled)
    a = numpy.arange(35.0).reshape(5, 7) ** 2
    out = numpy.empty_like(a)
    f(a, 0, out)
    assert (out == differences(a, 0)).all() and reached(f) == (0, 1)
    seconds = next(iter(f.stats.values()))["compile_seconds"]
    f(a, 0, out)
    assert next(iter(f.stats.values()))["compile_seconds"] == seconds > 0
    f(a, -2, out)
    assert (out == differences(a, -2)).all() and reached(f) == (1, 1)
    assert next(iter(f.stats.values()))["compile_seconds"] > seconds
    out[:] = -1
    expected = out.copy()
    with pytest.raises(IndexError):
        compiled(a, -6, expected)
    with pytest.raises(IndexError, match="index -6 is out of bounds for axis 0 with size 5"):
        f(a, -6, out)
    assert (out == expected).all() and reached(f) == (1, 1)
    f(a, 0, out)
    assert (out == differences(a, 0)).all()


def test_threads_reach_a_loop_at_once():
    a = numpy.random.default_rng(1).random((40, 50))
    for _ in range(5):
        f = np.jit(compiled, nogil=True, cache=False)
        f(a, 0, numpy.empty_like(a))
        results = [numpy.empty_like(a) for _ in range(8)]
        start = threading.Barrier(8)

        def work(out, f=f, start=start):
            start.wait()
            f(a, -3, out)

        threads = [threading.Thread(target=work, args=(out,)) for out in results]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert reached(f) == (1, 1)
        for out in results:
            assert (out == differences(a, -3)).all()


def test_chunks_of_a_parallel_loop_reach_a_loop():
    def shifted(a, k, out):
        for i in np.prange(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j] - a[i, j + k]

    a = numpy.random.default_rng(2).random((300, 70))
    expected, out = numpy.empty_like(a), numpy.empty_like(a)
    for k in (0, -5, -70):
        shifted(a, k, expected)
        np.jit(shifted, cache=False)(a, k, out)
        assert (out == expected).all()
    with pytest.raises(IndexError):
        np.jit(shifted)(a, -71, out)


def test_a_function_that_calls_itself_reaches_a_loop_at_each_depth():
    @np.jit(cache=False)
    def total(a, k, depth):
        s = 0.0
        for i in range(len(a)):
            for j in range(len(a)):
                s += a[i + k] * a[j + k]
        if depth > 0:
            s += total(a, k - 1, depth - 1)
        return s

    a = numpy.arange(1.0, 7.0)
    assert total(a, 0, 6) == 7 * a.sum() ** 2
    with pytest.raises(IndexError):
        total(a, 0, 7)

    @np.jit(cache=False)
    def endless(a, k):
        s = 0.0
        for i in range(len(a)):
            for j in range(len(a)):
                s += a[i + k] + a[j + k]
        return s if k > 0 else s + endless(a, -1 - k)

    with pytest.raises(RecursionError):
        endless(a, 0)


def test_what_a_loop_leaves_behind_is_there():
    def smoothed(a, k, steps):
        b = np.empty(len(a))
        last = -1
        seen = []
        for step in range(steps):
            for i in range(len(a)):
                b[i] = 0.5 * (a[i] + a[i + k])
                last = i * step
                if b[i] > 0.75:
                    seen.append(i)
            a, b = b, a
        return a, last, seen

    a = numpy.random.default_rng(3).random(25)
    for k in (0, -1, -7):
        array, last, seen = np.jit(smoothed, cache=False)(a.copy(), k, 4)
        wanted, *rest = smoothed(a.copy(), k, 4)
        assert (array == wanted).all() and [last, seen] == rest


PROGRAM = """
import os
import numpy
import weft as np

@np.jit
def f(a, k, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] - a[i + k, j + k]

a = numpy.arange(12.0).reshape(3, 4)
out = numpy.empty_like(a)
f(a, 0, out)
before = np.show_config(mode="dicts")["cache"]
child = os.fork()
f(a, -1, out)
assert out[0].tolist() == [-11.0, -7.0, -7.0, -7.0], out
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
after = np.show_config(mode="dicts")["cache"]
print(next(iter(f.stats.values()))["from_disk"], after["hits"] - before["hits"])
"""


def test_a_later_process_finds_the_loop_on_disk_and_a_forked_one_compiles_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path / "cache")}

    def run():
        done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert run()[0] == "False"
    assert run() == ["True", "1"]


def test_without_the_switch_everything_is_compiled_at_once():
    f = np.jit(compiled, cache=False)
    a = numpy.arange(35.0).reshape(5, 7)
    out = numpy.empty_like(a)
    with np.config(without="lazy_parts"):
        f(a, -2, out)
    assert (out == differences(a, -2)).all() and "failing tests" not in f.explain()


def pascal(t):
    for i in range(t.shape[0]):
        for j in range(1, i):
            t[i, j] = t[i - 1, j - 1] + t[i - 1, j]


def sums_of_earlier(t, k):
    for i in range(t.shape[0]):
        for j in range(k, i - 1):
            t[i, j] += t[i - 2, j - k]


def test_rows_whose_inner_loop_is_empty_do_not_fail_the_test():
    f = np.jit(pascal)
    for size in (0, 1, 2, 3, 30):
        found, expected = (numpy.ones((size, size), numpy.int64) for _ in range(2))
        f(found)
        pascal(expected)
        assert (found == expected).all()
    assert reached(f)[0] == 0


def test_what_is_wrong_in_rows_that_run_is_found():
    f = np.jit(sums_of_earlier)
    for k in (0, 2, -1, -3, -40):
        found, expected = (numpy.ones((30, 30), numpy.int64) for _ in range(2))
        try:
            sums_of_earlier(expected, k)
        except IndexError as error:
            with pytest.raises(IndexError, match=str(error)):
                f(found, k)
        else:
            f(found, k)
        assert (found == expected).all()


def test_what_puts_elements_in_order_is_compiled_for_arrays_that_are_not():
    @np.jit(cache=False)
    def f(a):
        return numpy.argmax(a), a.ravel(), numpy.cumsum(a)

    a = numpy.random.default_rng(4).random((4, 6))
    assert f(a)[0] == a.argmax() and (f(a)[1] == a.ravel()).all() and (f(a)[2] == numpy.cumsum(a)).all()
    compiled, parts = reached(f)
    assert compiled == 0 and parts >= 3
    a = a[::-1, ::2]
    for _ in range(3):
        assert f(a)[0] == a.argmax() and (f(a)[1] == a.ravel()).all() and (f(a)[2] == numpy.cumsum(a)).all()
    assert reached(f)[0] == 3
