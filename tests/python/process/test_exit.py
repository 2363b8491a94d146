"""How a process ends with work pending, threads observing, kernels compiling: soon, quietly, with its own status."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

SECONDS = 60  # more is a deadlock

BEGIN = """
import atexit, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which what a shell runs behind has ignored
import weft

def work(seed):
    x = weft.arange(40_000.0) + seed
    for bit in f"{seed + 8:b}":  # another kernel for each seed
        x = x * 2 if bit == "1" else x - 1
    return x

def for_ever(seed):
    while True:
        seed += 8
        weft.eval(work(seed))

def start(target, *arguments, daemon=True):
    thread = threading.Thread(target=target, args=arguments, daemon=daemon)
    thread.start()
    return thread
"""


def finish(program, **environment):
    """Exit status, output and errors of a process."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BEGIN + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "WEFT_TIER": "auto", "WEFT_CACHE": "0", **environment},
    )
    return result.returncode, result.stdout.strip(), result.stderr.strip()


# Programs, with their exit status and what they print.
PROGRAMS = {
    "pending work is dropped": ("x = work(3); y = x.sum()", 0, ""),
    "pending work in a cycle": ("x = [work(3)]; x.append(x); weft.eval(work(4))", 0, ""),
    "a module keeps arrays": (
        "import types\nsys.modules['kept'] = m = types.ModuleType('kept')\nm.x, m.y = work(1), weft.eval(work(2))",
        0,
        "",
    ),
    "threads of the pool are running": ("weft.eval(work(1)); weft.eval(work(2))", 0, ""),
    "daemon threads observe": ("[start(for_ever, k) for k in range(4)]; time.sleep(0.1)", 0, ""),
    "daemon threads observe a shared array": (
        """
        x = weft.zeros(40_000)
        def write():
            while True:
                x[1:] += x[:-1]
                float(x[5])
        [start(write) for _ in range(4)]
        time.sleep(0.1)
        """,
        0,
        "",
    ),
    "a thread that is no daemon is waited for": (
        "start(lambda: (time.sleep(0.2), print(float(work(0)[-1]))), daemon=False)",
        0,
        str((((39_999.0 * 2) - 1) - 1) - 1),
    ),
    "handlers compute": (
        "x = work(5)\natexit.register(lambda: print(float((x * 0 + 7).max()), float(weft.ones(3).sum())))",
        0,
        "7.0 3.0",
    ),
    "handlers that were there before weft compute": (
        """
        import subprocess
        program = '''
        import atexit
        atexit.register(lambda: print(float((weft.arange(40_000.0) + 2).min())))
        import weft
        weft.eval(weft.ones(40_000) * 3)
        '''
        import textwrap
        sys.exit(subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=50).returncode)
        """,
        0,
        "2.0",
    ),
    "a handler that fails": ("x = work(5)\natexit.register(lambda: os._exit(int(x.size > 0) + 6))", 7, ""),
    "kernels are being compiled": ("[weft.eval(work(seed)) for seed in range(20)]", 0, ""),
    "os._exit with work pending": ("x = work(3); os._exit(5)", 5, ""),
    "os._exit beside threads that compute": (
        "[start(for_ever, k) for k in range(4)]; time.sleep(0.1); os._exit(6)",
        6,
        "",
    ),
    "os._exit while kernels are compiled": (
        "[weft.eval(work(seed)) for seed in range(20)]; os._exit(0)",
        0,
        "",
    ),
    "os._exit in a thread": (
        "start(lambda: (weft.eval(work(3)), os._exit(4)))\nfor_ever(1)",
        4,
        "",
    ),
    "sys.exit with a status": ("x = work(3); sys.exit(3)", 3, ""),
    "sys.exit in a thread ends the thread": (
        "start(lambda: (weft.eval(work(1)), sys.exit(9))).join(); print(float(work(0)[0]))",
        0,
        "-3.0",
    ),
    "sys.exit beside daemon threads": (
        "[start(for_ever, k) for k in range(4)]; time.sleep(0.05); sys.exit(8)",
        8,
        "",
    ),
    "an error while others compute": (
        "[start(for_ever, k) for k in range(2)]; sys.excepthook = lambda *_: None; weft.ones(2) + weft.ones(3)",
        1,
        "",
    ),
    "objects that compute when they are freed": (
        """
        class Late:
            def __init__(self, array):
                self.array = array
            def __del__(self):
                os.write(1, str(float(self.array[0])).encode())
        late = Late(work(0))
        """,
        0,
        "-3.0",
    ),
    "a thread's own arrays": (
        "local = threading.local()\nlocal.x = work(1)\nstart(lambda: setattr(local, 'x', work(2))).join()",
        0,
        "",
    ),
}


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_processes_end(name, threads):
    program, status, output = PROGRAMS[name]
    assert finish(program, WEFT_NUM_THREADS=threads) == (status, output, "")


