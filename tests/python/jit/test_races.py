"""Compiled functions and what changes around them: processes that share a cache and edit programs, threads at a first
call, and fork. No call may have the result of what was there before."""

import importlib
import importlib.util
import linecache
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest
import weft

PROGRAM = """\
import weft
import {helper} as helper
from {helper} import scaled

OFFSET = {offset}
TABLE = (1.5, {offset}, 2)


def inner(x, by={default}):
    return x * by {sign} OFFSET


def made(k):
    def closed(x):
        return x + k * {offset}

    return closed


closed = made({closure})


@weft.jit
def f(x, n, more={default}):
    s = 0.0
    for i in range(n):
        s += inner(x) {sign} scaled(i) + closed(x) * helper.FACTOR + helper.deep(x, i) - TABLE[1] + more
    return s
"""

HELPER = """\
FACTOR = {factor}


def scaled(i):
    return i * {factor} {sign} {offset}


def deep(x, i):
    return scaled(i) {sign} x * FACTOR
"""


def edited(chooser):
    """What a program and its helper are written with."""
    return {
        "offset": chooser.randint(1, 4),
        "default": chooser.randint(1, 4),
        "closure": chooser.randint(1, 4),
        "factor": chooser.choice((0.5, 2, 3)),
        "sign": chooser.choice("+-"),
    }


def write(path, text):
    """In one step, as an editor does that keeps others from half a file."""
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(text)
    part.replace(path)


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def edit_and_call(folder, seed, turns):
    """Edits a program and its helper, which other processes edit as well, and calls what it has imported."""
    chooser = random.Random(seed)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    refused = 0
    for turn in range(turns):
        helper = f"helper{chooser.randint(0, 1)}"
        write(folder / f"{helper}.py", HELPER.format(**edited(chooser)))
        program = folder / f"program{chooser.randint(0, 1)}.py"
        write(program, PROGRAM.format(helper=helper, **edited(chooser)))
        for name in ("helper0", "helper1"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        try:
            module = load(program, f"program_{turn}")
        except ModuleNotFoundError:  # another process has written one with a helper that is not there yet
            continue
        for _ in range(2):
            try:
                found = module.f(1.5, 4), module.f(1.5, 4, 2)
            except weft.CompileError as error:  # the file is another by now
                assert "source" in str(error) or "text" in str(error), error
                refused += 1
                break
            assert found == (module.f.py_func(1.5, 4), module.f.py_func(1.5, 4, 2))
            module.OFFSET = chooser.randint(1, 9)
            module.closed = module.made(chooser.randint(1, 9))
            module.helper.FACTOR = chooser.randint(1, 9)
            module.inner.__defaults__ = (chooser.randint(1, 9),)
            if chooser.random() < 0.5:
                module.scaled = module.helper.scaled = module.closed
    return refused


def test_processes_that_edit_programs_and_share_a_cache(tmp_path):
    folder, cache = tmp_path / "programs", tmp_path / "cache"
    folder.mkdir()
    environment = {**os.environ, "WEFT_CACHE_DIR": str(cache), "WEFT_CACHE": "1"}
    turns = 25
    workers = [
        subprocess.Popen(
            [sys.executable, __file__, str(folder), str(seed), str(turns)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(4)
    ]
    refused = 0
    for worker in workers:
        told, errors = worker.communicate(timeout=120)
        assert worker.returncode == 0, errors
        refused += int(told)
    assert refused < turns * len(workers) / 2
    assert any(cache.rglob("*"))


CHANGES = {
    "global": "names['K'] = 5",
    "tuple": "names['PAIR'] = (7, 9.5)",
    "callee": "names['g'] = lambda_of('lambda x, by=2, less=1: x - by - less')",
    "default": "names['g'].__defaults__ = (11,)",
    "own default": "f.py_func.__defaults__ = (13,)",
    "code": "names['g'].__code__ = lambda_of('lambda x, by=3, *, less=1: x * by * 2 - less').__code__",
    "cell": "names['change'](17)",
    "keyword": "names['g'].__kwdefaults__['less'] = 23",
    "keywords": "names['g'].__kwdefaults__ = {'less': 29}",
    "deleted": "del names['K']; names['K'] = 19",
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_between_calls(change, tmp_path):
    text = """\
K = 2
PAIR = (1, 2.5)


def g(x, by=3, *, less=1):
    return x * by - less


def around():
    cell = 1

    def change(k):
        nonlocal cell
        cell = k

    def h(x):
        return x + cell

    return change, h


change, h = around()


def f(x, more=1):
    return g(x) + h(x) * K + PAIR[1] + more
"""
    path = tmp_path / "changing.py"
    path.write_text(text)
    names = vars(load(path, "changing"))
    lambdas = []

    def lambda_of(text):
        lambdas.append(tmp_path / f"lambda{len(lambdas)}.py")
        lambdas[-1].write_text(f"made = {text}\n")
        return load(lambdas[-1], "lambdas").made

    f = names["f"] = weft.jit(names["f"])
    assert f(2) == f.py_func(2)
    before = f(2)
    exec(CHANGES[change], {"names": names, "f": f, "lambda_of": lambda_of})
    assert f(2) == f.py_func(2)
    assert f(2) != before


def test_threads_at_a_first_call():
    text = """\
def g(x, n):
    return x * n if n < 2 else x + g(x, n - 1)


def f(a, n):
    s = 0.0
    for i in range(len(a)):
        s += g(a[i], n)
    for i in np.prange(len(a)):
        s += a[i]
    return s
"""
    for turn in range(4):
        name, changed = f"<first call {turn}>", text.replace("n < 2", f"n < {2 + turn}")
        names = {"np": weft}
        linecache.cache[name] = (len(changed), None, changed.splitlines(True), name)
        exec(compile(changed, name, "exec"), names)
        function = weft.jit(names["f"], nogil=turn % 2 == 1)
        arrays = [numpy.arange(50.0), numpy.arange(50, dtype=numpy.int32), numpy.ones(50, numpy.float32)]
        expected = [names["f"](array.astype(float), 4) for array in arrays]
        barrier = threading.Barrier(32)
        wrong = []

        def call(number, function=function, arrays=arrays, expected=expected, barrier=barrier, wrong=wrong):
            barrier.wait()
            for k in range(6):
                which = (number + k) % 3
                found = function(arrays[which], 4)
                if found != pytest.approx(expected[which], rel=1e-12):
                    wrong.append((which, found))

        threads = [threading.Thread(target=call, args=(number,)) for number in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(function.signatures) == 3


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_fork_before_while_and_after_functions_are_compiled(tmp_path):
    text = "def f(a, k):\n    s = 0.0\n    for i in np.prange(len(a)):\n        s += a[i] * {k} + k\n    return s\n"

    def made(k):
        names = {"np": weft}
        changed = text.format(k=k)
        exec(changed, names)
        return weft.jit(names["f"], source=changed, nogil=k % 2 == 0)

    a = numpy.ones(30_000)
    before = made(1)
    assert before(a, 1) == 60_000.0
    stop = threading.Event()
    compiled = []

    def compile_on():
        k = 100
        while not stop.is_set():
            k += 1
            compiled.append(made(k)(a, 0) == k * 30_000.0)

    workers = [threading.Thread(target=compile_on) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        for turn in range(4):
            child = os.fork()
            if child == 0:
                right = before(a, 2) == 90_000.0  # compiled by the parent
                right &= before(a.astype(numpy.int32), 2) == 90_000.0  # compiled here, for other types
                right &= made(50 + turn)(a, 0) == (50 + turn) * 30_000.0
                os._exit(0 if right else 1)
            assert wait_for(child) == 0
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert all(compiled)
    assert before(a, 3) == 120_000.0


def wait_for(child, seconds=60):
    """The exit status of a child, which is ended where it hangs."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hangs"


if __name__ == "__main__":
    print(edit_and_call(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