LONG_QUEUE = """
[weft.eval(work(seed)) for seed in range(300)]
print("ready", flush=True)
"""


def test_an_exit_waits_for_no_long_queue_of_compilations(new_cache):
    begin = time.monotonic()
    assert finish(LONG_QUEUE, WEFT_TIER_DELAY="200", WEFT_CACHE="1") == (0, "ready", "")
    assert time.monotonic() - begin < 30
    assert finish("print(weft.cache_info()['entries'] > 3)", WEFT_CACHE="1") == (0, "True", "")


INTERRUPTED = """
u = weft.full((400, 400), 1.0)
done = []
def compute():
    global u
    while True:
        for _ in range(23):  # each a kernel of its own
            u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1]) * 0.5
        weft.eval(u)
        done.append(None)
        if len(done) == 1:
            print("ready", flush=True)
"""


def interrupt(program, number=signal.SIGINT, begin=INTERRUPTED, **environment):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", BEGIN + begin + textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "WEFT_TIER": "auto", "WEFT_CACHE": "0", **environment},
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(number)
        output, errors = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()
    return process.returncode, output, errors


def test_an_interrupt_between_kernels_ends_the_process():
    status, _, errors = interrupt("compute()")
    assert status == -signal.SIGINT
    assert errors.strip().endswith("KeyboardInterrupt")


def test_what_an_interrupt_left_can_be_computed():
    program = """
    try:
        compute()
    except KeyboardInterrupt:
        assert (u == 1).all() and float((u + 1).sum()) == 320_000.0
        print("right")
    """
    assert interrupt(program) == (0, "right\n", "")


def test_an_interrupt_while_other_threads_compute():
    program = """
    [start(for_ever, k) for k in range(3)]
    try:
        compute()
    except KeyboardInterrupt:
        print(float(u.mean()))
    """
    assert interrupt(program) == (0, "1.0\n", "")


def test_a_main_thread_that_waits_is_interrupted_while_another_computes():
    program = """
    thread = start(compute)
    try:
        thread.join()
    except KeyboardInterrupt:
        print("stopped")
    """
    assert interrupt(program) == (0, "stopped\n", "")


def test_a_signal_that_ends_processes_ends_this_one():
    assert interrupt("compute()", signal.SIGTERM)[0] == -signal.SIGTERM


def test_an_interrupt_ends_the_wait_for_compilations_at_the_exit(new_cache):
    begin = time.monotonic()
    status, _, _ = interrupt("", begin=LONG_QUEUE, WEFT_TIER_DELAY="200", WEFT_CACHE="1")
    assert status in (0, -signal.SIGINT)
    assert time.monotonic() - begin < 8


@pytest.mark.parametrize("name", ["TIER", "FUSE", "DEBUG", "NUM_THREADS", "SMALL", "CPU"])
def test_a_wrong_setting_is_an_error_of_the_call_and_the_process_ends_as_ever(name):
    program = "import weft as np\ntry: np.eval(np.arange(30000) + 1)\nexcept ValueError as e: print(e)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, f"WEFT_{name}": "zzz"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "") and "zzz" in done.stdout
